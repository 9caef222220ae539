"""Long lists in portions that both engines take in one statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

PORTION = 500
"""Far below the 32,766 parameters of SQLite; a row of twenty columns still fits."""


def chunks(values: Iterable[T], size: int = PORTION) -> Iterator[list[T]]:
    left = iter(values)
    while portion := list(islice(left, size)):
        yield portion
