"""Webhooks: other programs receive finished units, and any other events that they request.

Every few seconds the server looks for new events and sends them to each active webhook, in order, one POST per event.
The body is JSON, signed with the webhook's secret (`x-grater-signature: sha256=...`, HMAC of the body). An event
counts as delivered when the answer is 2xx; until then it is retried with growing delays, and after `MOST_FAILURES`
failures in a row the webhook is paused. Every event is thus delivered at least once, possibly twice; its number `n`
identifies it. `unit.finished` is sent with the unit's labels at that time.

Every receiver has a separate thread, so that a slow, silent or broken one delays no other; its errors are logged with
the delivery, and the rounds continue. If several processes serve one study, one of them claims a webhook for each
event that it sends. A process that is silent for longer than `CLAIM_MS` loses the claim, and its later report is
ignored. The study records how often an event has failed, so restarts lose nothing.

`destination` checks an address when a webhook is added and again before every delivery. The name is looked up once,
and the socket is opened to the very IP address that was checked: a different answer from the name server later (DNS
rebinding) has no effect. The Host header and the TLS name stay those of the URL.

Only addresses that the public Internet routes are outside the server's own network. An IPv4 address embedded in an
IPv6 one (IPv4-mapped, NAT64 of RFC 6052) is judged by itself; tunnels (6to4, Teredo), IPv4-compatible and site-local
addresses count as inside. A webhook addresses one machine: multicast and 0.0.0.0 are refused even if inside addresses
are allowed.

The whole exchange must finish in `TIMEOUT_SECONDS`. Only the head of the answer is read before the connection is
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
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Any, Literal
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

MOST_FAILURES = 20
MOST_DOUBLINGS = 12
CLAIM_MS = MINUTE
"""How long a process that sends an event may be silent before another takes over: much more than one POST takes."""

PAUSE_SECONDS = 2.0
GOODBYE_SECONDS = 3.0
MOST_AT_ONCE = 100
TIMEOUT_SECONDS = 10.0


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

    `claimed_until` is the time until which the process that sends an event may be silent.
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


def release(tx: Tx, held: Webhook) -> bool:
    """End a claim; False if it has expired and another process took the webhook.

    Nobody can claim a webhook before the claim on it expires, so a later claim ends later, and the expiry time
    identifies the holder.
    """
    of = schema.webhooks.c
    mine = (of.webhook_id == held.webhook_id) & (of.claimed_until == held.claimed_until)
    return bool(tx.execute(schema.webhooks.update().where(mine).values(claimed_until=None)).rowcount)


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


class Connection(HTTPConnection):
    """A connection to the first checked address that accepts one, cut off after `TIMEOUT_SECONDS`."""

    def __init__(self, there: Destination) -> None:
        super().__init__(there.host, there.port)
        self.default_port = PORTS[there.scheme]
        self.there = there
        self.is_late = False
        self._clock = threading.Timer(TIMEOUT_SECONDS, self._cut_off)
        self._clock.daemon = True
        self._clock.start()

    def connect(self) -> None:
        tls = ssl.create_default_context() if self.there.scheme == "https" else None
        line = self._connected()
        # the handshake comes later, when it can be cut off
        self.sock = tls.wrap_socket(line, server_hostname=self.host, do_handshake_on_connect=False) if tls else line
        if self.is_late:
            raise TimeoutError
        if isinstance(self.sock, ssl.SSLSocket):
            self.sock.do_handshake()

    def _connected(self) -> socket.socket:
        trouble: OSError = OSError("no address")
        for family, address in self.there.sockets:
            line = socket.socket(family, socket.SOCK_STREAM)
            line.settimeout(TIMEOUT_SECONDS / len(self.there.sockets))
            try:
                line.connect(address)
            except OSError as error:
                line.close()
                trouble = error
            else:
                line.settimeout(TIMEOUT_SECONDS)
                return line
        raise trouble

    def _cut_off(self) -> None:
        self.is_late = True
        if self.sock is not None:
            with suppress(OSError):  # it has just been closed
                socket.socket.shutdown(self.sock, socket.SHUT_RDWR)

    def close(self) -> None:
        self._clock.cancel()
        super().close()


def post_outside(url: str, body: bytes, headers: Mapping[str, str], *, allow_private: bool) -> Reply:
    """Send one POST; any failure becomes a reply without a status, with its reason."""
    try:
        there = destination(url, allow_private=allow_private)
    except BadInput as error:
        return Reply(0, error.problems[0].message)
    sent = {"content-type": "application/json", "user-agent": "grater", "connection": "close", **headers}
    with closing(Connection(there)) as line:
        try:
            line.request("POST", there.target, body, sent)
            status = line.getresponse().status
        except HTTPException:
            problem = "the answer is not HTTP"
        except ssl.SSLError as error:
            problem = f"no secure connection: {error.reason or error}"
        except OSError as error:
            line.is_late |= isinstance(error, TimeoutError)
            problem = f"no connection: {error.strerror or error}"
        else:
            problem = "" if Reply(status).is_heard else "refused by the receiver"
            is_redirect = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST
            return Reply(status, "redirects are not followed" if is_redirect else problem)
        return Reply(0, f"no answer within {TIMEOUT_SECONDS:g} seconds" if line.is_late else problem)


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


class Sender:
    """Sends every webhook its new events, each in a separate thread."""

    def __init__(self, store: Store, *, post: Post | None = None, allow_private: bool = False) -> None:
        self.store = store
        self.post = post or (lambda url, body, headers: post_outside(url, body, headers, allow_private=allow_private))
        self._closing = threading.Event()
        self._busy: dict[str, threading.Thread] = {}

    def start_round(self) -> dict[str, threading.Thread]:
        """Start on every webhook that has new events, is due and is not being served yet."""
        with self.store.read() as tx:
            due = [
                webhook.webhook_id
                for webhook in all(tx)
                if webhook.state == "active"
                and tx.now >= failures_of(tx, webhook).not_before
                and next(events.since(tx, webhook.last_n, most=1), None) is not None
            ]
        self._busy = {webhook_id: thread for webhook_id, thread in self._busy.items() if thread.is_alive()}
        started = {
            webhook_id: threading.Thread(
                target=self._serve, args=[webhook_id], name=f"webhook {webhook_id}", daemon=True
            )
            for webhook_id in due
            if webhook_id not in self._busy
        }
        self._busy |= started
        for thread in started.values():
            thread.start()
        return started

    def close(self) -> None:
        """Wait for deliveries in progress; slow ones are left to their timeout."""
        self._closing.set()
        deadline = time.monotonic() + GOODBYE_SECONDS
        for thread in self._busy.values():
            thread.join(max(0.0, deadline - time.monotonic()))

    def _serve(self, webhook_id: str) -> None:
        """Send a webhook its events until none is left or one fails."""
        try:
            while not self._closing.is_set() and self._send_next(webhook_id):
                pass
        except Exception:  # a thread that dies of it would not be missed by anybody
            LOG.exception("webhook %s waits", webhook_id)

    def _send_next(self, webhook_id: str) -> bool:
        """Send the next event and record the delivery; True if another may follow."""
        with self.store.write() as tx:
            webhook = claim(tx, webhook_id)
            news = _next_event(tx, webhook) if webhook else None
            tries = failures_of(tx, webhook).times + 1 if webhook else 1
        if webhook is None or news is None:
            return False
        body = json.dumps(news, ensure_ascii=False).encode()
        try:
            reply = self.post(webhook.url, body, {"x-grater-signature": signature(webhook.secret, body)})
        except Exception as error:  # a receiver that breaks our own code has failed like any other
            LOG.exception("webhook %s", webhook_id)
            reply = Reply(0, f"sending failed: {type(error).__name__}")
        n = news["n"]
        if not reply.is_heard:
            words = (webhook_id, n, tries, reply.status, reply.problem)
            LOG.warning("webhook %s: event %d, try %d: status %d, %s", *words)  # an address may be a secret
        with self.store.write() as tx:
            if release(tx, webhook):
                return record_delivery(tx, webhook_id, n, reply, tries=tries)
        LOG.warning("webhook %s: another process has taken over", webhook_id)
        return False


def _next_event(tx: Tx, webhook: Webhook) -> dict[str, Any] | None:
    """The next event that a claimed webhook requested, as it is sent; None if the claim was ended for lack of one."""
    last_n = webhook.last_n
    for event in events.since(tx, last_n, most=MOST_AT_ONCE):
        payload = _payload(tx, event, webhook.verbs)
        if payload is not None:
            return {"n": event.n, "at": event.at, "verb": event.verb, "noun": event.noun, "payload": payload}
        last_n = event.n
    _update(tx, webhook.webhook_id, last_n=last_n, claimed_until=None)
    return None


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
