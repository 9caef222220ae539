"""Two changes at the worst moment: one is stopped before a statement until the other is done, or waits for it."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from inspect import unwrap
from typing import TypeVar

from sqlalchemy import event
from sqlalchemy import text as sql

from grater.annotate.store import Store, Tx
from grater.errors import StoreBusy
from tests.annotate.store.crowds import Crowd

T = TypeVar("T")
U = TypeVar("U")

SECONDS = 300
"""A last resort, on a machine with much to do."""


def interrupted(
    store: Store, one: Callable[[], T], other: Callable[[], U], *, before: str, nth: int = 1
) -> tuple[T, Future[U]]:
    """Run `one`, and `other` just before the nth statement of `one` that looks so; give what came of both.

    `one` goes on when `other` is done, or waits for it: on SQLite for the lock of the process, on PostgreSQL of rows.
    """
    begun: list[Future[U]] = []
    earlier, mine = threading.Semaphore(nth - 1), threading.Lock()

    def hear(*args: object) -> None:
        if not re.match(before, f"{args[2]} {args[3]}", re.DOTALL) or earlier.acquire(blocking=False):
            return
        if mine.acquire(blocking=False):
            begun.append(pool.submit(other))
            _wait_until_done_or_stuck(store, begun[0])

    with ThreadPoolExecutor(1) as pool:
        event.listen(store.engine, "before_cursor_execute", hear)
        try:
            done = one()
        finally:
            wait(begun, timeout=SECONDS)  # the list of listeners may not change while the other goes through it
            event.remove(store.engine, "before_cursor_execute", hear)
        assert begun, f"no statement of the first looked like {before!r}"
        return done, begun[0]


def _wait_until_done_or_stuck(store: Store, other: Future[U]) -> None:
    end = time.monotonic() + SECONDS
    with _watching(store) as is_somebody_waiting:
        while not wait([other], timeout=0.01).done and not is_somebody_waiting():
            assert time.monotonic() < end, "the other is neither done nor waiting"


@contextmanager
def _watching(store: Store) -> Iterator[Callable[[], bool]]:
    """Whether a change to the study waits for another."""
    if not store.is_postgres:
        at_the_lock = unwrap(Store._turn).__code__
        yield lambda: any(frame.f_code is at_the_lock for frame in sys._current_frames().values())
        return
    import psycopg

    url = store.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    waiting = b"SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with psycopg.connect(url, autocommit=True) as connection:
        yield lambda: connection.execute(waiting).fetchone() is not None


def writing(store: Store, does: Callable[[Tx], T]) -> Callable[[], T]:
    """The change as a transaction of its own."""

    def run() -> T:
        with store.write() as tx:
            return does(tx)

    return run


def race(store: Store, one: Callable[[Tx], T], other: Callable[[Tx], U], *, before: str) -> tuple[T, Future[U]]:
    """Both changes, as transactions of their own, of which the first is `interrupted` by the other."""
    return interrupted(store, writing(store, one), writing(store, other), before=before)


def twice(store: Store, change: Callable[[Tx], T], *, before: str) -> tuple[T, Future[T]]:
    """The same change at the same time."""
    return race(store, change, change, before=before)


def patiently(do: Callable[[], T]) -> T:
    """A client tries again when the server says 503."""
    for _ in range(20):
        try:
            return do()
        except StoreBusy:
            continue
    return do()


def together(*calls: Callable[[], object]) -> None:
    """All at once, each patiently."""
    with ThreadPoolExecutor(len(calls)) as pool:
        for each in [pool.submit(patiently, call) for call in calls]:
            each.result()


def two_answers_at_once(crowd: Crowd, first: str, second: str) -> None:
    """Two raters answer the only unit: the second while the first is stored and not committed."""
    one, two = (crowd.take(rater) for rater in range(2))
    assert one is not None
    assert two is not None

    def answer_and_wait(tx: Tx) -> None:
        crowd.receive(tx, one, label=first)
        tx.execute(sql("SELECT 'stored, not committed'"))

    begun = writing(crowd.store, answer_and_wait)
    interrupted(crowd.store, begun, lambda: crowd.send(two, label=second), before="SELECT 'stored")
