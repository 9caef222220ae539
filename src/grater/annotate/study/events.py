"""Who did what: the event log of a study, filtered and in words, for pages, API and command alike.

A kind is a verb (`person.role`), the part before its dot (`person`), or a group of verbs (`people`, `work`, ...).
Days are UTC; the last day counts whole.

Webhooks: addresses that are told of what happens in a study.

One process at a time tells a webhook: it claims it, keeps the claim with every event that it tells, and releases it.
A process that is silent for longer than `CLAIM_MS` loses the claim to whoever asks next, and what it has to say of
the webhook after that is not noted: the next one goes on from where the study says that it stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from grater.annotate import jobs, people
from grater.annotate.store import Tx, events
from grater.annotate.store.clock import DAY, MINUTE, as_iso, from_iso
from grater.annotate.store.events import VERBS, VERBS_ABOUT, AuditFilter, Event, Webhook
from grater.annotate.study.limits import LIMITS, require_text
from grater.annotate.units import FINISHED
from grater.errors import UnknownName, UsageError
from grater.registry import unknown
from grater.result import Data, key
from grater.tables.files import guarded_frame

LONGEST_SHOWN = 40
LENGTH_OF_A_DAY = len("2026-11-16")
GROUPS = tuple(VERBS_ABOUT)
CSV_COLUMNS = ("n", "at", "person", "role", "verb", "noun", "about", "payload")
PORTION = 5_000


def _event_json(event: Event) -> dict[str, Any]:
    known = {name: getattr(event, name) for name in ("n", "actor", "verb", "noun")}
    return {**known, "at": as_iso(event.at), "payload": dict(event.payload)}


@dataclass(frozen=True, slots=True)
class AuditEntry(Data):
    """An event in words: `person` and `role` of who acted, empty where grater itself did.

    `about` is what the noun is called, where it has a name.
    """

    event: Event = field(metadata=key(flat=True, write=_event_json))
    person: str
    role: str
    about: str

    @property
    def details(self) -> str:
        """The payload as JSON; nothing where there is none."""
        return json.dumps(dict(self.event.payload), ensure_ascii=False) if self.event.payload else ""


def audit_filter(
    tx: Tx, *, person: str = "", kind: str = "", since: str = "", until: str = "", job: str = ""
) -> AuditFilter:
    """What is asked for, in a person's words: names (or ids) of a person and a job, a kind, days or moments."""
    return AuditFilter(
        person_id=_person_id(tx, person) if person else None,
        verbs=verbs_of(kind) if kind else None,
        since=_moment(since) if since else None,
        until=_moment(until) + (DAY if len(until) == LENGTH_OF_A_DAY else 0) if until else None,
        job_id=_job_id(tx, job) if job else None,
    )


def verbs_of(kind: str) -> tuple[str, ...]:
    if kind in VERBS_ABOUT:
        return VERBS_ABOUT[kind]
    chosen = tuple(sorted(verb for verb in VERBS if kind in (verb, verb.partition(".")[0])))
    if not chosen:
        raise UnknownName(unknown("kind", kind[:LONGEST_SHOWN], [*GROUPS, *sorted(VERBS)]))
    return chosen


def entries(tx: Tx, wanted: AuditFilter, *, before: int | None = None, most: int) -> list[AuditEntry]:
    """The newest events in words, those before number `before` where it is given."""
    in_words = _Words(tx)
    return [in_words.of(event) for event in events.latest_events(tx, wanted, before=before, most=most)]


def json_lines(tx: Tx, wanted: AuditFilter) -> Iterator[str]:
    """All of them as JSON lines, the newest first."""
    in_words = _Words(tx)
    for event in events.walk(tx, wanted):
        yield json.dumps(in_words.of(event).to_dict(), ensure_ascii=False) + "\n"


def csv_parts(tx: Tx, wanted: AuditFilter) -> Iterator[str]:
    """All of them as CSV, the newest first; cells that a spreadsheet would run are escaped."""
    rows: list[dict[str, Any]] = []
    has_header = False
    for line in json_lines(tx, wanted):
        rows.append(_cells(json.loads(line)))
        if len(rows) == PORTION:
            yield _csv(rows, header=not has_header)
            rows, has_header = [], True
    if rows or not has_header:
        yield _csv(rows, header=not has_header)


def _cells(row: dict[str, Any]) -> dict[str, Any]:
    payload = json.dumps(row["payload"], ensure_ascii=False)
    return {name: payload if name == "payload" else row[name] for name in CSV_COLUMNS}


def _csv(rows: list[dict[str, Any]], *, header: bool) -> str:
    types = {name: pl.Int64 if name == "n" else pl.String for name in CSV_COLUMNS}
    return guarded_frame(pl.DataFrame(rows, schema=types)).write_csv(include_header=header)


class _Words:
    def __init__(self, tx: Tx) -> None:
        self.people = {person.person_id: person for person in people.all(tx)}
        self.jobs = {job.job_id: job.name for job in jobs.all(tx)}

    def of(self, event: Event) -> AuditEntry:
        actor = self.people.get(event.actor) if event.actor else None
        about = self.people.get(event.noun) or self.people.get(str(event.payload.get("person_id", "")))
        job = self.jobs.get(event.noun) or self.jobs.get(str(event.payload.get("job_id", "")), "")
        names = [about.name] if about else []
        return AuditEntry(
            event=event,
            person=actor.name if actor else "",
            role=actor.role if actor else "",
            about=", ".join([*names, *([job] if job else [])]),
        )


def _person_id(tx: Tx, person: str) -> str:
    by_id = people.find(tx, person)
    return by_id.person_id if by_id else people.named(tx, person).person_id


def _job_id(tx: Tx, job: str) -> str:
    by_id = jobs.find(tx, job)
    return by_id.job_id if by_id else jobs.named(tx, job).job_id


def _moment(text: str) -> int:
    try:
        return from_iso(text)
    except ValueError as error:
        raise UsageError(f"expected a day as 2026-11-16, found {text[:LONGEST_SHOWN]!r}") from error


STATES = ("active", "paused")
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
