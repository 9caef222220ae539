"""Systems, samples, reports and language models by the browser, and the long work that they do in the background."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grater.annotate import content, people, runs, samples
from grater.annotate.importing import import_files
from grater.annotate.protocol import set_terms
from grater.annotate.runs import WORK, NewRun, Outcome, Run
from grater.annotate.store import Tx, open_store
from grater.annotate.systems import decide
from grater.annotate.web import study as study_pages
from grater.annotate.web.security import READ_ONLY_POLICY
from grater.detect.systems import load_system
from grater.model import Decision, Essay
from tests.annotate.store.worlds import read
from tests.annotate.web.processes import serving, wait_until
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import Study, new_units, served
from tests.annotate.web.test_crowd_numbers import plain
from tests.chat_server import serving as model_serving
from tests.cli.running import grater
from tests.cli.test_chat_loop import answer


def test_no_path_command_or_new_name_from_a_form_is_run(study: Study) -> None:
    manager = study.browser("manager")
    for system in ("", "command:touch /tmp/owned", "corrected:/etc/passwd", "../x.model", "new=prep-lm"):
        reply = manager.post("/manage/systems", {"system": system})
        assert (reply.status_code, "expected one of article" in reply.text) == (422, True), system
    assert study.read(content.n_decisions) == 0


def decided(study: Study, *systems: str, n: int = 4) -> list[str]:
    """The items of a job, the first `n` of which the systems flag."""
    with study.store.write() as tx:
        ids = [new.items[0][0] for new in new_units(tx, "error")]
        flags = [Decision(each, system, place < n) for system in systems for place, each in enumerate(ids)]
        content.add_decisions(tx, flags)
    return ids


def test_a_sample_is_drawn_shown_and_offered_for_a_job(study: Study) -> None:
    ids = decided(study, "mine")
    manager = study.browser("manager")
    page = manager.get("/manage/systems").text
    assert '<td>mine</td><td class="number">10</td><td class="number">4</td>' in page
    page = manager.post("/manage/samples", {"of": "mine", "n": "6", "flagged": "3", "name": "first"}).text
    assert "<strong>first</strong>: 6 items for mine" in page
    drawn = set(study.read(samples.named, "first").frame["item"])
    assert len(drawn & set(ids[:4])) == 3
    assert "<option selected>first</option>" in manager.get("/manage/jobs/new").text
    made = manager.post("/manage/jobs", {"task": "error", "name": "sampled", "judgments": "1", "sample": "first"})
    assert "<dd>0<small>of 6</small></dd>" in made.text


def test_the_earlier_version_of_a_system_is_chosen_for_the_report(study: Study, tmp_path: Path) -> None:
    ids = decided(study, "mine", "yours")
    rows = [f"{item},{rater},{'ok' if number % 3 else 'error'}" for rater in "AB" for number, item in enumerate(ids)]
    (tmp_path / "told.csv").write_text("\n".join(["item,rater,label", *rows]))
    import_files(study.store, judgments=[tmp_path / "told.csv"], job="told")
    manager = study.browser("manager")
    assert '<option value="yours=mine">mine</option>' in manager.get("/manage/export").text
    report = manager.post("/manage/report", {"earlier": ["", "yours=mine"]}).text
    assert "Compared with mine on the same" in report
    assert "Compared with" not in manager.post("/manage/report", {"earlier": ["", ""]}).text
    refused = manager.post("/manage/report", {"earlier": "yours"})
    assert (refused.status_code, "expected NEW=OLD, found" in refused.text) == (422, True)
    program = Program(study, "manager")
    assert b"Compared with mine on the same" in program.call("report", query="earlier=yours%3Dmine")
    assert "unknown system 'hers'" in str(program.call("report", query="earlier=yours%3Dhers", status=422))


def test_the_report_is_a_download_of_one_job(study: Study) -> None:
    manager = study.browser("manager")
    reply = manager.post("/manage/report", {"title": "Bus <stops>", "job": "error"})
    assert reply.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert "Bus &lt;stops&gt;" in reply.text
    assert manager.post("/manage/report", {"job": "nothing"}).status_code == 404


@pytest.mark.parametrize("n", [1, 9])
def test_the_cost_of_a_width_is_in_the_currency_of_the_study_also_if_most_is_flagged(study: Study, n: int) -> None:
    decided(study, "S", n=n)
    owner = study.browser("owner")
    before = plain(owner.get("/manage/sure?cents=7").text)
    study.write(set_terms, study.jobs["error"], {"pay": {"cents": 7, "currency": "USD"}})
    after = plain(owner.get("/manage/sure?cents=7").text)
    assert (" EUR" in before, " USD" in after, " EUR" in after) == (True, True, False)


def test_no_form_reaches_an_address_not_named_by_owners(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with model_serving(answer) as elsewhere:
        browser, system = study.browser("manager"), f"gpt=chat:{elsewhere.url}#tiny"
        for form in ({"agreed": "1"}, {"agreed": ""}):
            reply = browser.post("/manage/detector", {"source": "ours", "system": system, **form})
            assert reply.status_code == 422
        assert browser.post("/manage/systems", {"system": system}).status_code == 422
        assert not elsewhere.requests
    assert not study.read(runs.latest, most=1)


def test_a_model_over_its_limit_says_so_and_stores_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with model_serving(answer) as model:
        chat = {"most_requests": 1, "cache": str(tmp_path / "answers.jsonl")}
        with served(tmp_path, systems=(f"gpt=chat:{model.url}#tiny",), chat=chat, wait_seconds=60) as study:
            browser, form = study.browser("manager"), {"source": "ours", "system": "gpt"}
            for page in ("/manage/detector", "/manage/systems"):
                assert "At most 1 request." in browser.post(page, form).text
            assert not model.requests
            reply = browser.post("/manage/detector", {**form, "agreed": "1"})
            assert "the limit of 1 request is reached" in reply.text
            assert study.read(content.system_names) == []
        assert len(model.requests) == 1


def test_models_at_two_hosts_with_one_key_are_refused_at_the_start(
    study: Study, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", "secret")
    offers = [word for name in ("a", "b") for word in ("--offer", f"{name}=chat:https://{name}.example/v1#tiny")]
    ran = grater(capsys, "serve", study.store.name, *offers, "--key-env", "MODEL_KEY")
    assert ran.status == 2
    assert "one key is for one host" in ran.err


TEXT = "He depends of the weather. We arrive to the square at six, and my uncle waits for us near of the fountain. "
SYSTEM = "prep-lm"


def ask_for_system(tx: Tx) -> Run:
    return runs.ask(tx, NewRun(kind="system", system=SYSTEM))


def ask_for_report(tx: Tx) -> Run:
    return runs.ask(tx, NewRun(kind="report"))


@pytest.fixture
def unwaiting(tmp_path: Path) -> Iterator[Study]:
    with served(tmp_path, wait_seconds=0) as found:
        yield found


def test_a_page_that_would_wait_too_long_leads_to_the_list_and_the_work_goes_on(unwaiting: Study) -> None:
    manager = unwaiting.browser("manager")
    page = manager.post("/manage/systems", {"system": SYSTEM})
    assert page.url.path == "/manage/runs"
    assert f"Run {SYSTEM} over the essays" in page.text
    wait_until(lambda: "data-running" not in manager.get("/manage/runs").text)
    assert f"{SYSTEM}: " in manager.get("/manage/runs").text
    assert unwaiting.read(content.system_names) == [SYSTEM]


def test_a_run_that_cannot_be_done_or_breaks_our_own_code_says_so_and_the_next_one_is_done(
    unwaiting: Study, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> Outcome:
        raise ZeroDivisionError

    monkeypatch.setattr("grater.annotate.runs.WORK", {**WORK, "report": broken})
    manager = unwaiting.browser("manager")
    with unwaiting.store.write() as tx:
        bad = runs.add(tx, "import", "Import 1 file", {"kind": "corpus"}, files=[runs.RunFile("a.m2", b"X no M2\n")])
        asked = (bad, ask_for_report(tx), ask_for_system(tx))
    wait_until(lambda: "data-running" not in manager.get("/manage/runs").text)
    with unwaiting.store.read() as tx:
        assert [runs.get(tx, each.run_id).state for each in asked] == ["failed", "failed", "done"]
        assert "expected a line starting with" in runs.get(tx, bad.run_id).words
        assert not runs.files_of(tx, bad.run_id, is_result=False)
    assert "went wrong on our side (ZeroDivisionError)" in manager.get("/manage/runs").text
    assert "Report: the study" in caplog.text


def test_a_run_that_ends_every_process_is_given_up(unwaiting: Study) -> None:
    bad = unwaiting.write(ask_for_report)
    unwaiting.clock.now += 1
    good = unwaiting.write(ask_for_system)
    claimed = []
    for _ in range(runs.MOST_TRIES + 1):
        run = unwaiting.write(runs.claim)  # by a process that then dies
        claimed.append(run.run_id)
        unwaiting.clock.now += runs.STALE_MS + 1
    assert claimed == [bad.run_id] * runs.MOST_TRIES + [good.run_id]
    assert "Begun 5 times" in unwaiting.browser("manager").get("/manage/runs").text


def test_a_report_has_its_author_and_the_day_on_which_it_was_made(unwaiting: Study) -> None:
    manager = unwaiting.browser("manager")
    manager.post("/manage/report", {"title": "Two schools", "author": "Ann Other"})
    wait_until(lambda: "data-running" not in manager.get("/manage/runs").text)
    [link] = set(re.findall(r"/manage/runs/[\w-]+/file", manager.get("/manage/runs").text))
    opened = manager.get(f"{link}?open=1")
    assert opened.headers["content-disposition"] == 'inline; filename="report.html"'
    assert opened.headers.get_list("content-security-policy") == [READ_ONLY_POLICY]
    assert READ_ONLY_POLICY.startswith("sandbox")
    assert "allow-scripts" not in READ_ONLY_POLICY
    page = manager.get(link).text
    today = datetime.fromtimestamp(unwaiting.clock() / 1000, UTC)
    assert "<span>Ann Other</span>" in page
    assert f"{today.day} {today:%B %Y}" in page


def test_a_big_import_goes_on_in_the_background(unwaiting: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_pages, "BIG", 10)
    manager = unwaiting.browser("manager")
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
            wait_until(lambda: read(store, runs.get, run.run_id).state == "running")
            first.kill()
        assert read(store, runs.get, run.run_id).state == "running"  # nobody could say otherwise
        with serving(tmp_path / "study.db"):
            wait_until(lambda: read(store, runs.get, run.run_id).state == "done")
        n_decided = read(store, content.n_decisions)
        assert decide(store, [load_system(SYSTEM)])[0].n_items == n_decided
