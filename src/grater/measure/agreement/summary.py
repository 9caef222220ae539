"""All measures of agreement for one table of judgments, and how they were computed.

They are the coefficients over all raters (`coefficients.py`), alpha first, and Cohen's kappa of every pair with the
mean over pairs, if there are at most `MOST_RATERS` raters and they are people, not positions. Each pair also has the
interval of Fleiss, Cohen & Everitt (`fce`). Warnings name intervals that are less reliable than they look; the
numbers behind them are in docs/agreement.md.

Agreement can also be split: by a column, by batch in chronological order, or with and without flagged contexts.

T&C 2008, 5.2 gives kappa for each set of a hundred contexts, the range of these kappas, and their combined kappa,
both with and without the contexts that an annotator flagged for spelling or grammar (note 7). Lee et al. 2009,
section 5, splits by first mention and by frequency of the construction. The papers do not state whether one mark was
enough to exclude a context or both annotators had to set it, so both are available: `any` and `all`.

The headline of a part is Cohen's kappa where it has two raters and alpha where it has more. Up to `MOST_TESTED` parts
are tested against each other; with more than two, p values have Holm's correction (1979).

*Are two kappas different?* On the same items they are dependent, and the test pairs their influence values
(`compare_pairs`, `compare_tables`); on different items it is Welch's test. The coefficient is Cohen's kappa if each
table has two raters, otherwise alpha. `independent_test` is the two-sample z of the literature, with `fce` or with
Cohen's `simple` standard error, as in Lee et al. 2009, note 5; the stages of that paper judge the same nouns, so its
z treats dependent kappas as independent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isnan, nan, sqrt
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UnknownName, UsageError, unknown
from grater.measure.agreement.coefficients import (
    COEFFICIENTS,
    Matrix,
    Scale,
    WeightName,
    alpha,
    band_words,
    coefficient_json,
    coefficient_title,
    coefficients_json,
    influence_of,
    observed_json,
    odd_label_warnings,
    rare_of,
    require_order,
    require_random,
    specific,
    weight_matrix,
    with_interval,
    without_each_rater,
)
from grater.measure.agreement.cohen import (
    NOBODY,
    Confusion,
    Disagreement,
    Error,
    MeanPairwise,
    between,
    cohen_kappa,
    confusions,
    conger_kappa,
    disagreements,
    fce_interval,
    kappa,
    kappa_influence,
    label_matrix,
    mean_pairwise,
    ok_label,
    on_items,
    standard_error,
)
from grater.measure.units import (
    Coded,
    Counts,
    Essays,
    coded,
    essay_warnings,
    essays_of,
    in_order,
    one_spelling,
    people_only,
    reordered,
    spelling_warnings,
    table_of,
    tally,
    with_essays,
)
from grater.model import Interval, Json
from grater.result import FLAT, OPTIONAL, Data, Estimate, Result, encode, frame_of, in_json, key
from grater.sheet import (
    Sheet,
    Signature,
    count,
    counted,
    digest,
    interval,
    number,
    p_value,
    undefined_notes,
    with_notes,
)
from grater.tables import Judgments, Table, require_raters
from grater.tables.schema import LIST_SEPARATOR
from grater.uncertainty import (
    BASIS,
    FEW_FOR_AGREEMENT,
    Basis,
    Influence,
    Ints,
    Scope,
    Units,
    design_effect,
    difference,
    grouped_rows,
    holm,
    influence,
    kish,
    z_value,
)

MOST_RATERS = 40
"""Raters whose pairs are compared unless asked: forty have 780."""

FEW_MINOR = 10
"""Items per rater with other labels than the most frequent, below which intervals are wide."""
FEW_ITEMS = 50
FEW_WORTH = 12
"""Essays of one length that the essays must be worth for the intervals of agreement and AC1."""
FEW_COPIED = 50
"""Shared items from which on two raters who never differ may be one."""
MOST_NAMED = 4
MOST_ROWS = 40
MOST_LABELS = 8
SPECIFIC = "specific: "
BANDS_NOTE = "Bands are those of Landis and Koch 1977, from one end of the interval to the other."
FCE = "Fleiss, Cohen & Everitt 1969"


def _table_json(table: Confusion) -> dict[str, Json]:
    known = {"raters": table.raters, "n": table.n, "confusion": table.cells}
    return {**encode(known), **observed_json(table.observed)}


@dataclass(frozen=True, slots=True, eq=False)
class PairAgreement(Data):
    """Two raters: their table, Cohen's kappa with two intervals, and T&C's disagreement rates if one label is OK."""

    table: Confusion = field(metadata=key(flat=True, write=_table_json))
    kappa: Interval = field(metadata=key(write=coefficient_json))
    fce: Interval = field(metadata=key("kappa_fce", write=coefficient_json))
    disagreements: tuple[Disagreement, ...] = field(default=(), metadata=key("disagreement"))

    @property
    def name(self) -> str:
        return " – ".join(self.table.raters)

    @property
    @in_json("rare")
    def n_minor(self) -> float:
        """The number of shared items, averaged over the two raters, that do not get the most frequent label."""
        given = self.table.cells.sum(axis=0) + self.table.cells.sum(axis=1)
        return float(given.sum() - given.max(initial=0)) / 2


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Agreement(Result):
    """`n_items` were judged at all, `counts.n_compared` by at least two raters.

    `groups` has the agreement of parts of the table, `comparisons` are of pairs of raters or with another table.
    """

    n_items: int
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    counts: Counts = field(
        metadata=key(
            flat=True,
            write=lambda of: {"compared": of.n_compared, "left_out": of.n_left_out, "judgments": of.n_judgments},
        )
    )
    coefficients: dict[str, Interval] = field(metadata=key(flat=True, write=coefficients_json))
    pairs: tuple[PairAgreement, ...]
    mean: MeanPairwise | None = field(
        metadata=key(
            flat=True,
            optional=True,
            write=lambda mean: {"mean_kappa": coefficient_json(mean.kappa), "undefined_pairs": mean.n_undefined},
        )
    )
    no_pairs: str = field(metadata=key("pairs_reason", optional=True))
    signature: Signature
    scope: Scope = field(metadata=key("interval"))
    specific: dict[str, Interval] = field(default_factory=dict)
    conger: Interval | None = field(default=None, metadata=key(optional=True, write=coefficient_json))
    warnings: tuple[str, ...] = ()
    groups: tuple[Groups, ...] = field(default=(), metadata=key("by", optional=True))
    comparisons: Mapping[str, Comparison] = field(default_factory=dict, metadata=OPTIONAL)

    @property
    def observed(self) -> Interval:
        return self.coefficients["observed"]

    @property
    def alpha(self) -> Interval:
        return self.coefficients["alpha"]

    @property
    def kappa(self) -> Interval:
        """Cohen's kappa of two raters; of more, the mean over pairs, or Fleiss kappa if pairs are not compared."""
        if len(self.pairs) == 1:
            return self.pairs[0].kappa
        return self.mean.kappa if self.mean else self.coefficients["fleiss"]

    @property
    def headline(self) -> tuple[str, Interval]:
        """The one number to print for a table: Cohen's kappa for two raters, alpha for more."""
        return ("kappa", self.pairs[0].kappa) if len(self.pairs) == 1 else ("alpha", self.alpha)

    def to_frame(self) -> pl.DataFrame:
        """Columns part, raters, coefficient, items, value, low, high, band."""
        parts: list[tuple[str, Agreement]] = [("", self), *(each for of in self.groups for each in of.parts.items())]
        return coefficient_frame(({"part": name, **of}, value) for name, it in parts for of, value in it.estimates())

    def estimates(self) -> Iterator[Estimate]:
        of_all = {**self.coefficients, **({"conger": self.conger} if self.conger else {})}
        of_all |= {f"{SPECIFIC}{label}": value for label, value in self.specific.items()}
        for name, value in of_all.items():
            yield {"raters": "all", "coefficient": name, "items": self.counts.n_compared}, value
        for pair in self.pairs:
            yield {"raters": pair.name, "coefficient": "observed", "items": pair.table.n}, pair.table.observed
            yield {"raters": pair.name, "coefficient": "kappa", "items": pair.table.n}, pair.kappa

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

    def tables(self) -> list[Sheet]:
        """The tables of the whole."""
        tables = [_overall_sheet(self)]
        if self.specific:
            times = dict(zip(self.labels, (self.counts.n_items @ self.counts.patterns).tolist(), strict=True))
            rows = tuple((label, count(times[label]), interval(value)) for label, value in self.specific.items())
            columns = ("", "judgments", "specific")
            tables.append(Sheet("Agreement on each label", columns, rows, name="specific"))
        if len(self.pairs) == 1 and len(self.labels) <= MOST_LABELS:
            tables.append(confusion_sheet(self.pairs[0].table))
        if self.pairs and self.pairs[0].disagreements:
            tables.append(_disagreement_sheet(self.pairs))
        if len(self.pairs) > 1:
            tables.append(_pairs_sheet(self.pairs))
        return tables

    def notes(self) -> Iterator[str]:
        if self.counts.n_left_out:
            yield f"{self.counts.n_left_out:,} of {self.n_items:,} items have only one judgment and are left out."
        if self.no_pairs:
            yield f"Pairs are not compared: {self.no_pairs}."
        mean = [self.mean.kappa] if self.mean else []
        yield from undefined_notes([*self.coefficients.values(), *(pair.kappa for pair in self.pairs), *mean])
        yield self.scope.sentence
        if self.scope.n_raters and self.pairs:
            yield "Intervals of a pair are for these two raters."
        yield BANDS_NOTE


