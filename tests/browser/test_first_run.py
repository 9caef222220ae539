"""The first run in a browser, from an empty study to its answer: no page without a next step, in few clicks."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from math import isnan
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from grater.annotate import credentials
from grater.annotate.evaluation import evaluate_study
from grater.annotate.status import study_name
from tests.browser.site import Site, live_site
from tests.chat_server import serving
from tests.cli.test_chat_loop import N_ESSAYS, essay
from tests.cli.test_chat_loop import answer as corrected

ESSAYS = {
    "market.txt": "On Saturday I go to the market with my uncle. We arrive to the square at six and look for a place "
    "near of the fountain. He depends of the weather for his flowers. In winter we stay at home.",
    "school.txt": "In my school we learn about the sea. Our teacher comes from an island and she talks with passion "
    "about boats. I am interested on ships. We wait of the summer to travel by boat to her island.",
    "garden.txt": "Behind of our house there is a garden with a wall. My sister works in the garden for many hours. "
    "She is good in flowers and she takes care of the trees during the spring.",
}
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
    with site.visit(chromium, site.person("manager")) as (page, _):
        click = Clicks(page)
        paste(click, many_essays())
        click.on("button", "Continue")
        expect(page.get_by_text("mine flags")).to_be_visible()
        click.on("button", "Continue")
        expect(page.get_by_role("radio", name=re.compile("Error or OK"))).to_be_checked()
        let_answer(site, opened_job(click), most=60)
        see_the_answer(click, site, tmp_path / "report.html")
        answer = page.locator(".answer")
        expect(answer).to_contain_text("mine is right in")
        expect(answer).to_contain_text("Recall to ± .05 takes more texts than these.")


def test_a_language_model_is_priced_asked_and_judged_in_few_clicks(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("MODEL_KEY", "secret-of-the-model")
    texts = [f"# {n} {year}\n{essay(n).text}This was {year}." for n in range(N_ESSAYS) for year in ("then", "now")]
    with serving(corrected) as model:
        chat = {"key_env": "MODEL_KEY", "price_in": 1, "price_out": 4, "cache": str(tmp_path / "answers.jsonl")}
        offered = f"gpt=chat:{model.url}#tiny"
        with (
            live_site(tmp_path, systems=(offered,), chat=chat) as site,
            site.visit(chromium, site.person("manager")) as (page, _),
        ):
            click = Clicks(page)
            paste(click, texts)
            assert page.get_by_label("System", exact=True).input_value() == "gpt"
            click.on("button", "Continue")
            expect(page.locator(".big-words")).to_contain_text(f"{len(texts)} questions, about ")
            expect(page.locator(".hint").first).to_contain_text("0 requests, 0 tokens")
            assert not model.requests
            click.on("button", "Ask gpt")
            used = f"{len(texts)} requests, {110 * len(texts):,} tokens, cost 0.0034"
            expect(page.get_by_role("status")).to_contain_text(f"gpt: {4 * len(texts)} edits. Used: {used}.")
            assert "secret-of-the-model" not in page.content()
            assert model.headers[0]["Authorization"] == "Bearer secret-of-the-model"
            page.get_by_role("radio", name=re.compile(r"± \.10")).check()
            click.n += 1
            click.on("button", "Continue")
            expect(page.get_by_role("radio", name=re.compile("Check a suggestion"))).to_be_checked()
            let_answer(site, opened_job(click), is_better, n_raters=1)
            see_the_answer(click, site, tmp_path / "report.html")
            answer = page.locator(".answer")
            expect(answer).to_contain_text("gpt is right in about three of four edits")
            expect(answer.get_by_role("link", name="what it missed")).to_be_visible()


def paste(click: Clicks, texts: list[str]) -> None:
    click.page.goto("/manage")
    click.page.get_by_label("Paste one essay").fill("\n---\n".join(texts))
    click.on("button", "Continue")
    expect(click.page.get_by_role("heading", level=1)).to_have_text("Which system do you want to measure?")


def opened_job(click: Clicks) -> str:
    """The job whose form is shown, made, tried and opened for people with links; its id."""
    click.on("button", "Create the job")
    job_id = click.page.url.rpartition("/")[2]
    click.on("link", "Try it as a rater")
    click.on("link", "Back to the job")
    click.on("button", "Create links")
    click.on("link", "Next: open the job")
    click.on("button", "Open it for raters")
    return job_id


def is_wrong(lease: dict[str, Any]) -> str:
    marked = next(piece["text"] for piece in lease["pieces"] if piece["mark"])
    return "error" if marked.casefold() in ("of", "to", "on") else "ok"


def is_better(lease: dict[str, Any]) -> str:
    """Every change but the word that was put where none is needed."""
    return "both fine" if "Writer: (no word)" in lease["fields"][0]["question"] else "suggestion better"


def let_answer(
    site: Site,
    job_id: str,
    label_of: Callable[[dict[str, Any]], str] = is_wrong,
    *,
    n_raters: int = 2,
    most: int = 10**6,
) -> None:
    """Annotators who all know the same rule, so that experts agree and nobody is put out."""
    for _ in range(n_raters):
        person = site.person()
        with site.store.write() as tx:
            token = credentials.make_token(tx, person.person_id)
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"{site.url}/api/v1", headers=headers, timeout=60) as client:
            for _ in range(most):
                if (lease := client.post(f"/jobs/{job_id}/next").json()["lease"]) is None:
                    break
                sent = {"fields": {"label": [label_of(lease)]}, "seconds": 9.0}
                client.post(f"/leases/{lease['lease_id']}", json=sent)


def see_the_answer(click: Clicks, site: Site, report: Path) -> None:
    """The answer on the home page is an estimate from a sample, and the report has the same numbers."""
    click.page.reload()
    click.on("link", "See the answer so far")
    answer = click.page.locator(".answer")
    with click.page.expect_download() as download:
        click.on("button", "Create the report")
    assert click.n <= MOST_CLICKS
    with site.store.read() as tx:
        evaluated = evaluate_study(tx, study_name(tx))
    (scored,) = evaluated.systems
    assert evaluated.sample
    expect(answer).to_contain_text("estimated from")
    download.value.save_as(report)
    for share in (share for share in (scored["precision"], scored["recall"]) if not isnan(share.value)):
        words = f"{share.value:.3f}".removeprefix("0")
        assert words in answer.inner_text()
        assert words in report.read_text("utf-8")
