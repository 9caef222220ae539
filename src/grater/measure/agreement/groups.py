"""Agreement in the parts of a table: by a column, by batch in order of time, with and without flagged contexts.

T&C 2008, 5.2 gives kappa for each set of a hundred contexts in turn, its range, and combined; once without the
contexts that an annotator marked for spelling or grammar, once with them (note 7).  Lee et al. 2009, section 5,
splits by first mention and by frequency of the construction.  The papers do not state whether one mark was enough to
exclude a context or both annotators had to set it, so both are here: `any` and `all`.

The headline of a part is Cohen's kappa where it has two raters and alpha where it has more.  Parts are tested against
each other where they are few (`MOST_TESTED`); with more than two parts p is Holm's (1979), so that all tests together
err in one case of twenty.

*Are two kappas different?*  On the same items they are dependent and compared by their paired influence values
(`compare_pairs`, `compare_tables`); on different items by Welch's test.  Where each table has two raters the
coefficient is Cohen's kappa, otherwise alpha.  `independent_test` is the two-sample z of the literature, with `fce`
or with Cohen's `simple` standard error, as in Lee et al. 2009, note 5; the stages of that paper judge the same nouns,
so its z treats dependent kappas as independent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import combinations
from math import isnan, nan, sqrt
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UnknownName, UsageError
from grater.measure.agreement.coefficients import alpha, influence_of
from grater.measure.agreement.cohen import (
    NOBODY,
    Confusion,
    Error,
    between,
    confusions,
    kappa,
    kappa_influence,
    label_matrix,
    on_items,
    standard_error,
)
from grater.measure.agreement.summary import (
    MOST_LABELS,
    Agreement,
    coefficient_frame,
    confusion_sheet,
    kappa_cells,
)
from grater.measure.units import (
    Coded,
    Essays,
    coded,
    essays_of,
    in_order,
    one_spelling,
    people_only,
    reordered,
    table_of,
    tally,
    with_essays,
)
from grater.model import Interval, Json
from grater.registry import unknown
from grater.result import FLAT, HIDDEN, OPTIONAL, Data, encode, in_json, key
from grater.sheet import Sheet, count, interval, number, p_value, with_notes
from grater.tables import Judgments, Table, require_raters
from grater.tables.schema import LIST_SEPARATOR
from grater.uncertainty import (
    Basis,
    Influence,
    Ints,
    Units,
    difference,
    grouped_rows,
    holm,
    influence,
    z_value,
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


def independent_test(first: Confusion, second: Confusion, *, error: Error = "fce") -> KappaTest:
    """Two pairs of raters on different items, by the two-sample z."""
    apart = kappa(first) - kappa(second)
    errors = [standard_error(table, error=error) for table in (first, second)]
    total = sqrt(errors[0] ** 2 + errors[1] ** 2)
    if isnan(apart) or isnan(total):
        return KappaTest(Interval(nan, nan, nan, UNDEFINED), nan, error)
    if total == 0:
        return KappaTest(Interval(apart, nan, nan, "neither has a standard error above 0"), nan, error)
    half, z = z_value() * total, apart / total
    return KappaTest(Interval(apart, apart - half, apart + half), 2 * NormalDist().cdf(-abs(z)), error, z)


def influence_test(it: Influence, *, how: str) -> KappaTest:
    found = difference(it, undefined=UNDEFINED)
    return KappaTest(found.difference, found.p, how if it.unit == "item" else f"{how} by {it.unit}")


@dataclass(frozen=True, slots=True)
class Comparison(Data):
    coefficient: str
    n_items: int
    test: KappaTest = field(metadata=FLAT)


def compare_pairs(judgments: Coded, first: Pair, second: Pair, *, basis: Basis | None = None) -> Comparison:
    """Cohen's kappa of two pairs of raters, on the items that all of them judged."""
    basis = basis or Basis()
    for rater in (*first, *second):
        if rater not in judgments.raters:
            raise UnknownName(f"{judgments.name}: {unknown('rater', rater, list(judgments.raters))}")
    columns = label_matrix(judgments)[:, [judgments.raters.index(rater) for rater in (*first, *second)]]
    is_common = (columns != NOBODY).all(axis=1)
    unit_of = None if judgments.unit_of is None else judgments.unit_of[is_common]
    sides = []
    for raters, pair in ((first, [0, 1]), (second, [2, 3])):
        judged = columns[is_common][:, pair]
        table = between(judged[:, 0], judged[:, 1], judgments.labels, raters, unit_of=unit_of, unit=judgments.unit)
        sides.append(on_items(judged, table, basis=basis))
    test = influence_test(sides[0] - sides[1], how="paired")
    return Comparison("kappa", int(is_common.sum()), test)


