"""Parts of a table of judgments: by a column, by batch in order of time, with and without flagged contexts.

T&C 2008, 5.2 gives kappa for each set of a hundred contexts in turn, its range, and combined; once without the
contexts that an annotator marked for spelling or grammar, once with them (note 7).  Lee et al. 2009, section 5,
splits by first mention and by frequency of the construction.  The papers do not say whether one mark was enough to
take a context out or both annotators had to set it, so both are here: `any` and `all`.

Agreement in each part of a table, the range over the parts, and tests between them.

The headline of a part is Cohen's kappa where it has two raters and alpha where it has more.  Parts are tested against
each other where they are few (`MOST_TESTED`); with more than two parts p is Holm's (1979), so that all tests together
err in one case of twenty.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan, nan
from typing import Literal, TypeAlias

import polars as pl

from grater.agreement.coded import in_order
from grater.agreement.cohen import Error
from grater.agreement.compare import Comparison, compare_tables, comparison_json
from grater.agreement.summary import Agreement, Options, agreement, agreement_json
from grater.errors import UnknownName, UsageError
from grater.model import Interval, Json
from grater.registry import unknown
from grater.result import encode
from grater.rng import generator
from grater.statistics.multiple import holm
from grater.tables import Judgments, Table
from grater.tables.schema import LIST_SEPARATOR

FlaggedBy: TypeAlias = Literal["any", "all"]

NONE = "(none)"
"""The group of judgments that have nothing in the column."""

MOST_GROUPS = 1000


def by_column(judgments: Judgments, column: str, *, items: Table | None = None) -> dict[str, Judgments]:
    """A table for each value of a column of the judgments, or else of the items, in the order of the values."""
    frame = _with_column(judgments, column, items)
    values = frame[column].cast(pl.String).fill_null(NONE)
    groups = frame.with_columns(values.alias(column)).partition_by(column, as_dict=True, maintain_order=True)
    if len(groups) > MOST_GROUPS:
        raise UsageError(f"expected at most {MOST_GROUPS} groups by {column!r}, found {len(groups)}")
    names = [str(name) for (name,) in groups]
    parts = {name: replace(judgments, frame=part) for name, part in zip(names, groups.values(), strict=True)}
    return {names[place]: parts[names[place]] for place in in_order(names)}


def by_batch(judgments: Judgments) -> dict[str, Judgments]:
    """A table for each batch in order of time: of the first judgment where the table has times, else by name."""
    batches = by_column(judgments, "batch")
    if "at" not in judgments.frame.columns:
        return batches
    times = [_first_time(part) for part in batches.values()]
    order = in_order(times)
    names = list(batches)
    return {names[place]: batches[names[place]] for place in order}


def without_flagged(judgments: Judgments, flags: Collection[str], *, by: FlaggedBy) -> Judgments:
    """The judgments of items that are not flagged, by any rater or by all of the item's raters."""
    if "flags" not in judgments.frame.columns:
        raise UsageError(f"{judgments.name}: expected a column 'flags', found none; name it with --columns")
    borne = pl.col("flags").cast(pl.String).str.split(LIST_SEPARATOR)
    flagged = (borne.list.set_intersection(list(flags)).list.len() > 0).fill_null(False)
    of_item = flagged.any().over("item") if by == "any" else flagged.all().over("item")
    frame = judgments.frame.filter(~of_item)
    reason = f"item flagged {' or '.join(flags)} by {by} rater" + ("s" if by == "all" else "")
    dropped = {**judgments.dropped, reason: len(judgments) - len(frame)}
    return replace(judgments, frame=frame, dropped=dropped)


def _with_column(judgments: Judgments, column: str, items: Table | None) -> pl.DataFrame:
    if column in judgments.frame.columns:
        return judgments.frame
    known = [name for name in judgments.frame.columns if name not in ("item", "label")]
    if items is None:
        raise UnknownName(f"{judgments.name}: {unknown('column', column, known)}; give --items for columns of items")
    if column not in items.frame.columns:
        raise UnknownName(f"{items.name}: {unknown('column', column, [*known, *items.frame.columns])}")
    named = items.frame.select(pl.col("item").cast(pl.String), column)
    return judgments.frame.with_columns(pl.col("item").cast(pl.String)).join(named, on="item", how="left")


def _first_time(judgments: Judgments) -> str:
    times = judgments.frame["at"].cast(pl.String).drop_nulls().to_list()
    return times[min(range(len(times)), key=_rank(times).__getitem__)] if times else ""


def _rank(times: list[str]) -> dict[int, int]:
    return {place: rank for rank, place in enumerate(in_order(times))}


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


def agreement_by_group(
    tables: Mapping[str, Judgments], options: Options, *, by: str, with_tests: bool = True
) -> Groups:
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


def groups_json(found: Groups) -> dict[str, Json]:
    """The parts in order, each shaped like the whole."""
    low, high = found.range
    parts = [{"group": name, **_headline(part), **agreement_json(part)} for name, part in found.parts.items()]
    tests = [{"groups": [test.first, test.second], **comparison_json(test.comparison)} for test in found.tests]
    return {"by": found.by, "groups": parts, "range": [encode(low), encode(high)], "tests": tests}


def _headline(part: Agreement) -> dict[str, Json]:
    name, interval = headline(part)
    return {"headline": name, "value": encode(interval.value)}
