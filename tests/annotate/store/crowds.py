"""A job with gold to test the crowd's rules on: its gold accepts `error`, so `ok` is a miss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from sqlalchemy import event

from grater.annotate import gold, jobs, judgments, leases, people, standing, submissions, units
from grater.annotate.jobs import Job
from grater.annotate.leases import Lease
from grater.annotate.standing import Trust
from grater.annotate.store import Store, Tx, checks
from grater.annotate.store.transaction import PRIME
from grater.annotate.submissions import Receipt
from grater.annotate.tasks.task import Answer
from grater.annotate.terms import Terms
from grater.annotate.units import NewUnit
from grater.model import Json
from tests.annotate.store.worlds import new_items


@dataclass(frozen=True, slots=True)
class Crowd:
    """An open `error` job with gold, and raters who may answer it."""

    store: Store
    job: Job
    raters: tuple[str, ...]
    gold_ids: frozenset[str]

    def take(self, rater: int = 0) -> Lease | None:
        with self.store.write() as tx:
            return leases.take(tx, job_id=self.job.job_id, person_id=self.raters[rater])

    def must_take(self, rater: int = 0) -> Lease:
        lease = self.take(rater)
        assert lease is not None
        return lease

    def is_gold(self, lease: Lease) -> bool:
        return lease.unit_id in self.gold_ids

    def send(self, lease: Lease, *, label: str = "error") -> Receipt:
        with self.store.write() as tx:
            return self.receive(tx, lease, label=label)

    def receive(self, tx: Tx, lease: Lease, *, label: str) -> Receipt:
        """The answer is taken in, and the transaction goes on."""
        unit = units.get(tx, lease.unit_id).unit
        return submissions.submit(
            tx,
            submission_id=f"of-{lease.lease_id}",
            lease_id=lease.lease_id,
            person_id=lease.person_id,
            body={"label": label},
            answers=[Answer(each.item.item_id, label) for each in unit.items],
            seconds=3.0,
        )

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

    def trust(self, rater: int = 0) -> Trust:
        with self.store.read() as tx:
            return standing.find(tx, self.job.job_id, self.raters[rater])

    def statuses(self, rater: int = 0) -> list[str]:
        with self.store.read() as tx:
            found = judgments.by_submission(tx, self.job.job_id, judgments.ALL)
            return [row.status for row, _ in found if row.person_id == self.raters[rater]]

    def require_promises(self) -> None:
        with self.store.read() as tx:
            assert checks.violations(tx) == []


def make_crowd(
    store: Store,
    *,
    n_units: int = 30,
    n_gold: int = 10,
    judgments: int = 2,
    n_raters: int = 6,
    terms: Mapping[str, Json] | None = None,
) -> Crowd:
    with store.write() as tx:
        raters = tuple(people.add(tx, name=f"rater {n}", role="worker").person_id for n in range(n_raters))
        found = new_items(tx, n_units + n_gold)
        agreed: Mapping[str, Json] = {"gold": {"least_seen": 4}, "page": 5} if terms is None else terms
        Terms.checked(**agreed)
        job = jobs.add(tx, name="job", task="error", judgments=judgments, options={"crowd": agreed})
        new = [NewUnit(((item_id, {}),), essay_id) for essay_id, item_id in found[:n_units]]
        units.add_all(tx, job.job_id, new)
        hidden = [NewUnit(((item_id, {}),), essay_id, role="gold") for essay_id, item_id in found[n_units:]]
        gold_ids = units.add_all(tx, job.job_id, hidden)
        for unit_id, (_, item_id) in zip(gold_ids, found[n_units:], strict=True):
            gold.add(tx, unit_id, item_id, ["error"], reason="people wait at a bus stop")
        job = jobs.set_state(tx, job.job_id, "open")
    return Crowd(store, job, raters, frozenset(gold_ids))


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