def coefficient_frame(estimates: Iterable[Estimate]) -> pl.DataFrame:
    """One row per number: the columns that identify it (and its `coefficient`), value, low, high, band."""
    estimates = list(estimates)
    is_share = [str(of["coefficient"]).startswith(("observed", SPECIFIC)) for of, _ in estimates]
    bands = ["" if share else band_words(value) for share, (_, value) in zip(is_share, estimates, strict=True)]
    return frame_of(estimates).fill_nan(None).with_columns(band=pl.Series(bands, dtype=pl.String))


def agreement(
    judgments: Judgments,
    *,
    essays: Essays | None = None,
    weights: WeightName = "identity",
    scale: Scale = "nominal",
    order: Sequence[str] = (),
    ok: str | None = None,
    most_raters: int = MOST_RATERS,
    basis: Basis = BASIS,
) -> Agreement:
    """The agreement of all raters of a table; programs and adjudicated labels are left out.

    `essays` defaults to the units in the table's own columns.
    """
    n_given = len(judgments)
    judgments = people_only(judgments)
    if n_given and not len(judgments):
        raise UsageError(f"{judgments.name}: every judgment is by a program, or adjudicated; none is by a rater")
    essays = essays_of(judgments, units=basis.units) if essays is None else essays
    codes = with_essays(coded(one_spelling(judgments)), essays)
    require_order(codes.labels, scale=scale, weights=weights, order=order)
    if basis.raters == "random":
        require_random(codes, basis)
    codes = reordered(codes, order) if order else codes
    matrix = weight_matrix(weights, len(codes.labels))
    counts = tally(codes)
    no_pairs = _why_no_pairs(codes, most_raters)
    tables = () if no_pairs else tuple(confusions(codes))
    pairs = tuple(_pair(table, matrix, ok, basis) for table in tables)
    mean = mean_pairwise(codes, tables, weights=matrix, basis=basis) if tables else None
    effect = nan
    if counts.unit_of is not None and counts.n_compared:
        nominal = alpha("nominal", counts.labels)
        effect = design_effect(*(influence_of(nominal, counts, Basis(), by_item=each) for each in (False, True)))
    scope = Scope(
        unit=essays.unit,
        n_units=counts.n_units if counts.unit_of is not None else counts.n_compared,
        design_effect=effect,
        n_raters=len(codes.raters) if basis.raters == "random" else 0,
        note=essays.note,
        is_agreement=True,
    )
    chosen = [definition.of_table(matrix, scale, counts.labels) for definition in COEFFICIENTS]
    times = counts.n_items @ counts.patterns
    labels = [code for code, n in enumerate(times.tolist()) if n] if len(counts.labels) <= MOST_LABELS else []
    wanted = [*chosen, *map(specific, labels)]
    without = without_each_rater(wanted, codes) if basis.raters == "random" else [None] * len(wanted)
    found = [with_interval(each, counts, basis, without=values) for each, values in zip(wanted, without, strict=True)]
    coefficients = {each.name: value for each, value in zip(chosen, found, strict=False)}
    of_labels = {counts.labels[code]: value for code, value in zip(labels, found[len(chosen) :], strict=True)}
    named: dict[str, str] = {"weights": weights, "scale": scale}
    named |= {"dropped": str(sum(judgments.dropped.values()))} if judgments.dropped else {}
    named |= {"order": ",".join(order)} if order else {}
    is_less, left_out = n_given > len(judgments), counted(n_given - len(judgments), "judgment")
    data = digest([*counts.labels, counts.patterns.tobytes().hex(), counts.n_items.tobytes().hex()])
    return Agreement(
        n_items=len(codes.items),
        raters=codes.raters,
        labels=codes.labels,
        counts=counts,
        coefficients=coefficients,
        pairs=pairs,
        mean=mean,
        no_pairs=no_pairs,
        signature=Signature("agreement", {**named, **basis.signature(essays.unit), "data": data}),
        scope=scope,
        specific=of_labels,
        conger=conger_kappa(codes, weights=matrix, basis=basis, rare=rare_of(counts)) if tables else None,
        warnings=(
            *([f"{left_out} by programs or adjudicated are left out: they are not raters"] if is_less else []),
            *spelling_warnings(judgments),
            *odd_label_warnings(codes),
            *essay_warnings(essays, codes.items, scope),
            *_warnings(counts, pairs, mean),
        ),
    )


