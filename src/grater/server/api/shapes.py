"""What the API says of the study's nouns: shapes of their own, never rows, so nothing hidden can slip out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from grater.model import Json
from grater.server.work import Desk
from grater.store.clock import as_iso
from grater.store.events import Event
from grater.store.jobs import Job
from grater.store.people import Person
from grater.store.progress import Progress
from grater.tasks import Field
from grater.tasks.marking import TASK as MARKING
from grater.tasks.marking import tagset_of

Reply: TypeAlias = dict[str, Any]
"""A JSON object, as FastAPI wants to read it in a signature."""


def person_json(person: Person) -> dict[str, Json]:
    return {
        "person_id": person.person_id,
        "name": person.name,
        "pseudonym": person.pseudonym,
        "role": person.role,
        "kind": person.kind,
        "state": person.state,
    }


def job_json(job: Job) -> dict[str, Json]:
    return {
        "job_id": job.job_id,
        "name": job.name,
        "title": job.title,
        "task": job.task,
        "state": job.state,
        "access": job.access,
        "judgments": job.judgments,
    }


def desk_json(desk: Desk) -> dict[str, Json]:
    """A piece of work as its page shows it; for an essay, its text and the tags to mark with."""
    found: dict[str, Json] = {
        "lease_id": desk.lease.lease_id,
        "job_id": desk.lease.job_id,
        "state": desk.lease.state,
        "expires_at": as_iso(desk.lease.expires_at),
        "submission_id": desk.submission_id,
        "task": desk.task.name,
        "stage": desk.unit.unit.stage,
    }
    if desk.task.name == MARKING.name:
        return {**found, "text": desk.unit.unit.essay.text, "tags": [tag.code for tag in tagset_of(desk.unit.unit)]}
    shown = desk.shown
    pieces: list[Json] = [{"text": piece.text, "mark": piece.mark} for piece in shown.pieces]
    fields: list[Json] = [_field_json(field) for field in shown.fields]
    return {**found, "before": shown.before, "pieces": pieces, "after": shown.after, "fields": fields}


def _field_json(field: Field) -> dict[str, Json]:
    choices: list[Json] = [{"value": choice.value, "text": choice.text} for choice in field.choices]
    return {
        "name": field.name,
        "kind": field.kind,
        "question": field.question,
        "choices": choices,
        "asked_for": list(field.asked_for),
        "required": field.required,
    }


def progress_json(far: Progress) -> dict[str, Json]:
    raters: list[Json] = [
        {
            "name": each.name,
            "pseudonym": each.pseudonym,
            "valid": each.valid,
            "untrusted": each.untrusted,
            "surplus": each.surplus,
            "withdrawn": each.withdrawn,
            "seconds": each.seconds,
        }
        for each in far.by_rater
    ]
    counts: dict[str, Json] = {"units": far.units, "done": far.done, "wanted": far.wanted, "valid": far.valid}
    return {**counts, "held": far.held, "raters": raters}


def event_json(event: Event) -> dict[str, Json]:
    payload: Mapping[str, Json] = event.payload
    return {
        "n": event.n,
        "at": as_iso(event.at),
        "actor": event.actor,
        "verb": event.verb,
        "noun": event.noun,
        "payload": payload,
    }
