"""A restless crowd for the concurrency tests: double clicks, second tabs, abandoned work, stale leases.

Everything a rater does follows from a seed; only the interleaving is the machine's.  The crowd keeps a log of what it
was told (acknowledged), which must be found in the study whatever happened.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from grater.annotate import leases
from grater.annotate.leases import Lease
from grater.annotate.store import Store
from grater.annotate.submissions import Receipt
from grater.errors import Conflict, StoreBusy
from tests.annotate.store.worlds import World, submit

T = TypeVar("T")


@dataclass(slots=True)
class Acknowledged:
    """What the crowd heard: submission id to status, and what went wrong."""

    receipts: dict[str, list[Receipt]] = field(default_factory=dict)
    failures: list[BaseException] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def hear(self, receipt: Receipt) -> None:
        with self.lock:
            self.receipts.setdefault(receipt.submission_id, []).append(receipt)


def let_work(world: World, *, seed: int, most: int, tick: Callable[[], None] = lambda: None) -> Acknowledged:
    """All raters at once, each with habits of their own, until nobody finds work any more or has done `most`."""
    acknowledged = Acknowledged()
    with ThreadPoolExecutor(len(world.raters)) as pool:
        for number in range(len(world.raters)):
            pool.submit(_life, world, number, random.Random(seed * 1000 + number), acknowledged, most, tick)
    return acknowledged


def finish(world: World, acknowledged: Acknowledged) -> None:
    """The diligent come back one by one, until nobody is given anything."""
    for number in range(len(world.raters)):
        while (lease := world.take(number)) is not None:
            acknowledged.hear(world.submit(lease, submission_id=f"late-{lease.lease_id}"))


def _life(
    world: World, number: int, rng: random.Random, acknowledged: Acknowledged, most: int, tick: Callable[[], None]
) -> None:
    try:
        for _ in range(most):
            lease = _patiently(lambda: world.take(number))
            if lease is None:
                return
            tick()
            if not _one_page(world, number, lease, rng, acknowledged):
                return
    except BaseException as failure:
        acknowledged.failures.append(failure)


def _one_page(world: World, number: int, lease: Lease, rng: random.Random, acknowledged: Acknowledged) -> bool:
    """Answer a page in one of the ways that people do; False when the rater walks away."""
    habit = rng.random()
    name = f"{number}-{lease.lease_id}"
    if habit < 0.1:
        return False  # closes the browser with work in hand
    if habit < 0.2:
        with world.store.write() as tx:
            leases.give_back(tx, lease.lease_id, person_id=lease.person_id)
        return True
    if habit < 0.4:  # double click: the same submission twice at once
        _together(*(lambda: acknowledged.hear(_send(world.store, lease, name)) for _ in range(2)))
        return True
    if habit < 0.5:  # second tab: another submission for the same lease
        acknowledged.hear(_send(world.store, lease, name))
        acknowledged.hear(_send(world.store, lease, f"{name}-tab"))
        return True
    acknowledged.hear(_send(world.store, lease, name))
    if habit < 0.6:  # the network swallowed the answer: sent again, then once more with another body
        acknowledged.hear(_send(world.store, lease, name))
        try:
            _send(world.store, lease, name, says="something else")
        except Conflict:
            return True
        raise AssertionError("another body under the same id went through")
    return True


def _send(store: Store, lease: Lease, submission_id: str, *, says: str = "") -> Receipt:
    def once() -> Receipt:
        with store.write() as tx:  # leaving it is the COMMIT, and only then does anybody hear
            return submit(tx, lease, submission_id=submission_id, says=says)

    return _patiently(once)


def _patiently(do: Callable[[], T]) -> T:
    """A browser tries again when the server says 503."""
    for _ in range(20):
        try:
            return do()
        except StoreBusy:
            continue
    return do()


def _together(*calls: Callable[[], None]) -> None:
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
