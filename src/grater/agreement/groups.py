"""Agreement in each part of a table, the range over the parts, and tests between them.

The headline of a part is Cohen's kappa where it has two raters and alpha where it has more.  Parts are tested against
each other where they are few (`MOST_TESTED`); with more than two parts p is Holm's (1979), so that all tests together
err in one case of twenty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan, nan

from grater.agreement.cohen import Error
from grater.agreement.compare import Comparison, compare_tables
from grater.agreement.summary import Agreement, Options, agreement
from grater.intervals.holm import holm
from grater.model import Interval
from grater.rng import generator
from grater.tables import Judgments

MOST_TESTED = 4


@dataclass(frozen=True, slots=True)
class GroupTest:
    first: str
    second: str
    comparison: Comparison


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """`by` is the column, `parts` the agreement by its values in order."""

    by: str
    parts: Mapping[str, Agreement]
    tests: tuple[GroupTest, ...] = ()

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest headline of the parts that have one."""
        values = [headline(part)[1].value for part in self.parts.values()]
        values = [value for value in values if not isnan(value)]
        return (min(values), max(values)) if values else (nan, nan)


def headline(part: Agreement) -> tuple[str, Interval]:
    """The one number to print for a table: its name and value."""
    if len(part.pairs) == 1:
        return "kappa", part.pairs[0].kappa
    return "alpha", part.coefficients["alpha"]


def groups(tables: Mapping[str, Judgments], options: Options, *, by: str, with_tests: bool = True) -> Groups:
    """Agreement in each table, and tests between every two of them where they are few."""
    parts = {name: agreement(table, options) for name, table in tables.items()}
    names = list(tables) if with_tests and len(tables) <= MOST_TESTED else []
    tests = [_test(tables, pair, options) for pair in combinations(names, 2)]
    return Groups(by, parts, tuple(_holm(tests)))


def _test(tables: Mapping[str, Judgments], pair: tuple[str, str], options: Options) -> GroupTest:
    rng = generator(options.seed, "agreement", "test", *pair)
    error: Error = "simple" if options.interval == "simple" else "fce"
    return GroupTest(*pair, compare_tables(tables[pair[0]], tables[pair[1]], rng=rng, error=error))


def _holm(tests: Sequence[GroupTest]) -> list[GroupTest]:
    """The tests with p adjusted for their number."""
    adjusted = holm([test.comparison.test.p for test in tests])
    return [_with_p(test, p) for test, p in zip(tests, adjusted, strict=True)]


def _with_p(test: GroupTest, p: float) -> GroupTest:
    comparison = test.comparison
    return replace(test, comparison=replace(comparison, test=replace(comparison.test, p=p)))
