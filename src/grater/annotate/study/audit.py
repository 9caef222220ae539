"""Who did what: the event log of a study, filtered and in words, for pages, API and command alike.

A kind is a verb (`person.role`), the part before its dot (`person`), or a group of verbs (`people`, `work`, ...).
Days are UTC; the last day counts whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from grater.annotate.store import Tx, events, jobs, people
from grater.annotate.store.clock import DAY, as_iso, from_iso
from grater.annotate.store.events import VERBS, VERBS_ABOUT, AuditFilter, Event
from grater.errors import UnknownName, UsageError
from grater.registry import unknown
from grater.tables.files import guarded_frame

LONGEST_SHOWN = 40
LENGTH_OF_A_DAY = len("2026-11-16")
GROUPS = tuple(VERBS_ABOUT)
CSV_COLUMNS = ("n", "at", "person", "role", "verb", "noun", "about", "payload")
PORTION = 5_000


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An event in words: `person` and `role` of who acted, empty where grater itself did.

    `about` is what the noun is called, where it has a name.
    """

    event: Event
    person: str
    role: str
    about: str

    @property
    def details(self) -> str:
        """The payload as JSON; nothing where there is none."""
        return json.dumps(dict(self.event.payload), ensure_ascii=False) if self.event.payload else ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "n": self.event.n,
            "at": as_iso(self.event.at),
            "actor": self.event.actor,
            "person": self.person,
            "role": self.role,
            "verb": self.event.verb,
            "noun": self.event.noun,
            "about": self.about,
            "payload": dict(self.event.payload),
        }


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
    """The names of people and jobs, read once."""

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
