"""Webhooks: other programs receive finished units, and any other events that they request.

Every few seconds the server looks for new events and sends them to each active webhook, in order, one POST per event.
The body is JSON, signed with the webhook's secret (`x-grater-signature: sha256=...`, HMAC of the body). An event
counts as delivered when the answer is 2xx; until then it is retried with growing delays, and after `MOST_FAILURES`
failures in a row the webhook is paused. Every event is thus delivered at least once, possibly twice; its number `n`
identifies it. `unit.finished` is sent with the unit's labels at that time.

Every receiver has a separate thread, so that a slow, silent or broken one delays no other; its errors are logged with
the delivery, and the rounds continue. If several processes serve one study, only the process that has claimed a
webhook serves it; it renews the claim with every event, and finally releases it. A process that is silent for longer
than `CLAIM_MS` loses the claim, and its later reports are ignored. The study records how often an event has failed,
so restarts lose nothing.

`destination` checks an address when a webhook is added and again before every delivery. The name is looked up once,
and the socket is opened to the very IP address that was checked: a different answer from the name server later (DNS
rebinding) has no effect. The Host header and the TLS name stay those of the URL.

Only addresses that the public Internet routes are outside the server's own network. An IPv4 address embedded in an
IPv6 one (IPv4-mapped, NAT64 of RFC 6052) is judged by itself; tunnels (6to4, Teredo), IPv4-compatible and site-local
addresses count as inside. A webhook addresses one machine: multicast and 0.0.0.0 are refused even if inside addresses
are allowed.

The whole exchange must finish in `TIMEOUT_SECONDS`. Only the status of the answer is read before the connection is
closed, so an endless answer costs nothing. Redirects are not followed, and proxies of the environment are not used.
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
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Literal, TypeVar
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, field_validator
from sqlalchemy import select
from starlette.concurrency import run_in_threadpool

from grater.annotate import judgments, units
from grater.annotate.requests import Body, Moment, example
from grater.annotate.store import Store, Tx, events, schema
from grater.annotate.store.events import VERBS, Event
from grater.annotate.store.transaction import MINUTE, Columns, new_id, new_secret
from grater.annotate.units import FINISHED
from grater.errors import BadInput, Problem, unknown
from grater.model import Json

LOG = logging.getLogger("grater.annotate.webhooks")

T = TypeVar("T")

MOST_FAILURES = 20
MOST_DOUBLINGS = 12
CLAIM_MS = MINUTE
"""How long a process that serves a webhook may be silent before another takes over: much more than one POST takes."""

PAUSE_SECONDS = 2.0
GOODBYE_SECONDS = 3.0
MOST_AT_ONCE = 100

TIMEOUT_SECONDS = 10.0
LONGEST_HEAD = 1 << 16
PORTION = 1 << 12
LAST_WORDS_SECONDS = 0.5
"""How long a receiver may go on talking after its status: one that is cut off mid-sentence complains in its log."""


class NewWebhook(Body):
    """`verbs` of the events to send; with none, `unit.finished`."""

    model_config = example(url="https://hooks.example.org/grater", verbs=["unit.finished"])
    url: str = Field(max_length=2000)
    verbs: tuple[str, ...] = Field((), max_length=30)

    @field_validator("verbs")
    @classmethod
    def _known(cls, verbs: tuple[str, ...]) -> tuple[str, ...]:
        for verb in verbs:
            if verb not in VERBS:
                raise ValueError(unknown("verb", verb[:40], sorted(VERBS)))
        return verbs


class NewWebhookState(Body):
    model_config = example(state="paused")
    state: Literal["active", "paused"]


@dataclass(frozen=True, slots=True)
class Webhook:
    """`secret` signs what is sent. `verbs` are the requested events; none means finished units.

    `claimed_until` is the time until which the serving process may be silent.
    """

    webhook_id: str
    url: str
    secret: str = field(repr=False)
    verbs: list[str] = field(hash=False)
    last_n: int
    state: str
    claimed_until: int | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """One attempt to deliver event `n`; `http_status` is None if nobody answered, `problem` says why it failed."""

    delivery_id: str
    webhook_id: str
    n: int
    tries: int
    state: str
    http_status: int | None
    at: Moment
    problem: str = ""


COLUMNS = Columns(Webhook, schema.webhooks)
DELIVERY_COLUMNS = Columns(Delivery, schema.deliveries)


def add(tx: Tx, *, url: str, verbs: Sequence[str] = (), actor: str | None = None) -> Webhook:
    """Add a webhook for events from now on; by default, only for finished units."""
    webhook = Webhook(new_id(), url, new_secret(), sorted(verbs) or [FINISHED], events.certain(tx), "active")
    tx.insert(schema.webhooks, COLUMNS.row(webhook) | {"added_at": tx.now})
    events.write(tx, actor, "webhook.added", webhook.webhook_id)
    return webhook


def all(tx: Tx) -> list[Webhook]:  # noqa: A001  (read as webhooks.all)
    query = select(*COLUMNS).order_by(schema.webhooks.c.added_at, schema.webhooks.c.webhook_id)
    return COLUMNS.all(tx, query)


def get(tx: Tx, webhook_id: str) -> Webhook:
    query = select(*COLUMNS).where(schema.webhooks.c.webhook_id == webhook_id)
    return COLUMNS.get(tx, query, "there is no such webhook")


def set_state(tx: Tx, webhook_id: str, state: Literal["active", "paused"], *, actor: str | None = None) -> Webhook:
    webhook = replace(get(tx, webhook_id), state=state)
    _update(tx, webhook_id, state=state)
    events.write(tx, actor, f"webhook.{state}", webhook_id)
    return webhook


def _update(tx: Tx, webhook_id: str, **values: object) -> None:
    tx.execute(schema.webhooks.update().where(schema.webhooks.c.webhook_id == webhook_id).values(**values))


def claim(tx: Tx, webhook_id: str) -> Webhook | None:
    """Claim the webhook for one process; None if another has it or it is paused."""
    of = schema.webhooks.c
    is_free = of.claimed_until.is_(None) | (of.claimed_until <= tx.now)
    claiming = schema.webhooks.update().where(of.webhook_id == webhook_id, of.state == "active", is_free)
    is_mine = tx.execute(claiming.values(claimed_until=tx.now + CLAIM_MS)).rowcount
    return get(tx, webhook_id) if is_mine else None


def _change_claim(tx: Tx, held: Webhook, until: int | None) -> bool:
    """Extend or end a claim; False if it has expired and another process took the webhook.

    Nobody can claim a webhook before the claim on it expires, so a later claim ends later, and the expiry time
    identifies the holder.
    """
    of = schema.webhooks.c
    mine = (of.webhook_id == held.webhook_id) & (of.claimed_until == held.claimed_until)
    return bool(tx.execute(schema.webhooks.update().where(mine).values(claimed_until=until)).rowcount)


def record_delivery(tx: Tx, webhook_id: str, n: int, reply: Reply, *, tries: int) -> bool:
    """Record the delivery of event `n`; after `MOST_FAILURES` failures in a row, the webhook is paused.

    True if the next event may be sent: this one was delivered, and nobody has paused the webhook.
    """
    state = "delivered" if reply.is_heard else "failed"
    tried = Delivery(new_id(), webhook_id, n, tries, state, reply.status or None, tx.now, reply.problem)
    tx.insert(schema.deliveries, DELIVERY_COLUMNS.row(tried))
    if reply.is_heard:
        _update(tx, webhook_id, last_n=n)
        return get(tx, webhook_id).state == "active"
    if tries >= MOST_FAILURES:
        set_state(tx, webhook_id, "paused")
    return False


def deliveries_of(tx: Tx, webhook_id: str, *, most: int = 50) -> list[Delivery]:
    """The latest delivery attempts, newest first."""
    newest = (schema.deliveries.c.at.desc(), schema.deliveries.c.n.desc(), schema.deliveries.c.tries.desc())
    query = select(*DELIVERY_COLUMNS).where(schema.deliveries.c.webhook_id == webhook_id)
    return DELIVERY_COLUMNS.all(tx, query.order_by(*newest).limit(most))


@dataclass(frozen=True, slots=True)
class Failures:
    """How many times in a row the next event has failed, and when it may be retried."""

    times: int = 0
    not_before: int = 0


def failures_of(tx: Tx, webhook: Webhook) -> Failures:
    """The failures of the newest event so far; a webhook that was paused for them and resumed starts at zero."""
    for last in deliveries_of(tx, webhook.webhook_id, most=1):
        if last.state == "failed" and last.tries < MOST_FAILURES:
            return Failures(last.tries, last.at + 1000 * 2 ** min(last.tries, MOST_DOUBLINGS))
    return Failures()


def is_failing(tx: Tx, webhook: Webhook) -> bool:
    """Whether the owner should check it: it was paused for failures, or its latest event has failed."""
    return any(last.state == "failed" for last in deliveries_of(tx, webhook.webhook_id, most=1))


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
"""Next to what Python knows: older versions of it take some of these for public."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A checked address; `sockets` are the families and socket addresses that its name resolved to."""

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
    """The HTTP status, 0 if there was none; `problem` says why the event was not delivered."""

    status: int
    problem: str = ""

    @property
    def is_heard(self) -> bool:
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


