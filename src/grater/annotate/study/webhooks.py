"""Webhooks: addresses that are told of what happens in a study.

One process at a time tells a webhook: it claims it, keeps the claim with every event that it tells, and releases it.
A process that is silent for longer than `CLAIM_MS` loses the claim to whoever asks next, and what it has to say of
the webhook after that is not noted: the next one goes on from where the study says that it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from grater.annotate.store import Tx, events
from grater.annotate.store.clock import MINUTE
from grater.annotate.store.events import VERBS, Webhook
from grater.annotate.store.units import FINISHED
from grater.annotate.study.limits import LIMITS, require_text
from grater.errors import UnknownName, UsageError
from grater.registry import unknown

STATES = ("active", "paused")
LONGEST_SHOWN = 40
MOST_FAILURES = 20
MOST_DOUBLINGS = 12
CLAIM_MS = MINUTE
"""How long a process that tells a webhook may be silent before another takes over: much more than one POST takes."""


def require_webhook(url: str, verbs: Sequence[str]) -> None:
    """Refuse an overlong address, too many verbs, and verbs that no event has."""
    require_text("webhook.url", url)
    if not LIMITS["webhook.verbs"].allows(len(verbs)):
        raise UsageError(f"verbs: expected at most {LIMITS['webhook.verbs'].most:g}, found {len(verbs)}")
    for verb in verbs:
        if verb not in VERBS:
            raise UnknownName(unknown("verb", verb[:LONGEST_SHOWN], sorted(VERBS)))


def add_webhook(tx: Tx, *, url: str, verbs: Sequence[str], actor: str | None = None) -> Webhook:
    """A webhook for events of these verbs, for finished units if none is named; its secret is told this once."""
    require_webhook(url, verbs)
    return events.add_webhook(tx, url=url, verbs=list(verbs) or [FINISHED], actor=actor)


def set_state(tx: Tx, webhook_id: str, state: str, *, actor: str | None = None) -> None:
    """Pause a webhook, or let it go on where it stopped."""
    if state not in STATES:
        raise UsageError(f"state: expected {' or '.join(STATES)}, found {state[:20]!r}")
    events.set_webhook_state(tx, webhook_id, "paused" if state == "paused" else "active", actor=actor)


@dataclass(frozen=True, slots=True)
class Failures:
    """How many times in a row the next event has failed, and the moment before which it is not tried again."""

    times: int = 0
    not_before: int = 0


def failures_of(tx: Tx, webhook: Webhook) -> Failures:
    """How the newest event failed so far; a webhook that was paused for it and is active again starts anew."""
    for last in events.deliveries_of(tx, webhook.webhook_id, most=1):
        if last.state == "failed" and last.tries < MOST_FAILURES:
            return Failures(last.tries, last.at + 1000 * 2 ** min(last.tries, MOST_DOUBLINGS))
    return Failures()


def is_failing(tx: Tx, webhook: Webhook) -> bool:
    """Whether the owner should look at it: it was paused for its failures, or its newest event has failed."""
    return any(last.state == "failed" for last in events.deliveries_of(tx, webhook.webhook_id, most=1))


@dataclass(frozen=True, slots=True)
class Claim:
    """A webhook as it stood when one process claimed it, and the moment until which that process may be silent."""

    webhook: Webhook
    until: int


def claim(tx: Tx, webhook_id: str) -> Claim | None:
    """The webhook, for the one process that tells it now; None where another does, or it is paused."""
    until = tx.now + CLAIM_MS
    webhook = events.claim_webhook(tx, webhook_id, until=until)
    return None if webhook is None else Claim(webhook=webhook, until=until)


def keep(tx: Tx, held: Claim) -> Claim | None:
    """The claim for as long again; None where another process has the webhook by now."""
    until = tx.now + CLAIM_MS
    is_mine = events.change_claim(tx, held.webhook.webhook_id, held_until=held.until, until=until)
    return replace(held, until=until) if is_mine else None


def release(tx: Tx, held: Claim) -> None:
    """Let any process tell this webhook again, if it is not another's already."""
    events.change_claim(tx, held.webhook.webhook_id, held_until=held.until, until=None)


def record_delivery(
    tx: Tx, webhook_id: str, n: int, *, http_status: int | None, is_delivered: bool, tries: int, problem: str = ""
) -> bool:
    """Note how telling event `n` went; after `MOST_FAILURES` failures in a row the webhook is paused.

    True if the next event may be told: this one was, and nobody has paused the webhook meanwhile.
    """
    events.record_delivery(
        tx, webhook_id, n, http_status=http_status, is_delivered=is_delivered, tries=tries, problem=problem
    )
    if not is_delivered:
        if tries >= MOST_FAILURES:
            events.set_webhook_state(tx, webhook_id, "paused")
        return False
    return events.webhook_state(tx, webhook_id) == "active"


def skip_events(tx: Tx, webhook_id: str, n: int) -> None:
    """Events up to `n` are not for this webhook."""
    events.skip_events(tx, webhook_id, n)