def compare_tables(
    first: Judgments, second: Judgments, *, essays: Essays | None = None, basis: Basis | None = None
) -> Comparison:
    """The agreement in two tables: paired where they have items in common, else as two samples.

    `essays` are those of both tables; each table's own columns say if it is not given.
    """
    basis = basis or Basis()
    both = [
        with_essays(coded(one_spelling(table)), essays or essays_of(table, units=basis.units))
        for table in map(people_only, (first, second))
    ]
    labels = list(dict.fromkeys(label for side in both for label in side.labels))
    ours, theirs = (reordered(side, labels) for side in both)
    name = "kappa" if len(ours.raters) == len(theirs.raters) == 2 else "alpha"
    common = pl.DataFrame({"item": ours.items}).join(pl.DataFrame({"item": theirs.items}), on="item", how="semi")
    if common.is_empty():
        (mine, n), (other, n_other) = (_alone(table, name, basis) for table in (ours, theirs))
        test = influence_test(mine.unpaired(other), how="two samples")
        return Comparison(name, n + n_other, test)
    rows = [_rows(table, common["item"], name) for table in (ours, theirs)]
    kept = rows[0][1] & rows[1][1]
    chosen = _row_of(ours, common["item"])[kept]
    unit_of = None if ours.unit_of is None else np.unique(ours.unit_of[chosen], return_inverse=True)[1]
    sides = [_paired(of[kept], ours, name, unit_of, basis) for of, _ in rows]
    test = influence_test(sides[0] - sides[1], how="paired")
    return Comparison(name, int(kept.sum()), test)


def _alone(codes: Coded, name: str, basis: Basis) -> tuple[Influence, int]:
    """The agreement of one table, and the items that it rests on."""
    if name == "kappa":
        [table] = confusions(codes)
        return kappa_influence(table, basis=basis), table.n
    counts = tally(codes)
    return influence_of(alpha("nominal", codes.labels), counts, basis), counts.n_compared


def _row_of(codes: Coded, items: pl.Series) -> Ints:
    place = {item: row for row, item in enumerate(codes.items.to_list())}
    return np.array([place[item] for item in items], np.int64)


def _rows(codes: Coded, items: pl.Series, name: str) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """A table's labels of each item, and whether two raters judged it there."""
    chosen = _row_of(codes, items)
    if name == "kappa":
        matrix = label_matrix(codes)[chosen].astype(np.int64)
        return matrix, (matrix != NOBODY).all(axis=1)
    rows = table_of(codes.item, codes.label, len(codes.labels))[chosen]
    return rows, rows.sum(axis=1) > 1


def _paired(rows: Ints, codes: Coded, name: str, unit_of: Ints | None, basis: Basis) -> Influence:
    """One table's part in a comparison on the same items."""
    if name == "kappa":
        columns = rows.astype(np.int32)
        one, two = columns[:, 0], columns[:, 1]
        table = between(one, two, codes.labels, ("", ""), unit_of=unit_of, unit=codes.unit)
        return on_items(columns, table, basis=basis)
    coefficient = alpha("nominal", codes.labels)
    sums = np.column_stack([coefficient.rows(rows), coefficient.den(rows, rows.sum(axis=0).astype(np.float64))])
    if unit_of is not None:
        sums = grouped_rows(sums, unit_of, int(unit_of.max(initial=-1)) + 1)
    return influence(Units(sums[:, :-1], codes.unit), coefficient.score, sums[:, -1], basis)


# Parts of a table


Measure: TypeAlias = Callable[[Judgments], Agreement]
"""`agreement` with its options given."""
FlaggedBy: TypeAlias = Literal["any", "all"]

NO_VALUE = "(none)"
"""The group of judgments that have nothing in the column."""

MOST_GROUPS = 1000
MOST_TESTED = 4


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
    names, firsts = list(batches), []
    for part in batches.values():
        times = part.frame["at"].cast(pl.String).drop_nulls().to_list()
        firsts.append(times[in_order(times)[0]] if times else "")
    return {names[index]: batches[names[index]] for index in in_order(firsts)}


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


# Agreement in each part


@dataclass(frozen=True, slots=True)
class GroupTest(Data):
    first: str = field(metadata=HIDDEN)
    second: str = field(metadata=HIDDEN)
    comparison: Comparison = field(metadata=FLAT)

    @property
    @in_json()
    def groups(self) -> tuple[str, str]:
        return self.first, self.second


