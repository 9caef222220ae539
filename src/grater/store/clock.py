"""Time in the store: milliseconds since 1970 in UTC, as ISO text only where people or files read it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

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
