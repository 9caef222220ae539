"""Who gets which unit, and when."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text as sql

from grater.annotate import jobs, leases, people, trust, units
from grater.annotate.jobs import Assignment
from grater.annotate.leases import PRACTICE, RATER_STATE, pool
from grater.annotate.store import Store, Tx, checks, open_store
from grater.annotate.store.transaction import DAY, HOUR, MINUTE, PRIME
from grater.annotate.units import NewUnit
from tests.annotate.store.crowds import statements
from tests.annotate.store.races import interrupted, writing
from tests.annotate.store.worlds import FakeClock, World, make_world, new_units


def test_a_reload_gives_the_same_lease(store: Store) -> None:
    world = make_world(store)
    assert world.must_take().lease_id == world.must_take().lease_id


def test_a_rater_is_never_asked_twice_about_a_unit(store: Store) -> None:
    world = make_world(store, n_units=3, judgments=5)
    seen = [world.work().unit_id for _ in range(3)]
    assert sorted(seen) == sorted(world.unit_ids)
    assert world.take() is None


def test_a_unit_is_handed_out_at_most_n_times(store: Store) -> None:
    world = make_world(store, n_units=1, judgments=2)
    assert [world.take(rater) is not None for rater in range(3)] == [True, True, False]


def test_an_expired_lease_goes_to_the_next_rater(store: Store, clock: FakeClock) -> None:
    world = make_world(store, n_units=1, judgments=1, lease_minutes=10)
    world.must_take(0)
    assert world.take(1) is None
    clock.advance(10 * MINUTE)
    assert world.take(1) is not None


def test_a_rater_who_comes_back_late_but_first_goes_on(store: Store, clock: FakeClock) -> None:
    world = make_world(store, n_units=1, judgments=1, lease_minutes=10)
    old = world.must_take(0)
    clock.advance(2 * HOUR)
    again = world.must_take(0)
    assert (again.lease_id, again.expires_at) == (old.lease_id, clock.now + 10 * MINUTE)
    assert world.take(1) is None


def test_a_lease_given_back_while_another_rater_gets_its_slot_frees_nothing(store: Store, clock: FakeClock) -> None:
    world = make_world(store, n_units=1, judgments=1, lease_minutes=10)
    old = world.must_take(0)
    clock.advance(10 * MINUTE)
    assert _meanwhile(world, lambda tx: leases.give_back(tx, old.lease_id, person_id=world.raters[0])) is False
    assert world.take(2) is None  # rater 1 has the only slot
    with store.read() as tx:
        assert leases.find(tx, old.lease_id, person_id=world.raters[0]) == replace(old, state="expired")
        assert checks.violations(tx) == []


def test_a_rater_who_comes_back_while_another_gets_the_slot_has_none(store: Store, clock: FakeClock) -> None:
    world = make_world(store, n_units=1, judgments=1, lease_minutes=10)
    world.must_take(0)
    clock.advance(10 * MINUTE)
    assert _meanwhile(world, lambda tx: leases.take(tx, job_id=world.job_id, person_id=world.raters[0])) is None
    with store.read() as tx:
        assert checks.violations(tx) == []


def _meanwhile(world: World, does: Callable[[Tx], object]) -> object:
    """What comes of a change that begins while rater 1 has taken a slot and not committed, and is done after it."""

    def take_and_wait(tx: Tx) -> None:
        assert leases.take(tx, job_id=world.job_id, person_id=world.raters[1]) is not None
        tx.execute(sql("SELECT 'taken, not committed'"))

    taking, later = writing(world.store, take_and_wait), writing(world.store, does)
    return interrupted(world.store, taking, later, before="SELECT 'taken")[1].result()


def test_a_clock_set_back_does_not_lock_a_unit_away(store: Store, clock: FakeClock) -> None:
    world = make_world(store, n_units=1, judgments=1, lease_minutes=10)
    world.must_take(0)
    clock.advance(-30 * DAY)
    assert world.take(1) is not None


def test_a_clock_that_differs_a_little_keeps_leases(store: Store, clock: FakeClock) -> None:
    world = make_world(store, n_units=1, judgments=1, lease_minutes=10)
    world.must_take(0)
    clock.advance(-MINUTE)
    assert world.take(1) is None


def test_a_lease_given_back_is_free_for_others(store: Store) -> None:
    world = make_world(store, n_units=1, judgments=1)
    lease = world.must_take(0)
    with store.write() as tx:
        assert not leases.give_back(tx, lease.lease_id, person_id=world.raters[1])
        assert leases.give_back(tx, lease.lease_id, person_id=world.raters[0])
        assert not leases.give_back(tx, lease.lease_id, person_id=world.raters[0])
    assert world.take(1) is not None


def test_nobody_finds_the_lease_of_another(store: Store) -> None:
    world = make_world(store)
    lease = world.must_take(0)
    with store.read() as tx:
        assert leases.find(tx, lease.lease_id, person_id=world.raters[0]) == lease
        assert leases.find(tx, lease.lease_id, person_id=world.raters[1]) is None


def test_a_job_that_is_not_open_hands_out_nothing(store: Store) -> None:
    world = make_world(store)
    for state in ("draft", "paused", "closed"):
        with store.write() as tx:
            jobs.set_state(tx, world.job_id, state)
        assert world.take() is None


def test_an_ejected_rater_and_one_who_left_get_nothing(store: Store) -> None:
    world = make_world(store)
    with store.write() as tx:
        trust.eject(tx, jobs.get(tx, world.job_id), world.raters[0])
        people.set_state(tx, world.raters[1], "ended")
    assert [world.take(rater) is not None for rater in range(3)] == [False, False, True]


def test_practice_comes_first_and_once_for_everybody(store: Store) -> None:
    world = make_world(store, n_units=1, judgments=2)
    with store.write() as tx:
        item_id = units.get(tx, world.unit_ids[0]).unit.items[0].item.item_id
        (practice,) = units.add_all(tx, world.job_id, [NewUnit(((item_id, {}),), role="practice")])
    for rater in (0, 1):
        assert [world.work(rater).unit_id for _ in range(2)] == [practice, world.unit_ids[0]]
    assert world.must_take(2).unit_id == practice


def test_every_rater_has_another_order(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """From numbers that are the same each time: by chance two of three raters agree once in some thousand worlds.

    A unit after a wide gap is likely to be the next one for everybody, so orders agree more often than 1 in 12!.
    """
    rng = random.Random(1)
    for module in ("leases", "units"):
        monkeypatch.setattr(f"grater.annotate.{module}.new_shuffle", lambda: rng.randrange(1, PRIME))
    world = make_world(store, n_units=12, judgments=3, n_raters=3)
    orders = [[world.work(rater).unit_id for _ in range(12)] for rater in range(3)]
    assert len({tuple(order) for order in orders}) == 3
    assert all(sorted(order) == sorted(world.unit_ids) for order in orders)


def test_the_order_does_not_follow_the_order_of_adding(store: Store) -> None:
    world = make_world(store, n_units=12, judgments=1, n_raters=1)
    assert [world.work().unit_id for _ in range(12)] != list(world.unit_ids)  # one in 479,001,600


def test_batches_come_in_order(store: Store) -> None:
    world = make_world(store, n_units=0, judgments=1)
    with store.write() as tx:
        new = [NewUnit(each.items, each.essay_id, batch=2 - n % 3) for n, each in enumerate(new_units(tx, 9))]
        batches = dict(zip(units.add_all(tx, world.job_id, new), [each.batch for each in new], strict=True))
    assert [batches[world.work().unit_id] for _ in range(9)] == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_an_assigned_job_gives_each_their_own_units_in_their_own_batches(store: Store) -> None:
    world = make_world(store, n_units=3, judgments=1, access="assigned")
    first, second, third = world.unit_ids
    with store.write() as tx:
        mine = [Assignment(first, world.raters[0], batch=2), Assignment(second, world.raters[0], batch=1)]
        jobs.assign(tx, world.job_id, [*mine, Assignment(third, world.raters[1])])
    assert [world.work(0).unit_id for _ in range(2)] == [second, first]
    assert world.take(0) is None
    assert world.must_take(1).unit_id == third
    assert world.take(2) is None


def test_the_second_stage_waits_for_the_first_of_the_same_rater_and_the_delay(store: Store, clock: FakeClock) -> None:
    world = make_world(store, n_units=0, judgments=2)
    with store.write() as tx:
        (each,) = new_units(tx, 1)
        later = NewUnit(each.items, each.essay_id, stage="2", follows="first", delay_ms=3 * DAY)
        first, second = units.add_all(tx, world.job_id, [NewUnit(each.items, stage="1", name="first"), later])
    assert world.work(0).unit_id == first
    clock.advance(3 * DAY - 1)
    assert world.take(0) is None
    clock.advance(1)
    assert world.must_take(0).unit_id == second
    assert world.must_take(1).unit_id == first  # somebody else's first stage opens nothing for this rater


def test_what_comes_next_is_found_by_indexes_alone(tmp_path: Path) -> None:
    """On SQLite, whose plans are fixed: no table is read whole and nothing is sorted, however much has been done."""
    values = {"job": "j", "person": "p", "now": 0, "batch": 0, "start": 1, "latest": 1}
    with open_store(tmp_path / "study.db", create=True) as store, store.read() as tx:
        for query in (
            pool("first", "no"),
            pool("any", "no"),
            pool("after", "no"),
            PRACTICE,
            leases.OVER,
            RATER_STATE,
        ):
            compiled = query.compile(store.engine)
            given = tuple({**compiled.params, **values}[name] for name in compiled.positiontup or ())
            steps = tx.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", given).all()
            plan = "\n".join(step[3] for step in steps)
            assert "SEARCH" in plan
            assert "SCAN" not in plan.replace("SCAN joint_members", "")  # a seat or two, if any
            assert "TEMP B-TREE" not in plan


def test_a_glance_begins_nothing_and_sees_what_is_stored(store: Store) -> None:
    world = make_world(store)
    lease = world.must_take()
    with statements(store) as said, store.glance() as tx:
        found = leases.find_with_unit(tx, lease.lease_id, person_id=world.raters[0])
        assert leases.find_with_unit(tx, lease.lease_id, person_id=world.raters[1]) is None
    assert found is not None
    assert (found[0], found[1].unit_id) == (lease, lease.unit_id)
    assert not any(each.startswith("BEGIN") for each in said)


def test_a_unit_comes_with_its_items_in_their_order(store: Store) -> None:
    world = make_world(store, n_units=3)
    with store.write() as tx:
        known = [units.get(tx, unit_id).unit for unit_id in world.unit_ids]
        ids = [unit.items[0].item.item_id for unit in known]
        three = NewUnit(((ids[2], {}), (ids[0], {"word": "at"}), (ids[1], {})), known[0].essay.essay_id)
        added = units.add_all(tx, world.job_id, [three, NewUnit(())])
        whole, bare = (units.get(tx, unit_id).unit for unit_id in added)
    assert [each.item.item_id for each in whole.items] == [ids[2], ids[0], ids[1]]
    assert [each.payload for each in whole.items] == [{}, {"word": "at"}, {}]
    assert whole.essay == known[0].essay
    assert (bare.items, bare.essay.text) == ((), "")
