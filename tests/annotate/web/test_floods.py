"""What one identity or address can cost is bounded: bytes stored, CPU seconds and bytes sent (P16)."""

from __future__ import annotations

import asyncio
import json
import os
import random
import socket
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from email.message import Message as Headers
from http.client import HTTPConnection
from pathlib import Path
from threading import Barrier
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import func, select
from starlette.types import Message

from grater.annotate import credentials, people
from grater.annotate.store import Tx, schema
from grater.annotate.store.transaction import DAY
from grater.annotate.submissions import MOST_SURPLUS
from grater.annotate.web.security import masked
from grater.annotate.web.serving import HEAD_SECONDS, MOST_UNSENT
from grater.annotate.writing import NewPublicPages, open_to_public
from tests.annotate.web.client import spoken_to
from tests.annotate.web.processes import serving
from tests.annotate.web.studies import Browser, Study, hidden, served
from tests.annotate.web.test_work_marking import save


def taken(study: Study, task: str, who: str = "worker") -> tuple[Browser, str]:
    browser = study.browser(who)
    path = browser.post(f"/jobs/{study.jobs[task]}/next").url.path
    return browser, path


def bytes_stored(study: Study) -> int:
    with study.store.read() as tx:
        return int(tx.value(select(func.coalesce(func.sum(func.length(schema.submissions.c.body)), 0))))


def test_a_lease_stores_the_fields_of_its_task_alone_and_few_surplus_answers(study: Study) -> None:
    browser, path = taken(study, "error")
    for sent in ({"label": "ok", "filler": "x" * 100_000}, {"label": ["ok"] * 900}, {"label": "ok", "edits": "[]"}):
        reply = browser.post(path, {**sent, "submission_id": "one"})
        assert reply.status_code == 422
    sent = {"fields": {"label": ["ok"], "filler": ["x"]}}
    reply = study.client().post(f"/api/v1{path}", json=sent, headers=study.bearer("worker"))
    assert (reply.status_code, "'filler'" in reply.json()["error"]["message"]) == (422, True)
    assert bytes_stored(study) == 0
    statuses = [browser.post(path, {"label": "ok", "submission_id": f"s{n}"}).status_code for n in range(7)]
    assert statuses == [200] * (1 + MOST_SURPLUS) + [409] * (6 - MOST_SURPLUS)
    assert browser.post(path, {"label": "ok", "submission_id": "s0"}).status_code == 200, "a replay is no answer"
    with study.store.read() as tx:
        assert tx.value(select(func.count()).select_from(schema.submissions)) == 1 + MOST_SURPLUS


def test_marks_take_room_by_the_length_of_their_essay(study: Study) -> None:
    browser, path = taken(study, "marking")
    mark = {"start": 0, "end": 0, "quote": "", "tag": "Others", "replacements": ["x"], "comment": "y" * 1999}
    many = json.dumps([mark] * 20)
    assert browser.post(path, {"edits": many}).status_code == 422
    for edits in (json.loads(many), [mark | {"filler": "x"}]):
        assert save(browser, path, 0, edits).status_code == 422
    assert bytes_stored(study) == 0
    assert browser.post(path, {"edits": json.dumps([mark])}).status_code == 200


def test_a_guest_and_a_visitor_have_a_number_of_requests_and_people_with_accounts_do_not(tmp_path: Path) -> None:
    with served(tmp_path, tasks=("error",), guest_requests=5, guest_bytes=6_000, refusal_seconds=0) as study:
        visitor, guest, rater = study.browser(), study.browser(add_guest(study)), study.browser("worker")
        assert [visitor.get("/login").status_code for _ in range(6)] == [200] * 5 + [429]
        study.clock.now += 60_000
        assert visitor.get("/api/v1/openapi.json").status_code == 429, "it counts for 60"
        study.clock.now += 60_000
        assert visitor.post("/login", {"name": "x" * 70_000}).status_code != 429, "which counts for four"
        assert [visitor.get(path).status_code for path in ("/nowhere", "/nowhere")] == [404, 429]
        assert [rater.get("/jobs").status_code for _ in range(6)] == [200] * 6
        sent = [guest.post(f"/jobs/{study.jobs['error']}/next", follow_redirects=False) for _ in range(4)]
        assert [reply.status_code for reply in sent] == [303] * 3 + [429], "three of 1,700 bytes and their words"
        assert (sent[-1].headers["retry-after"], sent[-1].headers["connection"]) == ("60", "close")
        assert [guest.get("/jobs").status_code for _ in range(2)] == [200, 429]
        study.clock.now += 60_000
        assert guest.get("/jobs").status_code == visitor.get("/login").status_code == 200


