"""Rules about slots, leases, submissions and judgments (P1-P4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sqlalchemy import Column, ColumnElement, ScalarSelect, and_, exists, func, select

from grater.store import events, schema
from grater.store.ids import body_hash
from grater.store.transaction import Tx

COUNTING = ("valid", "untrusted")


def stored_but_gone(tx: Tx) -> Iterator[str]:
    """A submission that was acknowledged is there."""
    there = {row.submission_id for row in tx.all(select(schema.submissions.c.submission_id))}
    for event in events.all(tx):
        if event.verb == "submission.stored" and event.noun not in there:
            yield f"submission {event.noun} was stored (event {event.n}) and is gone"


def without_judgments(tx: Tx) -> Iterator[str]:
    """A submission has a judgment for every item of its unit."""
    n_items = _count(schema.unit_items.c.unit_id, schema.unit_items.c.unit_id == schema.submissions.c.unit_id)
    n_judged = _count(
        schema.judgments.c.submission_id, schema.judgments.c.submission_id == schema.submissions.c.submission_id
    )
    is_short = (n_judged == 0) | ((n_items > 0) & (n_judged != n_items))
    for row in tx.all(select(schema.submissions.c.submission_id, n_items, n_judged).where(is_short)):
        yield f"submission {row[0]} has {row[2]} judgments for {row[1]} items"


def changed_bodies(tx: Tx) -> Iterator[str]:
    """What a rater sent is what is stored."""
    for row in tx.all(
        select(schema.submissions.c.submission_id, schema.submissions.c.body, schema.submissions.c.body_hash)
    ):
        if body_hash(row.body) != row.body_hash:
            yield f"submission {row.submission_id}: the stored body is not the one that was sent"


def twice_by_one_rater(tx: Tx) -> Iterator[str]:
    """A rater has at most one judgment that counts for a unit."""
    both = (schema.submissions.c.unit_id, schema.submissions.c.person_id)
    query = select(*both, func.count()).where(schema.submissions.c.status.in_(COUNTING)).group_by(*both)
    for row in tx.all(query.having(func.count() > 1)):
        yield f"unit {row[0]}: person {row[1]} has {row[2]} judgments that count"


def told_twice(tx: Tx) -> Iterator[str]:
    """One submission id was stored once."""
    told = Counter(event.noun for event in events.all(tx) if event.verb == "submission.stored")
    for submission_id, n in told.items():
        if n > 1:
            yield f"submission {submission_id} was stored {n} times"


def more_than_wanted(tx: Tx) -> Iterator[str]:
    """A unit has at most N valid judgments."""
    n_valid = _count(
        schema.submissions.c.unit_id,
        and_(schema.submissions.c.unit_id == schema.units.c.unit_id, schema.submissions.c.status == "valid"),
    )
    query = select(schema.units.c.unit_id, schema.units.c.wanted, n_valid).where(
        schema.units.c.role == "work", n_valid > schema.units.c.wanted
    )
    for row in tx.all(query):
        yield f"unit {row[0]}: {row[2]} valid judgments, {row[1]} wanted"


def slot_filled_twice(tx: Tx) -> Iterator[str]:
    """A slot has at most one valid judgment."""
    place = (schema.submissions.c.unit_id, schema.submissions.c.n)
    query = select(*place, func.count()).where(
        schema.submissions.c.status == "valid", schema.submissions.c.n.is_not(None)
    )
    for row in tx.all(query.group_by(*place).having(func.count() > 1)):
        yield f"unit {row[0]}, slot {row[1]}: {row[2]} valid judgments"


def slot_leased_twice(tx: Tx) -> Iterator[str]:
    """A slot is in one rater's hands, and a rater has one lease at a time in a place of a job."""
    place = (schema.leases.c.unit_id, schema.leases.c.n)
    query = select(*place, func.count()).where(schema.leases.c.state == "held", schema.leases.c.n.is_not(None))
    for row in tx.all(query.group_by(*place).having(func.count() > 1)):
        yield f"unit {row[0]}, slot {row[1]}: held {row[2]} times"
    hand = (schema.leases.c.job_id, schema.leases.c.person_id, schema.leases.c.place)
    held = select(*hand, func.count()).where(schema.leases.c.state == "held").group_by(*hand).having(func.count() > 1)
    for row in tx.all(held):
        yield f"job {row[0]}: person {row[1]} holds {row[3]} leases at once"


