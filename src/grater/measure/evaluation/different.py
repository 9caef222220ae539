"""Comparison of systems that decided on different items, whose raw precision and recall must not be ranked.

Madnani et al. 2011, section 4.2: systems on different data may be compared bin by bin of agreement, where bins have
different sizes and, worse, different error rates; "to handle this, we recommend that a kappa-agreement plot be used".
Every system therefore has its own n, error rate and kappa in every bin.

We add **direct standardisation**. In each bin a system flags a share Se of the errors and a share Fa of the other
items. If the standard has W items and E errors in the bin, hits are the sum of E Se, false alarms the sum of (W - E)
Fa, and precision, recall and F follow. The standard is the union of all judged items: one error rate and one mix of
bins for every system, held fixed. Bins in which a system has fewer than `LEAST` errors or good items are merged with
the next bin of higher agreement. The assumption: within a bin, a system would treat another system's items like its
own.

**Intervals** are the engine's, from each system's own essays (or items); differences are unpaired. If two systems
share some items, intervals are too wide rather than too narrow. There are no rank groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, pairwise

import numpy as np

from grater.measure.evaluation.cases import ABSENT, REASONS, Cases, Truth, Truths, cells, score_of, sides
from grater.measure.evaluation.standard import (
    EDGES,
    FEW,
    IN_DENOMINATOR,
    SHOWN,
    Bin,
    Scored,
    against,
    agreement_of,
    binned,
    different_rates,
    same_items,
)
from grater.model import Interval, Json
from grater.result import FLAT, HIDDEN, Data, encode, in_json, key
from grater.sheet import Sheet, count, counted, interval, number, undefined_notes
from grater.uncertainty import (
    Basis,
    Influence,
    Ints,
    Numbers,
    Scope,
    Units,
    difference,
    grouped_rows,
    influence,
    share,
)

LEAST = 5
"""Errors, and good items, that every system must have in a bin of the standard."""
NOT_RANKED = (
    "The systems decided on different items, so they are not ranked: raw precision and recall move with the data."
)


@dataclass(frozen=True, slots=True)
class Stratum(Data):
    """A bin of the standard: its limits, and the items and errors of all systems there."""

    low: float
    high: float
    n: int
    n_errors: float = field(metadata=HIDDEN)

    @property
    @in_json()
    def error_rate(self) -> float:
        return self.n_errors / self.n


@dataclass(frozen=True, slots=True, eq=False)
class Standardised(Data):
    """One system on its own items, and its scores at the standard's error rate and mix of bins."""

    own: Scored = field(metadata=HIDDEN)
    scores: dict[str, Interval] = field(metadata=HIDDEN)
    influences: dict[str, Influence] = field(metadata=HIDDEN)
    scope: Scope = field(metadata=HIDDEN)

    @property
    @in_json(flat=True)
    def _scores(self) -> dict[str, Json]:
        own = {name: self.own[name] for name in (*SHOWN, "error_rate")}
        standard = {name: self.scores[name] for name in SHOWN}
        n_units = {f"{self.scope.unit}s": self.scope.n_units} if self.scope.is_clustered else {}
        known: dict[str, Json] = encode({"n": self.own.n, **n_units, **own, "standardised": standard})
        return {"system": self.own.system, **known}


@dataclass(frozen=True, slots=True, eq=False)
class Apart(Data):
    first: str = field(metadata=HIDDEN)
    second: str = field(metadata=HIDDEN)
    n_common: int = field(metadata=key("common_items"))
    differences: dict[str, Interval] = field(metadata=FLAT)

    @property
    @in_json()
    def systems(self) -> tuple[str, str]:
        return self.first, self.second


@dataclass(frozen=True, slots=True, eq=False)
class Different(Data):
    """Systems on different data; `same_items` groups the indices of systems that share their items."""

    systems: tuple[Standardised, ...] = field(metadata=HIDDEN)
    pairs: tuple[Apart, ...]
    standard: tuple[Stratum, ...]
    bins: tuple[Bin, ...] = field(metadata=HIDDEN)
    same_items: tuple[tuple[int, ...], ...] = field(metadata=HIDDEN)
    warnings: tuple[str, ...] = field(default=(), metadata=HIDDEN)

    @property
    @in_json()
    def prevalence(self) -> float:
        return sum(stratum.n_errors for stratum in self.standard) / sum(stratum.n for stratum in self.standard)

    @property
    @in_json("systems")
    def _systems(self) -> list[dict[str, Json]]:
        return [
            {**system.to_dict(), "bins": [within.of_system(at) for within in self.bins]}
            for at, system in enumerate(self.systems)
        ]

    @property
    @in_json("same_items")
    def _same_items(self) -> list[list[str]]:
        return [[self.systems[at].own.system for at in group] for group in self.same_items]

    def sheets(self) -> list[Sheet]:
        scope = self.systems[0].scope
        rows = [
            (
                each.own.system,
                count(each.own.n),
                *([count(each.scope.n_units)] if scope.is_clustered else []),
                *(interval(each.own[name]) for name in ("error_rate", *SHOWN)),
            )
            for each in self.systems
        ]
        columns = ("", "items", *([f"{scope.unit}s"] if scope.is_clustered else []), "error rate", *SHOWN.values())
        notes = (NOT_RANKED, *undefined_notes(each.own[name] for each in self.systems for name in SHOWN))
        return [
            Sheet("Each system on its own items", columns, tuple(rows), notes=notes, name="own-items"),
            _bins_sheet(self),
            _standard_sheet(self),
            _pairs_sheet(self),
        ]


