"""Precision, recall and F of detectors against one truth, against each rater, weighted, and by bins of agreement.

**Raters in turn.** T&C 2008, 5.2 and Table 4: a system's precision differs by ten points between raters. `each_rater`
scores it against every rater; `spread` gives the range.

**Weighted scores.** Madnani et al. 2011, section 4.1, equations 1-3: with c the system's class and p the crowd's
share of votes for error, H = sum c p, M = sum (1 - c) p, FP = sum c (1 - p). Departure: p may be a Dawid-Skene
posterior. The number of votes behind shares must not depend on the votes; if asking stopped as soon as raters agreed,
shares use the first judgments of each item (`cases.py`).

**Bins of agreement.** Madnani et al. 2011, 4.2, figures 1 and 2. The agreement of an item is the share of its
majority. Bins are 50-75, 75-90 and 90-100 % by default: each includes its low edge but not its high edge, except for
the last; items below the lowest edge are a separate row. Two raters agree completely or not at all, so by default
their only bin is 100 %. Scores in a bin are unweighted and use the majority; ties count half on each side, and a bin
of only ties has no score. On *different* data, use kappa by agreement, as the paper recommends, or standardised
scores (`different.py`).

**Intervals** are the engine's (`grater.uncertainty`) by essay where essays are known. Under a design (`design.py`),
every judged item is weighted by the number of items that it represents; precision, recall and F then follow the rule
for samples (rule 6). If raters are random, the votes of each rater are left out in turn (rule 7).

**Types of error**: a wrong choice, an extraneous word, or a missing word, scored separately and combined.

T&C 2008 distinguish extraneous from wrong prepositions, and detectors are often good at only one of the two. A flag
has the type from its system (`type` of the decisions). An error has the type from most of the raters who call it an
error: the `type` of their judgments (labels that name a type keep it when they are merged into error), or else what
their `alternatives` imply (`-NONE-` is extraneous, another word a choice). An item that is a gap (its kind ends in
`missing`, or its span is empty) can only be a missing word.

Precision covers the flags of a type, whatever the error's type; recall covers the errors of a type, whatever the
flag's type: a system that flags an extraneous word as a wrong choice has found it. F0.5 combines the two. Errors and
flags without a type have separate rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from math import inf, isnan, nan, sqrt
from statistics import fmean, stdev

import numpy as np
import polars as pl

from grater.errors import UsageError
from grater.measure.evaluation.cases import (
    CELLS,
    ERROR,
    ONE_DECISION,
    RATER,
    REASONS,
    SCORES,
    Cases,
    Counts,
    Flags,
    Truth,
    Truths,
    Votes,
    cells,
    graded,
    patterns,
    places_of,
    score_of,
    share_of,
    sides,
    truth_of,
    whole,
)
from grater.model import EDIT, Interval, Json
from grater.result import FLAT, Data
from grater.sheet import Sheet, count, counted, interval, undefined_notes
from grater.tables import Table, require_raters
from grater.uncertainty import (
    Basis,
    Influence,
    Ints,
    McNemar,
    Numbers,
    Rare,
    Units,
    coefficient,
    design_effect,
    from_left_out,
    grouped_rows,
    influence,
    mcnemar,
    ratio,
    share,
    t_value,
    with_raters,
)
from grater.uncertainty.sampled import ALL_FLAGGED, NO_FLAGS, NO_PASSED, SampleScores, Strata, sample_scores

HEADLINE = ("precision", "recall", "f0.5", "f1")
"""The scores that every system is reported with."""
IN_BIN = ("error_rate", "precision", "recall", "kappa")
SHOWN = {"precision": "precision", "recall": "recall", "f0.5": "F0.5"}
"""The scores in tables, with their titles."""
MOST_RATERS = 40
"""Raters with intervals and rows in tables."""
MANY_RATERS = f"there are more than {MOST_RATERS} raters"
IN_DENOMINATOR = {
    "precision": np.array([1.0, 1, 0, 0]),
    "recall": np.array([1.0, 0, 1, 0]),
    "f0.5": np.array([1.0, 1, 1, 0]),
    "f1": np.array([1.0, 1, 1, 0]),
    "error_rate": np.ones(4),
}
"""Which of the four cells are cases of a score (rule 0)."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """One system against one truth: `n` items, all `SCORES`, and what they are computed from.

    `influences` has the influence of each unit on each score; `sampled` has the cells, if a sample was judged.
    """

    system: str
    n: int
    counts: Counts
    scores: dict[str, Interval]
    tally: Tally
    influences: dict[str, Influence]
    design_effect: dict[str, float] = field(default_factory=dict)
    is_withheld: bool = False
    strata: Strata | None = None
    sampled: SampleScores | None = None

    def __getitem__(self, name: str) -> Interval:
        return self.scores[name]

    def as_json(self, names: Sequence[str] = HEADLINE) -> dict[str, Json]:
        return {**{name: self.scores[name].as_json() for name in names}, "counts": self.counts.as_json()}


@dataclass(frozen=True, slots=True)
class Spread:
    n_raters: int
    low: float
    high: float
    mean: float
    sd: float


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """The weighted counts of one system by unit; `plain` and `squares` are the unweighted and the squared sums.

    `n_flagged` and `n_passed` count the system's decisions, judged or not.
    """

    units: Units
    plain: Numbers
    squares: Numbers
    n_flagged: int
    n_passed: int

    @property
    def counts(self) -> Counts:
        return Counts.of_row(self.units.sums)

    def as_strata(self) -> Strata:
        """A sample of two cells, flagged and unflagged items, in which every item was judged."""
        rows = self.units.sums[None] if self.units.is_items else self.units.rows
        sizes, errors = np.stack([rows[:, :2].sum(axis=1), rows[:, 2:].sum(axis=1)], axis=1), rows[:, [0, 2]]
        return Strata(sizes, sizes, errors, self.units.unit)

    def influence(self, name: str, basis: Basis) -> Influence:
        return influence(self.units, partial(score_of, name), self.den(name), basis)

    def den(self, name: str) -> Numbers:
        rows = self.units.rows
        if name != "kappa":
            return np.asarray(rows @ IN_DENOMINATOR[name], np.float64)
        hit, false_alarm, miss, _ = rows.T
        n, marks = rows.sum(axis=1), 2 * hit + false_alarm + miss
        p = float(ratio(self.units.counts @ marks, 2 * self.units.counts @ n))
        return np.asarray(marks * (1 - p) + (2 * n - marks) * p, np.float64)

    def rare(self) -> Rare:
        """The rarest of flags, unflagged items, errors and good items, and the units that have any."""
        margins = np.array([[1.0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
        rarest = margins[int(np.argmin(margins @ self.plain))]
        return Rare(float(rarest @ self.plain), float(self.units.counts[self.units.rows @ rarest > 0].sum()))

    def reason(self, name: str, value: float) -> str:
        hit, false_alarm, miss, rejection = self.plain
        if name in ("recall", "f0.5", "f1") and self.plain.sum():
            if self.n_passed and miss + rejection == 0:
                return NO_PASSED
            if self.n_flagged and hit + false_alarm == 0:
                return NO_FLAGS
        return REASONS[name] if isnan(value) else ""


def against(
    cases: Cases,
    truth: Truth,
    *,
    basis: Basis,
    where: Truths | None = None,
    is_property: bool = True,
    with_effects: bool = False,
    is_paired: bool = False,
) -> list[Scored]:
    """Every system against the truth, on the items that it decided on, that have a truth and that `where` selects.

    `is_property` means that `where` is known for every item, judged or not, so that such items can be counted in the
    corpus; `is_paired` keeps units in the same order, because systems will be compared.
    """
    known = known_items(cases, truth)
    here = known if where is None else known & where
    found = []
    for column, system in enumerate(cases.systems):
        tallied = partial(tally, cases, truth.values, column, known=known, here=here, decided=where)
        by_unit = tallied(is_paired=is_paired)
        is_random = basis.raters == "random"
        by_item = by_unit if by_unit.units.is_items else None
        if by_item is None and (is_random or with_effects):
            by_item = tallied(unit="item", is_paired=is_paired and is_random)
        left_out = _without_each_rater(cases, truth, column, here) if is_random else None
        one = scored(system, by_unit, basis=basis, by_item=by_item, left_out=left_out, is_weighted=bool(cases.design))
        if with_effects and by_item is not None and by_item is not by_unit:
            effects = {name: design_effect(it, by_item.influence(name, basis)) for name, it in one.influences.items()}
            one = replace(one, design_effect=effects)
        if cases.design and is_property:
            sampled = _of_sample(cases, truth, column, one, basis, where)
            one = _for_other_raters(sampled, one) if is_random else sampled
        found.append(withheld(one, cases.withheld.get(system, "")))
    return found


def concentration_warnings(systems: Sequence[Scored]) -> Iterator[str]:
    """Warn if most of the cases of a score come from one essay (rule 2)."""
    for scored in systems:
        for name, title in SHOWN.items():
            it = scored.influences.get(name)
            if it is not None and it.is_concentrated and not isnan(scored[name].low):
                yield f"{scored.system}: one {it.unit} has most of the cases of {title}; the interval rests on it"


def known_items(cases: Cases, truth: Truth) -> Truths:
    """The items that have a truth and, if a sample is known, were drawn."""
    known = ~np.isnan(truth.values)
    return known & cases.design.is_drawn if cases.design else known


def withheld(found: Scored, reason: str) -> Scored:
    if not reason:
        return found
    none = Interval(nan, nan, nan, reason)
    names = [name for name in SCORES if name != "precision"]
    kept = {name: it for name, it in found.influences.items() if name == "precision"}
    effects = {name: of for name, of in found.design_effect.items() if name == "precision"}
    scores = {**found.scores, **dict.fromkeys(names, none)}
    return replace(found, scores=scores, influences=kept, design_effect=effects, is_withheld=True)


def tally(
    cases: Cases,
    values: Numbers,
    column: int,
    *,
    known: Truths,
    here: Truths,
    decided: Truths | None = None,
    unit: str = "",
    is_paired: bool = False,
) -> Tally:
    """The counts of one system by unit; units without an item that is `here` count as empty."""
    flags, unit = cases.flagged[:, column], unit or cases.essays.unit
    marks = flags if decided is None else flags[decided]
    n_flagged, n_passed = int((marks == 1).sum()), int((marks == 0).sum())
    weights = cases.design.weights(column, known) if cases.design else None
    places = np.flatnonzero(here & (flags >= 0))
    if unit == "item":
        parts = [flags[places].astype(np.float64), values[places]]
        parts += [weights[places]] if weights is not None else []
        if is_paired or not len(places):
            kinds, times = np.stack(parts, axis=1), np.ones(len(places))
        else:
            kinds, n = patterns(parts)
            times = n.astype(np.float64)
        plain = cells(kinds[:, :1].astype(np.int8), kinds[:, 1])[:, 0]
        own = kinds[:, 2:3] if weights is not None else 1.0
        units = Units(plain * own, unit, times)
        return Tally(units, times @ plain, times @ (plain * own**2), n_flagged, n_passed)
    is_held = np.zeros(int(cases.unit_of.max(initial=-1)) + 1, bool)
    is_held[cases.unit_of[known & (flags >= 0)]] = True
    unit_of = (np.cumsum(is_held) - 1)[cases.unit_of[places]]
    plain = cells(flags[places][:, None], values[places])[:, 0]
    own = np.ones((len(places), 1)) if weights is None else weights[places][:, None]
    units = Units(grouped_rows(plain * own, unit_of, int(is_held.sum())), unit)
    return Tally(units, plain.sum(axis=0), (plain * own**2).sum(axis=0), n_flagged, n_passed)


def scored(
    system: str,
    by_unit: Tally,
    *,
    basis: Basis,
    by_item: Tally | None = None,
    left_out: Numbers | None = None,
    is_weighted: bool = False,
) -> Scored:
    """One system from its counts; `left_out` has the sums without each rater, if raters are random."""
    sums, intervals, influences = by_unit.units.sums, {}, {}
    for name in SCORES:
        value = float(score_of(name, sums))
        reason = by_unit.reason(name, value)
        if reason:
            intervals[name] = Interval(nan, nan, nan, reason)
            continue
        it = by_unit.influence(name, basis)
        if left_out is not None and by_item is not None:
            it = with_raters(it, from_left_out(value, score_of(name, left_out)), by_item.influence(name, basis))
        it, factor = _finite(name, it, by_unit, basis)
        influences[name] = it
        intervals[name] = _interval(name, it, by_unit, factor, is_weighted=is_weighted)
    n = round(float(by_unit.plain.sum()))
    return Scored(system, n, by_unit.counts, intervals, by_unit, influences)


def _interval(name: str, it: Influence, by_unit: Tally, factor: float, *, is_weighted: bool) -> Interval:
    if name == "recall" and not by_unit.n_passed:
        return Interval(it.value, nan, nan, ALL_FLAGGED)
    if name == "kappa" and not (by_unit.n_passed and by_unit.n_flagged):
        return Interval(it.value, nan, nan, ONE_DECISION)
    if factor == inf:
        return Interval(it.value, it.value, it.value)
    if name == "kappa":
        return coefficient(it, rare=by_unit.rare())
    mask = IN_DENOMINATOR[name]
    n, n_design = float(by_unit.plain @ mask), None
    if is_weighted:
        n_design = factor * float(by_unit.units.sums @ mask) ** 2 / float(by_unit.squares @ mask)
    return share(it, n=factor * n, n_design=n_design)


def _finite(name: str, it: Influence, by_unit: Tally, basis: Basis) -> tuple[Influence, float]:
    """For these items alone: the influence, and the factor by which cases count more; inf if all were judged."""
    if basis.population == "wider":
        return it, 1.0
    hit, false_alarm, miss, rejection = by_unit.plain
    n, size = hit + false_alarm + miss + rejection, by_unit.n_flagged + by_unit.n_passed
    if name == "precision":
        n, size = hit + false_alarm, by_unit.n_flagged
    factor = inf if n >= size else (size - 1) / (size - n)
    return replace(it, change=it.change / sqrt(factor), variance=nan), factor


def _of_sample(cases: Cases, truth: Truth, column: int, found: Scored, basis: Basis, where: Truths | None) -> Scored:
    """Precision, recall and F by the rule for samples; counts are corpus totals."""
    design = cases.design
    assert design is not None
    if where is not None:
        design.require_whole("parts of the corpus")
    unit = cases.essays.unit
    strata = design.strata(column, truth.values, cases.unit_of, unit, basis=basis, where=where)
    ours = sample_scores(strata, design.systems[column].flagged)
    names = ours.named()
    influences = {name: design.influence(column, strata, name, truth.values, where) for name in names}
    n_flagged = float(strata.sizes[:, design.systems[column].flagged].sum())
    rest = float(strata.sizes.sum()) - n_flagged - ours.miss.value
    counts = Counts(ours.hit.value, ours.false_alarm.value, ours.miss.value, rest)
    return replace(
        found,
        counts=counts,
        scores={**found.scores, **names},
        influences={**found.influences, **{name: it for name, it in influences.items() if not isnan(it.value)}},
        strata=strata,
        sampled=ours,
    )


def _for_other_raters(sampled: Scored, others: Scored) -> Scored:
    """The scores of a sample with limits widened in proportion to the standard error over raters (rule 7)."""
    scores, influences = dict(sampled.scores), dict(sampled.influences)
    for name in HEADLINE:
        own, it, raters = scores[name], influences.get(name), others.influences.get(name)
        if isnan(own.low) or it is None or raters is None or raters.raters is None:
            continue
        influences[name] = both = with_raters(it, *raters.raters)
        if both.withheld_because:
            scores[name] = Interval(own.value, nan, nan, both.withheld_because)
            continue
        half, before = (t_value(each.freedom) * each.error for each in (both, it))
        wider = max(1.0, half / before) if before else 1.0
        low, high = own.value - wider * (own.value - own.low), own.value + wider * (own.high - own.value)
        scores[name] = Interval(own.value, max(0.0, low), min(1.0, high))
    return replace(sampled, scores=scores, influences=influences)


def _without_each_rater(cases: Cases, truth: Truth, column: int, here: Truths) -> Numbers:
    """Raters x 4: a system's counts without the votes of each rater."""
    if not truth.is_of_votes:
        raise UsageError(f"raters can be drawn for the share or the majority, not for the truth {truth.name}")
    require_raters(cases.judgments, "intervals for other raters")
    votes = cases.equal if truth.is_graded else cases
    weights = cases.design.weights(column, ~np.isnan(truth.values)) if cases.design else np.ones(len(cases))
    kept = here[votes.item]
    item, rater, is_error = votes.item[kept], votes.rater[kept], votes.is_error[kept]
    rest = share_of(votes.n_error[item] - is_error, votes.n_votes[item] - 1)
    rest = rest if truth.is_graded else sides(rest)
    flags = cases.flagged[item, column][:, None]
    before, after = (cells(flags, of)[:, 0] for of in (truth.values[item], np.nan_to_num(rest)))
    after[np.isnan(rest)] = 0.0
    moved = grouped_rows((after - before) * weights[item][:, None], rater.astype(np.int64), len(cases.raters))
    plain = cells(cases.flagged[here, column][:, None], truth.values[here])[:, 0] * weights[here][:, None]
    sums: Numbers = plain.sum(axis=0) + moved
    return sums


