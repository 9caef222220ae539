"""Surplus work takes the slots that an ejection frees, and never breaks a promise by it."""

from __future__ import annotations

from sqlalchemy import select

from grater.annotate import jobs, trust
from grater.annotate.store import Store, checks, schema
from grater.annotate.store.transaction import HOUR
from tests.annotate.store.worlds import FakeClock, World, make_world


def statuses(world: World) -> dict[str, str]:
    with world.store.read() as tx:
        assert checks.violations(tx) == []
        return {row.submission_id: row.status for row in tx.all(select(schema.submissions))}


def eject(world: World, rater: int) -> None:
    with world.store.write() as tx:
        trust.eject(tx, jobs.get(tx, world.job_id), world.raters[rater], why="gold")


def crowded(store: Store, clock: FakeClock, *, n_late: int = 2) -> World:
    """One unit, one judgment wanted: raters come too late with `late 0`, `late 1`; the last one is `in time`."""
    world = make_world(store, n_units=1, judgments=1, n_raters=n_late + 1)
    leases = []
    for rater in range(n_late):
        leases.append(world.must_take(rater))
        clock.advance(HOUR + 1)
    world.submit(world.must_take(n_late), submission_id="in time")
    for number, lease in enumerate(leases):
        clock.advance(1)
        world.submit(lease, submission_id=f"late {number}")
    return world


def test_the_oldest_surplus_answer_takes_the_slot_of_an_ejected_rater(store: Store, clock: FakeClock) -> None:
    world = crowded(store, clock)
    assert statuses(world) == {"in time": "valid", "late 0": "surplus", "late 1": "surplus"}
    eject(world, 2)
    assert statuses(world) == {"in time": "untrusted", "late 0": "valid", "late 1": "surplus"}


def test_the_work_of_an_ejected_rater_is_not_promoted(store: Store, clock: FakeClock) -> None:
    world = crowded(store, clock)
    eject(world, 0)
    eject(world, 2)
    assert statuses(world) == {"in time": "untrusted", "late 0": "surplus", "late 1": "valid"}


def test_a_second_answer_of_the_same_rater_stays_surplus(store: Store) -> None:
    world = make_world(store, n_units=1, judgments=2)
    lease = world.must_take(0)
    world.submit(lease, submission_id="first")
    world.submit(lease, submission_id="second")
    world.submit(world.must_take(1), submission_id="other")
    eject(world, 1)
    assert statuses(world) == {"first": "valid", "second": "surplus", "other": "untrusted"}
