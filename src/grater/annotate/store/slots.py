"""Slots: one for each judgment that a unit is to get, free, leased, filled or closed; and the redundancy rule.

As answers come, a unit's slots follow the job's redundancy rule (`grater.annotate.terms`): it says from the valid
labels how many more judgments are wanted, and as many slots are kept open, free or in a rater's hands.  More slots
are made, closed ones opened again, or free ones closed.  `wanted` of the unit is the number of slots that are not
closed.  With a fixed number of judgments nothing changes.

Raters take slots meanwhile, and do not wait for a unit: only a slot that is free, and that nobody is just taking, is
closed.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import bindparam, select

from grater.annotate.store import events, jobs, schema, units
from grater.annotate.store.jobs import Job
from grater.annotate.store.transaction import ONE, Tx, locking
from grater.annotate.terms import Redundancy, still_wanted, terms_of

OF_UNIT = schema.slots.c.unit_id == bindparam("unit")
SET = schema.slots.update().where(OF_UNIT, schema.slots.c.n == bindparam("slot")).values(state=bindparam("to"))
FREE = select(schema.slots.c.n).where(OF_UNIT, schema.slots.c.state == "free").order_by(schema.slots.c.n).limit(ONE)
FREE_LOCKED = locking(FREE, of=schema.slots, skip=True)

NO_SLOT = 0
"""Slots are counted from 1."""

LABEL_SEPARATOR = "|"
"""Between the labels of one submission, where it judges several items."""


def set_state(tx: Tx, unit_id: str, n: int | None, state: str) -> None:
    """Of a unit without a slot, as gold is, nothing changes; but neither is quicker (P5)."""
    tx.post(SET, {"to": state, "unit": unit_id, "slot": n or NO_SLOT})


def take_free(tx: Tx, unit_id: str) -> int | None:
    """A free slot of the unit, filled from now on; None if there is none."""
    n: int | None = tx.value(FREE_LOCKED if tx.is_postgres else FREE, unit=unit_id)
    if n is not None:
        set_state(tx, unit_id, n, "filled")
    return n


def free_units(tx: Tx, job_id: str) -> set[str]:
    """The units of a job with a free slot."""
    query = select(schema.slots.c.unit_id).where(schema.slots.c.job_id == job_id, schema.slots.c.state == "free")
    return {row.unit_id for row in tx.all(query.distinct())}


def settle(tx: Tx, job: Job, unit_ids: Iterable[str]) -> list[str]:
    """Open or close slots of these units, so that as many are open as the rule still wants; return changed units."""
    if _rule(job) is None:
        return []
    in_order = sorted(set(unit_ids))  # so that two who settle the same units do not block each other
    for unit_id in in_order:
        units.lock(tx, unit_id)
    rule = _rule(jobs.get(tx, job.job_id))  # only now: the terms may have changed while we waited
    return [] if rule is None else [unit_id for unit_id in in_order if _settle(tx, job, unit_id, rule)]


def hold(tx: Tx, unit_id: str) -> bool:
    """Keep everybody from the unit's free slots until the end; False where somebody is taking one just now."""
    units.lock(tx, unit_id)
    return len(_free(tx, unit_id)) == list(_states(tx, unit_id).values()).count("free")


def close_all(tx: Tx, unit_id: str) -> None:
    """Ask for nothing more: every slot that is free is closed; hold the unit first."""
    _change(tx, unit_id, dict.fromkeys(_free(tx, unit_id), "closed"))


def open_again(tx: Tx, job: Job, unit_id: str, wanted: int) -> None:
    """Ask for this number of judgments of a unit that asked for none."""
    states = _states(tx, unit_id)
    closed = list(states)[:wanted]
    new = _add(tx, job, unit_id, wanted - len(closed), after=max(states, default=0))
    _change(tx, unit_id, dict.fromkeys([*closed, *new], "free"))


def _add(tx: Tx, job: Job, unit_id: str, n_new: int, *, after: int) -> list[int]:
    """More slots of a unit, numbered on."""
    numbers = list(range(after + 1, after + 1 + n_new))
    unit = tx.first(select(schema.units.c.batch, schema.units.c.shuffle).where(schema.units.c.unit_id == unit_id))
    own = {"unit_id": unit_id, "job_id": job.job_id, "state": "free", **(unit._mapping if unit else {})}
    tx.insert(schema.slots, [{**own, "n": n} for n in numbers])
    return numbers


def _rule(job: Job) -> Redundancy | None:
    """The job's rule, where it changes anything."""
    rule = terms_of(job.options).redundancy
    return None if rule is None or (rule.is_fixed and rule.most == job.judgments) else rule


def _settle(tx: Tx, job: Job, unit_id: str, rule: Redundancy) -> bool:
    if tx.value(select(schema.units.c.role).where(schema.units.c.unit_id == unit_id)) != "work":
        return False
    states = _states(tx, unit_id)
    n_open = sum(state in ("free", "leased") for state in states.values())
    missing = still_wanted(rule, _labels(tx, unit_id)) - n_open
    if missing > 0:
        closed = [n for n, state in states.items() if state == "closed"][:missing]
        new = _add(tx, job, unit_id, missing - len(closed), after=max(states, default=0))
        return _change(tx, unit_id, dict.fromkeys([*closed, *new], "free"))
    return missing < 0 and _change(tx, unit_id, dict.fromkeys(_free(tx, unit_id)[missing:], "closed"))


def _change(tx: Tx, unit_id: str, states: dict[int, str]) -> bool:
    if not states:
        return False
    for n, state in states.items():
        set_state(tx, unit_id, n, state)
    wanted = sum(state != "closed" for state in _states(tx, unit_id).values())
    tx.execute(schema.units.update().where(schema.units.c.unit_id == unit_id).values(wanted=wanted))
    by_number = {str(n): state for n, state in states.items()}
    events.write(tx, None, "slots.changed", unit_id, {"slots": by_number, "wanted": wanted})
    return True


def _free(tx: Tx, unit_id: str) -> list[int]:
    """The free slots, ours until the end, without those that somebody is taking."""
    query = (
        select(schema.slots.c.n)
        .where(schema.slots.c.unit_id == unit_id, schema.slots.c.state == "free")
        .order_by(schema.slots.c.n)
    )
    return [row.n for row in tx.all(tx.locked(query, of=schema.slots, skip=True))]


def _states(tx: Tx, unit_id: str) -> dict[int, str]:
    query = (
        select(schema.slots.c.n, schema.slots.c.state)
        .where(schema.slots.c.unit_id == unit_id)
        .order_by(schema.slots.c.n)
    )
    return {row.n: row.state for row in tx.all(query)}


def _labels(tx: Tx, unit_id: str) -> list[str]:
    """One label per valid submission; of a unit with several items all of them joined."""
    query = (
        select(schema.judgments.c.submission_id, schema.judgments.c.label)
        .join(schema.submissions, schema.submissions.c.submission_id == schema.judgments.c.submission_id)
        .where(schema.submissions.c.unit_id == unit_id, schema.submissions.c.status == "valid")
        .order_by(schema.judgments.c.submission_id, schema.judgments.c.item_id)
    )
    by_submission: dict[str, list[str]] = {}
    for row in tx.all(query):
        by_submission.setdefault(row.submission_id, []).append(row.label)
    return [LABEL_SEPARATOR.join(labels) for labels in by_submission.values()]
