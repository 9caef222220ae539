"""The audit log: a study's events, filtered and in words, newest first, for pages, API and command alike.

A kind is a verb (`person.role`), the part before its dot (`person`), or a group of verbs (`people`, `work`, ...).
Days are UTC; the last day is included. An event belongs to a job if it names the job, or one of its units, leases,
answers, panels, payments or disputes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import polars as pl
from sqlalchemy import ColumnElement, Table, Text, or_, select, type_coerce

from grater.annotate import jobs, people
from grater.annotate.store import Tx, schema
from grater.annotate.store.events import COLUMNS, VERBS, VERBS_ABOUT, Event
from grater.annotate.store.transaction import DAY, as_iso, from_iso
from grater.errors import UnknownName, UsageError, unknown
from grater.result import Data, key
from grater.tables.files import guarded_frame

LONGEST_SHOWN = 40
LENGTH_OF_A_DAY = len("2026-11-16")
CSV_COLUMNS = ("n", "at", "person", "role", "verb", "noun", "about", "payload")
PORTION = 1_000
OF_A_JOB: tuple[tuple[Table, str], ...] = (
    (schema.units, "unit_id"),
    (schema.leases, "lease_id"),
    (schema.submissions, "submission_id"),
    (schema.panels, "panel_id"),
    (schema.payments, "payment_id"),
)


def _event_json(event: Event) -> dict[str, Any]:
    known = {name: getattr(event, name) for name in ("n", "actor", "verb", "noun")}
    return {**known, "at": as_iso(event.at), "payload": dict(event.payload)}


@dataclass(frozen=True, slots=True)
class AuditEntry(Data):
    """An event in words: the `person` who acted and their `role`, empty if grater itself acted.

    `about` is the name of the thing concerned, if it has one.
    """

    event: Event = field(metadata=key(flat=True, write=_event_json))
    person: str
    role: str
    about: str

    @property
    def details(self) -> str:
        """The payload as JSON; empty if there is none."""
        return json.dumps(dict(self.event.payload), ensure_ascii=False) if self.event.payload else ""


AuditFilter: TypeAlias = Sequence[ColumnElement[bool]]
"""The conditions that an event meets."""


def audit_filter(
    tx: Tx, *, person: str = "", kind: str = "", since: str = "", until: str = "", job: str = "", search: str = ""
) -> AuditFilter:
    """The filter as a person types it: names (or ids) of a person and a job, a kind, days or times.

    What is empty does not apply.
    """
    of, wanted = schema.events.c, list[ColumnElement[bool]]()
    if person:
        wanted.append(of.actor == (people.find(tx, person) or people.named(tx, person)).person_id)
    if kind:
        wanted.append(of.verb.in_(verbs_of(kind)))
    if since:
        wanted.append(of.at >= _moment(since))
    if until:
        wanted.append(of.at < _moment(until) + (DAY if len(until) == LENGTH_OF_A_DAY else 0))
    if job:
        wanted.append(_is_of_job((jobs.find(tx, job) or jobs.named(tx, job)).job_id))
    if search:
        wanted.append(_mentions(tx, search))
    return wanted


def verbs_of(kind: str) -> tuple[str, ...]:
    if kind in VERBS_ABOUT:
        return VERBS_ABOUT[kind]
    chosen = tuple(sorted(verb for verb in VERBS if kind in (verb, verb.partition(".")[0])))
    if not chosen:
        raise UnknownName(unknown("kind", kind[:LONGEST_SHOWN], [*VERBS_ABOUT, *sorted(VERBS)]))
    return chosen


def entries(tx: Tx, wanted: AuditFilter, *, before: int | None = None, most: int) -> list[AuditEntry]:
    """The newest events in words, optionally those before number `before`."""
    in_words = _Words(tx)
    return [in_words.of(event) for event in _latest(tx, wanted, before=before, most=most)]


def _latest(tx: Tx, wanted: AuditFilter, *, before: int | None, most: int) -> list[Event]:
    n = schema.events.c.n
    query = select(*COLUMNS).where(*wanted, *([n < before] if before is not None else []))
    return COLUMNS.all(tx, query.order_by(n.desc()).limit(most))


def _portions(tx: Tx, wanted: AuditFilter) -> Iterator[list[dict[str, Any]]]:
    """All matching events, in chunks to bound memory."""
    in_words, before = _Words(tx), None
    while portion := _latest(tx, wanted, before=before, most=PORTION):
        yield [in_words.of(event).to_dict() for event in portion]
        before = portion[-1].n


def json_lines(tx: Tx, wanted: AuditFilter) -> Iterator[str]:
    for portion in _portions(tx, wanted):
        yield from (json.dumps(row, ensure_ascii=False) + "\n" for row in portion)


def csv_parts(tx: Tx, wanted: AuditFilter) -> Iterator[str]:
    """CSV in parts; cells that a spreadsheet would execute are escaped."""
    yield ",".join(CSV_COLUMNS) + "\n"
    types = {name: pl.Int64 if name == "n" else pl.String for name in CSV_COLUMNS}
    for portion in _portions(tx, wanted):
        cells = [{**row, "payload": json.dumps(row["payload"], ensure_ascii=False)} for row in portion]
        frame = pl.DataFrame([{name: row[name] for name in CSV_COLUMNS} for row in cells], schema=types)
        yield guarded_frame(frame).write_csv(include_header=False)


class _Words:
    def __init__(self, tx: Tx) -> None:
        self.people = {person.person_id: person for person in people.all(tx)}
        self.jobs = {job.job_id: job.name for job in jobs.all(tx)}

    def of(self, event: Event) -> AuditEntry:
        actor = self.people.get(event.actor) if event.actor else None
        about = self.people.get(event.noun) or self.people.get(str(event.payload.get("person_id", "")))
        job = self.jobs.get(event.noun) or self.jobs.get(str(event.payload.get("job_id", "")), "")
        names = [name for name in (about.name if about else "", job) if name]
        return AuditEntry(
            event=event, person=actor.name if actor else "", role=actor.role if actor else "", about=", ".join(names)
        )


def _moment(text: str) -> int:
    try:
        return from_iso(text)
    except ValueError as error:
        raise UsageError(f"expected a day as 2026-11-16, found {text[:LONGEST_SHOWN]!r}") from error


def _mentions(tx: Tx, words: str) -> ColumnElement[bool]:
    """Whether these words occur in the verb, the details of its event, or the name of a person or job in it."""
    of, payload = schema.events.c, type_coerce(schema.events.c.payload, Text)
    named = [person.person_id for person in people.all(tx) if words.casefold() in person.name.casefold()]
    named += [job.job_id for job in jobs.all(tx) if words.casefold() in f"{job.name} {job.title}".casefold()]
    texts = (column.icontains(words, autoescape=True) for column in (of.verb, of.noun, payload))
    return or_(of.actor.in_(named), of.noun.in_(named), *texts, *(payload.contains(each) for each in named))


def _is_of_job(job_id: str) -> ColumnElement[bool]:
    noun, payload = schema.events.c.noun, type_coerce(schema.events.c.payload, Text)
    parts = [noun.in_(select(table.c[key]).where(table.c.job_id == job_id)) for table, key in OF_A_JOB]
    disputed = select(schema.disputes.c.dispute_id).join(schema.submissions)
    parts.append(noun.in_(disputed.where(schema.submissions.c.job_id == job_id)))
    return or_(noun == job_id, payload.contains(f'"job_id":"{job_id}"', autoescape=True), *parts)
