"""P1, P2 when PostgreSQL goes, the disk is full or the time is over: what was told is stored, all else is refused."""

from __future__ import annotations

import contextvars
import resource
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import event
from sqlalchemy import text as sql

from grater.annotate import judgments, people
from grater.annotate.store import Store, Tx, checks, open_store
from grater.annotate.store.transaction import at_most, require_time
from grater.annotate.submissions import Receipt
from grater.errors import NotFound, OutOfTime, StoreBusy, StoreFull
from tests.annotate.store.crowds import Crowd, make_world
from tests.annotate.store.postgres import crash, new_database, running_cluster
from tests.annotate.store.worlds import read, write

N_RATERS = 8
SECONDS = 600


@pytest.fixture
def own_cluster() -> Iterator[str]:
    """One that may crash without harm to other tests."""
    with running_cluster() as server:
        yield server


def test_what_is_refused_leaves_the_queries_of_its_connection_prepared(cluster: str) -> None:
    with open_store(new_database(cluster), create=True) as store:
        found = []
        for _ in range(3):
            with suppress(NotFound), store.write() as tx:
                people.find(tx, "nobody")
                rows = tx.all(sql("SELECT statement FROM pg_prepared_statements"))
                found.append(any("FROM people" in row.statement for row in rows))
                people.add(tx, name="not stored", role="worker")
                people.get(tx, "nobody")
        assert found == [False, True, True]
        assert read(store, people.count) == 0


def work(world: Crowd, rater: int, receipts: list[Receipt]) -> int:
    """Work until nothing is left, through every failure; give how many times the database was not there."""
    n_failures, held = 0, None
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            held = held or world.take(rater)
            if held is None:
                return n_failures
            receipts.append(world.send(held))
            held = None
        except StoreBusy:
            n_failures += 1
            time.sleep(0.05)
    raise AssertionError("the raters never came to an end")


def test_an_error_of_the_driver_outside_of_a_statement_is_a_database_that_cannot_be_reached(cluster: str) -> None:
    """As when PostgreSQL goes just as a snapshot begins, which psycopg is asked for by itself."""
    where = new_database(cluster)
    with open_store(where, create=True) as store, pytest.raises(StoreBusy, match="be reached"), store.read():
        raise psycopg.OperationalError("the connection is closed")


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


POSTGRES_FULL = """
CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
CREATE TRIGGER disk_is_full AFTER INSERT ON judgments EXECUTE FUNCTION disk_is_full();
"""


def fill_disk(store: Store) -> None:
    """SQLite may not grow by a page; PostgreSQL answers as it does when its disk is full, at the last insert."""
    if store.is_postgres:
        with store.write() as tx:
            tx.execute(sql(POSTGRES_FULL))
        return
    with store.engine.connect() as connection:
        n_pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.rollback()
    store.engine.dispose()
    event.listen(store.engine, "connect", lambda raw, _: raw.execute(f"PRAGMA max_page_count={n_pages}"))


def make_room(store: Store) -> None:
    if store.is_postgres:
        with store.write() as tx:
            tx.execute(sql("DROP TRIGGER disk_is_full ON judgments"))
        return
    store.engine.dispose()
    event.listen(store.engine, "connect", lambda raw, _: raw.execute("PRAGMA max_page_count=1000000"))


def test_a_log_that_fills_a_small_disk_is_emptied_and_work_goes_on(tmp_path: Path) -> None:
    with open_store(tmp_path / "study.db", create=True) as store:
        world, log = make_world(store), tmp_path / "study.db-wal"
        lease = world.must_take()
        for number in count():
            world.send(lease, submission_id=f"s{number}", says="much to say " * 500)
            if log.stat().st_size > 2 * (tmp_path / "study.db").stat().st_size + 800_000:
                break
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, limits[1]))  # as if the log had the last block
        try:
            with pytest.raises(StoreFull):
                world.send(lease, submission_id="full")
            assert world.send(lease, submission_id="again").submission_id == "again"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert read(store, checks.violations) == []


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) SELECT max(i) FROM n"


def test_what_was_begun_before_the_limit_is_undone_after_it(store: Store) -> None:
    def add_two(tx: Tx) -> None:
        people.add(tx, name="Ann", role="worker")
        with at_most(-1):
            people.add(tx, name="Bob", role="worker")

    with pytest.raises(OutOfTime, match="nothing was stored"):
        write(store, add_two)
    assert read(store, people.count) == 0


def test_a_statement_that_does_not_end_is_broken_off(store: Store) -> None:
    store.limit_statements(0.05)
    with pytest.raises((OutOfTime, StoreBusy)), at_most(0.05), store.read() as tx:
        tx.value(sql(ENDLESS))
    assert read(store, people.count) == 0


def test_a_thread_that_inherits_the_context_inherits_the_limit() -> None:
    with at_most(-1):
        context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as pool:
        inherited, own = pool.submit(context.run, require_time), pool.submit(require_time)
    assert isinstance(inherited.exception(), OutOfTime)
    assert own.exception() is None
