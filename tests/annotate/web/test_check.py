"""Check my writing: open only where it is switched on, storing nothing that its writer did not agree to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from html import unescape
from pathlib import Path

import pytest

from grater.annotate import content, jobs, judgments, people, proofreading
from grater.annotate.archive import export, import_archive
from grater.annotate.proofreading import MOST_WAITING, Proofreader
from grater.annotate.store import Store, events
from grater.annotate.web.check import LATER
from grater.annotate.writing import JOB, NewPublicPages, public_pages
from grater.errors import StoreBusy, TooBusy, UnknownName
from tests.annotate.web.studies import BASE, TEXTS, Browser, Study, served

TEXT = "The girl waited on the bus.\nThe boy discussed about the film & more. The king listened the music."


@pytest.fixture
def open_study(tmp_path: Path, tiny_model: Path) -> Iterator[Study]:
    with served(tmp_path, check_page=True, check_systems=(str(tiny_model),), check_letters=800) as study:
        yield study


@pytest.fixture
def visitor(open_study: Study) -> Browser:
    browser = open_study.browser()
    browser.get("/check")
    return browser


def marks_of(page: str) -> dict[str, str]:
    """The field of every mark, by its advice."""
    notes = re.findall(r"<strong>(.*?)</strong>.*?name=\"(mark-\w+)\"", page, re.S)
    return {unescape(advice): name for advice, name in notes}


def rows(study: Study) -> list[dict[str, object]]:
    return [dict(row) for row in study.read(judgments.table)]


def test_the_page_is_there_while_an_owner_has_it_open(study: Study) -> None:
    browser, owner = study.browser(), study.browser("owner")
    assert browser.get("/check").status_code == 404
    browser.get("/login")
    assert browser.post("/check", {"text": TEXT}).status_code == 404
    assert browser.post("/check/keep", {"text": TEXT, "consent": "yes"}).status_code == 404
    page = owner.post("/manage/public", {"check_page": "1"})
    assert "Saved." in page.text
    assert f"{BASE}/check" in page.text
    assert (browser.get("/check").status_code, browser.get("/v2/languages").status_code) == (200, 404)
    owner.post("/manage/public", {"editors": "1"})
    assert (browser.get("/check").status_code, browser.get("/v2/languages").status_code) == (404, 200)
    with study.store.read() as tx:
        payloads = [event.payload for event in events.all(tx) if event.verb == "study.public"]
    assert payloads == [{"check_page": True, "editors": False}, {"check_page": False, "editors": True}]
    assert study.browser("manager").get("/manage/public").status_code == 403


def test_what_the_start_of_the_server_opened_a_page_cannot_close(open_study: Study) -> None:
    owner = open_study.browser("owner")
    assert "Opened by the command that started the server" in owner.get("/manage/public").text
    owner.post("/manage/public", {})
    assert open_study.browser().get("/check").status_code == 200


def test_a_study_made_again_from_its_archive_is_closed_to_the_public(study: Study, tmp_path: Path) -> None:
    study.browser("owner").post("/manage/public", {"check_page": "1", "editors": "1"})
    export(study.store, tmp_path / "out")
    with import_archive(tmp_path / "out", tmp_path / "again.db") as store, store.read() as tx:
        assert public_pages(tx) == NewPublicPages(check_page=False, editors=False)


def test_a_visitor_gets_marks_with_the_reason_the_better_word_and_how_sure(visitor: Browser) -> None:
    page = visitor.post("/check", {"text": TEXT})
    assert page.status_code == 200
    assert list(marks_of(page.text)) == ["on → for", "drop about", "put in to"]
    assert "learn “wait for” as one piece" in page.text
    assert "takes its object directly" in page.text
    assert re.search(r"tiny, (sure|fairly sure|not quite sure)", page.text)
    assert "<b>" not in visitor.post("/check", {"text": "<b>The girl</b> waited on the bus."}).text


def test_marks_have_their_places_as_a_browser_counts(visitor: Browser) -> None:
    reply = visitor.post("/check/marks", {"text": f"\N{GRINNING FACE} {TEXT}"})
    assert [(mark["words"], mark["better"], mark["start"]) for mark in reply.json()["marks"]] == [
        ("on", "for", 3 + TEXT.index("on the bus")),
        ("about ", "", 3 + TEXT.index("about the film")),
        ("the", "to the", 3 + TEXT.index("the music")),
    ]
    assert visitor.post("/check/marks", {"text": " "}).status_code == 422
    assert visitor.post("/check/marks", {"text": TEXT * 8}).status_code == 429, "letters count as on the page"


def test_accepted_changes_are_made_and_nothing_is_stored_by_a_check(visitor: Browser, open_study: Study) -> None:
    counted = (content.n_essays, people.count, events.latest)
    before = [open_study.read(count) for count in counted]
    fields = marks_of(visitor.post("/check", {"text": TEXT}).text)
    answers = {fields["on → for"]: "accept", fields["drop about"]: "reject", fields["put in to"]: "accept"}
    page = visitor.post("/check", {"text": TEXT, **answers}).text
    text = unescape(re.search(r'name="text" value="(.*?)"', page, re.S)[1])  # type: ignore[index]
    assert text == TEXT.replace("on the bus", "for the bus").replace("listened the", "listened to the")
    assert [open_study.read(count) for count in counted] == before


def test_without_consent_or_an_answer_nothing_is_kept(visitor: Browser, open_study: Study) -> None:
    field = marks_of(visitor.post("/check", {"text": TEXT}).text)["on → for"]
    page = visitor.post("/check/keep", {"text": TEXT, field: "accept"})
    assert (page.status_code, "Nothing was saved" in page.text) == (422, True)
    assert re.search(rf'name="{field}" value="accept" checked', page.text), "answers stay on the page"
    assert visitor.post("/check/keep", {"text": TEXT, "consent": "yes", "mark-odd": "accept"}).status_code == 422
    assert (rows(open_study), open_study.read(content.n_essays)) == ([], len(TEXTS))


def test_with_consent_answers_become_judgments_of_a_job_of_their_own(visitor: Browser, open_study: Study) -> None:
    fields = marks_of(visitor.post("/check", {"text": TEXT}).text)
    answers = {fields["on → for"]: "accept", fields["put in to"]: "reject"}
    page = visitor.post("/check/keep", {"text": TEXT, "consent": "yes", **answers})
    assert (page.status_code, "2 answers are kept" in page.text) == (200, True)
    stored = rows(open_study)
    assert sorted(str(row["label"]) for row in stored) == ["suggestion better", "writer's better"]
    assert {row["job"] for row in stored} == {JOB}
    assert len({row["rater"] for row in stored}) == 1
    with open_study.store.read() as tx:
        kept = [essay for essay in content.all_essays(tx) if essay.text == TEXT]
        writer = people.all(tx)[-1]
    assert [essay.metadata["from"] for essay in kept] == [JOB]
    assert (writer.password_hash, writer.role) == ("", "worker")
    visitor.post("/check/keep", {"text": TEXT, "consent": "yes", **answers})
    assert len({row["rater"] for row in rows(open_study)}) == 2, "the same text sent again is another writer"


def test_a_file_is_read_and_what_is_no_text_is_refused_in_one_line(visitor: Browser) -> None:
    for text, words in ((" \n", "Nothing to check yet"), ("a " * 10_001, "expected at most 20,000 characters")):
        page = visitor.post("/check", {"text": text})
        assert (page.status_code, words in page.text) == (422, True)
    page = visitor.post("/check", {"text": ""}, files={"file": ("a.txt", TEXT.replace("\n", "\r\n").encode())})
    assert list(marks_of(page.text)) == ["on → for", "drop about", "put in to"]
    page = visitor.post("/check", {"text": ""}, files={"file": ("a.docx", b"PK\x03\x04\xff\xfe")})
    assert (page.status_code, "save it as text" in page.text) == (422, True)


def test_too_many_texts_wait_and_are_not_lost(visitor: Browser, open_study: Study) -> None:
    assert [visitor.post("/check", {"text": TEXT}).status_code for _ in range(5)] == [200] * 4 + [429]
    refused = visitor.post("/check", {"text": TEXT})
    assert ("The girl waited on the bus." in refused.text, refused.headers["retry-after"]) == (True, "60")
    assert open_study.browser("annotator").post("/check", {"text": TEXT}).status_code == 200, "people have their own"
    open_study.clock.now += 60_000
    assert visitor.post("/check", {"text": TEXT}).status_code == 200


def test_a_crowd_of_writers_is_asked_to_come_again_and_waits_in_no_thread(visitor: Browser) -> None:
    with ExitStack() as waiting:
        for _ in range(MOST_WAITING):
            waiting.enter_context(visitor.client.app.state.server.proofreader._places)
        page = visitor.post("/check", {"text": TEXT})
    assert (page.status_code, "Yours was not" in page.text, "The girl waited" in page.text) == (503, True, True)
    assert page.headers["retry-after"] == "5"


def check_for_ever(proofreader: Proofreader) -> None:
    while True:
        proofreader.check(TEXT * 100)


def test_a_text_that_takes_too_long_ends_its_process_alone(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proofreader = Proofreader((str(tiny_model),), seconds=-1000)
    with pytest.raises(TooBusy, match="took too long"):
        check_for_ever(proofreader)  # until the process has used one CPU second, the least that a limit can be
    proofreader.seconds = 60
    assert len(proofreader.check(TEXT).marks) == 3
    with monkeypatch.context() as patch:
        patch.setattr(proofreading, "STARTING_SECONDS", 0.0)
        patch.setattr(proofreading, "PATIENCE", 0.0)
        with pytest.raises(TooBusy, match="took too long"):
            proofreader.check(TEXT * 100)
    assert proofreader._process is None
    proofreader.names = ("no-such-system",)
    for _ in range(MOST_WAITING + 1):  # what goes wrong gives its place back
        with pytest.raises(UnknownName, match="no-such-system"):
            proofreader.check(TEXT)
    proofreader.stop()


def refuse(*_: object, **__: object) -> None:
    raise StoreBusy("study.db: another change takes too long; try again")


def test_a_busy_server_gives_all_back(visitor: Browser, open_study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    field = marks_of(visitor.post("/check", {"text": TEXT}).text)["on → for"]
    sent = {"text": TEXT, "consent": "yes", field: "accept"}
    with monkeypatch.context() as patch:
        patch.setattr("grater.annotate.web.check.keep", refuse)
        page = visitor.post("/check/keep", sent)
    assert (page.status_code, LATER in page.text, "study.db" in page.text) == (503, True, False)
    assert re.search(rf'name="{field}" value="accept" checked', page.text), "the marks stand with their answers"
    assert re.search('name="consent" value="yes" checked', page.text)
    with monkeypatch.context() as patch:
        patch.setattr("grater.annotate.web.check.require_open", refuse)
        patch.setattr(Store, "glance", refuse)
        page = visitor.post("/check/keep", sent)
    assert (page.status_code, LATER in page.text, "The girl waited" in page.text) == (503, True, True)
    again = dict(re.findall(r'<input type="hidden" name="(mark-\w+|consent)" value="(\w+)">', page.text))
    assert again == {field: "accept", "consent": "yes"}
    assert visitor.post("/check/keep", {"text": TEXT, **again}).status_code == 200
    assert [row["label"] for row in rows(open_study)] == ["suggestion better"]


@pytest.mark.parametrize("task", ["error", "verify"])
def test_answers_go_into_no_other_or_closed_job_of_the_name(visitor: Browser, open_study: Study, task: str) -> None:
    with open_study.store.write() as tx:
        job = jobs.add(tx, name=JOB, task=task, access="assigned")
        jobs.set_state(tx, job.job_id, "open" if task == "error" else "closed")
    fields = marks_of(visitor.post("/check", {"text": TEXT}).text)
    page = visitor.post("/check/keep", {"text": TEXT, "consent": "yes", fields["on → for"]: "accept"})
    assert (page.status_code, "does not collect answers" in page.text, rows(open_study)) == (422, True, [])
    assert re.search(rf'name="{fields["on → for"]}" value="accept" checked', page.text), "answers stay on the page"
