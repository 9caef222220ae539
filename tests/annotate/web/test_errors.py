"""A page that tells of an error: it keeps the menu of whoever came, and says that nothing typed is lost."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest
from starlette.types import Message

from grater.annotate import invitations
from grater.errors import StoreBusy, StoreFull
from tests.annotate.web.studies import BASE, Study, hidden, served

KEPT = "to find what you filled in"


def test_an_error_keeps_the_menu_of_the_visitor_and_tells_a_stranger_nothing_of_it(bare: Study) -> None:
    page = bare.browser("manager").get("/manage/jobs/none").text
    assert all(words in page for words in ("there is no such job", 'href="/manage/import"', "Log out"))
    assert KEPT not in page
    page = bare.browser().get("/join/nonsense").text
    assert "ask for a new one" in page
    assert "Log out" not in page


@pytest.mark.parametrize("error", [StoreFull("the disk is full"), RuntimeError("nobody foresaw this")])
def test_the_log_of_a_failure_names_the_page_and_not_the_link_that_lets_in(
    bare: Study, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    with bare.store.write() as tx:
        token = invitations.make(tx, role="annotator")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(invitations, "find", fail)
    assert bare.browser().get(f"/join/{token}").status_code >= 500
    assert "GET /join/{token}" in caplog.text
    assert token not in caplog.text


def test_a_busy_page_speaks_to_people_and_names_no_database(bare: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StoreBusy("study.db: another change takes too long; try again")

    monkeypatch.setattr(invitations, "find", fail)
    page = bare.browser().get("/join/nonsense")
    assert (page.status_code, "study.db" in page.text, "The server is busy" in page.text) == (503, False, True)
    assert "Service Unavailable" not in page.text


def test_a_change_that_is_refused_says_that_nothing_typed_is_lost_and_logging_out_still_works(bare: Study) -> None:
    browser = bare.browser("owner")
    reply = browser.post(f"/manage/people/{bare.people['owner'].person_id}/role", {"role": "worker"})
    assert reply.status_code == 403
    assert KEPT in reply.text
    browser.csrf = hidden(reply.text, "csrf")
    assert browser.post("/logout").url.path == "/login"


def test_a_request_out_of_time_is_broken_off_and_may_be_sent_again(tmp_path: Path) -> None:
    with served(tmp_path, request_seconds=-1.0) as study:
        browser = study.browser("manager")
        reply = browser.get("/manage")
        assert reply.status_code == 503
        assert reply.headers["retry-after"]
        assert "took too long" in reply.text
        assert browser.get("/manage/export").status_code == 200, "what takes and makes files has longer"


def test_who_goes_away_while_sending_is_no_error_of_the_server(bare: Study, caplog: pytest.LogCaptureFixture) -> None:
    came: list[Message] = []
    boundary = b"multipart/form-data; boundary=x"
    headers = [(b"host", b"testserver"), (b"origin", BASE.encode()), (b"content-type", boundary)]
    scope = {"type": "http", "method": "POST", "path": "/login", "raw_path": b"/login", "query_string": b""}

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        came.append(message)

    async def ask() -> None:
        await bare.client().app({**scope, "headers": headers, "http_version": "1.1", "scheme": "http"}, receive, send)

    with caplog.at_level(logging.ERROR, logger="grater.annotate.web"):
        asyncio.run(ask())
    assert caplog.records == []
    assert came[0]["status"] == 400