def same_items(flagged: Flags) -> tuple[tuple[int, ...], ...]:
    """Groups of systems (column indices) that decided on the same items (rows)."""
    groups: dict[bytes, list[int]] = {}
    for column, flags in enumerate(flagged.T):
        groups.setdefault(np.packbits(flags >= 0).tobytes(), []).append(column)
    return tuple(tuple(columns) for columns in groups.values())


def each_rater(
    cases: Cases, *, basis: Basis, where: Truths | None = None, is_property: bool = True
) -> dict[str, list[Scored]]:
    """Every system against each rater, by name, on the items that the rater judged."""
    require_raters(cases.judgments, "results by rater")
    here = np.ones(len(cases), bool) if where is None else where
    many = MANY_RATERS if len(cases.raters) > MOST_RATERS else ""
    basis = replace(basis, raters="these")
    if cases.design:
        made = {}
        for rater in cases.raters:
            truth = truth_of(cases, f"{RATER}{rater}")
            of_rater = against(cases, truth, basis=basis, where=where, is_property=is_property)
            made[rater] = [_without_intervals(each, many) for each in of_rater] if many else of_rater
        return made
    found: dict[str, list[Scored]] = {rater: [] for rater in cases.raters}
    for column, system in enumerate(cases.systems):
        tallies = list(_tallies(cases, column, here, by_unit=not many))
        scores = _points(system, tallies) if many else [scored(system, own, basis=basis) for own in tallies]
        for rater, one in zip(cases.raters, scores, strict=True):
            found[rater].append(withheld(one, cases.withheld.get(system, "")))
    return found


