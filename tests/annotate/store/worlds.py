"""Small studies to test on, and a clock that does as it is told.  The sentences are our own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from grater.annotate import content, jobs, leases, people, submissions, units
from grater.annotate.jobs import Access
from grater.annotate.leases import Lease
from grater.annotate.store import Store, Tx
from grater.annotate.submissions import Receipt
from grater.annotate.tasks.task import Answer
from grater.annotate.units import NewUnit
from grater.model import Essay, Item, Span

TEXT = "We waited on the bus stop for our friend and talked of the weather. "


@dataclass(slots=True)
class FakeClock:
    """Stands still until somebody moves it; milliseconds."""

    now: int = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now

    def advance(self, ms: int) -> None:
        self.now += ms


class SeededSecrets:
    """Stands for the module `secrets` in `grater.annotate.store.transaction`: the same ids and keys in every run."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def token_urlsafe(self, n: int) -> str:
        return "".join(self.rng.choices("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789-_", k=n * 4 // 3))

    def token_hex(self, n: int) -> str:
        return f"{self.rng.getrandbits(8 * n):0{2 * n}x}"

    def randbelow(self, n: int) -> int:
        return self.rng.randrange(n)


@dataclass(frozen=True, slots=True)
class World:
    """One open job and its raters."""

    store: Store
    job_id: str
    raters: tuple[str, ...]
    unit_ids: tuple[str, ...]

    def take(self, rater: int = 0) -> Lease | None:
        with self.store.write() as tx:
            return leases.take(tx, job_id=self.job_id, person_id=self.raters[rater])

    def must_take(self, rater: int = 0) -> Lease:
        lease = self.take(rater)
        assert lease is not None
        return lease

    def submit(self, lease: Lease, *, submission_id: str = "", label: str = "error", says: str = "") -> Receipt:
        with self.store.write() as tx:
            return submit(tx, lease, submission_id=submission_id or f"of-{lease.lease_id}", label=label, says=says)

    def work(self, rater: int = 0, *, label: str = "error") -> Receipt:
        return self.submit(self.must_take(rater), label=label)


def submit(tx: Tx, lease: Lease, *, submission_id: str, label: str = "error", says: str = "") -> Receipt:
    """Answer every item of the lease's unit with one label."""
    unit = units.get(tx, lease.unit_id).unit
    return submissions.submit(
        tx,
        submission_id=submission_id,
        lease_id=lease.lease_id,
        person_id=lease.person_id,
        body={"label": label, "says": says},
        answers=[Answer(each.item.item_id, label) for each in unit.items],
        seconds=3.0,
    )


def new_items(tx: Tx, n: int, *, name: str = "essay") -> list[tuple[str, str]]:
    """`n` items, each in an essay of its own: (essay id, item id)."""
    made = [Essay(f"{name}-{number}", f"{number}. {TEXT}") for number in range(n)]
    content.add_essays(tx, made)
    starts = [essay.text.index("on") for essay in made]
    places = [Item(essay.essay_id, Span(a, a + 2), "prep") for essay, a in zip(made, starts, strict=True)]
    content.add_items(tx, [content.study_item(item) for item in places])
    return [(item.essay_id, item.item_id) for item in places]


def new_units(tx: Tx, n: int) -> list[NewUnit]:
    return [NewUnit(((item_id, {}),), essay_id) for essay_id, item_id in new_items(tx, n)]


def make_world(
    store: Store,
    *,
    n_units: int = 3,
    judgments: int = 2,
    n_raters: int = 3,
    access: Access = "pool",
    lease_minutes: float = 60,
    extra: Sequence[NewUnit] = (),
) -> World:
    """An open `error` job with one item to a unit."""
    with store.write() as tx:
        raters = tuple(people.add(tx, name=f"rater {n}", role="worker").person_id for n in range(n_raters))
        job = jobs.add(tx, name="job", task="error", judgments=judgments, access=access, lease_minutes=lease_minutes)
        unit_ids = units.add_all(tx, job.job_id, [*new_units(tx, n_units), *extra])
        jobs.set_state(tx, job.job_id, "open")
    return World(store, job.job_id, raters, tuple(unit_ids))
