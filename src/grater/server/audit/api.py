"""Who did what, through the API."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from grater.server.calls import A_PAGE, Most, Object, Shape, When, calls_about
from grater.server.context import Context
from grater.study.audit import audit_filter, entries

router = calls_about("events")

Word = Annotated[str, Query(max_length=100)]


class AuditEvent(Shape):
    """An event in words: who acted (`person`, `role`; empty where grater itself did), and what it is `about`."""

    n: int
    at: When
    actor: str | None
    person: str
    role: str
    verb: str
    noun: str
    about: str
    payload: Object


class AuditEvents(Shape):
    """`next` is the `before` of the next page, null on the last."""

    events: list[AuditEvent]
    next: int | None


@router.get("/audit")
def audit(
    context: Context,
    person: Annotated[Word, Query(description="Name or id of who acted.")] = "",
    kind: Annotated[Word, Query(description="A verb, the part before its dot, or a group of verbs.")] = "",
    since: Annotated[Word, Query(description="The first day, or moment.")] = "",
    until: Annotated[Word, Query(description="The last day, which counts whole, or the moment before which.")] = "",
    job: Annotated[Word, Query(description="Name or id of a job.")] = "",
    before: Annotated[int | None, Query(ge=1, le=2**62, description="`next` of the page before.")] = None,
    most: Most = A_PAGE,
) -> AuditEvents:
    """The audit log, newest first, by person, kind, day and job."""
    with context.server.store.read() as tx:
        wanted = audit_filter(tx, person=person, kind=kind, since=since, until=until, job=job)
        rows = entries(tx, wanted, before=before, most=most + 1)
    shown = [AuditEvent.model_validate(row.to_dict()) for row in rows[:most]]
    return AuditEvents(events=shown, next=rows[most - 1].event.n if len(rows) > most else None)