def _points(system: str, tallies: Sequence[Tally]) -> list[Scored]:
    """The scores of one system against many raters, without intervals."""
    sums, found = np.stack([own.plain for own in tallies]), [dict[str, Interval]() for _ in tallies]
    for name in SCORES:
        for own, value, scores in zip(tallies, score_of(name, sums).tolist(), found, strict=True):
            reason = own.reason(name, value)
            scores[name] = Interval(nan if reason else value, nan, nan, reason or MANY_RATERS)
    ns = sums.sum(axis=1).round().astype(int).tolist()
    parts = zip(ns, found, tallies, strict=True)
    return [Scored(system, n, own.counts, scores, own, {}) for n, scores, own in parts]


def _tallies(cases: Cases, column: int, here: Truths, *, by_unit: bool) -> Iterator[Tally]:
    """The counts of one system against each rater, by essay or in total."""
    flags, n_raters, n_cells = cases.flagged[:, column], len(cases.raters), len(CELLS)
    marks = flags[here]
    n_flagged, n_passed = int((marks == 1).sum()), int((marks == 0).sum())
    item, rater, is_error = cases.item, cases.rater, cases.is_error
    usable = here & (flags >= 0)
    if not usable.all():
        kept = usable[item]
        item, rater, is_error = item[kept], rater[kept], is_error[kept]
    is_items = cases.essays.unit == "item" or not by_unit
    n_units = 1 if is_items else int(cases.unit_of.max(initial=0)) + 1
    row = rater if is_items else rater.astype(np.int64) * n_units + cases.unit_of[item]
    place = n_cells * row + 2 * (flags == 0).view(np.int8)[item] + ~is_error
    shape = (n_raters, n_units, n_cells)
    for own in np.bincount(place, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64):
        units = Units(np.eye(n_cells), "item", own[0]) if is_items else Units(own[own.any(axis=1)], cases.essays.unit)
        yield Tally(units, own.sum(axis=0), own.sum(axis=0), n_flagged, n_passed)


