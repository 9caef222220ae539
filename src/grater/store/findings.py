"""Findings: what `corpus check` saw in an annotator's work, as a queue to look at again (NUCLE 2013, section 4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import func, select

from grater.errors import NotFound
from grater.store import events, schema, units
from grater.store.ids import new_id
from grater.store.transaction import Tx


@dataclass(frozen=True, slots=True)
class Finding:
    """`person_id` is whose work it is; the span is in code points of the essay."""

    finding_id: str
    unit_id: str
    person_id: str | None
    rule: str
    message: str
    start: int | None = None
    end: int | None = None
    state: str = "open"


COLUMNS = [schema.findings.c[name] for name in Finding.__dataclass_fields__]


def add_all(tx: Tx, found: Iterable[Finding], *, actor: str | None = None) -> int:
    """Add findings that are not there yet (the same rule at the same place of the same work); give how many."""
    n_added = 0
    found = list(found)
    for unit_id in sorted({each.unit_id for each in found}):  # who looks for the same at once waits here
        units.lock(tx, unit_id)
    for each in found:
        if _is_known(tx, each):
            continue
        row = {name: getattr(each, name) for name in Finding.__dataclass_fields__}
        tx.insert(schema.findings, row | {"finding_id": each.finding_id or new_id(), "at": tx.now})
        n_added += 1
    events.write(tx, actor, "findings.added", "", {"n": n_added})
    return n_added


def open_of(tx: Tx, person_id: str) -> list[Finding]:
    """What a person should look at again."""
    query = select(*COLUMNS).where(schema.findings.c.person_id == person_id, schema.findings.c.state == "open")
    return [
        Finding(*row)
        for row in tx.all(query.order_by(schema.findings.c.at, schema.findings.c.unit_id, schema.findings.c.start))
    ]


def n_open(tx: Tx, job_id: str) -> int:
    """How many findings of a job their annotators have not looked at."""
    in_job = select(schema.units.c.unit_id).where(schema.units.c.job_id == job_id)
    return int(
        tx.value(select(func.count()).where(schema.findings.c.state == "open", schema.findings.c.unit_id.in_(in_job)))
        or 0
    )


def settle(tx: Tx, finding_id: str, state: Literal["mended", "kept"], *, person_id: str) -> None:
    """The annotator has looked: mended, or kept as it was on purpose."""
    mine = (schema.findings.c.finding_id == finding_id) & (schema.findings.c.person_id == person_id)
    if tx.value(select(schema.findings.c.finding_id).where(mine)) is None:
        raise NotFound("there is no such finding, or it is not yours")
    if tx.execute(
        schema.findings.update().where(mine, schema.findings.c.state == "open").values(state=state)
    ).rowcount:
        events.write(tx, person_id, f"finding.{state}", finding_id)


def _is_known(tx: Tx, each: Finding) -> bool:
    same = [schema.findings.c[name] == getattr(each, name) for name in ("unit_id", "person_id", "rule", "message")]
    places = [schema.findings.c[name].is_not_distinct_from(getattr(each, name)) for name in ("start", "end")]
    return tx.first(select(schema.findings.c.finding_id).where(*same, *places)) is not None