def destination(url: str, *, allow_private: bool) -> Destination:
    """Resolve a URL; one that cannot be used, or leads inside, is refused with the reason."""
    parts, port = _parts(url)
    host = str(parts.hostname)
    try:
        known = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        raise _refused(f"{host}: no such host") from error
    sockets = tuple((int(family), address) for family, _, _, _, address in known)
    texts = [str(address[0]).partition("%")[0] for _, address in sockets]
    if any(not _is_one_machine(text) for text in texts):
        raise _refused(f"{host}: expected the address of one machine")
    if not allow_private and any(not is_outside(text) for text in texts):
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
    """Send one POST; any failure becomes a reply without a status, with its reason."""
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
    """The status of the response; None if it is not HTTP."""
    with _connected(there, deadline) as plain:
        plain.settimeout(_left(deadline))
        tls = ssl.create_default_context() if there.scheme == "https" else None
        with tls.wrap_socket(plain, server_hostname=there.host) if tls else plain as line:
            line.settimeout(_left(deadline))
            line.sendall(request)
            status = _status(_received(line, deadline))
            with suppress(OSError):  # a receiver may finish a short answer; what it says is dropped
                for _ in _received(line, min(deadline, time.monotonic() + LAST_WORDS_SECONDS)):
                    pass
            return status