def _without_intervals(found: Scored, why: str) -> Scored:
    points = {name: Interval(of.value, nan, nan, of.undefined_because or why) for name, of in found.scores.items()}
    return replace(found, scores=points, influences={})


def spread(of_raters: Sequence[Interval]) -> Spread:
    """The range of a score over raters; raters for whom it is undefined are excluded."""
    values = [score.value for score in of_raters if not isnan(score.value)]
    if not values:
        return Spread(0, nan, nan, nan, nan)
    return Spread(len(values), min(values), max(values), fmean(values), stdev(values) if len(values) > 1 else nan)


def weighted(cases: Cases, truth: Truth, *, basis: Basis, where: Truths | None = None) -> list[Scored]:
    values = graded(cases, truth, seed=basis.seed)
    if not values.is_graded:
        raise UsageError(f"the truth {truth.name} has no grades; use share, majority or dawid-skene")
    return against(cases, values, basis=basis, where=where)


def discordant(cases: Cases, truth: Truth, first: int, second: int) -> McNemar:
    """McNemar's test for two systems (by index) on the items that both decided on and that have a truth."""
    one, other = cases.flagged[:, first], cases.flagged[:, second]
    known = (one >= 0) & (other >= 0) & np.isin(truth.values, (0.0, 1.0))
    differ = known & (one != other)
    n_first = int((one[differ] == truth.values[differ]).sum())
    return mcnemar(n_first, int(differ.sum()) - n_first)