def different_data(cases: Cases, truth: Truth, *, basis: Basis, edges: Sequence[float] = EDGES) -> Different | None:
    """The comparison of systems judged on different items; None if all were judged on the same."""
    known = ~np.isnan(truth.values)
    decided = (cases.flagged >= 0) & known[:, None]
    groups = same_items(cases.flagged[known])
    if len(groups) < 2 or not decided.any(axis=0).all():
        return None
    standard, drawn = standardised(cases, truth, basis=basis, edges=edges)
    hard = replace(truth, values=sides(truth.values), is_graded=False) if truth.is_graded else truth
    bins = tuple(binned(cases, hard, basis=basis, edges=edges))
    names = cases.systems
    pairs = [
        Apart(
            first=names[one],
            second=names[other],
            n_common=int((decided[:, one] & decided[:, other]).sum()),
            differences={
                name: difference(
                    drawn[one].influences[name].unpaired(drawn[other].influences[name]), undefined=REASONS[name]
                ).difference
                for name in SHOWN
            },
        )
        for one, other in combinations(range(len(names)), 2)
        if not any(one in group and other in group for group in groups)
    ]
    different = Different(tuple(drawn), tuple(pairs), standard, bins, groups)
    return replace(different, warnings=tuple(_warnings(different, edges)))


def standardised(
    cases: Cases, truth: Truth, *, basis: Basis, edges: Sequence[float] = EDGES
) -> tuple[tuple[Stratum, ...], list[Standardised]]:
    """The common standard of all systems, and every system at that standard."""
    decided = (cases.flagged >= 0) & ~np.isnan(truth.values)[:, None]
    used: Truths = np.asarray(decided.any(axis=1))
    code, standard = _strata(cases, truth, decided, used, edges)
    return standard, [_standardise(cases, truth, at, code, standard, basis) for at in range(len(cases.systems))]


def _strata(
    cases: Cases, truth: Truth, decided: Truths, used: Truths, edges: Sequence[float]
) -> tuple[Ints, tuple[Stratum, ...]]:
    """The bin of each item after merging, and the standard; a single bin if the agreement of some item is unknown."""
    agreement = agreement_of(cases)
    inner = [] if np.isnan(agreement[used]).any() else list(edges[1:-1])
    values = np.nan_to_num(truth.values)
    while True:
        code = np.digitize(np.nan_to_num(agreement), inner)
        thin = _thin(code, values, decided, n_bins=len(inner) + 1)
        if thin is None:
            break
        inner.pop(min(thin, len(inner) - 1))
    ends = [min(edges[0], 0.5), *inner, 1.0]
    standard = tuple(
        Stratum(low, high, int((used & (code == at)).sum()), float(values[used & (code == at)].sum()))
        for at, (low, high) in enumerate(pairwise(ends))
    )
    return code, standard


def _thin(code: Ints, values: Numbers, decided: Truths, *, n_bins: int) -> int | None:
    """The first bin in which a system has too few errors or good items; None if only one bin is left."""
    for at in range(n_bins if n_bins > 1 else 0):
        own = decided & (code == at)[:, None]
        errors, good = values @ own, (1 - values) @ own
        if min(errors.min(), good.min()) < LEAST:
            return at
    return None


