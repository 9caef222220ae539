"""Webhooks: signed, sent in order and again after a failure, only to addresses outside; bad receivers harm nobody."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from html import unescape
from itertools import repeat
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from sqlalchemy import func, select

from grater.annotate import jobs, webhooks
from grater.annotate.store import schema
from grater.annotate.units import FINISHED
from grater.annotate.webhooks import CLAIM_MS, MOST_FAILURES, Reply, Sender, is_outside, post_outside, signature
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import Study


class Outside:
    """A program that hears webhooks; `status` is what it answers."""

    secret = ""

    def __init__(self) -> None:
        self.heard: list[tuple[dict[str, Any], str]] = []
        self.status = 200

    def __call__(self, url: str, body: bytes, headers: Any) -> Reply:  # noqa: ARG002
        self.heard.append((json.loads(body), headers["x-grater-signature"]))
        self.body = body
        return Reply(self.status)


def with_webhook(study: Study, *verbs: str) -> tuple[Outside, Sender]:
    object.__setattr__(study.settings, "private_webhooks", True)
    outside = Outside()
    sent = {"url": "http://127.0.0.1:9/hook", "verbs": list(verbs)}
    outside.secret = Program(study, "owner").post("/webhooks", sent)["secret"]
    return outside, Sender(study.store, post=outside)


def send_all(sender: Sender) -> int:
    """One round, waited for to its end; the number of events that were heard."""
    n_before = n_delivered(sender)
    for thread in sender.start_round().values():
        thread.join()
    return n_delivered(sender) - n_before


def n_delivered(sender: Sender) -> int:
    with sender.store.read() as tx:
        delivered = schema.deliveries.c.state == "delivered"
        return int(tx.value(select(func.count()).select_from(schema.deliveries).where(delivered)))


def finish_one(study: Study) -> None:
    for who in ("worker", "annotator"):
        program = Program(study, who)
        while lease := program.post(f"/jobs/{study.jobs['construction']}/next")["lease"]:
            fields = {field["name"]: ["yes"] for field in lease["fields"]}
            program.post(f"/leases/{lease['lease_id']}", {"fields": fields})


def test_a_finished_unit_is_sent_once_and_signed(study: Study) -> None:
    outside, sender = with_webhook(study)
    finish_one(study)
    assert send_all(sender) == 1
    assert send_all(sender) == 0
    ((body, signed),) = outside.heard
    assert body.keys() == Program(study, "owner").described.shape("WebhookEvent")["properties"].keys()
    assert body["verb"] == FINISHED
    assert body["payload"]["job"] == "construction"
    assert sorted(body["payload"]["labels"].values()) == [["yes", "yes"]] * 5
    assert signed == signature(outside.secret, outside.body)


def test_a_webhook_gets_only_what_it_asked_for(study: Study) -> None:
    outside, sender = with_webhook(study, "job.state")
    happen(study)
    finish_one(study)
    send_all(sender)
    assert [body["verb"] for body, _ in outside.heard] == ["job.state"]


def test_a_restart_forgets_no_failure_and_a_webhook_taken_up_again_starts_anew(study: Study) -> None:
    outside, sender = with_webhook(study)
    finish_one(study)
    outside.status = 500
    send_all(sender)
    restarted = Sender(study.store, post=outside)
    assert (send_all(restarted), len(outside.heard)) == (0, 1)
    for _ in range(MOST_FAILURES - 1):
        study.clock.now += 10_000_000
        send_all(restarted)
    with study.store.write() as tx:
        (paused,) = webhooks.all(tx)
        assert (paused.state, len(outside.heard)) == ("paused", MOST_FAILURES)
        webhooks.set_state(tx, paused.webhook_id, "active")
    outside.status = 200
    assert send_all(restarted) == 1  # at once, though the last failure was a moment ago


def test_a_process_that_stalled_neither_notes_nor_releases_what_another_has_taken_over(study: Study) -> None:
    outside, stalled = with_webhook(study)
    finish_one(study)
    is_delivered, is_late = threading.Event(), threading.Event()

    def tell_at_last(*given: Any) -> Reply:
        is_delivered.set()
        assert is_late.wait(60)
        return outside(*given)

    def stall(*_: object) -> Reply:
        study.clock.now += CLAIM_MS
        second.start_round()
        assert is_delivered.wait(60)
        return Reply(500)

    second, third = (Sender(study.store, post=post) for post in (tell_at_last, outside))
    stalled.post = stall
    send_all(stalled)
    send_all(third)
    assert outside.heard == []  # the second has it still
    is_late.set()
    for thread in second._busy.values():
        thread.join(60)
    with study.store.read() as tx:
        (webhook,) = webhooks.all(tx)
        assert [each.state for each in webhooks.deliveries_of(tx, webhook.webhook_id)] == ["delivered"]
    assert len(outside.heard) == 1


def test_a_verb_that_there_is_not_is_answered_with_the_nearest_and_too_many_are_refused(bare: Study) -> None:
    owner = Program(bare, "owner")
    for verbs, words in (
        (["submission.store"], "Did you mean 'submission.stored'?"),
        (["job.state"] * 31, "at most 30"),
    ):
        reply = owner.post("/webhooks", {"url": "http://127.0.0.1:9/", "verbs": verbs}, 422)
        assert words in reply["error"]["message"]


PATIENCE_SECONDS = 60
OK = b"HTTP/1.1 200 OK\r\n\r\n"
Behaviour = Callable[[socket.socket], None]


class Receiver:
    """A socket server; `behaviour` gets every connection, `heard` are the requests so far."""

    def __init__(self, behaviour: Behaviour | None = None, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.behaviour = behaviour or says(b"HTTP/1.1 204 No Content\r\n\r\n")
        self.heard: list[bytes] = []
        self.has_heard = threading.Event()
        self.line = socket.create_server((host, port))
        self.port = int(self.line.getsockname()[1])
        self.url = f"http://{host}:{self.port}/hook"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):  # closed
            while True:
                connection, _ = self.line.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            self.heard.append(connection.recv(65536))
            self.has_heard.set()
            self.behaviour(connection)
            connection.shutdown(socket.SHUT_WR)
            drain(connection)  # closed with something unread, the connection would be reset before the answer is read

    def __enter__(self) -> Receiver:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self.line.shutdown(socket.SHUT_RDWR)
        self.line.close()


def says(*pieces: bytes) -> Behaviour:
    def behaviour(connection: socket.socket) -> None:
        connection.sendall(b"".join(pieces))

    return behaviour


def without_end(first: bytes, then: bytes) -> Behaviour:
    def behaviour(connection: socket.socket) -> None:
        connection.sendall(first)
        for piece in repeat(then):
            connection.sendall(piece)

    return behaviour


def drips(connection: socket.socket) -> None:
    """A byte at a time, each well within any timeout for one step."""
    for byte in repeat(b"H"):
        connection.sendall(byte)
        if threading.Event().wait(0.05):
            return


def drain(connection: socket.socket) -> None:
    while connection.recv(1024):
        pass


MISBEHAVING = {
    b"SSH-2.0-OpenSSH_9.6 hello\r\n": "the answer is not HTTP",
    b"": "the answer is not HTTP",
    bytes(range(256)): "the answer is not HTTP",
    b"HTTP/1.1 OK what now\r\n\r\n": "the answer is not HTTP",
    b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\n\r\n": "redirects are not followed",
    b"HTTP/1.0 500 Broken\r\n\r\n": "refused by the receiver",
}
"""What receivers answer, and what the sender says of it."""
INTERIM = without_end(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 500)


@pytest.fixture
def hooked(study: Study, monkeypatch: pytest.MonkeyPatch) -> Study:
    object.__setattr__(study.settings, "private_webhooks", True)
    monkeypatch.setattr(webhooks, "TIMEOUT_SECONDS", PATIENCE_SECONDS)
    return study


def add(study: Study, url: str) -> str:
    """A webhook as an older version would have taken it, unchecked; give its id."""
    return study.write(webhooks.add, url=url, verbs=["job.state"]).webhook_id


def happen(study: Study) -> None:
    study.write(jobs.set_state, study.jobs["error"], "paused")


def last_delivery(study: Study, webhook_id: str) -> webhooks.Delivery:
    return study.read(webhooks.deliveries_of, webhook_id, most=1)[0]


@pytest.fixture
def receivers() -> Iterator[list[Receiver]]:
    with ExitStack() as stack:
        yield [stack.enter_context(Receiver(says(answer))) for answer in MISBEHAVING]


def test_the_fault_of_a_receiver_is_its_own_logged_shown_and_tried_again_after_a_restart(
    hooked: Study, receivers: list[Receiver], caplog: pytest.LogCaptureFixture
) -> None:
    found = zip(receivers, MISBEHAVING.values(), strict=True)
    expected = {add(hooked, receiver.url): problem for receiver, problem in found}
    plain = receivers[-1].url
    expected[add(hooked, plain.replace("http:", "https:"))] = "no secure connection"
    expected[add(hooked, plain + " with a space")] = "without spaces"
    expected[add(hooked, "http://127.0.0.1:1/nobody-listens")] = "no connection"
    with Receiver() as good, caplog.at_level(logging.WARNING, logger=webhooks.LOG.name):
        add(hooked, good.url)
        happen(hooked)
        assert send_all(Sender(hooked.store, allow_private=True)) == 1
        assert len(good.heard) == 1
    listening = {webhook_id: last_delivery(hooked, webhook_id) for webhook_id in expected}
    assert {webhook_id: each.state for webhook_id, each in listening.items()} == dict.fromkeys(expected, "failed")
    assert [each.problem for each in listening.values() if expected[each.webhook_id] not in each.problem] == []
    assert all(webhook_id in caplog.text for webhook_id in expected)
    page = unescape(hooked.browser("owner").get("/manage/webhooks").text)
    assert all(each.problem in page for each in listening.values())
    assert "See why" in hooked.browser("owner").get("/manage").text
    hooked.clock.now += 3_000
    for receiver in receivers:
        receiver.behaviour = says(b"HTTP/1.1 100 Continue\r\n\r\n", OK)
    assert send_all(Sender(hooked.store, allow_private=True)) == len(receivers)


@pytest.mark.parametrize("behaviour", [drips, drain, INTERIM], ids=["a slow drip", "silence", "interim answers"])
def test_a_receiver_that_gives_no_answer_is_not_waited_for(
    hooked: Study, behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "TIMEOUT_SECONDS", 0.4)
    with Receiver(behaviour) as receiver:
        webhook_id = add(hooked, receiver.url)
        happen(hooked)
        assert send_all(Sender(hooked.store, allow_private=True)) == 0
    assert last_delivery(hooked, webhook_id).problem == "no answer within 0.4 seconds"


def test_an_endless_answer_counts_by_its_status(hooked: Study) -> None:
    with Receiver(without_end(OK, b"x" * 65536)) as receiver:
        webhook_id = add(hooked, receiver.url)
        happen(hooked)
        assert send_all(Sender(hooked.store, allow_private=True)) == 1
    assert last_delivery(hooked, webhook_id).http_status == 200


def test_a_slow_receiver_delays_nobody_else(hooked: Study) -> None:
    may_answer = threading.Event()

    def slow(connection: socket.socket) -> None:
        may_answer.wait(PATIENCE_SECONDS)
        says(OK)(connection)

    with Receiver(slow) as late, Receiver() as good:
        late_id, good_id = add(hooked, late.url), add(hooked, good.url)
        sender = Sender(hooked.store, allow_private=True)
        happen(hooked)
        first = sender.start_round()
        assert late.has_heard.wait(PATIENCE_SECONDS)
        first[good_id].join(PATIENCE_SECONDS)
        happen(hooked)  # more news while the slow one still has the first
        [(webhook_id, second)] = sender.start_round().items()
        second.join(PATIENCE_SECONDS)
        assert (webhook_id, len(late.heard), len(good.heard)) == (good_id, 1, 2)
        may_answer.set()
        first[late_id].join(PATIENCE_SECONDS)
        assert len(late.heard) == 2  # with what it missed meanwhile


def test_the_loop_outlives_what_nobody_foresaw(hooked: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    troubles: list[Exception] = [RuntimeError("unforeseen"), KeyError("nor this")]
    start_round = Sender.start_round

    def stumbling(sender: Sender) -> Any:
        if troubles:
            raise troubles.pop()
        return start_round(sender)

    monkeypatch.setattr(webhooks, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(Sender, "start_round", stumbling)
    with Receiver() as good:
        add(hooked, good.url)
        happen(hooked)
        app = hooked.client().app
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(app.router.lifespan_context(app)):
            assert good.has_heard.wait(PATIENCE_SECONDS)
    assert troubles == []


def test_a_webhook_that_breaks_our_own_code_is_noted_and_waits(hooked: Study) -> None:
    webhook_id = add(hooked, "http://127.0.0.1:9/")
    happen(hooked)

    def broken(*_: object) -> Any:
        raise ZeroDivisionError

    sender = Sender(hooked.store, allow_private=True)
    sender.post = broken
    assert send_all(sender) == 0
    assert last_delivery(hooked, webhook_id).problem == "sending failed: ZeroDivisionError"
    with hooked.store.read() as tx:
        (webhook,) = webhooks.all(tx)
        assert webhooks.failures_of(tx, webhook).times == 1


def test_a_webhook_that_is_paused_meanwhile_gets_no_more(hooked: Study) -> None:
    def pausing(connection: socket.socket) -> None:
        hooked.write(webhooks.set_state, webhook_id, "paused")
        says(OK)(connection)

    with Receiver(pausing) as receiver:
        webhook_id = add(hooked, receiver.url)
        happen(hooked)
        happen(hooked)
        assert send_all(Sender(hooked.store, allow_private=True)) == 1


INSIDE = [
    *("127.0.0.1", "10.0.0.1", "100.64.0.1", "169.254.169.254", "192.0.0.8", "192.88.99.1", "0.0.0.0", "224.0.0.1"),
    *("255.255.255.255", "::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.1.2.3"),
    *("64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::808:808", "2002:7f00:1::", "2002:808:808::1"),
    *("2001:0:4136:e378::1", "3fff::1", "fec0::1", "fe80::1", "fc00::1", "ff02::1", "4000::1"),
]
OUTSIDE = ["8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::808:808", "2001:4860:4860::8888"]


def test_an_address_inside_is_not_outside_however_it_is_written() -> None:
    assert [address for address in (*INSIDE, *OUTSIDE) if is_outside(address)] == OUTSIDE


REFUSED = [
    *("nonsense", "ftp://example.org", "file:///etc/passwd", "http://", "http://localhost:1/", "http://[::1]/"),
    *("http://[::1", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://[fec0::1]/"),
    *("http://[::127.0.0.1]/", "http://2130706433/", "http://224.0.0.1/", "http://8.8.8.8:99999/"),
    *("http://8.8.8.8:0/", "http://8.8.8.8/a b", "http://8.8.8.8/\u00e9", "http://8.8.8.8/\r\nx: y"),
    *("http://user:secret@8.8.8.8/", f"http://{'a' * 70}.example.org/", "http://a..example.org/"),
    *("http://-a.example.org/",),
]


def test_addresses_that_cannot_be_used_are_refused_when_they_are_added(bare: Study) -> None:
    owner, browser = Program(bare, "owner"), bare.browser("owner")
    for url in REFUSED:
        listening = owner.post("/webhooks", {"url": url}, 422)["error"]["message"]
        assert listening.startswith("webhook: "), listening
        page = browser.post("/manage/webhooks", {"url": url, "verbs": ""})
        assert (page.status_code, "New webhook" in page.text) == (422, True), url
    assert bare.read(webhooks.all) == []


@pytest.mark.parametrize("url", ["http://0.0.0.0:9/", "http://[::]:9/", "http://224.0.0.1/", "http://[ff02::1]/"])
def test_one_machine_is_meant_even_where_the_inside_is_allowed(url: str) -> None:
    assert post_outside(url, b"", {}, allow_private=True).problem.endswith("expected the address of one machine")


def lead_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """A name server that gives these answers in turn."""
    answers = iter(addresses)

    def getaddrinfo(_host: str, port: int, **_: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def test_the_connection_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server that answers otherwise the second time (DNS rebinding)."""
    with Receiver() as checked, Receiver(host="127.0.0.2", port=checked.port) as other:
        lead_to(monkeypatch, "127.0.0.1", "127.0.0.2", "127.0.0.2")
        url = f"http://hooks.example.org:{checked.port}/hook?x=1#part"
        assert post_outside(url, b"{}", {}, allow_private=True).status == 204
    (request,) = checked.heard
    assert other.heard == []
    assert request.startswith(b"POST /hook?x=1 HTTP/1.1\r\n")
    assert f"\r\nhost: hooks.example.org:{checked.port}\r\n".encode() in request.lower()


def test_tls_asks_for_the_name_of_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    lead_to(monkeypatch, "127.0.0.1")
    with Receiver(says(b"not TLS")) as receiver:
        url = f"https://hooks.example.org:{receiver.port}/"
        assert post_outside(url, b"{}", {}, allow_private=True).status == 0
    assert b"hooks.example.org" in receiver.heard[0]  # the server name in the hello (RFC 6066)


def test_a_name_that_leads_inside_at_sending_is_not_revealed(monkeypatch: pytest.MonkeyPatch) -> None:
    lead_to(monkeypatch, "127.0.0.1")
    with Receiver() as inside:
        answer = post_outside(f"http://hooks.example.org:{inside.port}/", b"{}", {}, allow_private=False)
    assert answer.problem == "hooks.example.org: inside the server's own network"
    assert inside.heard == []