def test_a_guest_without_budget_costs_the_study_no_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    find = people.find_session

    def noted(tx: Tx, token: str) -> Any:
        asked.append(token)
        return find(tx, token)

    monkeypatch.setattr("grater.annotate.web.context.people.find_session", noted)
    with served(tmp_path, guest_requests=3, refusal_seconds=0) as study:
        guest = study.browser(add_guest(study))
        assert [guest.get("/jobs").status_code for _ in range(6)] == [200] * 3 + [429] * 3
        assert len(asked) == 3
        study.clock.now += 60_000
        study.write(credentials.end_session, asked[0])
        replies = [guest.get("/jobs", follow_redirects=False) for _ in range(4)]
        assert [reply.status_code for reply in replies] == [303] * 4, "a session that has ended has no budget"


def test_a_visitor_is_served_in_turn_whatever_the_clock_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(round(seconds, 1))

    monkeypatch.setattr("grater.annotate.web.context.sleep", note)
    with served(tmp_path, guest_requests=300, refusal_seconds=0) as study:
        visitor, rater = study.browser(), study.browser("worker")
        assert [visitor.get("/login").status_code for _ in range(13)] == [200] * 13
        assert waits == [0.0] * 10 + [0.2, 0.4, 0.6]
        assert [rater.get("/jobs").status_code for _ in range(13)] == [200] * 13
        assert waits[13:] == [0.0] * 13
        assert [visitor.get("/api/v1/openapi.json").status_code for _ in range(5)] == [200] * 4 + [429]
        assert [visitor.get("/login").status_code for _ in range(43)] == [200] * 42 + [429], "nothing is left"
        study.clock.now -= DAY
        assert visitor.get("/login").status_code == 429
        study.clock.now += 60_000
        assert visitor.get("/login").status_code == 200
        assert [visitor.get("/login").status_code for _ in range(130)][-1] == 429, "it would wait too long"


def test_few_requests_of_a_stranger_are_worked_on_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_work: list[int] = []
    seen: list[int] = []
    wanted = [Barrier(1)]

    def slow(*_: object) -> tuple[()]:
        at_work.append(1)
        seen.append(len(at_work))
        wanted[0].wait(timeout=60)
        time.sleep(0.05)  # for one too many to come
        at_work.pop()
        return ()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def most_at_once(app: Any, path: str, n: int, *who: tuple[str, bytes]) -> int:
        """The most requests, by address and cookie, that were worked on at a time; each waits until there are n."""
        seen.clear()
        wanted[0] = Barrier(n)
        requests = (
            spoken_to(app, path, receive, method="GET", address=address, headers=[(b"cookie", cookie)])
            for address, cookie in who
        )
        await asyncio.gather(*requests)
        return max(seen)

    monkeypatch.setattr("grater.annotate.web.account.check.is_open", slow)
    monkeypatch.setattr("grater.annotate.marks.open_findings", slow)
    with served(tmp_path) as study:
        app, names = study.client().app, [add_guest(study, f"Guest {n}") for n in range(2)]
        with study.store.write() as tx:
            ids = [people.named(tx, name).person_id for name in names]
            cookies = [f"grater-session={credentials.start_session(tx, each, hours=1)[0]}".encode() for each in ids]
        assert asyncio.run(most_at_once(app, "/login", 2, *[("192.0.2.1", b"")] * 6)) == 2
        assert asyncio.run(most_at_once(app, "/login", 3, *((f"192.0.2.{n}", b"") for n in range(6)))) > 2
        assert asyncio.run(most_at_once(app, "/jobs", 1, *[("192.0.2.1", cookies[0])] * 3)) == 1
        assert asyncio.run(most_at_once(app, "/jobs", 2, *(("192.0.2.1", each) for each in cookies))) == 2


