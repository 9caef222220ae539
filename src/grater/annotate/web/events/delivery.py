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

`unit.finished` is told with the labels of the unit as they stand then.  What an address may be, and how a POST goes
out, is in `sending`.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from starlette.concurrency import run_in_threadpool

from grater.annotate.store import Tx, events, judgments, submissions, units
from grater.annotate.store.events import Event, Webhook
from grater.annotate.store.units import FINISHED
from grater.annotate.study.webhooks import (
    Claim,
    Failures,
    add_webhook,
    claim,
    failures_of,
    keep,
    record_delivery,
    release,
    require_webhook,
    skip_events,
)
from grater.annotate.web.context import RequestContext, Server
from grater.annotate.web.events.sending import Reply, destination, post_outside
from grater.model import Json

LOG = logging.getLogger("grater.annotate.web.events.delivery")

T = TypeVar("T")

PAUSE_SECONDS = 2.0
GOODBYE_SECONDS = 3.0
MOST_AT_ONCE = 100

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
            self._keeping(lambda tx: skip_events(tx, webhook.webhook_id, skipped))

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
