"""A full disk: an error that says so, nothing stored, nothing acknowledged, and work goes on when there is room."""

from __future__ import annotations

import resource
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy import text as sql

from grater.annotate import judgments
from grater.annotate.store import Store, checks, open_store
from grater.errors import StoreFull
from tests.annotate.store.worlds import World, make_world

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


def submitted_until_full(world: World) -> list[str]:
    """The ids that were acknowledged before the disk was full."""
    acknowledged: list[str] = []
    lease = world.must_take()
    for number in range(10_000):
        try:
            acknowledged.append(
                world.submit(lease, submission_id=f"s{number}", says="much to say " * 500).submission_id
            )
        except StoreFull:
            return acknowledged
    raise AssertionError("the disk was never full")


def test_a_full_disk_is_reported_and_nothing_is_acknowledged_that_is_not_there(store: Store) -> None:
    world = make_world(store)
    fill_disk(store)
    acknowledged = submitted_until_full(world)
    with store.read() as tx:
        rows = judgments.table(tx, world.job_id, judgments.ALL)
        assert sorted(str(row["submission"]) for row in rows) == sorted(acknowledged)
        assert checks.violations(tx) == []
    make_room(store)
    assert world.submit(world.must_take(1)).status == "valid"


def test_a_log_that_fills_a_small_disk_is_emptied_and_work_goes_on(tmp_path: Path) -> None:
    with open_store(tmp_path / "study.db", create=True) as store:
        world, log = make_world(store), tmp_path / "study.db-wal"
        lease = world.must_take()
        for number in count():
            world.submit(lease, submission_id=f"s{number}", says="much to say " * 500)
            if log.stat().st_size > 2 * (tmp_path / "study.db").stat().st_size + 800_000:
                break
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, limits[1]))  # as if the log had the last block
        try:
            with pytest.raises(StoreFull):
                world.submit(lease, submission_id="full")
            assert world.submit(lease, submission_id="again").submission_id == "again"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        with store.read() as tx:
            assert checks.violations(tx) == []