def add_guest(study: Study, name: str = "Guest") -> str:
    """Somebody who came by a link: a rater without a password."""
    return study.write(people.add, name=name, role="worker").name


GOALS = {"cpu": 10.0, "sent": 5_000_000, "stored": 100_000}
FUNCTION_WORDS = ("of", "in", "to", "for", "at", "on", "by", "with", "from", "about", "the", "a")


def test_one_client_costs_the_server_little_and_others_are_served(tmp_path: Path) -> None:
    """All that an anonymous client can think of, against a server in a process of its own, as it is shipped."""
    with served(tmp_path, tasks=("error", "marking")) as study:
        add_guest(study)
        with study.store.write() as tx:
            open_to_public(tx, NewPublicPages(check_page=True, editors=True))
            token, session = credentials.start_session(tx, people.named(tx, "Guest").person_id, hours=12)
        job_id = study.jobs["error"]
    with serving(tmp_path / "study.db") as (port, server):
        honest, client = Flood(port, "127.0.0.2"), Flood(port, "127.0.0.3")
        short = {"text": "The girl waited on the bus.", "language": "en-US"}
        assert honest.post("/v2/check", short) == 200  # which loads the systems
        pace = [slowness()]
        cpu, stored = cpu_seconds(server.pid), size_of(tmp_path / "study.db")
        rng = random.Random(1)
        words = [rng.choice(FUNCTION_WORDS) for _ in range(8_000)]
        text = " ".join(words)[:20_000]
        assert client.post("/v2/check", {"text": text, "language": "en-US"}) == 413, "as long as 50,000 letters"
        text = " ".join(words[:2_000])
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(client.post, "/v2/check", {"text": text, "language": "en-US"})
            assert honest.post("/v2/check", short) == 200, "others wait for one text at the most"
            assert first.result() == 200
        assert client.post("/v2/check", {"text": text, "language": "en-US"}) == 429
        guest = Flood(port, "127.0.0.3", {"cookie": f"grater-session={token}"})
        own = {"csrf": session.csrf}
        assert [client.get("/login") for _ in range(40)] == [200] * 40
        path = guest.location(f"/jobs/{job_id}/next", own)
        assert guest.post(path, own | {"label": "ok", "filler": "x" * 5_000}) == 422
        heard = [guest.post(path, own | {"label": "ok", "submission_id": f"s{number}"}) for number in range(6)]
        assert heard == [303] * (1 + MOST_SURPLUS) + [409] * (5 - MOST_SURPLUS)
        while (path := guest.location(f"/jobs/{job_id}/next", own)).startswith("/leases/"):
            guest.post(path, own | {"label": "ok"})
        while guest.post(f"/jobs/{job_id}/messages", own | {"text": "x" * 4_900}) != 429:
            assert guest.status == 303
        assert honest.get("/login") == 200
        pace.append(slowness())
        spent = {"cpu": (cpu_seconds(server.pid) - cpu) / max(1, sum(pace) / 2)}
        spent["sent"] = client.n_bytes + guest.n_bytes
    spent["stored"] = size_of(tmp_path / "study.db") - stored
    assert {name: spent[name] <= most for name, most in GOALS.items()} == dict.fromkeys(GOALS, True), spent


@dataclass
class Flood:
    """A client at an address of this machine; it counts what the server sends."""

    port: int
    address: str
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 0
    n_bytes: int = 0

    def get(self, path: str) -> int:
        self._ask("GET", path, None)
        return self.status

    def post(self, path: str, fields: dict[str, str]) -> int:
        self._ask("POST", path, urlencode(fields))
        return self.status

    def location(self, path: str, fields: dict[str, str]) -> str:
        return self._ask("POST", path, urlencode(fields)).get("location", "")

    def _ask(self, method: str, path: str, body: str | None) -> Headers:
        line = HTTPConnection("127.0.0.1", self.port, timeout=300, source_address=(self.address, 0))
        form = {"content-type": "application/x-www-form-urlencoded", "origin": f"http://127.0.0.1:{self.port}"}
        line.request(method, path, body, self.headers | (form if body is not None else {}))
        reply = line.getresponse()
        self.status, self.n_bytes = reply.status, self.n_bytes + len(str(reply.headers)) + len(reply.read())
        line.close()
        return reply.headers


