"""P1-P4 under fire: fifty raters at once, with double clicks, second tabs, stale leases and abandoned work."""

from __future__ import annotations

import pytest

from grater.annotate import judgments, progress
from grater.annotate.store import Store, checks
from grater.annotate.store.transaction import HOUR, MINUTE
from tests.annotate.store.crowd import Acknowledged, finish, let_work
from tests.annotate.store.worlds import FakeClock, World, make_world


def assert_promises_kept(world: World, acknowledged: Acknowledged) -> None:
    assert acknowledged.failures == []
    with world.store.read() as tx:
        assert checks.violations(tx) == []
        stored = {row["submission"]: row["status"] for row in judgments.table(tx, world.job_id, judgments.ALL)}
    for submission_id, receipts in acknowledged.receipts.items():
        assert stored.keys() >= {submission_id}, "an acknowledged judgment is lost"
        assert {receipt.status for receipt in receipts} == {stored[submission_id]}
        assert sum(not receipt.is_replay for receipt in receipts) == 1, "one submission was stored twice"


def assert_nobody_starved(world: World) -> None:
    with world.store.read() as tx:
        assert all(unit.valid == unit.wanted for unit in progress.of_job(tx, world.job_id).by_unit)


@pytest.mark.parametrize(
    ("seed", "n_units"), [(1, 12), *(pytest.param(seed, 60, marks=pytest.mark.slow) for seed in range(10))]
)
def test_fifty_raters_lose_nothing_and_double_nothing(
    store: Store, clock: FakeClock, seed: int, n_units: int
) -> None:
    world = make_world(store, n_units=n_units, judgments=3, n_raters=50, lease_minutes=10)
    acknowledged = let_work(world, seed=seed, most=4)
    assert_promises_kept(world, acknowledged)
    clock.advance(HOUR)  # what was abandoned runs out
    finish(world, acknowledged)
    assert_promises_kept(world, acknowledged)
    assert_nobody_starved(world)


def test_leases_that_run_out_while_people_submit_lose_nothing(store: Store, clock: FakeClock) -> None:
    world = make_world(store, n_units=6, judgments=2, n_raters=12, lease_minutes=1)
    acknowledged = let_work(world, seed=2, most=4, tick=lambda: clock.advance(MINUTE // 3))
    assert_promises_kept(world, acknowledged)


@pytest.mark.parametrize("jump", [365 * 24 * HOUR, -365 * 24 * HOUR], ids=["a year on", "a year back"])
def test_a_clock_that_jumps_loses_nothing_and_starves_nobody(store: Store, clock: FakeClock, jump: int) -> None:
    world = make_world(store, n_units=4, judgments=2, n_raters=6, lease_minutes=10)
    acknowledged = let_work(world, seed=3, most=1)
    clock.advance(jump)
    told_later = let_work(world, seed=4, most=2)
    finish(world, told_later)
    assert_promises_kept(world, acknowledged)
    assert_promises_kept(world, told_later)
    assert_nobody_starved(world)
