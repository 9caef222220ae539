"""Stored judgments: submissions with their answers and status, and tables of them.

Only a submission's status may change, and an event records it. Besides the table of judgments there are the times,
and every submission with its answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, bindparam, case, func, literal, literal_column, select

from grater.annotate import units
from grater.annotate.progress import DONE, TAKEN_BACK
from grater.annotate.store import events, schema
from grater.annotate.store.transaction import Columns, Record, Tx, as_iso
from grater.annotate.tasks.task import Answer
from grater.errors import NotFound
from grater.model import PROGRAM, Json

SENT, UNIT, ANSWER = schema.submissions.c, schema.units.c, schema.judgments.c

GROUPS = {"worker": "crowd", "annotator": "expert", "adjudicator": "expert", "manager": "expert", "owner": "expert"}
"""The group of a person with this role in the judgments table; programs are programs whatever their role."""

PEOPLE = ("expert", "crowd", "writer")
"""The groups whose judgments are those of raters; programs and adjudicated decisions are none."""

GROUP = "group"
"""The payload of a person with their group from a table, if their role does not imply it."""


def groups(tx: Tx) -> dict[str, str]:
    columns = [schema.people.c[name] for name in ("person_id", "role", "kind", "payload")]
    return {
        row.person_id: PROGRAM if row.kind == PROGRAM else str(row.payload.get(GROUP) or GROUPS[row.role])
        for row in tx.all(select(*columns))
    }


ALL = ("valid", "untrusted", "surplus", "withdrawn")
FOR_AGREEMENT = ("item", "rater", "label", "at", "group")
"""The columns of `table` that agreement needs."""
ANSWER_COLUMNS = Columns(Answer, schema.judgments)
OF_UNIT = schema.submissions.join(schema.units)
JUDGED = schema.judgments.join(OF_UNIT, SENT.submission_id == ANSWER.submission_id)
WHOLE = JUDGED.join(schema.people, schema.people.c.person_id == SENT.person_id)


def table(
    tx: Tx,
    job_id: str | None = None,
    statuses: Sequence[str] = ("valid",),
    *,
    roles: Sequence[str] = ("work",),
    names: bool = False,
    only: Collection[str] = (),
    of_done: bool = False,
    start: int = 0,
    most: int | None = None,
) -> list[dict[str, Json]]:
    """Judgments in a fixed order, with all columns or `only` these; raters appear by pseudonym unless `names` is set.

    `of_done` selects those of finished units. At most `most` are returned, from number `start` on.
    """
    own, sent, unit, person = schema.judgments.c, schema.submissions.c, schema.units.c, schema.people.c
    columns: dict[str, ColumnElement[Any]] = {
        "item": own.item_id,
        "rater": person.name if names else person.pseudonym,
        "label": own.label,
        "status": sent.status,
        "confidence": own.confidence,
        "seconds": sent.seconds,
        "at": sent.at,
        "flags": own.flags,
        "alternatives": own.alternatives,
        "stage": unit.stage,
        "batch": unit.batch,
        "group": person.person_id,
        "role": unit.role,
        "kind": person.kind,
        "job": schema.jobs.c.name,
        "unit": unit.unit_id,
        "submission": own.submission_id,
        "guidelines": sent.guidelines_version,
        "payload": own.payload,
    }
    query = (
        select(*(column.label(name) for name, column in columns.items() if not only or name in only))
        .select_from(WHOLE.join(schema.jobs, schema.jobs.c.job_id == SENT.job_id))
        .where(UNIT.role.in_(roles), SENT.status.in_(statuses))
        .order_by(tx.binary(schema.jobs.c.name), tx.binary(own.item_id), sent.at, tx.binary(own.submission_id))
    )
    if job_id is not None:
        query = query.where(SENT.job_id == job_id)
    if of_done:
        done = DONE if job_id is None else DONE.where(UNIT.job_id == job_id)
        query = query.where(SENT.unit_id.in_(done))
    if most is not None:
        query = query.offset(start).limit(most)
    group_of = groups(tx)
    return [{**row._mapping, "at": as_iso(row.at), "group": group_of[row.group]} for row in tx.all(query)]


def submitted(tx: Tx, job_id: str) -> Sequence[Record]:
    """Every submission of a job, without answers, in order of arrival, with the role of its unit."""
    sent = schema.submissions.c
    columns = [sent[name] for name in ("person_id", "unit_id", "lease_id", "status", "seconds", "at")]
    is_undone = case((TAKEN_BACK, literal(True)), else_=literal(False)).label("is_undone")
    query = select(*columns, UNIT.role, is_undone).select_from(OF_UNIT).where(sent.job_id == job_id)
    return tx.all(query.order_by(sent.at, tx.binary(sent.submission_id)))


def answers_of(tx: Tx, submission_id: str) -> tuple[Answer, ...]:
    """The answers of one submission, in the order given."""
    query = select(schema.judgments).where(ANSWER.submission_id == submission_id).order_by(ANSWER.position)
    return tuple(ANSWER_COLUMNS.all(tx, query))


def by_submission(
    tx: Tx, job_id: str, statuses: Sequence[str] = ("valid",)
) -> Iterator[tuple[Record, tuple[Answer, ...]]]:
    """Each submission of a job with its answers, in order of arrival."""
    order = (SENT.at, tx.binary(SENT.submission_id))
    mine = (SENT.job_id == job_id) & SENT.status.in_(statuses)
    query = select(schema.judgments).join(schema.submissions).where(mine)
    answers: dict[str, list[Answer]] = defaultdict(list)
    for row in tx.all(query.order_by(*order, ANSWER.position)):
        answers[row.submission_id].append(ANSWER_COLUMNS.read(row))
    for row in tx.all(select(schema.submissions).where(mine).order_by(*order)):
        yield row, tuple(answers[row.submission_id])


def label_counts(
    tx: Tx, roles: Sequence[str] = ("work",), *, by_experts: bool = False
) -> list[tuple[str, str, str, int]]:
    """Job, item, label, and the number of valid judgments, counted by the database for units of these roles."""
    query = (
        select(SENT.job_id, ANSWER.item_id, ANSWER.label, func.count())
        .select_from(JUDGED)
        .where(SENT.status == "valid", UNIT.role.in_(roles))
        .group_by(SENT.job_id, ANSWER.item_id, ANSWER.label)
    )
    if by_experts:
        experts = [person_id for person_id, group in groups(tx).items() if group == "expert"]
        query = query.where(SENT.person_id.in_(experts))
    return [(job_id, item_id, label, n) for job_id, item_id, label, n in tx.all(query)]


SUBMISSION = select(schema.submissions).where(SENT.submission_id == bindparam("submission"))

IS_COUNTING = (SENT.person_id == bindparam("person")) & SENT.status.in_(
    (literal_column("'valid'"), literal_column("'untrusted'"))
)
COUNTING = select(schema.submissions).where(SENT.unit_id == bindparam("unit"), IS_COUNTING)
"""The submission of a person that counts for a unit, or did before they were ejected."""


def find_submission(tx: Tx, submission_id: str) -> Record | None:
    return tx.first(SUBMISSION, submission=submission_id)


def set_status(tx: Tx, submission_id: str, status: str, *, actor: str | None = None, why: str = "") -> str:
    """Change a submission's status, and return the new one.

    A submission that stops being valid frees its slot. One that becomes valid again takes a free slot, or becomes
    surplus if there is none.
    """
    this = SENT.submission_id == submission_id
    row = tx.first(tx.locked(select(schema.submissions).where(this), of=schema.submissions))
    if row is None:
        raise NotFound("there is no such submission")
    if row.status == status:
        return status
    units.set_slot(tx, row.unit_id, row.n, "free")
    n = None
    if status == "valid" and bool(tx.value(select(UNIT.wanted).where(UNIT.unit_id == row.unit_id))):
        n = units.take_free_slot(tx, row.unit_id)
        status = "valid" if n is not None else "surplus"
    tx.execute(schema.submissions.update().where(this).values(status=status, n=n))
    payload = {"from": row.status, "to": status, "n": n, "why": why}
    events.write(tx, actor, "submission.status", submission_id, payload)
    return status


def of_unit(tx: Tx, unit_id: str) -> list[Record]:
    """Everything sent for a unit: for adjudicators, never for raters (P9).

    Raters are ordered by their first answers, so that a rater who revises an answer keeps the same letter.
    """
    query = select(schema.submissions).where(SENT.unit_id == unit_id)
    rows = tx.all(query.order_by(SENT.at, tx.binary(SENT.submission_id)))
    raters = list(dict.fromkeys(row.person_id for row in rows))
    return sorted(rows, key=lambda row: raters.index(row.person_id))