def _why_no_pairs(codes: Coded, most_raters: int) -> str:
    """The reason why raters are not compared in pairs; empty if they are."""
    if codes.anonymous_raters:
        return "raters are positions, not people: the table has no rater ids"
    if len(codes.raters) < 2:
        return f"only one rater, {codes.raters[0]}"
    if len(codes.raters) > most_raters:
        return f"{len(codes.raters)} raters, more than {most_raters}"
    return ""


def _pair(table: Confusion, weights: Matrix, ok: str | None, basis: Basis) -> PairAgreement:
    basis = replace(basis, raters="these")
    ok = ok if ok is not None else ok_label(table.labels)
    return PairAgreement(
        table=table,
        kappa=cohen_kappa(table, weights=weights, basis=basis),
        fce=fce_interval(table, weights=weights),
        disagreements=disagreements(table, ok=ok) if ok is not None else (),
    )


def _warnings(counts: Counts, pairs: Sequence[PairAgreement], mean: MeanPairwise | None) -> Iterator[str]:
    # Two of several raters who never differ: one may be adjudicated, or a copy.
    same = [pair.table for pair in pairs if pair.table.cells.trace() == pair.table.n >= FEW_COPIED]
    same = [table for table in same if (table.cells.diagonal() > 0).sum() > 1]
    for table in same if len(same) < len(pairs) else ():
        yield (
            f"{' and '.join(table.raters)} give the same label to all {table.n:,} items that they share: "
            "is one of them adjudicated, or a program?"
        )
    n, minor = counts.n_compared, rare_of(counts).cases if counts.n_compared else 0.0
    if 0 < n < FEW_ITEMS:
        yield f"items with two judgments or more: only {n}; below {FEW_ITEMS} intervals are rough"
    if not n or len(counts.labels) < 2:
        return
    if counts.unit_of is not None:
        worth = kish(np.bincount(counts.unit_of).astype(np.float64))
        if counts.n_units < FEW_FOR_AGREEMENT or worth < FEW_WORTH:
            yield (
                f"{counts.unit}s are few or of very unequal lengths (worth {worth:.0f}): where some are much harder "
                "to judge, intervals of observed agreement and AC1 are too narrow; read alpha"
            )
    if minor < FEW_MINOR:
        yield (
            f"labels other than the most frequent one are rare: {minor:.1f} items per rater; with fewer than "
            f"{FEW_MINOR} the intervals of kappa and alpha are wide; judge more items, or draw more of the rare ones"
        )
    if len(pairs) > 1:
        known = [pair for pair in pairs if pair.table.n]
        few = [(pair, f"{pair.table.n:,}") for pair in known if pair.table.n < FEW_ITEMS]
        rare = [(pair, f"{pair.n_minor:.0f}") for pair in known if pair.n_minor < FEW_MINOR]
        if few:
            yield f"{_some(few, known)} share fewer than {FEW_ITEMS} items: their kappas are rough, and biased low"
        if rare:
            yield f"{_some(rare, known)} have fewer than {FEW_MINOR} items with rarer labels: their kappas are rough"
    if mean and len(pairs) > 1 and mean.is_sparse:
        yield (
            f"the middle pair of raters shares {counted(mean.n_shared, 'item')}: kappas from few items are biased "
            "low, and so is their mean; read alpha instead"
        )


