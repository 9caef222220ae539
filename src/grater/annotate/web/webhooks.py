"""Webhooks: programs outside hear of finished units, and of any other event that they ask for.

Every few seconds the server looks for new events and tells each active webhook, in order, one POST per event.
The body is JSON, signed with the webhook's secret (`x-grater-signature: sha256=...`, HMAC of the body).  An
event counts as told when the answer is 2xx; until then it is tried again, ever more slowly, and after
`MOST_FAILURES` failures in a row the webhook is paused.  So every event comes at least once, and perhaps twice:
programs go by its number `n`.

Every receiver has a thread of its own, so that one that is slow, silent or broken delays no other; whatever goes
wrong with one is logged and noted with its delivery, and the rounds go on.  Of several processes that serve one study
the one that has claimed a webhook tells it; claims run out, one that stalled and lost its claim notes nothing more,
and how often an event has failed stands in the study, so a restart forgets nothing.

`unit.finished` is told with the labels of the unit as they stand then.

`destination` checks an address when a webhook is added and again before every delivery.  The name is looked up once,
and the socket is opened to the very IP address that was checked: a name server that answers otherwise a moment later
(DNS rebinding) changes nothing.  The Host header and the name in TLS stay those of the address.

Outside of the server's own network is what the public Internet routes.  An IPv4 address inside an IPv6 one
(IPv4-mapped, NAT64 of RFC 6052) is judged as itself; tunnels (6to4, Teredo), IPv4-compatible and site-local addresses
are inside.  One machine is meant: multicast and 0.0.0.0 are refused even where the inside is allowed.

The whole exchange has `TIMEOUT_SECONDS`, however many small steps it takes.  Of the answer only the status is read,
then the connection is closed, so an endless answer costs nothing.  Redirects are not followed, and the proxies of the
environment are not asked.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import json
import logging
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from starlette.concurrency import run_in_threadpool

from grater.annotate import judgments, units
from grater.annotate.store import Tx, events, submissions
from grater.annotate.store.events import Event, Webhook
from grater.annotate.study.events import (
    Claim,
    Failures,
    add_webhook,
    claim,
    failures_of,
    keep,
    record_delivery,
    release,
    require_webhook,
)
from grater.annotate.units import FINISHED
from grater.annotate.web.context import RequestContext, Server
from grater.errors import BadInput, Problem
from grater.model import Json

LOG = logging.getLogger("grater.annotate.web.webhooks")

T = TypeVar("T")

PAUSE_SECONDS = 2.0
GOODBYE_SECONDS = 3.0
MOST_AT_ONCE = 100

TIMEOUT_SECONDS = 10.0
LONGEST_HEAD = 1 << 16
PORTION = 1 << 12
LAST_WORDS_SECONDS = 0.5
"""How long a receiver may go on talking after its status: one that is cut off mid-sentence complains in its log."""

PORTS = {"http": 80, "https": 443}
VISIBLE = re.compile(r"[!-~]+")
LABEL = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
NAME = re.compile(rf"(?=.{{1,253}}$){LABEL}(\.{LABEL})*\.?")
STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})[ \r\n]")

NAT64 = ipaddress.ip_network("64:ff9b::/96")
NOT_OUTSIDE = tuple(
    ipaddress.ip_network(network)
    for network in (
        *("192.0.0.0/24", "192.88.99.0/24"),
        *("::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", "3fff::/20", "fec0::/10"),
    )
)
"""Beside what Python knows: older versions of it take some of these for public."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A checked address; `sockets` are the families and socket addresses that its name had when it was checked."""

    scheme: str
    host: str
    port: int
    target: str
    sockets: tuple[tuple[int, Any], ...]

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Reply:
    """The HTTP status, 0 where there was none; `problem` says why an event does not count as told."""

    status: int
    problem: str = ""

    @property
    def is_heard(self) -> bool:
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


def destination(url: str, *, allow_private: bool) -> Destination:
    """Where an address leads now; one that cannot be used, or leads inside, is refused with the reason."""
    parts, port = _parts(url)
    host = str(parts.hostname)
    try:
        known = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        raise _refused(f"{host}: no such host") from error
    sockets = tuple((int(family), address) for family, _, _, _, address in known)
    texts = [str(address[0]).partition("%")[0] for _, address in sockets]
    if not all(_is_one_machine(text) for text in texts):
        raise _refused(f"{host}: expected the address of one machine")
    if not allow_private and not all(is_outside(text) for text in texts):
        raise _refused(f"{host}: inside the server's own network")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Destination(scheme=parts.scheme, host=host, port=port, target=target, sockets=sockets)