def _standardise(
    cases: Cases, truth: Truth, column: int, code: Ints, standard: Sequence[Stratum], basis: Basis
) -> Standardised:
    """One system: each bin is scored like a separate system, and the bins are then combined."""
    flags, k = cases.flagged[:, column], len(standard)
    places = np.flatnonzero((flags >= 0) & ~np.isnan(truth.values))
    by_bin = np.where(code[places, None] == np.arange(k), flags[places, None], ABSENT).astype(np.int8)
    rows = cells(by_bin, truth.values[places]).reshape(len(places), 4 * k)
    unit, own_units = cases.essays.unit, cases.unit_of[places]
    if unit != "item":
        held, own_units = np.unique(own_units, return_inverse=True)
        rows = grouped_rows(rows, own_units, len(held))
    by_unit, plain = rows.reshape(-1, k, 4).sum(axis=1), rows.sum(axis=0).reshape(k, 4).sum(axis=0)
    [own] = against(cases.of_systems([column]), truth, basis=basis)
    intervals, influences = {}, {}
    for name in SHOWN:
        mask = IN_DENOMINATOR[name]
        it = influence(Units(rows, unit), partial(_at_standard, name, standard), by_unit @ mask)
        influences[name] = it
        intervals[name] = share(it, n=float(plain @ mask), undefined=REASONS[name])
    n_units = len(rows) if unit != "item" else len(places)
    return Standardised(own, intervals, influences, Scope(unit=unit, n_units=n_units, population=basis.population))


def _at_standard(name: str, standard: Sequence[Stratum], sums: Numbers) -> Numbers:
    """A score at the standard, from the four counts of every bin."""
    hit, false_alarm, miss, rejection = np.moveaxis(sums.reshape(*sums.shape[:-1], len(standard), 4), -1, 0)
    errors = np.array([stratum.n_errors for stratum in standard])
    good = np.array([stratum.n for stratum in standard]) - errors
    with np.errstate(invalid="ignore", divide="ignore"):
        caught, wrong = hit / (hit + miss), false_alarm / (false_alarm + rejection)
    hits = (np.where(errors > 0, caught, 0.0) * errors).sum(axis=-1)
    alarms = (np.where(good > 0, wrong, 0.0) * good).sum(axis=-1)
    return score_of(name, np.stack([hits, alarms, errors.sum() - hits, good.sum() - alarms], axis=-1))


def _warnings(different: Different, edges: Sequence[float]) -> Iterator[str]:
    names = [system.own.system for system in different.systems]
    groups = "; ".join(", ".join(names[at] for at in group) for group in different.same_items)
    yield f"systems decided on different items ({groups}): they are not ranked against each other"
    for one, other in combinations((group[0] for group in different.same_items), 2):
        first, second = ([replace(of, systems=(of.systems[at],)) for of in different.bins] for at in (one, other))
        yield from (f"{names[one]} and {names[other]}: {warning}" for warning in different_rates(first, second))
    for each in different.systems:
        yield from (f"{each.own.system}: {warning}" for warning in each.scope.warnings)
    for within in different.bins:
        if few := [f"{each.system} {each.n}" for each in within.systems if each.n < FEW]:
            yield f"fewer than {FEW} items where agreement is {within.title}: {', '.join(few)}"
    if len(different.standard) < len(edges) - 1:
        shown = ", ".join(f"{100 * each.low:g}-{100 * each.high:g} %" for each in different.standard)
        yield f"bins with fewer than {LEAST} errors or good items of a system are merged; the standard has {shown}"


# What a person reads


def _bins_sheet(different: Different) -> Sheet:
    rows = [
        (within.title, each.system, count(each.n), interval(each["error_rate"]), interval(each["kappa"]))
        for within in different.bins
        for each in within.systems
    ]
    columns = ("agreement", "system", "items", "error rate", "kappa")
    return Sheet("Kappa by agreement of raters", columns, tuple(rows), name="kappa-by-agreement")


def _standard_sheet(different: Different) -> Sheet:
    rows = [(each.own.system, *(interval(each.scores[name]) for name in SHOWN)) for each in different.systems]
    n = sum(stratum.n for stratum in different.standard)
    mix = ", ".join(f"{100 * of.low:g}-{100 * of.high:g} % {number(of.n / n)}" for of in different.standard)
    title = f"At one error rate ({number(different.prevalence)}) and one mix of agreement"
    notes = (
        f"The standard is all {counted(n, 'judged item')} together, held fixed; its bins: {mix}.",
        *undefined_notes(score for each in different.systems for score in each.scores.values()),
    )
    return Sheet(title, ("", *SHOWN.values()), tuple(rows), notes=notes, name="standardised")


def _pairs_sheet(different: Different) -> Sheet:
    rows = [
        (f"{pair.first} – {pair.second}", count(pair.n_common), *(interval(pair.differences[name]) for name in SHOWN))
        for pair in different.pairs
    ]
    columns = ("", "common items", *SHOWN.values())
    return Sheet("Differences at that standard, unpaired", columns, tuple(rows), name="unpaired")