def _some(pairs: Sequence[tuple[PairAgreement, str]], of: Sequence[PairAgreement]) -> str:
    """`2 of 45 pairs (Ada – Bo 12, Ada – Cy 14)`."""
    named = ", ".join(f"{pair.name} {n}" for pair, n in pairs[:MOST_NAMED])
    return f"{len(pairs):,} of {counted(len(of), 'pair')} ({named}{', ...' if len(pairs) > MOST_NAMED else ''})"


# As people see it


def _overall_sheet(result: Agreement) -> Sheet:
    """The coefficients, alpha first; with two raters, Cohen's kappa comes next, also with the published interval."""
    rows = []
    for name, value in result.coefficients.items():
        words = "" if name == "observed" else band_words(value)
        rows.append((coefficient_title(name, n_raters=len(result.raters)), interval(value), words))
    if len(result.pairs) == 1:
        [pair] = result.pairs
        independent = ", items taken as independent" if result.scope.is_clustered else ""
        kappas = (("Cohen kappa", pair.kappa), (f"  by {FCE}{independent}", pair.fce))
        rows[1:1] = [(words, *kappa_cells(value)) for words, value in kappas]
    if len(result.pairs) > 1:
        if result.conger:
            rows.append(("Conger kappa", *kappa_cells(result.conger)))
        if result.mean:
            rows.append((f"Mean Cohen kappa of {result.mean.n_pairs} pairs", *kappa_cells(result.mean.kappa)))
    heading = f"Agreement of {counted(len(result.raters), 'rater')} on {counted(result.counts.n_compared, 'item')}"
    return Sheet(heading, ("", "value", "band"), tuple(rows), name="agreement")


