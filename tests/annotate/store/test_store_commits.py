"""Many writers at once on SQLite: each change is stored, or its writer gets the error; none succeeds too early."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from grater.annotate import judgments, people
from grater.annotate.store import checks, open_store
from grater.annotate.store.database import Moment
from grater.errors import GraterError, StoreFull
from tests.annotate.store.test_engine_full import fill_disk
from tests.annotate.store.worlds import make_world

SECONDS = 300


def test_changes_that_wait_for_another_are_stored_and_one_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path / "study.db", create=True) as store:

        def add(name: str) -> None:
            with store.write() as tx:
                people.add(tx, name=name, role="worker")

        def fail() -> None:
            with store.write() as tx:
                people.add(tx, name="half", role="worker")
                for thread in threads:
                    thread.start()
                people.get(tx, "nobody")

        threads = [threading.Thread(target=add, args=(name,)) for name in "abc"]
        with pytest.raises(GraterError, match="no such person"):
            fail()
        for thread in threads:
            thread.join(SECONDS)
        with store.read() as tx:
            assert {person.name for person in people.all(tx)} == set("abc")


def test_when_the_commit_fails_nothing_is_stored_and_the_next_change_is(tmp_path: Path) -> None:
    is_full = True

    def witness(moment: Moment) -> None:
        if moment == "before" and is_full:
            raise StoreFull("the disk is full")

    with open_store(tmp_path / "study.db", create=True, around_commit=witness) as store:
        with pytest.raises(StoreFull), store.write() as tx:
            people.add(tx, name="lost", role="worker")
        is_full = False
        with store.write() as tx:
            people.add(tx, name="later", role="worker")
        with store.read() as tx:
            assert [person.name for person in people.all(tx)] == ["later"]


def test_on_a_full_disk_many_at_once_hear_the_truth(tmp_path: Path) -> None:
    with open_store(tmp_path / "study.db", create=True) as store:
        world = make_world(store, n_units=8, n_raters=8, judgments=8)
        held = [world.must_take(rater) for rater in range(8)]
        fill_disk(store)
        acknowledged: list[str] = []

        def submit_until_full(rater: int) -> None:
            for number in range(1000):
                try:
                    name = f"s{rater}-{number}"
                    acknowledged.append(
                        world.submit(held[rater], submission_id=name, says="so much " * 500).submission_id
                    )
                except StoreFull:
                    return
            raise AssertionError("the disk was never full")

        threads = [threading.Thread(target=submit_until_full, args=(rater,)) for rater in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        with store.read() as tx:
            rows = judgments.table(tx, world.job_id, judgments.ALL)
            assert sorted(str(row["submission"]) for row in rows) == sorted(acknowledged)
            assert checks.violations(tx) == []
