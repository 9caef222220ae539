"""Time in the store: milliseconds since 1970 in UTC, as ISO text only where people or files read it; and deadlines.

A deadline limits the work that somebody waits for: no statement begins after it, and one under way is broken off.
The limit travels with the context of a request, into the thread that does its work.  A thread cannot be stopped from
outside without harm, so the limit is looked at where work is cut into pieces anyway: before every statement, every
few thousand steps inside one on SQLite, and by `require_time` in long loops of our own.  PostgreSQL breaks off its
statements by itself (`Store.limit_statements`).  What was begun is taken back as after any other error.  Between two
such places only bounded work is done: bodies, marks, items of a page and members of a list have their largest number.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from math import inf
from typing import TypeAlias

from grater.errors import OutOfTime

Clock: TypeAlias = Callable[[], int]
"""What tells the time; tests hand in their own."""

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def utc_now() -> int:
    return time.time_ns() // 1_000_000


def as_iso(at: int) -> str:
    """`1731648000000` as `2024-11-15T05:20:00.000Z`: sorts as it reads."""
    return (EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_iso(text: str) -> int:
    """The inverse of `as_iso`; a time without a zone is UTC."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - EPOCH) // timedelta(milliseconds=1)


STEPS = 20_000
"""Steps of SQLite's machine between two looks at the clock: a fraction of a millisecond."""

_DEADLINE: ContextVar[float] = ContextVar("grater_deadline", default=inf)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Limit all work inside, in threads that inherit the context too."""
    before = _DEADLINE.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _DEADLINE.reset(before)


def is_over() -> bool:
    """Whether the limit has passed."""
    deadline = _DEADLINE.get()
    return deadline != inf and time.monotonic() > deadline


def require_time() -> None:
    """Raise where the limit has passed."""
    if is_over():
        raise OutOfTime("this took too long and was broken off; nothing was stored")
