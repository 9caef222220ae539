"""Agreement in the parts of a table: by a column, by batch in order of time, with and without flagged contexts.

T&C 2008, 5.2 gives kappa for each set of a hundred contexts in turn, its range, and combined; once without the
contexts that an annotator marked for spelling or grammar, once with them (note 7).  Lee et al. 2009, section 5,
splits by first mention and by frequency of the construction.  The papers do not say whether one mark was enough to
take a context out or both annotators had to set it, so both are here: `any` and `all`.

The headline of a part is Cohen's kappa where it has two raters and alpha where it has more.  Parts are tested against
each other where they are few (`MOST_TESTED`); with more than two parts p is Holm's (1979), so that all tests together
err in one case of twenty.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isnan, nan
from typing import Literal, TypeAlias

import polars as pl

from grater.errors import UnknownName, UsageError
from grater.measure.agreement.coded import in_order
from grater.measure.agreement.cohen import Error
from grater.measure.agreement.compare import Comparison, compare_tables
from grater.measure.agreement.essays import Essays
from grater.measure.agreement.summary import Agreement, Options, agreement, coefficient_frame, kappa_cells
from grater.model import Json
from grater.registry import unknown
from grater.result import FLAT, HIDDEN, OPTIONAL, Data, Result, encode, in_json, key
from grater.sheet import Sheet, count, interval, number, p_value, with_notes
from grater.tables import Judgments, Table
from grater.tables.schema import LIST_SEPARATOR
from grater.uncertainty.paired import holm
from grater.uncertainty.rng import generator

FlaggedBy: TypeAlias = Literal["any", "all"]

NO_VALUE = "(none)"
"""The group of judgments that have nothing in the column."""

MOST_GROUPS = 1000
MOST_TESTED = 4


# Parts of a table


def by_column(judgments: Judgments, column: str, *, items: Table | None = None) -> dict[str, Judgments]:
    """A table for each value of a column of the judgments, or else of the items, in the order of the values."""
    frame = _with_column(judgments, column, items)
    values = frame[column].cast(pl.String).fill_null(NO_VALUE)
    groups = frame.with_columns(values.alias(column)).partition_by(column, as_dict=True, maintain_order=True)
    if len(groups) > MOST_GROUPS:
        raise UsageError(f"expected at most {MOST_GROUPS} groups by {column!r}, found {len(groups)}")
    names = [str(name) for (name,) in groups]
    parts = {name: replace(judgments, frame=part) for name, part in zip(names, groups.values(), strict=True)}
    return {names[index]: parts[names[index]] for index in in_order(names)}


def by_batch(judgments: Judgments) -> dict[str, Judgments]:
    """A table for each batch in order of time: of the first judgment where the table has times, else by name."""
    batches = by_column(judgments, "batch")
    if "at" not in judgments.frame.columns:
        return batches
    names = list(batches)
    order = in_order([_first_time(part) for part in batches.values()])
    return {names[index]: batches[names[index]] for index in order}


def without_flagged(judgments: Judgments, flags: Collection[str], *, by: FlaggedBy) -> Judgments:
    """The judgments of items that are not flagged, by any rater or by all of the item's raters."""
    if "flags" not in judgments.frame.columns:
        raise UsageError(f"{judgments.name}: expected a column 'flags', found none; say which column has the flags")
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
        raise UnknownName(
            f"{judgments.name}: {unknown('column', column, known)}; columns of items need a table of items"
        )
    if column not in items.frame.columns:
        raise UnknownName(f"{items.name}: {unknown('column', column, [*known, *items.frame.columns])}")
    named = items.frame.select(pl.col("item").cast(pl.String), column)
    return judgments.frame.with_columns(pl.col("item").cast(pl.String)).join(named, on="item", how="left")


def _first_time(judgments: Judgments) -> str:
    times = judgments.frame["at"].cast(pl.String).drop_nulls().to_list()
    return times[in_order(times)[0]] if times else ""


# Agreement in each part


@dataclass(frozen=True, slots=True)
class GroupTest(Data):
    """The agreement in two parts compared."""

    first: str = field(metadata=HIDDEN)
    second: str = field(metadata=HIDDEN)
    comparison: Comparison = field(metadata=FLAT)

    @property
    @in_json()
    def groups(self) -> tuple[str, str]:
        return self.first, self.second