def confusion_sheet(table: Confusion, title: str = "Confusion matrix") -> Sheet:
    """T&C 2008, Table 3: rows are the first rater's labels."""
    first, second = table.raters
    rows = zip(table.labels, table.cells.tolist(), strict=True)
    return Sheet(
        title,
        (f"{first}↓ {second}→", *table.labels),
        tuple((label, *map(count, cells)) for label, cells in rows),
        name="confusion",
    )


def _disagreement_sheet(pairs: Sequence[PairAgreement]) -> Sheet:
    """T&C 2008, 5.2: one rater's errors that the other calls OK."""
    rates = [rate for pair in pairs for rate in pair.disagreements]
    rows = [(f"{of.rater}, to {of.other}", f"{of.n_ok:,}/{of.n:,}", interval(of.rate)) for of in rates[:MOST_ROWS]]
    if len(rates) > MOST_ROWS:
        rows.append((f"and {len(rates) - MOST_ROWS:,} more", "", ""))
    return Sheet(
        "Errors of one rater that are OK to the other", ("", "items", "rate"), tuple(rows), name="disagreement"
    )


def _pairs_sheet(pairs: Sequence[PairAgreement]) -> Sheet:
    rows = [
        (pair.name, count(pair.table.n), interval(pair.table.observed), *kappa_cells(pair.kappa))
        for pair in pairs[:MOST_ROWS]
    ]
    if len(pairs) > MOST_ROWS:
        rows.append((f"and {len(pairs) - MOST_ROWS:,} more", "", "", "", ""))
    return Sheet("Pairs of raters", ("", "items", "observed", "kappa", "band"), tuple(rows), name="pairs")