def effects_note(effects: dict[str, dict[str, float]]) -> str:
    parts = []
    for system, of in effects.items():
        shown = [f"{title} {of[name]:.1f}" for name, title in SHOWN.items() if not isnan(of.get(name, nan))]
        if shown:
            parts.append(f"{system} {', '.join(shown)}")
    return f"Design effects: {'; '.join(parts)}." if parts else ""


# Bins of agreement


EDGES = (0.5, 0.75, 0.9, 1.0)
TIE = 0.5
TWO = 2
NO_MAJORITY = "raters are split evenly on every item here, so there is no majority"
FEW = 30
"""Items in a bin below which its numbers mean little."""


@dataclass(frozen=True, slots=True, eq=False)
class Bin:
    """Items whose agreement is in [low, high), or in [low, high] for the last bin; `systems` in their order."""

    low: float
    high: float
    n: int
    systems: tuple[Scored, ...]

    @property
    def title(self) -> str:
        return f"{100 * self.low:g} %" if self.low == self.high else f"{100 * self.low:g}-{100 * self.high:g} %"

    def of_system(self, system: int) -> dict[str, Json]:
        scored = self.systems[system]
        scores = {name: scored[name].as_json() for name in IN_BIN}
        return {"low": self.low, "high": self.high, "n": scored.n, **scores}


