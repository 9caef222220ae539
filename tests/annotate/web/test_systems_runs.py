"""Long work in the background: asked for, worked on, ended; and a server that is killed in the middle of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grater.annotate import content, people, runs
from grater.annotate.runs import WORK, NewRun, Outcome, Run
from grater.annotate.store import Store, Tx, open_store
from grater.annotate.systems import decide
from grater.annotate.web import study as study_pages
from grater.annotate.web.security import READ_ONLY_POLICY
from grater.detect.systems import load_system
from grater.model import Essay
from tests.annotate.web.processes import serving, wait_until
from tests.annotate.web.studies import Study, served

TEXT = "He depends of the weather. We arrive to the square at six, and my uncle waits for us near of the fountain. "
SYSTEM = "prep-lm"


def ask_for_system(tx: Tx) -> Run:
    return runs.ask(tx, NewRun(kind="system", system=SYSTEM))


def ask_for_report(tx: Tx) -> Run:
    return runs.ask(tx, NewRun(kind="report"))


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with served(tmp_path, wait_seconds=0) as found:
        yield found


def test_a_page_that_would_wait_too_long_leads_to_the_list_and_the_work_goes_on(study: Study) -> None:
    manager = study.browser("manager")
    page = manager.post("/manage/systems", {"system": SYSTEM})
    assert page.url.path == "/manage/runs"
    assert f"Run {SYSTEM} over the essays" in page.text
    wait_until(lambda: "data-running" not in manager.get("/manage/runs").text)
    assert f"{SYSTEM}: " in manager.get("/manage/runs").text
    assert study.read(content.system_names) == [SYSTEM]


def test_a_run_that_cannot_be_done_says_why_and_the_next_one_is_done(study: Study) -> None:
    manager = study.browser("manager")
    with study.store.write() as tx:
        bad = runs.add(tx, "import", "Import 1 file", {"kind": "corpus"}, files=[runs.RunFile("a.m2", b"X no M2\n")])
        good = ask_for_system(tx)
    wait_until(lambda: "data-running" not in manager.get("/manage/runs").text)
    with study.store.read() as tx:
        assert (runs.get(tx, bad.run_id).state, runs.get(tx, good.run_id).state) == ("failed", "done")
        assert "expected a line starting with" in runs.get(tx, bad.run_id).words
        assert not runs.files_of(tx, bad.run_id, is_result=False)


def test_a_run_that_breaks_our_own_code_is_its_own_end_and_no_other(
    study: Study, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> Outcome:
        raise ZeroDivisionError

    monkeypatch.setattr("grater.annotate.runs.WORK", {**WORK, "report": broken})
    manager = study.browser("manager")
    with study.store.write() as tx:
        bad, good = ask_for_report(tx), ask_for_system(tx)
    wait_until(lambda: "data-running" not in manager.get("/manage/runs").text)
    with study.store.read() as tx:
        assert (runs.get(tx, bad.run_id).state, runs.get(tx, good.run_id).state) == ("failed", "done")
    assert "went wrong on our side (ZeroDivisionError)" in manager.get("/manage/runs").text
    assert "Report: the study" in caplog.text


def test_a_run_that_ends_every_process_is_given_up(study: Study) -> None:
    bad = study.write(ask_for_report)
    study.clock.now += 1
    good = study.write(ask_for_system)
    claimed = []
    for _ in range(runs.MOST_TRIES + 1):
        run = study.write(runs.claim)  # by a process that then dies
        claimed.append(run.run_id)
        study.clock.now += runs.STALE_MS + 1
    assert claimed == [bad.run_id] * runs.MOST_TRIES + [good.run_id]
    assert "Begun 5 times" in study.browser("manager").get("/manage/runs").text


def test_a_report_has_its_author_and_the_day_on_which_it_was_made(study: Study) -> None:
    manager = study.browser("manager")
    manager.post("/manage/report", {"title": "Two schools", "author": "Ann Other"})
    wait_until(lambda: "data-running" not in manager.get("/manage/runs").text)
    [link] = set(re.findall(r"/manage/runs/[\w-]+/file", manager.get("/manage/runs").text))
    opened = manager.get(f"{link}?open=1")
    assert opened.headers["content-disposition"] == 'inline; filename="report.html"'
    assert opened.headers.get_list("content-security-policy") == [READ_ONLY_POLICY]
    assert READ_ONLY_POLICY.startswith("sandbox")
    assert "allow-scripts" not in READ_ONLY_POLICY
    page = manager.get(link).text
    today = datetime.fromtimestamp(study.clock() / 1000, UTC)
    assert "<span>Ann Other</span>" in page
    assert f"{today.day} {today:%B %Y}" in page


def test_a_big_import_goes_on_in_the_background(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_pages, "BIG", 10)
    manager = study.browser("manager")
    sent = {"files": ("long.txt", b"A text that is longer than ten bytes.")}
    assert manager.post("/manage/import", {"kind": "corpus"}, files=sent).url.path == "/manage/runs"
    wait_until(lambda: "1 file: 1 new" in manager.get("/manage/runs").text)


def test_a_server_that_is_killed_in_the_middle_does_the_work_when_it_is_back(tmp_path: Path) -> None:
    with open_store(tmp_path / "study.db", create=True) as store:
        with store.write() as tx:
            people.add(tx, name="Owner", role="owner", password_hash="x")
            content.add_essays(tx, [Essay(f"e{n}", TEXT * 5 + str(n)) for n in range(4)])
            run = ask_for_system(tx)
        with serving(tmp_path / "study.db") as (_, first):
            wait_until(lambda: state(store, run.run_id) == "running")
            first.kill()
        assert state(store, run.run_id) == "running"  # nobody could say otherwise
        with serving(tmp_path / "study.db"):
            wait_until(lambda: state(store, run.run_id) == "done")
        with store.read() as tx:
            n_decided = content.n_decisions(tx)
        assert decide(store, [load_system(SYSTEM)])[0].n_items == n_decided


def state(store: Store, run_id: str) -> str:
    with store.read() as tx:
        return runs.get(tx, run_id).state