def _connected(there: Destination, deadline: float) -> socket.socket:
    """A connection to the first checked address that accepts one."""
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


def _received(line: socket.socket, deadline: float) -> Iterator[bytes]:
    """The received data, in pieces, until the receiver closes or exceeds the length of a head."""
    n_bytes = 0
    while n_bytes < LONGEST_HEAD:
        line.settimeout(_left(deadline))
        piece = line.recv(PORTION)
        if not piece:
            return
        n_bytes += len(piece)
        yield piece


def _status(pieces: Iterator[bytes]) -> int | None:
    """The first final status; those below 200 only announce another."""
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


def _left(deadline: float) -> float:
    """The seconds until a deadline; raises if none are left."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


Post = Callable[[str, bytes, Mapping[str, str]], Reply]
"""Sends a body to an address."""


async def deliver_forever(store: Store, *, allow_private: bool) -> None:
    """Serve webhooks in rounds until cancelled."""
    sender = Sender(store, allow_private=allow_private)
    try:
        while True:
            await asyncio.sleep(PAUSE_SECONDS)
            try:
                await run_in_threadpool(sender.start_round)
            except Exception as error:  # whatever it was, the next round may go well, and nobody else would begin it
                LOG.warning("webhooks wait: %s: %s", type(error).__name__, error)
    finally:
        await run_in_threadpool(sender.close)


class Sending(threading.Thread):
    """Sends one webhook its new events, once; `n_sent` events were delivered."""

    def __init__(self, store: Store, webhook_id: str, post: Post, closing: threading.Event) -> None:
        super().__init__(name=f"webhook {webhook_id}", daemon=True)
        self.store = store
        self.webhook_id = webhook_id
        self.post = post
        self.closing = closing
        self.n_sent = 0
        self.held: Webhook | None = None

    def run(self) -> None:
        try:
            with self.store.write() as tx:
                self.held = claim(tx, self.webhook_id)
                failures = failures_of(tx, self.held) if self.held else Failures()
            if self.held is None:
                return
            try:
                self._send_all(self.held, failures.times)
            finally:
                if self.held is not None:
                    with self.store.write() as tx:
                        _change_claim(tx, self.held, None)
        except Exception:  # a thread that dies of it would not be missed by anybody
            LOG.exception("webhook %s waits", self.webhook_id)

    def _send_all(self, webhook: Webhook, n_failures: int) -> None:
        with self.store.read() as tx:
            news = [
                (event, _payload(tx, event, webhook.verbs))
                for event in events.since(tx, webhook.last_n, most=MOST_AT_ONCE)
            ]
        skipped = 0
        for event, payload in news:
            if self.closing.is_set():
                return
            if payload is None:
                skipped = event.n
                continue
            if not self._send(webhook, event, payload, tries=n_failures + 1):
                return
            skipped = n_failures = 0
        if skipped:
            self._keeping(lambda tx: _update(tx, webhook.webhook_id, last_n=skipped))

    def _send(self, webhook: Webhook, event: Event, payload: Mapping[str, Json], *, tries: int) -> bool:
        """Send one event and record the delivery; True if the next one may be sent."""
        body = json.dumps(
            {"n": event.n, "at": event.at, "verb": event.verb, "noun": event.noun, "payload": payload},
            ensure_ascii=False,
        ).encode()
        try:
            reply = self.post(webhook.url, body, {"x-grater-signature": signature(webhook.secret, body)})
        except Exception as error:  # a receiver that breaks our own code has failed like any other
            LOG.exception("webhook %s", webhook.webhook_id)
            reply = Reply(0, f"sending failed: {type(error).__name__}")
        if reply.is_heard:
            self.n_sent += 1
        else:
            words = (webhook.webhook_id, event.n, tries, reply.status, reply.problem)
            LOG.warning("webhook %s: event %d, try %d: status %d, %s", *words)  # an address may be a secret
        return bool(self._keeping(lambda tx: record_delivery(tx, webhook.webhook_id, event.n, reply, tries=tries)))

    def _keeping(self, note: Callable[[Tx], T]) -> T | None:
        """Keep the claim and record something; None, with nothing recorded, if another process has taken over."""
        if self.held is None:
            return None
        with self.store.write() as tx:
            until = tx.now + CLAIM_MS
            self.held = replace(self.held, claimed_until=until) if _change_claim(tx, self.held, until) else None
            if self.held is not None:
                return note(tx)
        LOG.warning("webhook %s: another process has taken over", self.webhook_id)
        return None


class Sender:
    """Sends every webhook its new events, each in a separate thread."""

    def __init__(self, store: Store, *, post: Post | None = None, allow_private: bool = False) -> None:
        self.store = store
        self.post = post or (lambda url, body, headers: post_outside(url, body, headers, allow_private=allow_private))
        self._closing = threading.Event()
        self._busy: dict[str, Sending] = {}

    def start_round(self) -> list[Sending]:
        """Start on every webhook that has new events, is due and is not being served yet."""
        with self.store.read() as tx:
            due = [
                webhook.webhook_id
                for webhook in all(tx)
                if webhook.state == "active"
                and tx.now >= failures_of(tx, webhook).not_before
                and next(events.since(tx, webhook.last_n, most=1), None) is not None
            ]
        self._busy = {key: sending for key, sending in self._busy.items() if sending.is_alive()}
        started = [
            Sending(self.store, webhook_id, self.post, self._closing)
            for webhook_id in due
            if webhook_id not in self._busy
        ]
        for sending in started:
            self._busy[sending.webhook_id] = sending
            sending.start()
        return started

    def close(self) -> None:
        """Wait for deliveries in progress; slow ones are left to their timeout."""
        self._closing.set()
        deadline = time.monotonic() + GOODBYE_SECONDS
        for sending in self._busy.values():
            sending.join(max(0.0, deadline - time.monotonic()))


def _payload(tx: Tx, event: Event, verbs: Sequence[str]) -> Mapping[str, Json] | None:
    """The payload of an event; None if the webhook requested other events, or if the unit is no longer finished.

    Such a unit is sent when it is finished again.
    """
    if event.verb not in (verbs or [FINISHED]):
        return None
    if event.verb != FINISHED:
        return event.payload
    unit = units.find(tx, event.noun)
    valid = [row for row in judgments.of_unit(tx, event.noun) if row.status == "valid"]
    if unit is None or len(valid) < unit.wanted:
        return None
    labels: dict[str, list[str]] = {}
    for row in valid:
        for answer in judgments.answers_of(tx, row.submission_id):
            labels.setdefault(answer.item_id, []).append(answer.label)
    return {"job": unit.job.name, "job_id": unit.job.job_id, "unit": unit.unit_id, "labels": labels}


def signature(secret: str, body: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