def _parts(url: str) -> tuple[SplitResult, int]:
    shown = ascii(url[:100])
    if not VISIBLE.fullmatch(url):
        raise _refused(f"expected an address without spaces and in ASCII (encode the rest with %), found {shown}")
    try:
        parts = urlsplit(url)
        port = PORTS.get(parts.scheme, 0) if parts.port is None else parts.port
    except ValueError as error:
        raise _refused(f"expected an http(s) address, found {shown}: {error}") from error
    if parts.scheme not in PORTS or not parts.hostname:
        raise _refused(f"expected an http(s) address, found {shown}")
    if not port or "@" in parts.netloc:
        raise _refused("expected an address without name and password, and a port from 1 to 65535")
    if ":" not in parts.hostname and not NAME.fullmatch(parts.hostname):
        raise _refused(f"expected a host name of labels of 1 to 63 letters, digits and hyphens, found {shown}")
    return parts, port


def is_outside(text: str) -> bool:
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_outside(str(address.ipv4_mapped))
        if address in NAT64:
            return is_outside(str(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)))
    if any(address in network for network in NOT_OUTSIDE):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _is_one_machine(text: str) -> bool:
    address = ipaddress.ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return not any(each.is_multicast or each.is_unspecified for each in (address, mapped) if each is not None)


def _refused(words: str) -> BadInput:
    return BadInput(Problem("webhook", words))


def post_outside(url: str, body: bytes, headers: Mapping[str, str], *, allow_private: bool) -> Reply:
    """One POST; whatever goes wrong on the way is an answer without a status, and its reason."""
    try:
        there = destination(url, allow_private=allow_private)
        status = _exchange(there, _request(there, body, headers), time.monotonic() + TIMEOUT_SECONDS)
    except BadInput as error:
        return Reply(0, error.problems[0].message)
    except TimeoutError:
        return Reply(0, f"no answer within {TIMEOUT_SECONDS:g} seconds")
    except ssl.SSLError as error:
        return Reply(0, f"no secure connection: {error.reason or error}")
    except OSError as error:
        return Reply(0, f"no connection: {error.strerror or error}")
    if status is None:
        return Reply(0, "the answer is not HTTP")
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return Reply(status, "redirects are not followed")
    return Reply(status, "" if Reply(status).is_heard else "refused by the receiver")