def slowness() -> float:
    """The CPU seconds that a fixed piece of work takes now, over those on two idle cores: a core shares its time."""
    before, total = time.process_time(), 0
    for number in range(5_000_000):
        total += number
    return (time.process_time() - before) / 0.45


def cpu_seconds(pid: int) -> float:
    """Of a process and all that it has started."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
    threads = Path(f"/proc/{pid}/task").iterdir()
    children = [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    return own + sum(map(cpu_seconds, children))


def size_of(path: Path) -> int:
    """The pages that a study fills, its write-ahead log included."""
    with closing(sqlite3.connect(path)) as study:
        names = ("page_count", "freelist_count", "page_size")
        n_pages, n_free, size = (study.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    return int((n_pages - n_free) * size)


def test_half_sent_requests_keep_nobody_out_and_are_closed(tmp_path: Path) -> None:
    with served(tmp_path):
        pass
    with serving(tmp_path / "study.db", RLIMIT_NOFILE=100) as (port, _), ExitStack() as held:
        half_sent = [held.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(150)]
        for line in half_sent:
            line.sendall(b"GET /login HTTP/1.1\r\nHost: ")
        assert Flood(port, "127.0.0.1").get("/healthz") == 200
        assert all(map(is_closed, half_sent))
        assert Flood(port, "127.0.0.1").get("/healthz") == 200


def test_half_sent_requests_of_one_address_close_those_of_no_other(tmp_path: Path) -> None:
    with served(tmp_path):
        pass
    with serving(tmp_path / "study.db") as (port, _), ExitStack() as held:

        def half_sent(address: str) -> socket.socket:
            line = socket.create_connection(("127.0.0.1", port), source_address=(address, 0))
            line.sendall(b"GET /login HTTP/1.1\r\nHost: ")
            return held.enter_context(line)

        honest, begun = half_sent("127.0.0.2"), time.monotonic()
        many = [half_sent("127.0.0.3") for _ in range(MOST_UNSENT + 30)]
        assert all(map(is_closed, many[:30]))
        assert time.monotonic() - begun < HEAD_SECONDS, "at once, not when their time is over"
        honest.sendall(b"127.0.0.1\r\n\r\n")
        assert honest.recv(100).startswith(b"HTTP/1.1 ")


def is_closed(line: socket.socket) -> bool:
    """Whether the other side closes; waits until it says something."""
    try:
        return line.recv(100) == b""
    except ConnectionResetError:
        return True


def test_a_body_that_drips_is_given_up(tmp_path: Path) -> None:
    async def receive() -> Message:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"x", "more_body": True}

    headers = [(b"origin", b"http://testserver"), (b"content-type", b"application/x-www-form-urlencoded")]
    with served(tmp_path, body_seconds=0.1) as study:
        said = asyncio.run(spoken_to(study.client().app, "/login", receive, headers=headers))
    assert said[0]["status"] == 408
    assert (b"connection", b"close") in said[0]["headers"]


def test_pages_are_compressed_and_carry_no_token_that_a_length_could_betray(study: Study) -> None:
    browser = study.browser("worker")
    session_token = browser.csrf
    pages = [browser.get("/jobs") for _ in range(2)]
    assert [page.headers["content-encoding"] for page in pages] == ["gzip"] * 2
    tokens = {hidden(page.text, "csrf") for page in pages}
    assert len(tokens) == 2
    assert not any(session_token in page.text for page in pages)
    for token in tokens:
        browser.csrf = token
        assert browser.post(f"/jobs/{study.jobs['error']}/next").status_code == 200
    browser.csrf = masked("x" * len(session_token))
    assert browser.post(f"/jobs/{study.jobs['error']}/next").status_code == 403
    assert study.client().head("/login").status_code == 200
    assert study.client(follow=False).head("/").status_code == study.client(follow=False).get("/").status_code
