"""Two changes at the worst moment: one is stopped before a statement until the other is done, or waits for it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

from sqlalchemy import event
from sqlalchemy import text as sql

from grater.store import Store, Tx
from tests.store.crowds import Crowd

T = TypeVar("T")
U = TypeVar("U")

WAITING_SECONDS = 0.2
"""Who has not come back after this waits for the one that was stopped; on SQLite, always, at the door."""


def interrupted(
    store: Store,
    one: Callable[[], T],
    other: Callable[[], U],
    *,
    before: str,
    nth: int = 1,
    seconds: float = WAITING_SECONDS,
) -> tuple[T, Future[U]]:
    """Run `one`, and `other` just before the nth statement of `one` that looks so; give what came of both."""
    begun: list[Future[U]] = []
    earlier, mine = threading.Semaphore(nth - 1), threading.Lock()

    def hear(*args: object) -> None:
        if not re.match(before, f"{args[2]} {args[3]}", re.DOTALL) or earlier.acquire(blocking=False):
            return
        if mine.acquire(blocking=False):
            begun.append(pool.submit(other))
            wait([begun[0]], timeout=seconds)

    with ThreadPoolExecutor(1) as pool:
        event.listen(store.engine, "before_cursor_execute", hear)
        try:
            done = one()
        finally:
            wait(begun, timeout=30)  # the list of listeners may not change while the other goes through it
            event.remove(store.engine, "before_cursor_execute", hear)
        assert begun, f"no statement of the first looked like {before!r}"
        return done, begun[0]


def writing(store: Store, does: Callable[[Tx], T]) -> Callable[[], T]:
    """The change as a transaction of its own."""

    def run() -> T:
        with store.write() as tx:
            return does(tx)

    return run


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