def agreement_of(cases: Cases) -> Numbers:
    """The share of each item's majority; nan without a vote, and outside the sample if one is known."""
    n_error, n_votes = cases.equal.n_error, cases.equal.n_votes
    shares = share_of(np.maximum(n_error, n_votes - n_error), n_votes)
    return np.where(cases.design.is_drawn, shares, nan) if cases.design else shares


def binned(
    cases: Cases, truth: Truth, *, basis: Basis, edges: Sequence[float] = EDGES, where: Truths | None = None
) -> list[Bin]:
    """Every system in every bin; items below the lowest edge come first, if there are any."""
    if len(edges) < 2 or list(edges) != sorted(set(edges)) or edges[0] < 0 or edges[-1] > 1:
        shown = ",".join(f"{edge:g}" for edge in edges)
        raise UsageError(f"expected edges from low to high within 0 to 1, as in 0.5,0.75,0.9,1, found {shown}")
    agreement = agreement_of(cases)
    if tuple(edges) == EDGES and cases.equal.n_votes.max(initial=0) <= TWO:
        edges = (1.0, 1.0)
    allowed = ~np.isnan(agreement) if where is None else where & ~np.isnan(agreement)
    bins = []
    for low, high, is_inside in _bins(agreement, edges):
        inside = is_inside & allowed
        if low < edges[0] and (not inside.any() or edges[0] == 1):
            continue
        systems = against(cases, truth, basis=basis, where=inside, is_property=False)
        if inside.any() and (truth.values[inside] == TIE).all():
            systems = [
                replace(scored, scores=dict.fromkeys(SCORES, Interval(nan, nan, nan, NO_MAJORITY)))
                for scored in systems
            ]
        bins.append(Bin(low, high, int((inside & ~np.isnan(truth.values)).sum()), tuple(systems)))
    return bins


def _bins(agreement: Numbers, edges: Sequence[float]) -> Iterator[tuple[float, float, Truths]]:
    yield 0.0, edges[0], agreement < edges[0]
    for low, high in pairwise(edges):
        is_below = agreement <= high if high == edges[-1] else agreement < high
        yield low, high, (agreement >= low) & is_below
    if edges[-1] < 1:
        yield edges[-1], 1.0, agreement > edges[-1]


def histogram(cases: Cases, *, n_bars: int = 10, where: Truths | None = None) -> list[tuple[float, float, int]]:
    """Items by agreement from one half to one (figure 1): low, high, count; full agreement has its own bar."""
    shares = agreement_of(cases)
    shares = shares[~np.isnan(shares) if where is None else ~np.isnan(shares) & where]
    # A share on an edge belongs to the bar above it, whatever its last digit.
    bar = np.floor((2 * shares - 1) * n_bars + 1e-9).astype(np.int64)
    edges = [0.5 + place / (2 * n_bars) for place in range(n_bars + 1)]
    counts = np.bincount(bar, minlength=n_bars + 1)
    return [(low, high, int(n)) for low, high, n in zip(edges, [*edges[1:], 1.0], counts, strict=True)]


