"""Webhooks: programs outside hear of finished units, and of any other event that they ask for.

Every few seconds the server looks for new events and tells each active webhook, in order, one POST per event.
The body is JSON, signed with the webhook's secret (`x-grater-signature: sha256=...`, HMAC of the body).  An
event counts as told when the answer is 2xx; until then it is tried again, ever more slowly, and after
`MOST_FAILURES` failures in a row the webhook is paused.  So every event comes at least once, and perhaps twice:
programs go by its number `n`.  Of several processes that serve one study only one tells at a time, and how often an
event has failed stands in the study, so a restart forgets nothing.

`unit.finished` is told with the labels of the unit as they stand then.  Addresses inside the server's
own network are refused unless the settings allow them, and redirects are not followed.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import json
import logging
import socket
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPMessage
from typing import IO
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool

from grater.errors import BadInput, GraterError, Problem
from grater.model import Json
from grater.server.context import RequestContext, Server
from grater.store import Tx, events, judgments, submissions, units
from grater.store.events import Event, Webhook
from grater.store.units import FINISHED
from grater.study.webhooks import MOST_FAILURES, add_webhook, record_delivery, require_webhook, skip_events

LOG = logging.getLogger("grater.server.webhooks.delivery")

PAUSE_SECONDS = 2.0
TIMEOUT_SECONDS = 10
MOST_AT_ONCE = 100
MOST_DOUBLINGS = 12
ROUND = "webhooks"

Post = Callable[[str, bytes, Mapping[str, str]], int]
"""Sends a body to an address and gives the HTTP status; 0 where nobody answered."""


@asynccontextmanager
async def delivering(server: Server) -> AsyncIterator[None]:
    """Tell webhooks in the background for as long as the server runs."""
    task = asyncio.create_task(_for_ever(server))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _for_ever(server: Server) -> None:
    teller = Teller(server)
    while True:
        await asyncio.sleep(PAUSE_SECONDS)
        try:
            await run_in_threadpool(teller.tell_all)
        except GraterError as error:
            LOG.warning("webhooks wait: %s", error)


@dataclass(frozen=True, slots=True)
class Told:
    """What one event becomes outside."""

    verb: str
    payload: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Failed:
    """How many times in a row telling has failed, and until when to wait."""

    times: int = 0
    not_before: int = 0


class Teller:
    """Tells every webhook what is new."""

    def __init__(self, server: Server, *, post: Post | None = None) -> None:
        self.server = server
        self.post = post or post_outside

    def tell_all(self) -> int:
        """One round; gives how many events were told.  While another process has its round there is none."""
        with self.server.store.alone(ROUND) as is_ours:
            if not is_ours:
                return 0
            with self.server.store.read() as tx:
                active = [webhook for webhook in events.all_webhooks(tx) if webhook.state == "active"]
                due = [(webhook, _failed(tx, webhook)) for webhook in active]
            return sum(self._tell(webhook, failed) for webhook, failed in due)

    def _tell(self, webhook: Webhook, failed: Failed) -> int:
        if self.server.settings.clock() < failed.not_before:
            return 0
        n_told = skipped = 0
        for event, told in list(self._news(webhook)):
            if told is None:
                skipped = event.n
                continue
            if not self._note(webhook, event, self._send(webhook, event, told), tries=failed.times + 1):
                return n_told
            n_told, skipped, failed = n_told + 1, 0, Failed()
        if skipped:
            with self.server.store.write() as tx:
                skip_events(tx, webhook.webhook_id, skipped)
        return n_told

    def _news(self, webhook: Webhook) -> Iterator[tuple[Event, Told | None]]:
        """The events that the webhook has not heard, each with what to tell; None where it asked for others."""
        with self.server.store.read() as tx:
            for event in events.since(tx, webhook.last_n, most=MOST_AT_ONCE):
                yield event, _told(tx, event, webhook.verbs)

    def _send(self, webhook: Webhook, event: Event, told: Told) -> int:
        try:
            require_outside(webhook.url, allow_private=self.server.settings.private_webhooks)
        except BadInput as error:
            LOG.warning("webhook %s: %s", webhook.webhook_id, error)
            return 0
        body = json.dumps(
            {"n": event.n, "at": event.at, "verb": told.verb, "noun": event.noun, "payload": told.payload},
            ensure_ascii=False,
        ).encode()
        return self.post(webhook.url, body, {"x-grater-signature": signature(webhook.secret, body)})

    def _note(self, webhook: Webhook, event: Event, status: int, *, tries: int) -> bool:
        """Remember how it went; True if the next event may be told."""
        is_delivered = HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
        with self.server.store.write() as tx:
            record_delivery(
                tx, webhook.webhook_id, event.n, http_status=status or None, is_delivered=is_delivered, tries=tries
            )
        return is_delivered


def _failed(tx: Tx, webhook: Webhook) -> Failed:
    """How the newest event failed so far; one that was paused for it and is active again starts anew."""
    for last in events.deliveries_of(tx, webhook.webhook_id, most=1):
        if last.state == "failed" and last.tries < MOST_FAILURES:
            return Failed(last.tries, last.at + 1000 * 2 ** min(last.tries, MOST_DOUBLINGS))
    return Failed()


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


def require_outside(url: str, *, allow_private: bool) -> None:
    """Refuse addresses that are no web addresses, or lie inside the server's own network."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(Problem("webhook", f"expected an http(s) address, found {url[:100]!r}"))
    if allow_private:
        return
    try:
        addresses = {info[4][0] for info in socket.getaddrinfo(parts.hostname, parts.port or 443)}
    except OSError as error:
        raise BadInput(Problem("webhook", f"{parts.hostname}: no such host")) from error
    if any(not ipaddress.ip_address(str(address).split("%")[0]).is_global for address in addresses):
        raise BadInput(Problem("webhook", f"{parts.hostname}: lies inside the server's own network"))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,  # noqa: ARG002
        fp: IO[bytes],  # noqa: ARG002
        code: int,  # noqa: ARG002
        msg: str,  # noqa: ARG002
        headers: HTTPMessage,  # noqa: ARG002
        newurl: str,  # noqa: ARG002
    ) -> None:
        return None


def post_outside(url: str, body: bytes, headers: Mapping[str, str]) -> int:
    """One POST; whatever goes wrong on the way is status 0."""
    sent = {"content-type": "application/json", "user-agent": "grater", **headers}
    request = urllib.request.Request(url, data=body, headers=sent, method="POST")
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
    except (OSError, ValueError):
        return 0


def make_webhook(context: RequestContext, *, url: str, verbs: Sequence[str]) -> Webhook:
    """A new webhook; where the settings say so, its address must lie outside of the server's own network."""
    require_webhook(url, verbs)
    require_outside(url, allow_private=context.server.settings.private_webhooks)
    with context.server.store.write() as tx:
        return add_webhook(tx, url=url, verbs=verbs, actor=context.person.person_id)