def _parts_json(parts: Mapping[str, Agreement]) -> list[dict[str, Json]]:
    """The parts in order, each shaped like the whole."""
    headlines = {name: part.headline for name, part in parts.items()}
    return [
        {"group": name, "headline": headlines[name][0], "value": encode(headlines[name][1].value), **part.to_dict()}
        for name, part in parts.items()
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Groups(Data):
    """`by` is the column, `parts` the agreement by its values in order."""

    by: str
    parts: Mapping[str, Agreement] = field(metadata=key("groups", write=_parts_json))
    tests: tuple[GroupTest, ...] = ()

    @property
    @in_json()
    def range(self) -> tuple[float, float]:
        """The lowest and the highest headline of the parts that have one."""
        values = [part.headline[1].value for part in self.parts.values()]
        values = [value for value in values if not isnan(value)]
        return (min(values), max(values)) if values else (nan, nan)


def agreement_by_group(
    tables: Mapping[str, Judgments],
    options: Options,
    *,
    by: str,
    with_tests: bool = True,
    essays: Essays | None = None,
) -> Groups:
    """Agreement in each table, and tests between every two of them where they are few."""
    parts = {name: agreement(table, options, essays=essays) for name, table in tables.items()}
    names = list(tables) if with_tests and len(tables) <= MOST_TESTED else []
    tests = [_test(tables, pair, options, essays) for pair in combinations(names, 2)]
    return Groups(by, parts, tuple(_holm(tests)))


def _test(
    tables: Mapping[str, Judgments], pair: tuple[str, str], options: Options, essays: Essays | None
) -> GroupTest:
    rng = generator(options.seed, "agreement", "test", *pair)
    error: Error = "simple" if options.interval == "simple" else "fce"
    comparison = compare_tables(tables[pair[0]], tables[pair[1]], rng=rng, error=error, essays=essays)
    return GroupTest(first=pair[0], second=pair[1], comparison=comparison)


def _holm(tests: Sequence[GroupTest]) -> list[GroupTest]:
    """The tests with p adjusted for their number."""
    adjusted = holm([test.comparison.test.p for test in tests])
    return [_with_p(test, p) for test, p in zip(tests, adjusted, strict=True)]


def _with_p(test: GroupTest, p: float) -> GroupTest:
    comparison = test.comparison
    return replace(test, comparison=replace(comparison, test=replace(comparison.test, p=p)))


def agreement_by_context(
    judgments: Judgments, options: Options, flags: Sequence[str], *, essays: Essays | None = None
) -> Groups:
    """T&C 2008, 5.2 and note 7: with flagged contexts and without, by both readings of "flagged"."""
    tables = {
        "all items": judgments,
        "without items flagged by any rater": without_flagged(judgments, flags, by="any"),
        "without items flagged by all raters": without_flagged(judgments, flags, by="all"),
    }
    kept = {name: table for name, table in tables.items() if len(table)}
    return agreement_by_group(kept, options, by=f"flags {', '.join(flags)}", with_tests=False, essays=essays)


# The whole and its parts in one result


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AgreementReport(Result):
    """The agreement of a table, in its parts, and of pairs of raters or tables compared."""

    whole: Agreement = field(metadata=FLAT)
    groups: tuple[Groups, ...] = field(default=(), metadata=key("by", optional=True))
    comparisons: Mapping[str, Comparison] = field(default_factory=dict, metadata=OPTIONAL)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.whole.warnings

    def to_frame(self) -> pl.DataFrame:
        """Columns part, raters, coefficient, items, value, low, high, band."""
        parts = [("", self.whole), *(part for groups in self.groups for part in groups.parts.items())]
        return coefficient_frame(
            ({"part": name, **of}, value) for name, part in parts for of, value in part.estimates()
        )

    def sheets(self) -> list[Sheet]:
        tables = [*self.whole.tables(), *(_parts_sheet(groups, self.whole) for groups in self.groups)]
        if self.comparisons or any(groups.tests for groups in self.groups):
            tables.append(_tests_sheet(self.groups, self.comparisons))
        return with_notes(tables, self.whole.notes(), str(self.whole.signature))


def _parts_sheet(groups: Groups, whole: Agreement) -> Sheet:
    """Each part's headline, the range and the whole."""
    name, combined = whole.headline
    rows = [
        (part, count(result.counts.n_compared), interval(result.observed), *kappa_cells(result.headline[1]))
        for part, result in groups.parts.items()
    ]
    low, high = groups.range
    ends = [
        ("range", "", "", f"{number(low)} to {number(high)}", ""),
        ("combined", count(whole.counts.n_compared), interval(whole.observed), *kappa_cells(combined)),
    ]
    columns = ("", "items", "observed", name, "band")
    return Sheet(f"By {groups.by}", columns, (*rows, *ends), name=f"by-{groups.by}", rules=(len(rows),))


def _tests_sheet(groups: Sequence[Groups], comparisons: Mapping[str, Comparison]) -> Sheet:
    tests = {f"{test.first} – {test.second}": test.comparison for part in groups for test in part.tests}
    rows = []
    for name, comparison in {**tests, **comparisons}.items():
        test = comparison.test
        numbers = (interval(test.difference), number(test.z, digits=2), p_value(test.p))
        rows.append((name, count(comparison.n_items), *numbers, f"{comparison.coefficient}, {test.method}"))
    return Sheet("Differences", ("", "items", "difference", "z", "p", "by"), tuple(rows), name="differences")
