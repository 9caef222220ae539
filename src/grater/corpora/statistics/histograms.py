"""How many things have 0, 1, 2, ... edits: NUCLE Figures 2 (documents) and 3 (sentences), with mean, median, mode and
tail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grater.model import Json

TAIL = 100
"""NUCLE counts the documents with more than 100 edits (32 of 1,414)."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """`by_number` maps a number of edits to how many units have so many; every measure needs at least one unit."""

    by_number: Mapping[int, int] = field(hash=False)

    @property
    def n(self) -> int:
        return sum(self.by_number.values())

    @property
    def mean(self) -> float:
        return sum(number * n for number, n in self.by_number.items()) / self.n

    @property
    def median(self) -> float:
        return (self._ranked((self.n - 1) // 2) + self._ranked(self.n // 2)) / 2

    def _ranked(self, rank: int) -> int:
        """The number of edits of the unit at this place in ascending order, counted from 0."""
        n_passed = 0
        for number in sorted(self.by_number):
            n_passed += self.by_number[number]
            if n_passed > rank:
                return number
        raise IndexError(rank)

    @property
    def mode(self) -> int:
        """The most frequent number; the smallest of them in a tie."""
        return min(self.by_number, key=lambda number: (-self.by_number[number], number))

    @property
    def highest(self) -> int:
        return max(self.by_number)

    def above(self, number: int) -> int:
        """How many units have more than this."""
        return sum(n for edits, n in self.by_number.items() if edits > number)

    def as_json(self) -> dict[str, Json]:
        bars: dict[str, Json] = {str(number): self.by_number[number] for number in sorted(self.by_number)}
        measures: dict[str, Json] = {"mean": None, "median": None, "mode": None, "max": None}
        if not self.n:
            return {"n": 0, **measures, "histogram": bars, "reason": "no annotator read anything here"}
        measures = {"mean": self.mean, "median": self.median, "mode": self.mode, "max": self.highest}
        return {"n": self.n, **measures, "histogram": bars}
