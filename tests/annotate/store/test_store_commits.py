"""Brief changes on SQLite share a COMMIT: each is stored, or its writer hears that it is not, and none too early."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grater.annotate.store import Store, checks, judgments, open_store, people
from grater.annotate.store.store import Moment
from grater.errors import GraterError, StoreFull
from tests.annotate.store.test_engine_full import fill_disk
from tests.annotate.store.worlds import make_world

SECONDS = 300


class Witness:
    """Counts COMMITs, and does something just before each."""

    def __init__(self) -> None:
        self.n_commits = 0
        self.before: Callable[[], None] = lambda: None

    def __call__(self, moment: Moment) -> None:
        if moment == "before":
            self.before()
        else:
            self.n_commits += 1


@contextmanager
def witnessed(folder: Path) -> Iterator[tuple[Store, Witness]]:
    witness = Witness()
    with open_store(folder / "study.db", create=True, around_commit=witness) as store:
        yield store, witness


def add(store: Store, name: str) -> None:
    with store.write(brief=True) as tx:
        people.add(tx, name=name, role="worker")


def names(store: Store) -> set[str]:
    with store.read() as tx:
        return {person.name for person in people.all(tx)}


def wait_for(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.001)


def at_once(store: Store, jobs: list[Callable[[], None]]) -> list[BaseException]:
    """A first change is under way while these come to the door; give what went wrong, whoever's it was."""
    failures: list[BaseException] = []

    def noted(job: Callable[[], None]) -> None:
        try:
            job()
        except GraterError as failure:
            failures.append(failure)

    def first() -> None:
        with store.write(brief=True) as tx:
            people.add(tx, name="first", role="worker")
            for thread in threads:
                thread.start()
            wait_for(lambda: store._writers.n_waiting == len(threads))

    threads = [threading.Thread(target=noted, args=(job,)) for job in jobs]
    noted(first)
    for thread in threads:
        thread.join(SECONDS)
    return failures


def adding(store: Store, *new: str) -> list[Callable[[], None]]:
    return [lambda name=name: add(store, name) for name in new]  # type: ignore[misc]


def test_those_who_wait_at_the_door_share_one_commit(tmp_path: Path) -> None:
    with witnessed(tmp_path) as (store, witness):
        assert at_once(store, adding(store, *"abcde")) == []
        assert witness.n_commits == 1
        assert names(store) == {"first", *"abcde"}


def test_nobody_hears_before_the_commit(tmp_path: Path) -> None:
    with witnessed(tmp_path) as (store, witness):
        heard: list[str] = []

        def say(name: str) -> None:
            add(store, name)
            heard.append(name)

        heard_before: list[int] = []
        witness.before = lambda: heard_before.append(len(heard))
        at_once(store, [lambda name=name: say(name) for name in "abc"])  # type: ignore[misc]
        assert heard_before == [0]
        assert sorted(heard) == ["a", "b", "c"]


def test_a_change_that_fails_is_undone_by_itself(tmp_path: Path) -> None:
    with witnessed(tmp_path) as (store, witness):

        def wrong() -> None:
            with store.write(brief=True) as tx:
                people.add(tx, name="half", role="worker")
                people.add(tx, name="first", role="worker")  # is there already

        [failure] = at_once(store, [*adding(store, *"ab"), wrong, *adding(store, *"cd")])
        assert "already" in str(failure)
        assert names(store) == {"first", *"abcd"}
        assert witness.n_commits == 1


def test_a_first_change_that_fails_leaves_nothing_to_those_after_it(tmp_path: Path) -> None:
    with witnessed(tmp_path) as (store, _):
        threads = [threading.Thread(target=add, args=(store, name)) for name in "ab"]

        def fail_while_they_wait() -> None:
            with store.write(brief=True) as tx:
                people.add(tx, name="half", role="worker")
                for thread in threads:
                    thread.start()
                wait_for(lambda: store._writers.n_waiting == 2)
                people.get(tx, "nobody")

        with pytest.raises(GraterError, match="no such person"):
            fail_while_they_wait()
        for thread in threads:
            thread.join(SECONDS)
        assert names(store) == {"a", "b"}


def test_when_the_commit_fails_everybody_hears_it_and_nothing_is_stored(tmp_path: Path) -> None:
    def fail() -> None:
        raise StoreFull("the disk is full")

    with witnessed(tmp_path) as (store, witness):
        witness.before = fail
        failures = at_once(store, adding(store, *"abc"))
        assert [str(failure) for failure in failures] == ["the disk is full"] * 4
        assert names(store) == set()
        witness.before = lambda: None
        add(store, "later")
        assert names(store) == {"later"}


def test_when_sqlite_takes_back_everything_nobody_believes_to_be_stored(tmp_path: Path) -> None:
    """After some errors, a full disk among them, SQLite ends the whole transaction by itself."""
    with witnessed(tmp_path) as (store, _):

        def lose() -> None:
            with store.write(brief=True) as tx:
                tx.connection.exec_driver_sql("ROLLBACK")
                raise StoreFull("the disk is full")

        assert [str(failure) for failure in at_once(store, [lose])] == ["the disk is full"] * 2
        assert names(store) == set()
        add(store, "later")
        assert names(store) == {"later"}


def test_what_was_done_before_a_long_change_is_stored_before_it_begins(tmp_path: Path) -> None:
    with witnessed(tmp_path) as (store, witness):
        seen: list[set[str]] = []

        def long() -> None:
            with store.write() as tx:
                seen.append(names(store))  # as others see it now
                people.add(tx, name="long", role="worker")

        assert at_once(store, [long]) == []
        assert seen == [{"first"}]
        assert witness.n_commits == 2


def test_on_a_full_disk_many_at_once_hear_the_truth(tmp_path: Path) -> None:
    with open_store(tmp_path / "study.db", create=True) as store:
        world = make_world(store, n_units=8, n_raters=8, judgments=8)
        held = [world.must_take(rater) for rater in range(8)]
        fill_disk(store)
        told: list[str] = []

        def submit_until_full(rater: int) -> None:
            for number in range(1000):
                try:
                    name = f"s{rater}-{number}"
                    told.append(world.submit(held[rater], submission_id=name, says="so much " * 500).submission_id)
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
            assert sorted(str(row["submission"]) for row in rows) == sorted(told)
            assert checks.violations(tx) == []
