"""`docs/howto/run-a-crowd-job.md` end to end: its blocks are run, and where it serves, people come and answer."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grater.annotate import gold, jobs, standing
from grater.annotate.store import open_store
from grater.annotate.web import Settings
from grater.annotate.web.serving import setup_link
from grater.cli import app
from grater.corpora import write_corpus
from grater.model import Essay
from tests.annotate.web.studies import BASE, PASSWORD, Browser, Study
from tests.annotate.web.test_crowd import PANEL, enter
from tests.annotate.web.test_work import answer_all, begin
from tests.test_docs import blocks

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "run-a-crowd-job.md"
SERVE = "grater serve study.db"
LINES = (
    "She waits at the corner of the street .",
    "He depends of his aunt in the winter .",
    "We looked for the key under a stone .",
    "They arrived to the lake with a boat .",
    "I am good in songs from the north .",
    "The cat slept on the roof for an hour .",
    "You can rely in them during a storm .",
)
WRONG = ("He depends of", "arrived to", "good in", "rely in")


def commands(block: str) -> Iterator[list[str]]:
    """Every command of a block; what does not begin one goes on with the one before."""
    for chunk in re.split(r"\n(?=grater )", block.strip()):
        yield shlex.split(chunk)


def test_every_block_runs_and_the_study_comes_to_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    essays = [Essay(f"line-{n}", text, annotators=("0",)) for n, text in enumerate(LINES)]
    write_corpus(essays, tmp_path / "essays.m2", lambda _: None, format_name="m2")
    sessions = iter((experts_come, a_panel_comes))
    links: list[str] = []
    for block in blocks(PAGE, "sh"):
        for command in commands(block):
            if shlex.join(command) == SERVE:
                with served_here() as study:
                    next(sessions)(study, links)
                continue
            done = CliRunner().invoke(app, smaller(command)[1:])
            assert done.exit_code == 0, f"{shlex.join(command)}: {done.output}"
            links += re.findall(r"/join/[\w-]+", done.output)
    assert next(sessions, None) is None
    assert Path("payments.csv").read_text("utf-8").splitlines()[1].startswith("prolific,rater-1,")
    sheet = json.loads(Path("results/protocol.json").read_text("utf-8"))["crowd"]
    assert sheet["Removal rule"].startswith("entry quiz of 3 questions (1 attempt); removed below 80 % on gold after")
    assert "speaks English" in Path("report/report.html").read_text("utf-8")


def smaller(command: list[str]) -> list[str]:
    """The same command for seven sentences: a quiz of three instead of twelve, six gold instead of 75."""
    fewer = {"75": "6"}
    return [fewer.get(word, re.sub(r'"(quiz|least_seen)": 12', r'"\1": 3', word)) for word in command]


@contextmanager
def served_here() -> Iterator[Study]:
    """What `grater serve study.db` serves, with a clock that stands still."""
    with open_store("study.db") as store, store.serving():
        settings = Settings(base_url=BASE, logins_a_minute=1000, guest_requests=10**6, guest_bytes=10**9)
        yield Study(store, store.clock, {}, settings=settings)  # type: ignore[arg-type]


def join(study: Study, path: str, name: str) -> Browser:
    browser = study.browser()
    browser.get(path)
    assert browser.post(path, {"name": name, "password": PASSWORD, "again": PASSWORD}).status_code == 200
    return browser


def experts_come(study: Study, links: list[str]) -> None:
    """The owner by the link that the server prints, and two experts by their invitations, who agree."""
    join(study, (setup_link(study.settings, study.store) or "").removeprefix(BASE), "Olga")
    job_id = study.read(jobs.all)[0].job_id
    for number, link in enumerate(links):
        answer_truly(study, join(study, link, f"expert {number}"), job_id)


def a_panel_comes(study: Study, _: list[str]) -> None:
    """The owner opens the job and makes a panel; five raters come, are asked for their languages, and answer."""
    owner = study.browser("Olga")
    job_id = study.read(jobs.all)[1].job_id
    owner.post(f"/manage/jobs/{job_id}/state", {"state": "open"})
    page = owner.post(f"/manage/jobs/{job_id}/panels", {**PANEL, "places": "10"}).text
    (panel_id,) = set(re.findall(r"/p/([\w-]+)", page))
    for number in range(1, 6):
        rater, _ = enter(study, panel_id, f"rater-{number}")
        assert "Languages you speak" in rater.get(f"/jobs/{job_id}").text
        rater.post(f"/jobs/{job_id}/about", {"languages": "Finnish, English"})
        assert "DONE-1" in answer_truly(study, rater, job_id)
        rater.post(f"/jobs/{job_id}/reviews", {"stars": "4", "clear": "5"})
    live = owner.get(f"/manage/jobs/{job_id}/crowd").text
    assert "clarity 5 of 5" in live
    assert {each.state for each in study.read(standing.of_job, job_id)} == {"trusted"}


def answer_truly(study: Study, browser: Browser, job_id: str) -> str:
    """Everything that there is for this person; give the last page."""
    return answer_all(browser, begin(browser, job_id), lambda path: {"label": true_label(study, path)})[-1].text


def true_label(study: Study, path: str) -> str:
    """What the essay says at the place in question; for gold too, since experts said the same."""
    unit = study.unit_at(path).unit
    label = "error" if unit.essay.text[: unit.items[0].item.span.end].endswith(WRONG) else "ok"
    known = study.read(gold.of_unit, unit.unit_id)
    assert not known or known[0].accepted == {label}
    return label
