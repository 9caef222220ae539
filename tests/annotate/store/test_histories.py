"""The log of events: the state can be rebuilt from it, and listeners miss none (histories: `study/test_lives.py`)."""

from __future__ import annotations

from sqlalchemy import text as sql

from grater.annotate import people
from grater.annotate.store import checks, events, open_store
from tests.annotate.store.postgres import new_database
from tests.annotate.store.worlds import read, write


def test_a_listener_misses_no_event_of_a_transaction_that_is_slow_to_commit(cluster: str) -> None:
    """On PostgreSQL numbers are given before COMMIT; SQLite has one writer, and numbers in the order of COMMIT."""
    with open_store(new_database(cluster), create=True) as store:
        with store.write() as slow:
            people.add(slow, name="slow", role="worker")
            write(store, people.add, name="quick", role="worker")
            with store.read() as tx:
                assert list(events.since(tx)) == []
                assert checks.violations(tx) == []  # the checker reads its snapshot whole
                last = events.certain(tx)
        assert [event.verb for event in read(store, events.since, last)] == ["person.added", "person.added"]


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
        heard: list[events.Event] = []
        for is_last in (False, True):
            if is_last:
                late.__exit__(None, None, None)
            heard += read(store, events.since, heard[-1].n if heard else 0)
        assert [event.n for event in read(store, events.all)] == [1, 2]
        assert read(store, events.certain) == 1
        assert [event.n for event in heard] == [2, 1]