def kappa_cells(value: Interval) -> tuple[str, str]:
    return interval(value), band_words(value)


# Comparisons and parts

Pair: TypeAlias = tuple[str, str]

UNDEFINED = "one of the two is undefined"


@dataclass(frozen=True, slots=True)
class KappaTest(Data):
    """First minus second, with its interval and a two-sided p; only some tests have a `z`."""

    difference: Interval
    p: float
    method: str
    z: float = nan


def independent_test(first: Confusion, second: Confusion, *, error: Error = "fce") -> KappaTest:
    """The two-sample z test for two pairs of raters on different items."""
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
    """Two agreements compared; `groups` are the parts of a table that they are of."""

    coefficient: str
    n_items: int
    test: KappaTest = field(metadata=FLAT)
    groups: tuple[str, ...] = field(default=(), metadata=OPTIONAL)


def compare_pairs(judgments: Coded, first: Pair, second: Pair, *, basis: Basis = BASIS) -> Comparison:
    """Cohen's kappa of two pairs of raters, on the items that all of them judged."""
    for rater in (*first, *second):
        if rater not in judgments.raters:
            raise UnknownName(f"{judgments.name}: {unknown('rater', rater, list(judgments.raters))}")
    columns = label_matrix(judgments)[:, [judgments.raters.index(rater) for rater in (*first, *second)]]
    is_common = (columns != NOBODY).all(axis=1)
    unit_of = None if judgments.unit_of is None else judgments.unit_of[is_common]
    judged = columns[is_common]
    sides = [_paired(judged[:, pair], judgments, "kappa", unit_of, basis) for pair in ([0, 1], [2, 3])]
    test = influence_test(sides[0] - sides[1], how="paired")
    return Comparison("kappa", int(is_common.sum()), test)


def compare_tables(
    first: Judgments, second: Judgments, *, essays: Essays | None = None, basis: Basis = BASIS
) -> Comparison:
    """The agreement in two tables: paired if they share items, else as two samples.

    `essays` covers both tables; by default each table's own columns define it.
    """
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
    if name == "kappa":
        [table] = confusions(codes)
        return kappa_influence(table, basis=basis), table.n
    counts = tally(codes)
    return influence_of(alpha("nominal", codes.labels), counts, basis), counts.n_compared


def _row_of(codes: Coded, items: pl.Series) -> Ints:
    place = {item: row for row, item in enumerate(codes.items.to_list())}
    return np.array([place[item] for item in items], np.int64)


def _rows(codes: Coded, items: pl.Series, name: str) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """A table's label for each item, and whether two raters judged it."""
    chosen = _row_of(codes, items)
    if name == "kappa":
        matrix = label_matrix(codes)[chosen].astype(np.int64)
        return matrix, (matrix != NOBODY).all(axis=1)
    rows = table_of(codes.item, codes.label, len(codes.labels))[chosen]
    return rows, rows.sum(axis=1) > 1


def _paired(rows: Ints, codes: Coded, name: str, unit_of: Ints | None, basis: Basis) -> Influence:
    """One table's part in a paired comparison."""
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
    """One table for each value of a column of the judgments, or else of the items, in the order of the values."""
    frame = _with_column(judgments, column, items)
    values = frame[column].cast(pl.String).fill_null(NO_VALUE)
    groups = frame.with_columns(values.alias(column)).partition_by(column, as_dict=True, maintain_order=True)
    if len(groups) > MOST_GROUPS:
        raise UsageError(f"expected at most {MOST_GROUPS} groups by {column!r}, found {len(groups)}")
    names = [str(name) for (name,) in groups]
    parts = {name: replace(judgments, frame=part) for name, part in zip(names, groups.values(), strict=True)}
    return {names[index]: parts[names[index]] for index in in_order(names)}


