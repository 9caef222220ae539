"""Agreement in the parts of a table: by a column, by batch in order of time, with and without flagged contexts.

T&C 2008, 5.2 gives kappa for each set of a hundred contexts in turn, its range, and combined; once without the
contexts that an annotator marked for spelling or grammar, once with them (note 7).  Lee et al. 2009, section 5,
splits by first mention and by frequency of the construction.  The papers do not say whether one mark was enough to
take a context out or both annotators had to set it, so both are here: `any` and `all`.

The headline of a part is Cohen's kappa where it has two raters and alpha where it has more.  Parts are tested against
each other where they are few (`MOST_TESTED`); with more than two parts p is Holm's (1979), so that all tests together
err in one case of twenty.

Are two kappas different?

`independent_test`: on different items, by the two-sample z of their standard errors (`fce`, or `simple` as in Lee et
al. 2009, note 5).  The stages of that paper judge the same nouns, so its z, kept here under its own name, treats
dependent kappas as independent.  `dependent_test`: on the same items, by resampling these items for both at once; the
interval of the difference is BCa, the two-sided p is twice the smaller share of differences on either side of 0, each
count raised by one (Davison & Hinkley 1997, 4.3), so it is never 0.

`compare_pairs` and `compare_tables` do this for real tables: two pairs of raters on their common items, or two
tables, by paired bootstrap over the items that both have, and by z where they have no item in common.  Where each
table has two raters the coefficient is Cohen's kappa, otherwise alpha.  Where essays are known, whole essays are
drawn, and errors are those over essays; with few of them intervals and p are Student's t.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import hypot, isnan, nan, sqrt
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UnknownName, UsageError
from grater.measure.agreement.coded import (
    Coded,
    Essays,
    coded,
    essays_of,
    in_order,
    reordered,
    table_of,
    tally,
    with_essays,
)
from grater.measure.agreement.coefficients import Coefficient, Matrix, alpha, one_spelling, weight_matrix
from grater.measure.agreement.cohen import (
    NOBODY,
    Confusion,
    Error,
    cohen,
    confusions,
    kappa,
    label_matrix,
    standard_error,
)
from grater.measure.agreement.summary import Agreement, Options, agreement, coefficient_frame, kappa_cells
from grater.model import Interval, Json
from grater.registry import unknown
from grater.result import FLAT, HIDDEN, OPTIONAL, Data, Result, encode, in_json, key
from grater.sheet import Sheet, count, interval, number, p_value, with_notes
from grater.tables import Judgments, Table
from grater.tables.schema import LIST_SEPARATOR
from grater.uncertainty.bootstrap import Groups as EssayGroups
from grater.uncertainty.bootstrap import (
    PatternUnits,
    Sums,
    bca_interval,
    delta_error,
    group_error,
    grouped,
    holm,
    point_estimate,
    resampled_scores,
)
from grater.uncertainty.intervals import (
    FEW_UNITS,
    LEVEL,
    RESAMPLES,
    Ints,
    Numbers,
    generator,
    normal_interval,
    two_sided_p,
    widening,
)

Pair: TypeAlias = tuple[str, str]

UNDEFINED = "one of the two is undefined"


@dataclass(frozen=True, slots=True)
class KappaTest(Data):
    """First minus second, with its interval and a two-sided p; `z` only where the test has one."""

    difference: Interval
    p: float
    method: str
    z: float = nan


def independent_test(
    first: Confusion, second: Confusion, *, error: Error = "fce", weights: Matrix | None = None, level: float = LEVEL
) -> KappaTest:
    """Two pairs of raters on different items."""
    values = [kappa(table, weights=weights) for table in (first, second)]
    errors = [standard_error(table, error=error, weights=weights) for table in (first, second)]
    return z_test(values[0] - values[1], sqrt(errors[0] ** 2 + errors[1] ** 2), method=error, level=level)


def z_test(difference: float, error: float, *, method: str, level: float = LEVEL) -> KappaTest:
    """The z test of a difference with a known standard error."""
    if isnan(difference) or isnan(error):
        return KappaTest(Interval(nan, nan, nan, UNDEFINED), nan, method)
    if error == 0:
        return KappaTest(Interval(difference, nan, nan, "neither has a standard error above 0"), nan, method)
    z = difference / error
    return KappaTest(normal_interval(difference, error, level=level), two_sided_p(z), method, z)


def dependent_test(
    first: Coefficient,
    second: Coefficient,
    rows: tuple[Ints, Ints],
    *,
    rng: np.random.Generator,
    unit_of: Ints | None = None,
    n_resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> KappaTest:
    """Two coefficients on the same items: each has a row for every item, as its `rows` wants them.

    `unit_of` has the essay of each item; essays are then drawn.
    """
    if len(rows[0]) != len(rows[1]):
        raise UsageError(f"expected the same items twice, found {len(rows[0])} and {len(rows[1])}")
    difference = _difference(first, second, rows[0].shape[1], first.rows(rows[0][:1]).shape[1])
    patterns, place, n_items = np.unique(np.hstack(rows), axis=0, return_inverse=True, return_counts=True)
    units = PatternUnits(
        patterns=patterns,
        n_items=n_items,
        made_up=np.full(len(patterns), 1 / max(1, len(patterns))),
        groups=None if unit_of is None else grouped(place.ravel(), unit_of),
    )
    value = point_estimate(difference, patterns, n_items) if len(patterns) else nan
    if isnan(value) or len(rows[0]) < 2:
        return KappaTest(Interval(value, nan, nan, UNDEFINED), nan, "bootstrap")
    [draws] = resampled_scores([difference], units, rng=rng, n_resamples=n_resamples)
    interval = bca_interval(difference, value, units, draws, level=level, is_difference=True)
    draws = draws[~np.isnan(draws)]
    if units.groups and units.groups.n_effective < FEW_UNITS:
        return KappaTest(interval, _student_p(value, draws, units.groups.n_effective), "Student's t, by essay")
    return KappaTest(interval, _two_sided(draws), "bootstrap by essay" if units.groups else "bootstrap")


def _difference(first: Coefficient, second: Coefficient, width: int, n_sums: int) -> Coefficient:
    """The difference as a coefficient of its own, on the two patterns of an item side by side."""

    def rows(patterns: Ints) -> Numbers:
        return np.hstack([first.rows(patterns[:, :width]), second.rows(patterns[:, width:])])

    def score(sums: Sums) -> Sums:
        return np.asarray(first.score(sums[..., :n_sums]) - second.score(sums[..., n_sums:]))

    return Coefficient("difference", rows, score, UNDEFINED)


def _two_sided(draws: Sums) -> float:
    if not draws.size:
        return nan
    below, above = int((draws <= 0).sum()), int((draws >= 0).sum())
    return min(1.0, 2 * (min(below, above) + 1) / (draws.size + 1))


def _student_p(value: float, draws: Sums, n_units: float) -> float:
    """Twice the tail of Student's t beyond the value, on the spread of draws of few essays."""
    from scipy.special import stdtr  # a fifth of a second that most commands need not wait for

    spread = float(np.std(draws)) * sqrt(n_units / (n_units - 1)) if draws.size and n_units > 1 else 0.0
    return float(2 * stdtr(n_units - 1, -abs(value) / spread)) if spread else nan