def small_bins(bins: Sequence[Bin]) -> list[str]:
    return [
        f"only {counted(within.n, 'item')} with an agreement of {within.title}; below {FEW} the numbers mean little"
        for within in bins
        if 0 < within.n < FEW
    ]


def different_rates(first: Sequence[Bin], second: Sequence[Bin]) -> list[str]:
    """Warnings for bins whose error rates have disjoint intervals: compare kappa there, not precision."""
    return [
        f"error rates differ between the data sets where agreement is {one.title}: compare kappa, not precision"
        for one, other in zip(first, second, strict=False)
        if _apart(one.systems[0]["error_rate"], other.systems[0]["error_rate"])
    ]


def _apart(one: Interval, other: Interval) -> bool:
    numbers = (one.low, one.high, other.low, other.high)
    return not any(map(isnan, numbers)) and (one.high < other.low or other.high < one.low)


# Types of error


TYPES = ("choice", "extraneous", "missing")
NO_TYPE_NAMED, NOT_STATED = "not named", "not stated"
DELETE = "-NONE-"
UNTYPED = "raters did not state the types of errors"


@dataclass(frozen=True, slots=True, eq=False)
class TypeScore(Data):
    system: str
    type: str
    n_flags: float
    n_errors: float
    scores: dict[str, Interval] = field(metadata=FLAT)


def scores_by_type(cases: Cases, decisions: Table, truth: Truth) -> list[TypeScore]:
    """Every system by every type that occurs; empty if no decision has a type."""
    flagged = _types_of_flags(cases, decisions)
    if flagged is None:
        return []
    stated, known = stated_types(cases), known_items(cases, truth)
    is_gap = np.zeros(len(cases.columns), bool)
    if "kind" in cases.columns.columns:
        is_gap |= cases.columns["kind"].cast(pl.String).fill_null("").str.ends_with("missing").to_numpy()
    if {"start", "end"} <= set(cases.columns.columns):
        is_gap |= (cases.columns["start"] == cases.columns["end"]).fill_null(value=False).to_numpy()
    if "kind" in cases.columns.columns:  # of edits, systems say the type
        is_gap &= cases.columns["kind"].cast(pl.String).fill_null("").ne(EDIT).to_numpy()
    stated[is_gap] = "missing"  # gaps can only miss something
    errors = stated.astype(str)
    names = [*TYPES, *sorted((set(np.unique(flagged)) | set(np.unique(errors))) - {*TYPES, ""}), ""]
    scores = []
    for column, system in enumerate(cases.systems):
        is_flagged, is_decided = cases.flagged[:, column] == 1, (cases.flagged[:, column] >= 0) & known
        for name in names:
            own = is_flagged & known & (flagged[:, column] == name)
            real = np.where(is_decided & (errors == name), truth.values, 0.0)
            if not own.any() and not real.any():
                continue
            values = np.nan_to_num(truth.values)
            parts = np.stack([own * values, own.astype(np.float64), is_flagged * real, real], axis=1)
            weights = cases.design.weights(column, known) if cases.design else np.ones(len(cases))
            decided = parts[is_decided], weights[is_decided], cases.unit_of[is_decided]
            found = _scored(*decided, cases.essays.unit)
            if system in cases.withheld:
                none = Interval(nan, nan, nan, cases.withheld[system])
                found |= {"recall": none, "f0.5": none}
            n_flags, n_errors = float((parts[:, 1] * weights).sum()), float((parts[:, 3] * weights).sum())
            scores.append(TypeScore(system, name or NO_TYPE_NAMED, whole(n_flags), n_errors, found))
    return scores


def _types_of_flags(cases: Cases, decisions: Table) -> np.ndarray[tuple[int, int], np.dtype[np.str_]] | None:
    """Items x systems: the type of each flag, empty if it has none; None if no decision has one."""
    if "type" not in decisions.frame.columns or not decisions.frame["type"].count():
        return None
    rows = decisions.frame.select(pl.col("item", "system", "type").cast(pl.String)).filter(pl.col("type") != "")
    types = np.full((len(cases), len(cases.systems)), "", dtype=object)
    systems = pl.Series(cases.systems, dtype=pl.String)
    types[places_of(rows["item"], cases.items), places_of(rows["system"], systems)] = rows["type"].to_list()
    return types.astype(str)


