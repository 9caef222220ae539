"""P1-P4 under fire: fifty raters at once, with double clicks, second tabs, stale leases and abandoned work.

Everything a rater does follows from a seed; only the interleaving is the machine's.  What raters were told must be
found in the study whatever happened.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from grater.annotate import judgments, leases, progress
from grater.annotate.store import Store
from grater.annotate.store.transaction import HOUR, MINUTE
from grater.annotate.submissions import Receipt
from grater.errors import Conflict
from tests.annotate.store.crowds import Crowd, make_world
from tests.annotate.store.races import patiently, together
from tests.annotate.store.worlds import FakeClock


def assert_promises_kept(world: Crowd, acknowledged: Acknowledged) -> None:
    assert acknowledged.failures == []
    world.require_promises()
    stored = {row["submission"]: row["status"] for row in world.read(judgments.table, world.job_id, judgments.ALL)}
    for submission_id, receipts in acknowledged.receipts.items():
        assert stored.keys() >= {submission_id}, "an acknowledged judgment is lost"
        assert {receipt.status for receipt in receipts} == {stored[submission_id]}
        assert sum(not receipt.is_replay for receipt in receipts) == 1, "one submission was stored twice"


def assert_nobody_starved(world: Crowd) -> None:
    assert all(unit.valid == unit.wanted for unit in world.read(progress.some_units, world.job_id))


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


@dataclass(slots=True)
class Acknowledged:
    """What the crowd heard: submission id to status, and what went wrong."""

    receipts: dict[str, list[Receipt]] = field(default_factory=dict)
    failures: list[BaseException] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def hear(self, receipt: Receipt) -> None:
        with self.lock:
            self.receipts.setdefault(receipt.submission_id, []).append(receipt)


def let_work(world: Crowd, *, seed: int, most: int, tick: Callable[[], None] = lambda: None) -> Acknowledged:
    """All raters at once, each with habits of their own, until nobody finds work any more or has done `most`."""
    acknowledged = Acknowledged()
    with ThreadPoolExecutor(len(world.raters)) as pool:
        for number in range(len(world.raters)):
            pool.submit(_life, world, number, random.Random(seed * 1000 + number), acknowledged, most, tick)
    return acknowledged


def finish(world: Crowd, acknowledged: Acknowledged) -> None:
    """The diligent come back one by one, until nobody is given anything."""
    for number in range(len(world.raters)):
        while (lease := world.take(number)) is not None:
            acknowledged.hear(world.send(lease, submission_id=f"late-{lease.lease_id}"))


def _life(
    world: Crowd, number: int, rng: random.Random, acknowledged: Acknowledged, most: int, tick: Callable[[], None]
) -> None:
    try:
        for _ in range(most):
            lease = patiently(lambda: world.take(number))
            if lease is None:
                return
            tick()
            if not _one_page(world, number, lease, rng, acknowledged):
                return
    except BaseException as failure:
        acknowledged.failures.append(failure)


def _one_page(world: Crowd, number: int, lease: leases.Lease, rng: random.Random, acknowledged: Acknowledged) -> bool:
    """Answer a page in one of the ways that people do; False when the rater walks away."""
    habit = rng.random()
    name = f"{number}-{lease.lease_id}"
    if habit < 0.1:
        return False  # closes the browser with work in hand
    if habit < 0.2:
        world.write(leases.give_back, lease.lease_id, person_id=lease.person_id)
        return True
    if habit < 0.4:  # double click: the same submission twice at once
        together(*(lambda: acknowledged.hear(_send(world, lease, name)) for _ in range(2)))
        return True
    if habit < 0.5:  # second tab: another submission for the same lease
        acknowledged.hear(_send(world, lease, name))
        acknowledged.hear(_send(world, lease, f"{name}-tab"))
        return True
    acknowledged.hear(_send(world, lease, name))
    if habit < 0.6:  # the network swallowed the answer: sent again, then once more with another body
        acknowledged.hear(_send(world, lease, name))
        try:
            _send(world, lease, name, says="something else")
        except Conflict:
            return True
        raise AssertionError("another body under the same id went through")
    return True


def _send(world: Crowd, lease: leases.Lease, submission_id: str, *, says: str = "") -> Receipt:
    return patiently(lambda: world.send(lease, submission_id=submission_id, says=says))