@dataclass(frozen=True, slots=True)
class Comparison(Data):
    """The coefficient that was compared, the number of items, and the test."""

    coefficient: str
    n_items: int
    test: KappaTest = field(metadata=FLAT)


def compare_pairs(
    judgments: Coded, first: Pair, second: Pair, *, rng: np.random.Generator, weights: Matrix | None = None
) -> Comparison:
    """Cohen's kappa of two pairs of raters, on the items that all of them judged."""
    columns = label_matrix(judgments)[:, [_column(judgments, rater) for rater in (*first, *second)]]
    is_common = (columns != NOBODY).all(axis=1)
    columns = columns[is_common]
    unit_of = None if judgments.unit is None else judgments.unit[is_common]
    kappa = cohen(weight_matrix("identity", len(judgments.labels)) if weights is None else weights)
    cells = [_cells(columns[:, pair], len(judgments.labels)) for pair in ([0, 1], [2, 3])]
    test = dependent_test(kappa, kappa, (cells[0], cells[1]), rng=rng, unit_of=unit_of)
    return Comparison("kappa", len(columns), test)


def compare_tables(
    first: Judgments,
    second: Judgments,
    *,
    rng: np.random.Generator,
    error: Error = "fce",
    essays: Essays | None = None,
) -> Comparison:
    """The agreement in two tables: paired where they have items in common, else by the two-sample z.

    `essays` are those of both tables; each table's own column says if it is not given.
    """
    codes = (with_essays(coded(one_spelling(table)), essays or essays_of(table)) for table in (first, second))
    ours, theirs = _same_labels(*codes)
    common = np.intersect1d(ours.items.cast(pl.String).to_numpy(), theirs.items.cast(pl.String).to_numpy())
    if common.size == 0:
        return _apart(ours, theirs, error)
    name = "kappa" if len(ours.raters) == len(theirs.raters) == 2 else "alpha"
    first_side, second_side = (_side(table, common, name) for table in (ours, theirs))
    kept = first_side.is_compared & second_side.is_compared
    rows = first_side.rows[kept], second_side.rows[kept]
    unit_of = None if first_side.unit_of is None else first_side.unit_of[kept]
    test = dependent_test(first_side.coefficient, second_side.coefficient, rows, rng=rng, unit_of=unit_of)
    return Comparison(name, int(kept.sum()), test)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One table's part in a comparison: a row for each common item."""

    coefficient: Coefficient
    rows: Ints
    is_compared: npt.NDArray[np.bool_]
    unit_of: Ints | None


