"""Webhooks: addresses that are told of what happens in a study."""

from __future__ import annotations

from collections.abc import Sequence

from grater.errors import UnknownName, UsageError
from grater.registry import unknown
from grater.store import Tx, events
from grater.store.events import VERBS, Webhook
from grater.store.units import FINISHED
from grater.study.limits import LIMITS, require_text

STATES = ("active", "paused")
LONGEST_SHOWN = 40
MOST_FAILURES = 20


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


def record_delivery(
    tx: Tx, webhook_id: str, n: int, *, http_status: int | None, is_delivered: bool, tries: int
) -> None:
    """Note how telling event `n` went; after `MOST_FAILURES` failures in a row the webhook is paused."""
    events.record_delivery(tx, webhook_id, n, http_status=http_status, is_delivered=is_delivered, tries=tries)
    if not is_delivered and tries >= MOST_FAILURES:
        events.set_webhook_state(tx, webhook_id, "paused")


def skip_events(tx: Tx, webhook_id: str, n: int) -> None:
    """Events up to `n` are not for this webhook."""
    events.skip_events(tx, webhook_id, n)