def slots_missing(tx: Tx) -> Iterator[str]:
    """A unit has a slot for each judgment that it wants."""
    n_slots = _count(schema.slots.c.unit_id, schema.slots.c.unit_id == schema.units.c.unit_id)
    query = select(schema.units.c.unit_id, schema.units.c.wanted, n_slots).where(n_slots < schema.units.c.wanted)
    for row in tx.all(query):
        yield f"unit {row[0]}: {row[2]} slots for {row[1]} judgments"


def filled_by_nothing(tx: Tx) -> Iterator[str]:
    """A slot that is filled has its valid judgment, or nobody would ever be asked again."""
    filler = exists().where(
        schema.submissions.c.unit_id == schema.slots.c.unit_id,
        schema.submissions.c.n == schema.slots.c.n,
        schema.submissions.c.status == "valid",
    )
    for row in tx.all(
        select(schema.slots.c.unit_id, schema.slots.c.n).where(schema.slots.c.state == "filled", ~filler)
    ):
        yield f"unit {row[0]}, slot {row[1]}: filled, but no valid judgment fills it"


def valid_without_slot(tx: Tx) -> Iterator[str]:
    """A valid judgment of a work unit fills a slot, and no other status does."""
    slot = exists().where(
        schema.slots.c.unit_id == schema.submissions.c.unit_id,
        schema.slots.c.n == schema.submissions.c.n,
        schema.slots.c.state == "filled",
    )
    query = select(schema.submissions.c.submission_id).join(
        schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id
    )
    for row in tx.all(query.where(schema.submissions.c.status == "valid", schema.units.c.role == "work", ~slot)):
        yield f"submission {row[0]}: valid, but it fills no slot"
    for row in tx.all(query.where(schema.submissions.c.status != "valid", schema.submissions.c.n.is_not(None))):
        yield f"submission {row[0]}: not valid, but it has a slot"


def nobody_left(tx: Tx) -> Iterator[str]:
    """In an open job, a free slot of an assigned unit has an assigned person who can still fill it."""
    done = exists().where(
        schema.submissions.c.unit_id == schema.assignments.c.unit_id,
        schema.submissions.c.person_id == schema.assignments.c.person_id,
    )
    out = exists().where(
        schema.trust.c.job_id == schema.assignments.c.job_id,
        schema.trust.c.person_id == schema.assignments.c.person_id,
        schema.trust.c.state == "ejected",
    )
    able = exists(
        select(schema.assignments.c.person_id)
        .join(schema.people, schema.people.c.person_id == schema.assignments.c.person_id)
        .where(schema.assignments.c.unit_id == schema.slots.c.unit_id, schema.people.c.state == "active", ~done, ~out)
    )
    query = (
        select(schema.slots.c.unit_id)
        .join(schema.jobs, schema.jobs.c.job_id == schema.slots.c.job_id)
        .where(
            schema.jobs.c.state == "open", schema.jobs.c.access == "assigned", schema.slots.c.state == "free", ~able
        )
        .distinct()
    )
    for row in tx.all(query):
        yield f"unit {row[0]}: judgments are wanted, and no assigned person is left to give one; assign somebody"


def leased_by_nobody(tx: Tx) -> Iterator[str]:
    """A slot that is leased is in somebody's hands."""
    holder = exists().where(
        schema.leases.c.unit_id == schema.slots.c.unit_id,
        schema.leases.c.n == schema.slots.c.n,
        schema.leases.c.state == "held",
    )
    for row in tx.all(
        select(schema.slots.c.unit_id, schema.slots.c.n).where(schema.slots.c.state == "leased", ~holder)
    ):
        yield f"unit {row[0]}, slot {row[1]}: leased, but nobody holds it"


def lease_without_slot(tx: Tx) -> Iterator[str]:
    """A lease that is held has its slot."""
    slot = exists().where(
        schema.slots.c.unit_id == schema.leases.c.unit_id,
        schema.slots.c.n == schema.leases.c.n,
        schema.slots.c.state == "leased",
    )
    query = select(schema.leases.c.lease_id).where(
        schema.leases.c.state == "held", schema.leases.c.n.is_not(None), ~slot
    )
    for row in tx.all(query):
        yield f"lease {row[0]}: held, but its slot is not leased"


def _count(column: Column[str], condition: ColumnElement[bool]) -> ScalarSelect[int]:
    return select(func.count(column)).where(condition).scalar_subquery()