def _side(judgments: Coded, common: npt.NDArray[np.object_], name: str) -> Side:
    row_of = {item: row for row, item in enumerate(judgments.items.to_list())}
    chosen = [row_of[item] for item in common]
    n_labels = len(judgments.labels)
    unit_of = None if judgments.unit is None else judgments.unit[chosen]
    if name == "kappa":
        matrix = label_matrix(judgments)[chosen]
        cells = _cells(np.maximum(matrix, 0), n_labels)
        return Side(cohen(weight_matrix("identity", n_labels)), cells, (matrix != NOBODY).all(axis=1), unit_of)
    rows = table_of(judgments.item, judgments.label, n_labels)[chosen]
    return Side(alpha("nominal", judgments.labels), rows, rows.sum(axis=1) > 1, unit_of)


def _apart(ours: Coded, theirs: Coded, error: Error) -> Comparison:
    if len(ours.raters) == len(theirs.raters) == 2:
        [first], [second] = confusions(ours), confusions(theirs)
        n_items = first.n + second.n
        if error == "fce" and first.groups and second.groups:
            return Comparison("kappa", n_items, _by_essay(*map(_of_cells, (first, second))))
        return Comparison("kappa", n_items, independent_test(first, second, error=error))
    counts = tally(ours), tally(theirs)
    coefficient = alpha("nominal", ours.labels)
    if all(part.groups for part in counts):
        sides = (Apart(coefficient, part.patterns, part.n_items, part.groups) for part in counts if part.groups)
        return Comparison("alpha", sum(part.n_compared for part in counts), _by_essay(*sides))
    values = [point_estimate(coefficient, part.patterns, part.n_items) for part in counts]
    errors = [delta_error(coefficient, part.patterns, part.n_items) for part in counts]
    test = z_test(values[0] - values[1], hypot(*errors), method="delta")
    return Comparison("alpha", sum(part.n_compared for part in counts), test)


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """One of two tables without a common item, its items in essays."""

    coefficient: Coefficient
    patterns: Ints
    n_items: Ints
    groups: EssayGroups


def _of_cells(table: Confusion) -> Apart:
    assert table.groups is not None
    n_labels = len(table.labels)
    cells = np.eye(n_labels * n_labels, dtype=np.int64)
    return Apart(cohen(weight_matrix("identity", n_labels)), cells, table.cells.ravel(), table.groups)


def _by_essay(first: Apart, second: Apart) -> KappaTest:
    """The two-sample test with errors over essays; Student's t where these are few, or worth few."""
    sides = (first, second)
    values = [point_estimate(side.coefficient, side.patterns, side.n_items) for side in sides]
    errors = [group_error(side.coefficient, side.patterns, side.n_items, side.groups) for side in sides]
    wider = [widening(side.groups.n, side.groups.n_effective) for side in sides]
    error = hypot(*(error * factor for error, factor in zip(errors, wider, strict=True)))
    test = z_test(values[0] - values[1], error, method="delta by essay")
    n_units = min(side.groups.n_effective for side in sides)
    if n_units >= FEW_UNITS or isnan(test.z):
        return test
    from scipy.special import stdtr, stdtrit  # a fifth of a second that most commands need not wait for

    half = float(stdtrit(n_units - 1, (1 + LEVEL) / 2)) * error
    difference = Interval(test.difference.value, test.difference.value - half, test.difference.value + half)
    return replace(test, difference=difference, p=float(2 * stdtr(n_units - 1, -abs(test.z))))


def _same_labels(first: Coded, second: Coded) -> tuple[Coded, Coded]:
    labels = [*first.labels, *(label for label in second.labels if label not in first.labels)]
    return reordered(first, labels), reordered(second, labels)


def _cells(columns: npt.NDArray[np.int32], n_labels: int) -> Ints:
    """A row of zeros with a one in the cell of the pair's labels, for every item."""
    cells = np.zeros((len(columns), n_labels * n_labels), np.int64)
    cells[np.arange(len(columns)), columns[:, 0] * n_labels + columns[:, 1]] = 1
    return cells


def _column(judgments: Coded, rater: str) -> int:
    if rater not in judgments.raters:
        raise UnknownName(f"{judgments.name}: {unknown('rater', rater, list(judgments.raters))}")
    return judgments.raters.index(rater)


# Parts of a table


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
