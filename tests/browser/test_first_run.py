"""The first run in a browser, from an empty study to its answer: no page without a next step, in few clicks."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from grater.annotate.evaluation import evaluate_study
from grater.annotate.status import study_name
from tests.browser.chromium import watched
from tests.browser.site import Site, live_site
from tests.browser.test_manager import ESSAYS, let_answer

MOST_CLICKS = 15
DETECTOR = """
import json, sys
for line in sys.stdin:
    essay = json.loads(line)
    text, edits = essay["text"], []
    for words, wrong, better in (("depends of", "of", "on"), ("arrive to", "to", "at"), ("wait of", "of", "for")):
        if (at := text.find(words)) >= 0:
            end = at + len(words)
            edits.append({"start": end - len(wrong), "end": end, "replacements": [better]})
    print(json.dumps({"essay": essay["essay"], "edits": edits}), flush=True)
"""


@pytest.fixture
def own_site(tmp_path: Path) -> Iterator[Site]:
    with live_site(tmp_path, systems=(f"mine=command:{sys.executable} {detector(tmp_path)}",)) as running:
        yield running


def detector(folder: Path) -> Path:
    program = folder / "detector.py"
    program.write_text(DETECTOR)
    return program


def many_essays() -> list[str]:
    """Enough places for a sample: the essays of twelve schools."""
    return [f"# {name} {n}\n{text} This was in year {n}." for n in range(12) for name, text in ESSAYS.items()]


class Clicks:
    """Clicks that are counted, each on a page that shows what comes next."""

    def __init__(self, page: Page) -> None:
        self.page, self.n = page, 0

    def on(self, role: str, name: str) -> None:
        expect(self.page.locator(".primary").first).to_be_visible()
        self.page.get_by_role(role, name=name, exact=True).first.click()  # type: ignore[arg-type]
        self.n += 1


def test_from_pasted_essays_to_the_answer_in_few_clicks(chromium: Browser, own_site: Site, tmp_path: Path) -> None:
    site = own_site
    context = site.context(chromium, site.person("manager"))
    with watched(context) as (page, _):
        click = Clicks(page)
        page.goto("/manage")
        page.get_by_label("Paste one essay").fill("\n---\n".join(many_essays()))
        click.on("button", "Continue")
        expect(page.get_by_role("heading", level=1)).to_have_text("Which system do you want to measure?")
        click.on("button", "Continue")
        expect(page.get_by_text("mine flags")).to_be_visible()
        click.on("button", "Continue")
        expect(page.get_by_role("radio", name=re.compile("Error or OK"))).to_be_checked()
        click.on("button", "Create the job")
        job_id = page.url.rpartition("/")[2]
        click.on("link", "Try it as a rater")
        click.on("link", "Back to the job")
        click.on("button", "Create links")
        click.on("link", "Next: open the job")
        click.on("button", "Open it for raters")
        let_answer(site, job_id, role="annotator", n_raters=2, most=60)
        page.reload()
        click.on("link", "See the answer so far")
        answer = page.locator(".answer")
        expect(answer).to_contain_text("mine is right in")
        with page.expect_download() as download:
            click.on("button", "Create the report")
        assert click.n <= MOST_CLICKS
        with site.store.read() as tx:
            evaluated = evaluate_study(tx, study_name(tx))
        (scored,) = evaluated.systems
        assert evaluated.sample
        expect(answer).to_contain_text("estimated from")
        expect(answer).to_contain_text("Recall to ± .05 takes more texts than these.")
        download.value.save_as(tmp_path / "report.html")
        for share in (scored["precision"], scored["recall"]):
            words = f"{share.value:.3f}".removeprefix("0")
            assert words in answer.inner_text()
            assert words in (tmp_path / "report.html").read_text("utf-8")
    context.close()
