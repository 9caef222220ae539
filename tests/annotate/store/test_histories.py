"""Any history of takes, answers, returns, ejections and clock moves keeps every promise, and can be rebuilt."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text as sql

from grater.annotate import jobs, judgments, leases, people, trust
from grater.annotate.store import Store, checks, events, open_store
from grater.annotate.store.checks import from_events, stored
from grater.annotate.store.events import Event
from grater.annotate.store.transaction import MINUTE
from tests.annotate.store.postgres import new_database
from tests.annotate.store.worlds import FakeClock, World, make_world
from tests.examples import examples
from tests.folders import in_memory

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["take", "submit", "again", "give back", "wait", "eject", "reinstate", "withdraw", "pause"]),
        st.integers(0, 2),
    ),
    max_size=25,
)


def step(world: World, clock: FakeClock, what: str, rater: int) -> None:
    person_id = world.raters[rater]
    lease = world.take(rater) if what in ("take", "submit", "again", "give back") else None
    if what == "wait":
        clock.advance((rater + 1) * 7 * MINUTE)
    with world.store.write() as tx:
        if what == "give back" and lease is not None:
            leases.give_back(tx, lease.lease_id, person_id=person_id)
        elif what == "eject":
            trust.eject(tx, jobs.get(tx, world.job_id), person_id)
        elif what == "reinstate":
            trust.reinstate(tx, jobs.get(tx, world.job_id), person_id)
        elif what == "withdraw":
            for row in judgments.of_unit(tx, world.unit_ids[rater])[:1]:
                judgments.set_status(tx, row.submission_id, "withdrawn", actor=person_id)
        elif what == "pause":
            state = jobs.get(tx, world.job_id).state
            jobs.set_state(tx, world.job_id, "open" if state == "paused" else "paused")
    if lease is not None and what in ("submit", "again"):
        world.submit(lease, submission_id=f"{what}-{lease.lease_id}")


@examples(15)
@given(steps=STEPS)
def test_no_history_breaks_a_promise(steps: list[tuple[str, int]]) -> None:
    clock = FakeClock()
    with (
        tempfile.TemporaryDirectory(prefix="grater-", dir=in_memory()) as folder,
        open_store(Path(folder) / "study.db", create=True, clock=clock) as store,
    ):
        world = make_world(store, n_units=3, judgments=2, lease_minutes=10)
        for what, rater in steps:
            step(world, clock, what, rater)
            with store.read() as tx:
                assert checks.violations(tx) == []


def test_the_state_is_in_the_events(store: Store, clock: FakeClock) -> None:
    world = make_world(store, lease_minutes=10)
    for what in ("take", "submit", "wait", "eject", "reinstate"):
        step(world, clock, what, 0)
    with store.read() as tx:
        rebuilt = from_events(events.all(tx))
        assert rebuilt == stored(tx)
    assert [status for status, *_ in rebuilt.submissions.values()] == ["valid"]


def test_a_listener_misses_no_event_of_a_transaction_that_is_slow_to_commit(cluster: str) -> None:
    """On PostgreSQL numbers are given before COMMIT; SQLite has one writer, and numbers in the order of COMMIT."""
    with open_store(new_database(cluster), create=True) as store:
        with store.write() as slow:
            people.add(slow, name="slow", role="worker")
            with store.write() as quick:
                people.add(quick, name="quick", role="worker")
            with store.read() as tx:
                assert list(events.since(tx)) == []
                assert checks.violations(tx) == []  # the checker reads its snapshot whole
        with store.read() as tx:
            assert [event.verb for event in events.since(tx)] == ["person.added", "person.added"]


def test_a_listener_misses_no_event_with_a_smaller_number_than_it_has_heard(cluster: str) -> None:
    """The later of two transactions is the first to get a number, and the last to COMMIT."""
    with open_store(new_database(cluster), create=True) as store:
        early, late = store.write(), store.write()
        one, two = early.__enter__(), late.__enter__()
        for tx in (one, two):
            tx.execute(sql("SELECT pg_current_xact_id()"))
        for tx, name in ((two, "late"), (one, "early")):
            people.add(tx, name=name, role="worker")
        early.__exit__(None, None, None)
        heard: list[Event] = []
        for is_last in (False, True):
            if is_last:
                late.__exit__(None, None, None)
            with store.read() as tx:
                heard += events.since(tx, heard[-1].n if heard else 0)
        with store.read() as tx:
            assert [event.n for event in events.all(tx)] == [1, 2]
            assert events.certain(tx) == 1
        assert [event.n for event in heard] == [2, 1]


def test_a_new_listener_gets_a_transaction_that_is_still_open(cluster: str) -> None:
    with open_store(new_database(cluster), create=True) as store:
        with store.write() as slow:
            slow.execute(sql("SELECT pg_current_xact_id()"))
            with store.write() as quick:
                people.add(quick, name="quick", role="worker")
            with store.read() as tx:
                last = events.certain(tx)
            people.add(slow, name="slow", role="worker")
        with store.read() as tx:
            assert len(list(events.since(tx, last))) == 2  # of "quick" once more, since it was not certain