def by_batch(judgments: Judgments) -> dict[str, Judgments]:
    """One table for each batch, in order of the first judgment if the table has times, else by name."""
    batches = by_column(judgments, "batch")
    if "at" not in judgments.frame.columns:
        return batches
    names, firsts = list(batches), []
    for part in batches.values():
        times = part.frame["at"].cast(pl.String).drop_nulls().to_list()
        firsts.append(times[in_order(times)[0]] if times else "")
    return {names[index]: batches[names[index]] for index in in_order(firsts)}


def without_flagged(judgments: Judgments, flags: Collection[str], *, by: FlaggedBy) -> Judgments:
    """The judgments of items that are not flagged: by any rater, or by all raters of the item."""
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
        lost = unknown("column", column, known)
        raise UnknownName(f"{judgments.name}: {lost}; columns of items need a table of items")
    if column not in items.frame.columns:
        raise UnknownName(f"{items.name}: {unknown('column', column, [*known, *items.frame.columns])}")
    named = items.frame.select(pl.col("item").cast(pl.String), column)
    return judgments.frame.with_columns(pl.col("item").cast(pl.String)).join(named, on="item", how="left")


# Agreement in each part


def _parts_json(parts: Mapping[str, Agreement]) -> list[dict[str, Json]]:
    headlines = {name: part.headline for name, part in parts.items()}
    return [
        {"group": name, "headline": headlines[name][0], "value": encode(headlines[name][1].value), **part.to_dict()}
        for name, part in parts.items()
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Groups(Data):
    """`by` is the column; `parts` is the agreement for each of its values, in order."""

    by: str
    parts: Mapping[str, Agreement] = field(metadata=key("groups", write=_parts_json))
    tests: tuple[Comparison, ...] = ()

    @property
    @in_json()
    def range(self) -> tuple[float, float]:
        """The lowest and the highest headline value of the parts that have one."""
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
    basis: Basis = BASIS,
) -> Groups:
    """Agreement in each table, and tests between every two if they are few; p values have Holm's correction."""
    parts = {name: measure(table) for name, table in tables.items()}
    names = list(tables) if with_tests and len(tables) <= MOST_TESTED else []
    pairs = list(combinations(names, 2))
    found = [compare_tables(tables[one], tables[other], essays=essays, basis=basis) for one, other in pairs]
    adjusted = holm([comparison.test.p for comparison in found])
    tests = [
        replace(comparison, test=replace(comparison.test, p=p), groups=pair)
        for pair, comparison, p in zip(pairs, found, adjusted, strict=True)
    ]
    return Groups(by, parts, tuple(tests))


CLEAN = "without items flagged by any rater"


def agreement_by_context(judgments: Judgments, measure: Measure, flags: Sequence[str]) -> Groups:
    """T&C 2008, 5.2 and note 7: with and without flagged contexts, by both readings of "flagged"."""
    ways: dict[str, FlaggedBy] = {CLEAN: "any", "without items flagged by all raters": "all"}
    tables = {"all items": judgments, **{name: without_flagged(judgments, flags, by=by) for name, by in ways.items()}}
    kept = {name: table for name, table in tables.items() if len(table)}
    return agreement_by_group(kept, measure, by=f"flags {', '.join(flags)}", with_tests=False)


# The whole and its parts in one result


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
) -> Agreement:
    """The agreement of a table, by column and by flagged contexts, and compared: `A,B:C,D`, or with another table."""
    groups = []
    for column in by:
        is_batch = column == "batch"
        parts = by_batch(judgments) if is_batch else by_column(judgments, column, items=items)
        groups.append(
            agreement_by_group(parts, measure, by=column, with_tests=not is_batch, essays=essays, basis=basis)
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
    return replace(measure(judgments), groups=tuple(groups), comparisons=comparisons)


def _parts_sheet(groups: Groups, whole: Agreement) -> Sheet:
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
    tests = {" – ".join(test.groups): test for part in groups for test in part.tests}
    rows = []
    for name, comparison in {**tests, **comparisons}.items():
        test = comparison.test
        numbers = (interval(test.difference), number(test.z, digits=2), p_value(test.p))
        rows.append((name, count(comparison.n_items), *numbers, f"{comparison.coefficient}, {test.method}"))
    return Sheet("Differences", ("", "items", "difference", "z", "p", "by"), tuple(rows), name="differences")
