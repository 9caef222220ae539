"""P1, P2 when PostgreSQL itself goes: who was told keeps what they were told, the others hear that it is busy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest
from sqlalchemy import text as sql

from grater.annotate import judgments, people
from grater.annotate.leases import Lease
from grater.annotate.store import checks, open_store
from grater.annotate.submissions import Receipt
from grater.errors import NotFound, StoreBusy
from tests.annotate.store.postgres import crash, new_database, running_cluster
from tests.annotate.store.worlds import World, make_world

N_RATERS = 8
SECONDS = 600


@pytest.fixture
def own_cluster() -> Iterator[str]:
    """One that may crash without harm to other tests."""
    with running_cluster() as server:
        yield server


def test_what_is_refused_leaves_the_queries_of_its_connection_prepared(cluster: str) -> None:
    with open_store(new_database(cluster), create=True) as store:

        def refused() -> list[str]:
            with suppress(NotFound), store.write() as tx:
                people.find(tx, "nobody")
                found = [row.statement for row in tx.all(sql("SELECT statement FROM pg_prepared_statements"))]
                people.add(tx, name="not stored", role="worker")
                people.get(tx, "nobody")
            return found

        assert [any("FROM people" in each for each in refused()) for _ in range(3)] == [False, True, True]
        with store.read() as tx:
            assert people.count(tx) == 0


def work(world: World, rater: int, receipts: list[Receipt]) -> int:
    """Work until nothing is left, through every failure; give how many times the database was not there."""
    n_failures = 0
    held: Lease | None = None
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            held = held or world.take(rater)
            if held is None:
                return n_failures
            receipt = world.submit(held, submission_id=f"of-{held.lease_id}")
        except StoreBusy:
            n_failures += 1
            time.sleep(0.05)
            continue
        receipts.append(receipt)
        held = None
    raise AssertionError("the raters never came to an end")


def test_an_error_of_the_driver_outside_of_a_statement_is_a_database_that_cannot_be_reached(cluster: str) -> None:
    """As when PostgreSQL goes just as a snapshot begins, which psycopg is asked for by itself."""
    where = new_database(cluster)
    with open_store(where, create=True) as store, pytest.raises(StoreBusy, match="be reached"), store.read():
        raise psycopg.OperationalError("the connection is closed")


def test_a_look_at_the_study_leaves_the_prepared_queries_of_its_connection(cluster: str) -> None:
    prepared = sql("SELECT count(*) FROM pg_prepared_statements")
    with open_store(new_database(cluster), create=True) as store:
        for _ in range(3):
            with store.write() as tx:
                people.all(tx)
                n_before = tx.value(prepared)
        with store.read() as tx:
            people.all(tx)
        with store.write() as tx:
            assert tx.value(prepared) >= n_before > 0


def test_a_database_that_crashes_while_raters_work_has_lost_nothing(own_cluster: str) -> None:
    receipts: list[Receipt] = []
    with open_store(new_database(own_cluster), create=True) as store:
        world = make_world(store, n_units=150, judgments=3, n_raters=N_RATERS)
        with ThreadPoolExecutor(N_RATERS) as pool:
            raters = [pool.submit(work, world, rater, receipts) for rater in range(N_RATERS)]
            for n_told in (50, 150):
                while len(receipts) < n_told and any(not rater.done() for rater in raters):
                    time.sleep(0.01)
                crash(own_cluster)
            n_failures = sum(rater.result() for rater in raters)
        with store.read() as tx:
            stored = {row["submission"]: row["status"] for row in judgments.table(tx, world.job_id, judgments.ALL)}
            assert checks.violations(tx) == []
    assert {receipt.submission_id: receipt.status for receipt in receipts} == stored
    assert list(stored.values()).count("valid") == 450
    assert n_failures > 0, "nobody met the crash"