def _request(there: Destination, body: bytes, headers: Mapping[str, str]) -> bytes:
    sent = {
        "host": there.host_header,
        "content-type": "application/json",
        "content-length": str(len(body)),
        "user-agent": "grater",
        "connection": "close",
        **headers,
    }
    lines = [f"POST {there.target} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
    return "\r\n".join(lines).encode("ascii") + body


def _exchange(there: Destination, request: bytes, deadline: float) -> int | None:
    """The status that answers a request; None where the answer is not HTTP."""
    with _connected(there, deadline) as plain:
        plain.settimeout(_left(deadline))
        with _secured(plain, there) as line:
            line.settimeout(_left(deadline))
            line.sendall(request)
            status = _status(_received(line, deadline))
            _hear_out(line, min(deadline, time.monotonic() + LAST_WORDS_SECONDS))
            return status


def _connected(there: Destination, deadline: float) -> socket.socket:
    """A connection to the first of the checked addresses that takes one."""
    trouble: OSError = OSError("no address")
    for family, address in there.sockets:
        line = socket.socket(family, socket.SOCK_STREAM)
        try:
            line.settimeout(_left(deadline))
            line.connect(address)
        except OSError as error:
            line.close()
            trouble = error
        else:
            return line
    raise trouble


def _secured(plain: socket.socket, there: Destination) -> socket.socket:
    if there.scheme == "http":
        return plain
    return ssl.create_default_context().wrap_socket(plain, server_hostname=there.host)


def _received(line: socket.socket, deadline: float) -> Iterator[bytes]:
    """What comes, piece by piece, until the receiver closes or has said more than a head can be."""
    n_bytes = 0
    while n_bytes < LONGEST_HEAD:
        line.settimeout(_left(deadline))
        piece = line.recv(PORTION)
        if not piece:
            return
        n_bytes += len(piece)
        yield piece


def _status(pieces: Iterator[bytes]) -> int | None:
    """The first status that is final: those below 200 announce another."""
    head = b""
    for piece in pieces:
        head += piece
        while match := STATUS.match(head):
            if int(match[1]) >= HTTPStatus.OK:
                return int(match[1])
            _, end, rest = head.partition(b"\r\n\r\n")
            if not end:
                break
            head = rest
        if len(head) >= len("HTTP/1.1 200 ") and not STATUS.match(head):
            return None
    return None


def _hear_out(line: socket.socket, deadline: float) -> None:
    """Let a receiver finish a short answer; what it says is dropped."""
    try:
        for _ in _received(line, deadline):
            pass
    except OSError:
        return


def _left(deadline: float) -> float:
    """The seconds until a deadline, of which some must be left."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


Post = Callable[[str, bytes, Mapping[str, str]], Reply]
"""Sends a body to an address."""


async def deliver_for_ever(server: Server) -> None:
    """Tell webhooks, round after round, until somebody breaks it off."""
    teller = Teller(server)
    try:
        await _rounds(teller)
    finally:
        await run_in_threadpool(teller.close)


async def _rounds(teller: Teller) -> None:
    while True:
        await asyncio.sleep(PAUSE_SECONDS)
        try:
            await run_in_threadpool(teller.start_round)
        except Exception as error:  # whatever it was, the next round may go well, and nobody else would begin it
            LOG.warning("webhooks wait: %s: %s", type(error).__name__, error)


@dataclass(frozen=True, slots=True)
class Told:
    """What one event becomes outside."""

    verb: str
    payload: Mapping[str, Json]


class Telling(threading.Thread):
    """Tells one webhook what is new, once, and ends; `n_told` events got through."""

    def __init__(self, server: Server, webhook_id: str, post: Post, closing: threading.Event) -> None:
        super().__init__(name=f"webhook {webhook_id}", daemon=True)
        self.server = server
        self.webhook_id = webhook_id
        self.post = post
        self.closing = closing
        self.n_told = 0
        self.held: Claim | None = None

    def run(self) -> None:
        try:
            self._run()
        except Exception:  # a thread that dies of it would not be missed by anybody
            LOG.exception("webhook %s waits", self.webhook_id)

    def _run(self) -> None:
        with self.server.store.write() as tx:
            self.held = claim(tx, self.webhook_id)
            failures = failures_of(tx, self.held.webhook) if self.held else Failures()
        if self.held is None:
            return
        try:
            self._tell(self.held.webhook, failures.times)
        finally:
            if self.held is not None:
                with self.server.store.write() as tx:
                    release(tx, self.held)

    def _tell(self, webhook: Webhook, n_failures: int) -> None:
        skipped = 0
        for event, told in self._news(webhook):
            if self.closing.is_set():
                return
            if told is None:
                skipped = event.n
                continue
            if not self._note(webhook, event, self._send(webhook, event, told), tries=n_failures + 1):
                return
            skipped = n_failures = 0
        if skipped:
            self._keeping(lambda tx: events.skip_events(tx, webhook.webhook_id, skipped))

    def _news(self, webhook: Webhook) -> list[tuple[Event, Told | None]]:
        """The events that the webhook has not heard, each with what to tell; None where it asked for others."""
        with self.server.store.read() as tx:
            news = events.since(tx, webhook.last_n, most=MOST_AT_ONCE)
            return [(event, _told(tx, event, webhook.verbs)) for event in news]

    def _send(self, webhook: Webhook, event: Event, told: Told) -> Reply:
        body = json.dumps(
            {"n": event.n, "at": event.at, "verb": told.verb, "noun": event.noun, "payload": told.payload},
            ensure_ascii=False,
        ).encode()
        try:
            return self.post(webhook.url, body, {"x-grater-signature": signature(webhook.secret, body)})
        except Exception as error:  # a receiver that breaks our own code has failed like any other
            LOG.exception("webhook %s", webhook.webhook_id)
            return Reply(0, f"sending failed: {type(error).__name__}")

    def _note(self, webhook: Webhook, event: Event, answer: Reply, *, tries: int) -> bool:
        """Remember how it went; True if the next event may be told."""
        if answer.is_heard:
            self.n_told += 1
        else:
            words = (webhook.webhook_id, event.n, tries, answer.status, answer.problem)
            LOG.warning("webhook %s: event %d, try %d: status %d, %s", *words)  # an address may be a secret
        may_go_on = self._keeping(
            lambda tx: record_delivery(
                tx,
                webhook.webhook_id,
                event.n,
                http_status=answer.status or None,
                is_delivered=answer.is_heard,
                tries=tries,
                problem=answer.problem,
            )
        )
        return may_go_on is True

    def _keeping(self, note: Callable[[Tx], T]) -> T | None:
        """Keep the claim and note something; None, and nothing noted, where another process has taken over."""
        if self.held is None:
            return None
        with self.server.store.write() as tx:
            held = keep(tx, self.held)
            noted = note(tx) if held is not None else None
        if held is None:
            LOG.warning("webhook %s: another process has taken over", self.webhook_id)
        self.held = held
        return noted


class Teller:
    """Tells every webhook what is new, each in a thread of its own."""

    def __init__(self, server: Server, *, post: Post | None = None) -> None:
        self.server = server
        self.post = post or self._post_outside
        self._closing = threading.Event()
        self._busy: dict[str, Telling] = {}

    def tell_all(self) -> int:
        """One round, waited for to its end; return the number of events that were told."""
        round_of_tellings = self.start_round()
        for telling in round_of_tellings:
            telling.join()
        return sum(telling.n_told for telling in round_of_tellings)

    def start_round(self) -> list[Telling]:
        """Start telling every webhook that has news, is due and is not being told yet."""
        now = self.server.settings.clock()
        with self.server.store.read() as tx:
            due = [webhook.webhook_id for webhook in events.all_webhooks(tx) if _is_due(tx, webhook, now)]
        self._busy = {key: telling for key, telling in self._busy.items() if telling.is_alive()}
        started = [
            Telling(self.server, webhook_id, self.post, self._closing)
            for webhook_id in due
            if webhook_id not in self._busy
        ]
        for telling in started:
            self._busy[telling.webhook_id] = telling
            telling.start()
        return started

    def close(self) -> None:
        """Let those who are being told end; one that takes too long is left to its timeout."""
        self._closing.set()
        deadline = time.monotonic() + GOODBYE_SECONDS
        for telling in self._busy.values():
            telling.join(max(0.0, deadline - time.monotonic()))

    def _post_outside(self, url: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        return post_outside(url, body, headers, allow_private=self.server.settings.private_webhooks)


def _is_due(tx: Tx, webhook: Webhook, now: int) -> bool:
    if webhook.state != "active" or now < failures_of(tx, webhook).not_before:
        return False
    return next(events.since(tx, webhook.last_n, most=1), None) is not None


def _told(tx: Tx, event: Event, verbs: list[str]) -> Told | None:
    if event.verb not in (verbs or [FINISHED]):
        return None
    payload = _finished(tx, event.noun) if event.verb == FINISHED else event.payload
    return None if payload is None else Told(event.verb, payload)


def _finished(tx: Tx, unit_id: str) -> dict[str, Json] | None:
    """What to tell of a finished unit; None where that is no longer so, and will be told again when it is."""
    unit = units.find(tx, unit_id)
    valid = [row for row in submissions.of_unit(tx, unit_id) if row.status == "valid"]
    if unit is None or len(valid) < unit.wanted:
        return None
    labels: dict[str, list[str]] = {}
    for row in valid:
        for answer in judgments.answers_of(tx, row.submission_id):
            labels.setdefault(answer.item_id, []).append(answer.label)
    return {"job": unit.job.name, "job_id": unit.job.job_id, "unit": unit.unit_id, "labels": labels}


def signature(secret: str, body: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def make_webhook(context: RequestContext, *, url: str, verbs: Sequence[str]) -> Webhook:
    """A new webhook; its address is checked as it will be before every delivery."""
    require_webhook(url, verbs)
    destination(url, allow_private=context.server.settings.private_webhooks)
    with context.changing() as tx:
        return add_webhook(tx, url=url, verbs=verbs, actor=context.person.person_id)
