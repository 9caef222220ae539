"""Headers, sizes, hosts and errors: what holds for every answer.

A page that tells of an error: it keeps the menu of whoever came, and says that nothing typed is lost.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest
from argon2 import Type, extract_parameters
from starlette.types import Message

from grater.annotate import invitations
from grater.annotate.web.security import MOST_BUCKETS, POLICY, Tries
from grater.errors import StoreBusy, StoreFull
from tests.annotate.web.client import Client, spoken_to
from tests.annotate.web.conftest import FULL_HASHER, FULL_NOBODY
from tests.annotate.web.studies import BASE, PASSWORD, Browser, FakeClock, Study, hidden, served


def test_every_answer_has_the_headers(bare: Study) -> None:
    client = bare.client(follow=False)
    for path in ("/login", "/nowhere", "/static/base.css", "/api/v1/me", "/me", "/static/../app.py"):
        headers = client.get(path).headers
        assert headers["content-security-policy"] == POLICY, path
        assert (headers["x-content-type-options"], headers["x-frame-options"]) == ("nosniff", "DENY"), path
        assert (headers.get("cache-control") == "no-store") == (path != "/static/base.css"), path
    assert "unsafe" not in POLICY


def test_https_servers_say_so_and_cookies_are_out_of_reach_of_scripts_and_other_sites(tmp_path: Path) -> None:
    with served(tmp_path) as study:
        study.settings = replace(study.settings, base_url="https://testserver")
        browser = Browser(Client(study.client().app, base_url="https://testserver", follow_redirects=False))
        browser.get("/login")
        form = {"name": "Worker", "password": PASSWORD}
        reply = browser.post("/login", form, headers={"origin": "https://testserver"})
    assert "max-age" in reply.headers["strict-transport-security"]
    (cookie,) = (each for each in reply.headers.get_list("set-cookie") if each.startswith("__Host-grater-session"))
    assert all(words in cookie for words in ("Secure", "HttpOnly", "SameSite=lax", "Path=/"))


def test_a_foreign_host_is_refused(bare: Study) -> None:
    assert bare.client().get("/login", headers={"host": "evil.example"}).status_code == 400


def test_static_files_stay_in_their_folder(bare: Study) -> None:
    client = bare.client()
    for path in ("app.py", "%2e%2e/app.py", "..%2fapp.py", "/etc/passwd", "../../model.py"):
        reply = client.get(f"/static/{path}")
        assert (reply.status_code, "import" in reply.text) == (404, False), path


@pytest.mark.parametrize("path", ["/manage/import", "/api/v1/import", "/login"])
def test_a_hundred_megabytes_are_refused_before_a_byte_is_read(bare: Study, path: str) -> None:
    async def receive() -> Message:
        raise AssertionError("the body was asked for")

    said = asyncio.run(spoken_to(bare.client().app, path, receive, headers=[(b"content-length", b"100000000")]))
    assert said[0]["status"] == 413


def test_only_the_import_takes_large_bodies_and_one_of_unsaid_length_is_stopped_on_the_way(bare: Study) -> None:
    client = bare.browser("manager").client
    chunks = (b"x" * 1_000_000 for _ in range(100))
    headers = {"origin": BASE, "content-type": "application/x-www-form-urlencoded"}
    assert client.post("/manage/import", content=chunks, headers=headers).status_code == 413
    for path in ("/login", "/manage/invitations", "/api/v1/jobs"):
        assert client.post(path, content=b"x" * 2_000_001, headers={"origin": BASE}).status_code == 413, path


def test_a_bucket_of_tries_fills_with_time_and_forgets_what_is_full() -> None:
    clock = FakeClock()
    tries = Tries(a_minute=2, clock=clock)
    assert [tries.take("a") for _ in range(3)] == [True, True, False]
    clock.now += 30_000
    assert [tries.take("a") for _ in range(2)] == [True, False]
    assert tries.take("b")
    for number in range(MOST_BUCKETS + 10):
        tries.take(f"many {number}")
        clock.now += 60_000
    assert len(tries._buckets) < 20


def test_passwords_cost_a_thief_what_the_standard_asks() -> None:
    # OWASP's least for argon2id; tests hash more cheaply (conftest.py)
    parameters = extract_parameters(FULL_HASHER.hash("a quiet evening"))
    assert parameters.type is Type.ID
    assert parameters.memory_cost >= 19 * 1024
    assert parameters.time_cost >= 2
    assert extract_parameters(FULL_NOBODY) == parameters  # refusing somebody who does not exist takes as long


KEPT = "to find what you filled in"


def test_an_error_keeps_the_menu_of_the_visitor_and_tells_a_stranger_nothing_of_it(bare: Study) -> None:
    page = bare.browser("manager").get("/manage/jobs/none").text
    assert all(words in page for words in ("there is no such job", 'href="/manage/import"', "Log out"))
    assert KEPT not in page
    page = bare.browser().get("/join/nonsense").text
    assert "ask for a new one" in page
    assert "Log out" not in page


BUSY = StoreBusy("study.db: another change takes too long; try again")


@pytest.mark.parametrize("error", [BUSY, StoreFull("the disk is full"), RuntimeError("nobody foresaw this")])
def test_a_failure_names_the_page_in_the_log_and_no_link_that_lets_in_and_no_database_on_the_page(
    bare: Study, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    token = bare.write(invitations.make, role="annotator")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(invitations, "find", fail)
    page = bare.browser().get(f"/join/{token}")
    assert page.status_code >= 500
    assert page.headers["content-security-policy"] == POLICY
    assert ("The server is busy" in page.text) == (error is BUSY)
    assert ("Nothing you sent was stored" in page.text) == isinstance(error, RuntimeError)
    assert not any(words in page.text for words in ("study.db", "nobody foresaw", "Service Unavailable"))
    assert error is BUSY or "GET /join/{token}" in caplog.text
    assert token not in caplog.text


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
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    headers = [(b"origin", BASE.encode()), (b"content-type", b"multipart/form-data; boundary=x")]
    with caplog.at_level(logging.ERROR, logger="grater.annotate.web"):
        said = asyncio.run(spoken_to(bare.client().app, "/login", receive, headers=headers))
    assert caplog.records == []
    assert said[0]["status"] == 400
