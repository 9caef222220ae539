"""A job with gold to test the crowd's rules on: its gold accepts `error`, so `ok` is a miss."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from sqlalchemy import event

from grater.annotate import gold, jobs, judgments, leases, people, standing, submissions, units
from grater.annotate.leases import Lease
from grater.annotate.store import Store, Tx, checks
from grater.annotate.store.transaction import PRIME
from grater.annotate.tasks.task import Answer
from grater.annotate.terms import Terms
from grater.model import Json
from tests.annotate.store.worlds import T, new_units, read, write


@dataclass(frozen=True, slots=True)
class Crowd:
    """An open `error` job, perhaps with gold, and raters who may answer it."""

    store: Store
    job: jobs.Job
    raters: tuple[str, ...]
    unit_ids: tuple[str, ...] = ()
    gold_ids: frozenset[str] = frozenset()

    def read(self, find: Callable[..., T], *given: Any, **more: Any) -> T:
        """What one function finds in the study."""
        return read(self.store, find, *given, **more)

    def write(self, change: Callable[..., T], *given: Any, **more: Any) -> T:
        """What comes of one change of the study."""
        return write(self.store, change, *given, **more)

    @property
    def job_id(self) -> str:
        return self.job.job_id

    def take(self, rater: int = 0) -> Lease | None:
        return self.write(leases.take, job_id=self.job_id, person_id=self.raters[rater])

    def must_take(self, rater: int = 0) -> Lease:
        lease = self.take(rater)
        assert lease is not None
        return lease

    def item_of(self, unit_id: str) -> str:
        return self.read(units.get, unit_id).unit.items[0].item.item_id

    def is_gold(self, lease: Lease) -> bool:
        return lease.unit_id in self.gold_ids

    def send(
        self, lease: Lease, *, label: str = "error", says: str = "", submission_id: str = ""
    ) -> submissions.Receipt:
        return self.write(self.receive, lease, label=label, says=says, submission_id=submission_id)

    def receive(
        self, tx: Tx, lease: Lease, *, label: str = "error", says: str = "", submission_id: str = ""
    ) -> submissions.Receipt:
        """The answer is taken in, and the transaction goes on."""
        unit = units.get(tx, lease.unit_id).unit
        return submissions.submit(
            tx,
            submission_id=submission_id or f"of-{lease.lease_id}",
            lease_id=lease.lease_id,
            person_id=lease.person_id,
            body={"label": label, "says": says},
            answers=[Answer(each.item.item_id, label) for each in unit.items],
            seconds=3.0,
        )

    def answer(self, rater: int = 0, *, label: str = "error") -> submissions.Receipt:
        return self.send(self.must_take(rater), label=label)

    def work(self, rater: int = 0, *, n: int = 1, gold: str = "error", label: str = "error") -> list[bool]:
        """Answer `n` units, gold with one label and work with another; give which of them were gold."""
        were_gold = []
        for _ in range(n):
            lease = self.take(rater)
            if lease is None:
                break
            were_gold.append(self.is_gold(lease))
            self.send(lease, label=gold if were_gold[-1] else label)
        return were_gold

    def trust(self, rater: int = 0) -> standing.Trust:
        return self.read(standing.find, self.job_id, self.raters[rater])

    def statuses(self, rater: int = 0) -> list[str]:
        found = self.read(judgments.by_submission, self.job_id, judgments.ALL)
        return [row.status for row, _ in found if row.person_id == self.raters[rater]]

    def require_promises(self) -> None:
        assert self.read(checks.violations) == []


def make_crowd(
    store: Store,
    *,
    n_units: int = 30,
    n_gold: int = 10,
    n_raters: int = 6,
    terms: Mapping[str, Json] | None = None,
    **options: Any,
) -> Crowd:
    """Two judgments a unit, unless the options of the job say otherwise; the gold accepts `error`."""
    with store.write() as tx:
        raters = tuple(people.add(tx, name=f"rater {n}", role="worker").person_id for n in range(n_raters))
        found = new_units(tx, n_units + n_gold)
        agreed: Mapping[str, Json] = {"gold": {"least_seen": 4}, "page": 5} if terms is None else terms
        Terms.checked(**agreed)
        job = jobs.add(tx, name="job", task="error", options={"crowd": agreed}, **{"judgments": 2, **options})
        unit_ids = units.add_all(tx, job.job_id, found[:n_units])
        hidden = [replace(new, role="gold") for new in found[n_units:]]
        gold_ids = units.add_all(tx, job.job_id, hidden)
        for unit_id, new in zip(gold_ids, hidden, strict=True):
            gold.add(tx, unit_id, new.items[0][0], ["error"], reason="people wait at a bus stop")
        job = jobs.set_state(tx, job.job_id, "open")
    return Crowd(store, job, raters, tuple(unit_ids), frozenset(gold_ids))


def make_world(store: Store, *, n_units: int = 3, n_raters: int = 3, **options: Any) -> Crowd:
    """A small job without gold."""
    return make_crowd(store, n_units=n_units, n_gold=0, n_raters=n_raters, terms={}, **options)


@contextmanager
def evenly_hidden_gold() -> Iterator[None]:
    """Gold comes at even distances, for everybody alike, so that tests of what follows from it need no luck."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(standing, "multiplier", lambda *names: int(PRIME * (int(names[-1]) * GOLDEN % 1)))
        yield


GOLDEN = (5**0.5 - 1) / 2


@contextmanager
def statements(store: Store) -> Iterator[list[str]]:
    """What the database is asked meanwhile."""
    found: list[str] = []

    def hear(*args: object) -> None:
        found.append(str(args[2]))

    engines = [store.engine, store.glancing] if store.is_postgres else [store.engine]
    for engine in engines:
        event.listen(engine, "before_cursor_execute", hear)
    try:
        yield found
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", hear)