def stated_types(votes: Votes) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """The type that most raters who call an item an error state; empty if they state none or there is a tie."""
    types = np.full(len(votes), "", dtype=object)
    by_judgment = _types_of_judgments(votes.judgments.frame)
    if by_judgment is not None:
        counts = by_judgment.group_by("item", "type").len().sort("item", "len", descending=[False, True])
        first = counts.group_by("item", maintain_order=True).agg(
            pl.col("type").first(), is_tie=(pl.col("len") == pl.col("len").max()).sum() > 1
        )
        place = places_of(first["item"], votes.items)
        clear = (place >= 0) & ~first["is_tie"].to_numpy()
        types[place[clear]] = first.filter(clear)["type"].to_list()
    return types


def _types_of_judgments(frame: pl.DataFrame) -> pl.DataFrame | None:
    """The type stated by each judgment of error: item, type; None if judgments state none."""
    sources = []
    if "type" in frame.columns:
        sources.append(pl.col("type").cast(pl.String))
    if "alternatives" in frame.columns:
        given = pl.col("alternatives").cast(pl.String)
        is_deleted = given.str.contains(DELETE, literal=True)
        word = pl.when(is_deleted).then(pl.lit("extraneous")).otherwise(pl.lit("choice"))
        sources.append(pl.when(given != "").then(word))
    if not sources:
        return None
    errors = frame.filter(pl.col("label").cast(pl.String).str.to_lowercase() == ERROR)
    named = errors.select(pl.col("item").cast(pl.String), type=pl.coalesce(sources))
    return named.filter(pl.col("type").is_not_null() & (pl.col("type") != ""))


def _scored(parts: Numbers, weights: Numbers, unit_of: Ints, unit: str) -> dict[str, Interval]:
    """Precision, recall and F0.5 of one type, from each item's contribution (`_values`)."""
    rows = parts * weights[:, None]
    if unit != "item":
        held, places = np.unique(unit_of, return_inverse=True)
        rows = grouped_rows(rows, places, len(held))
    cases = {"precision": (1,), "recall": (3,), "f0.5": (1, 3)}
    found = {}
    for at, (name, columns) in enumerate(cases.items()):
        own = parts[:, columns].sum(axis=1)
        score = partial(lambda at, sums: _values(sums)[..., at], at)
        it = influence(Units(rows, unit), score, rows[:, columns].sum(axis=1))
        n_design = float(weights @ own) ** 2 / float(weights**2 @ own) if own.any() else None
        undefined = REASONS["precision"] if name == "precision" else UNTYPED
        found[name] = share(it, n=float(own.sum()), n_design=n_design, undefined=undefined)
    return found


def _values(sums: Numbers) -> Numbers:
    hits, flags, caught, errors = np.moveaxis(sums, -1, 0)
    precision, recall = ratio(hits, flags), ratio(caught, errors)
    return np.stack([precision, recall, ratio(1.25 * precision * recall, 0.25 * precision + recall)], axis=-1)


def types_sheet(scores: Sequence[TypeScore], together: Sequence[Scored]) -> Sheet:
    """Every system by type, and all types combined; only precision if raters stated no types."""
    is_stated = any(each.n_errors for each in scores if each.type != NO_TYPE_NAMED)
    shown, rows = [each for each in scores if is_stated or each.type != NO_TYPE_NAMED], []
    for of in together:
        lines = [(each.type, each.n_flags, each.n_errors, each.scores) for each in shown if each.system == of.system]
        hit, false_alarm, miss, _ = of.counts.row().tolist()
        for name, n_flags, n_errors, found in (*lines, ("all types", hit + false_alarm, hit + miss, of.scores)):
            cells = (NOT_STATED if name == NO_TYPE_NAMED else name, count(n_flags), interval(found["precision"]))
            more = (count(n_errors), interval(found["recall"]), interval(found["f0.5"])) if is_stated else ()
            rows.append((of.system, *cells, *more))
    columns = ("system", "type", "flags", "precision", *(("errors", "recall", "F0.5") if is_stated else ()))
    if is_stated:
        notes = undefined_notes(score for each in shown for score in each.scores.values())
        return Sheet("By type of error", columns, tuple(rows), notes=tuple(notes), name="by-type")
    note = "Raters did not state the types of errors, so there is no recall by type."
    notes = [*undefined_notes(each.scores["precision"] for each in shown), note]
    return Sheet("By type of flag", columns, tuple(rows), notes=tuple(notes), name="by-type")