def _parts_json(parts: Mapping[str, Agreement]) -> list[dict[str, Json]]:
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
    measure: Measure,
    *,
    by: str,
    with_tests: bool = True,
    essays: Essays | None = None,
    basis: Basis | None = None,
) -> Groups:
    """Agreement in each table, and tests between every two of them where they are few; p is Holm's."""
    parts = {name: measure(table) for name, table in tables.items()}
    names = list(tables) if with_tests and len(tables) <= MOST_TESTED else []
    pairs = list(combinations(names, 2))
    found = [compare_tables(tables[one], tables[other], essays=essays, basis=basis) for one, other in pairs]
    adjusted = holm([comparison.test.p for comparison in found])
    tests = [
        GroupTest(*pair, replace(comparison, test=replace(comparison.test, p=p)))
        for pair, comparison, p in zip(pairs, found, adjusted, strict=True)
    ]
    return Groups(by, parts, tuple(tests))


CLEAN = "without items flagged by any rater"


def agreement_by_context(judgments: Judgments, measure: Measure, flags: Sequence[str]) -> Groups:
    """T&C 2008, 5.2 and note 7: with flagged contexts and without, by both readings of "flagged"."""
    tables = {
        "all items": judgments,
        CLEAN: without_flagged(judgments, flags, by="any"),
        "without items flagged by all raters": without_flagged(judgments, flags, by="all"),
    }
    kept = {name: table for name, table in tables.items() if len(table)}
    return agreement_by_group(kept, measure, by=f"flags {', '.join(flags)}", with_tests=False)


# The whole and its parts in one result


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AgreementReport(Agreement):
    """The agreement of a table, in its parts, and of pairs of raters or tables compared."""

    groups: tuple[Groups, ...] = field(default=(), metadata=key("by", optional=True))
    comparisons: Mapping[str, Comparison] = field(default_factory=dict, metadata=OPTIONAL)

    def to_frame(self) -> pl.DataFrame:
        """Columns part, raters, coefficient, items, value, low, high, band."""
        parts: list[tuple[str, Agreement]] = [
            ("", self),
            *(part for groups in self.groups for part in groups.parts.items()),
        ]
        return coefficient_frame(
            ({"part": name, **of}, value) for name, part in parts for of, value in part.estimates()
        )

    def sheets(self) -> list[Sheet]:
        tables = [*self.tables(), *(_parts_sheet(groups, self) for groups in self.groups)]
        clean = [groups.parts[CLEAN] for groups in self.groups if CLEAN in groups.parts]
        for part in clean:  # T&C 2008 print Table 3 after the removal
            if len(part.pairs) == 1 and len(part.labels) <= MOST_LABELS:
                tables = [table for table in tables if table.name != "confusion"]
                tables.append(confusion_sheet(part.pairs[0].table, f"Confusion matrix, {CLEAN}"))
        if self.comparisons or any(groups.tests for groups in self.groups):
            tables.append(_tests_sheet(self.groups, self.comparisons))
        return with_notes(tables, self.notes(), str(self.signature))


def agreement_report(
    judgments: Judgments,
    measure: Measure,
    *,
    by: Sequence[str] = (),
    contexts: Sequence[str] = (),
    compare: Sequence[str] = (),
    against: Judgments | None = None,
    items: Table | None = None,
    essays: Essays,
    basis: Basis,
) -> AgreementReport:
    """The agreement of a table, by columns, by flagged contexts, and compared: `A,B:C,D`, or with another table."""
    groups = []
    for column in by:
        parts = by_batch(judgments) if column == "batch" else by_column(judgments, column, items=items)
        with_tests = column != "batch"
        groups.append(
            agreement_by_group(parts, measure, by=column, with_tests=with_tests, essays=essays, basis=basis)
        )
    if contexts:
        groups.append(agreement_by_context(judgments, measure, contexts))
    comparisons = {}
    for pairs in compare:
        require_raters(judgments, "comparisons of raters")
        split = [[rater.strip() for rater in pair.split(",")] for pair in pairs.split(":")]
        if [len(pair) for pair in split] != [2, 2]:
            raise UsageError(f"expected `compare` A,B:C,D with four raters, found {pairs!r}")
        (a, b), (c, d) = split
        codes = with_essays(coded(one_spelling(judgments)), essays)
        comparisons[f"{a} and {b} against {c} and {d}"] = compare_pairs(codes, (a, b), (c, d), basis=basis)
    if against is not None:
        # Where essays come from the judgments' own column, each table names its own.
        known = essays if essays.covers(against) else None
        name = f"{judgments.name} against {against.name}"
        comparisons[name] = compare_tables(judgments, against, essays=known, basis=basis)
    whole = measure(judgments)
    own = {each.name: getattr(whole, each.name) for each in fields(whole)}
    return AgreementReport(**own, groups=tuple(groups), comparisons=comparisons)


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
