"""What an estimate from a sample comes to: systems, their differences, parts of the corpus, and the correction.

Totals are of the whole corpus.  A system's table has our intervals and, beside them, the normal ones of the paper.

Estimates from a sample, corrected for what raters get wrong (`evaluate.rater_error`).

Hits and misses are corrected apart; P, R and F follow.  A corrected rate outside [0, 1] is set to the nearer end, and
a warning says so.  Intervals carry the uncertainty of se, sp and every stratum through by a Bayesian bootstrap.  A
finite corpus removes only the uncertainty about which items were drawn, not that about verdicts.  A resample with
se + sp <= 1 counts as 0 for the low bound and as 1 for the high one.  Gold items in the sample are treated like any
others.

Where the estimates drew essays (`resampled.py`), so does the correction: every resample of essays gets a sensitivity
and a specificity of its own, percentiles are expanded for as many essays as a score rests on, and the interval never
lies inside that by item.  As if items were independent, 95 % intervals held in .80 of worlds.

By stratum: raters who see what a system flags err differently there.  `by_flag` takes sensitivity and specificity of
each side from the gold items of that side.

Differences of two systems are those of their corrected scores.  All systems share the raters and the cells: a
resample has one se, one sp and one rate for each cell, so that what is common to two systems cancels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from math import inf, isnan, nan
from typing import TypeAlias

import numpy as np

from grater.measure.agreement.coded import Unknown
from grater.measure.evaluation.cases import each_score
from grater.measure.evaluation.rater_error import (
    HELD,
    RaterError,
    Rates,
    Sides,
    corrected_interval,
    corrected_sums,
    is_by_side,
    left_out_words,
    rater_error,
    side_lines,
    sides_of,
    true_rate,
    usable,
)
from grater.measure.evaluation.sampled.estimates import Assisted, Difference, SystemEstimate
from grater.measure.evaluation.sampled.resampled import Resampled, Totals
from grater.measure.sampling.plan import more_needed, recall_width
from grater.model import Interval, Json
from grater.result import HIDDEN, OPTIONAL, Data, Estimate, Result, encode, in_json, key
from grater.sheet import Sheet, amount, interval, number
from grater.signature import Signature, digest
from grater.tables import Judgments, Table
from grater.uncertainty.intervals import Numbers, Scope, generator, holding
from grater.uncertainty.stratified import BETAS, Scores, Stratum, pooled_rate

TOTALS = ("hit", "false_alarm", "miss")
NOT_ADDED_UP = "Each part is estimated from its own items, so totals of parts need not add up to those of all."


def _by_beta(scores: Mapping[float, Interval]) -> dict[str, Json]:
    return {f"f{beta:g}": score.as_json() for beta, score in scores.items()}


@dataclass(frozen=True, slots=True)
class CorrectedEstimate(Data):
    """One system after the correction; hit and miss are totals over the corpus."""

    system: str = field(metadata=HIDDEN)
    precision: Interval
    recall: Interval
    f: Mapping[float, Interval] = field(metadata=key(flat=True, write=_by_beta))
    hit: Interval = field(metadata=HIDDEN)
    miss: Interval = field(metadata=HIDDEN)

    @property
    @in_json()
    def totals(self) -> dict[str, Interval]:
        return {"hit": self.hit, "miss": self.miss}


@dataclass(frozen=True, slots=True)
class CorrectedSample:
    """Every system corrected, with what it was corrected by; the differences of every two."""

    raters: RaterError
    systems: tuple[CorrectedEstimate, ...]
    differences: tuple[Difference, ...]
    warnings: tuple[str, ...]
    signature: Signature


@dataclass(frozen=True, slots=True, repr=False)
class Sampled(Result):
    """Every system asked for, their differences, and what a reader must know of the sample; the same for parts.

    `again` are the resamples of essays or raters that its intervals come from, None where they come from items.
    """

    systems: tuple[SystemEstimate, ...] = field(metadata=HIDDEN)
    differences: tuple[Difference, ...] = field(metadata=HIDDEN)
    n_items: float
    n_drawn: int
    n_judged: int
    warnings: tuple[str, ...] = field(metadata=HIDDEN)
    signature: Signature
    parts: Mapping[str, Sampled] = field(default_factory=dict, metadata=OPTIONAL)
    correction: CorrectedSample | None = field(default=None, metadata=HIDDEN)
    scope: Scope = field(default_factory=Scope)
    assist: Assisted | None = field(default=None, metadata=OPTIONAL)
    again: Resampled | None = field(default=None, metadata=HIDDEN)

    @property
    @in_json()
    def n_unjudged(self) -> int:
        return self.n_drawn - self.n_judged

    @property
    def all_warnings(self) -> tuple[str, ...]:
        """Those of the whole, of its parts by name, and of the correction."""
        of_parts = [f"{name}: {warning}" for name, part in self.parts.items() for warning in part.warnings]
        return (*self.warnings, *of_parts, *(self.correction.warnings if self.correction else ()))

    @property
    @in_json("systems")
    def _systems(self) -> list[dict[str, Json]]:
        correction = self.correction
        corrected = {of.system: {"corrected": of.to_dict()} for of in correction.systems} if correction else {}
        return [{**_system_json(estimate), **corrected.get(estimate.system, {})} for estimate in self.systems]

    @property
    @in_json("differences")
    def _differences(self) -> list[dict[str, Json]]:
        pairs = self.correction.differences if self.correction else ()
        corrected = {pair.systems: {"corrected": encode(_headline(pair))} for pair in pairs}
        return [
            {"systems": list(pair.systems), **encode(_headline(pair)), **corrected.get(pair.systems, {})}
            for pair in self.differences
        ]

    @property
    @in_json("warnings")
    def _warnings(self) -> tuple[str, ...]:
        return (*self.warnings, *(self.correction.warnings if self.correction else ()))

    @property
    @in_json(optional=True)
    def rater_error(self) -> dict[str, Json]:
        correction = self.correction
        return {**correction.raters.to_dict(), "signature": str(correction.signature)} if correction else {}

    def estimates(self) -> Iterator[Estimate]:
        """Numbers by part, kind (estimate, paper, corrected), system, and the other system of a difference."""
        for name, part in {"": self, **self.parts}.items():
            yield from part._of_part(name)

    def _of_part(self, part: str) -> Iterator[Estimate]:
        for estimate in self.systems:
            for kind, scores in (("estimate", estimate.scores), ("paper", estimate.paper)):
                numbers = {**_headline(scores), **{name: getattr(scores, name) for name in TOTALS}}
                yield from each_score(numbers, part=part, kind=kind, system=estimate.system, other="")
        for corrected in self.correction.systems if self.correction else ():
            yield from each_score(
                _headline(corrected), part=part, kind="corrected", system=corrected.system, other=""
            )
        for pair in self.differences:
            first, second = pair.systems
            yield from each_score(_headline(pair), part=part, kind="difference", system=first, other=second)

    def sheets(self) -> list[Sheet]:
        """Each system as judged and corrected, the differences between systems, and the parts of the corpus."""
        *sheets, last = _sheets(self)
        correction = self.correction
        judged = f"{self.n_judged:,} of {self.n_drawn:,} drawn items judged, {self.n_items:,.0f} in the corpus"
        apart = [NOT_ADDED_UP] if self.parts else []
        units = self.scope.sentence
        held = [HELD] if correction and correction.systems else []
        raters = [correction.raters.sentence, *held, str(correction.signature)] if correction else []
        helped = [self.assist.sentence] if self.assist else []
        notes = (*last.notes, *apart, judged, units, *helped, *raters)
        return [*sheets, replace(last, notes=notes, signature=str(self.signature))]

    def progress(self, width: float) -> Iterator[str]:
        """How many judgments are missing: `after 180 judgments recall is .340 [.270, .420]; 120 more bring ...`."""
        for estimate in self.systems:
            recall = estimate.scores.recall
            so_far = f"{estimate.system}: after {self.n_judged:,} judgments recall is {interval(recall)}"
            n_more = self._more_needed(estimate, width)
            if isnan(recall.value) or n_more is None:
                yield f"{so_far}; no known number of judgments of this corpus brings the width to {width:.2f}"
            elif n_more == 0:
                yield f"{so_far}; it is within a width of {width:.2f}"
            else:
                yield f"{so_far}; {n_more:,} more bring the width to {width:.2f}"

    def _more_needed(self, estimate: SystemEstimate, width: float) -> int | None:
        """As if items were independent, for a width that much smaller as essays make the interval wider."""
        fpc, recall = self.scope.population == "these", estimate.scores.recall
        n_items = inf if fpc else self.n_items
        by_item, shown = recall_width(estimate.strata, fpc=fpc, n_items=n_items), recall.high - recall.low
        if shown <= width:
            return 0
        return more_needed(estimate.strata, width * min(1.0, by_item / shown), fpc=fpc, n_items=n_items)


# JSON


def _headline(scores: Scores | Difference | CorrectedEstimate) -> dict[str, Interval]:
    by_beta = {f"f{beta:g}": score for beta, score in scores.f.items()}
    return {"precision": scores.precision, "recall": scores.recall, **by_beta}


def _system_json(estimate: SystemEstimate) -> dict[str, Json]:
    return {
        "system": estimate.system,
        **_scores_json(estimate.scores),
        "paper": _scores_json(estimate.paper),
        "horvitz_thompson": {
            "precision": estimate.weighted.precision.as_json(),
            "recall": estimate.weighted.recall.as_json(),
        },
        "strata": [_stratum_json(stratum) for stratum in estimate.strata],
        **({"design_effect": encode(estimate.design_effects)} if estimate.design_effects else {}),
    }


def _scores_json(scores: Scores) -> dict[str, Json]:
    totals = {name: getattr(scores, name) for name in TOTALS}
    counts = {name: total.value for name, total in totals.items()}
    return {**encode({**_headline(scores), "counts": counts, "totals": totals}), "intervals": scores.method}


def _stratum_json(stratum: Stratum) -> dict[str, Json]:
    return {
        "stratum": stratum.name,
        "flagged": stratum.is_flagged,
        "items": stratum.size,
        "drawn": stratum.n_drawn,
        "judged": stratum.n_judged,
        "errors": stratum.errors,
    }


# What a person reads


def _sheets(sampled: Sampled) -> Iterator[Sheet]:
    correction = sampled.correction
    corrected = {estimate.system: estimate for estimate in correction.systems} if correction else {}
    for estimate in sampled.systems:
        yield _system_sheet(estimate, scope=sampled.scope)
        if estimate.system in corrected:
            yield _corrected_sheet(estimate, corrected[estimate.system])
    if sampled.differences:
        yield _difference_sheet("Differences, on the same items", sampled.differences)
        if correction and correction.differences and not correction.raters.undefined_because:
            yield _difference_sheet("Differences, corrected for rater error", correction.differences)
    for name, part in sampled.parts.items():
        yield from (_system_sheet(estimate, f"{name}: ", scope=part.scope) for estimate in part.systems)


def _system_sheet(estimate: SystemEstimate, part: str = "", *, scope: Scope) -> Sheet:
    ours, paper = _headline(estimate.scores), _headline(estimate.paper)
    rows = [(_title(name), interval(ours[name]), interval(paper[name])) for name in ours]
    rows += [
        (name.replace("_", " "), amount(getattr(estimate.scores, name)), amount(getattr(estimate.paper, name)))
        for name in TOTALS
    ]
    undefined = {score.undefined_because for score in ours.values() if isnan(score.low)} - {""}
    notes = tuple(f"{reason}." for reason in sorted(undefined))
    title = f"{part}{estimate.system}, from a sample"
    ours_is = "estimate" if scope.population == "wider" else "estimate, for exactly these items"
    return Sheet(title, ("", ours_is, "the paper's"), tuple(rows), notes=notes, name="estimate")


def _corrected_sheet(estimate: SystemEstimate, corrected: CorrectedEstimate) -> Sheet:
    judged, after = _headline(estimate.scores), _headline(corrected)
    rows = [(_title(name), number(judged[name].value), interval(after[name])) for name in after]
    rows += [
        (name, amount(Interval(getattr(estimate.scores, name).value, nan, nan)), amount(getattr(corrected, name)))
        for name in ("hit", "miss")
    ]
    title = f"{estimate.system}, corrected for rater error"
    return Sheet(title, ("", "as judged", "corrected"), tuple(rows), name="corrected")


def _difference_sheet(title: str, pairs: Sequence[Difference]) -> Sheet:
    rows = [
        (*pair.systems, _title(name), interval(difference))
        for pair in pairs
        for name, difference in _headline(pair).items()
    ]
    return Sheet(title, ("first", "second", "", "difference"), tuple(rows), name="differences")


def _title(name: str) -> str:
    """`F0.5` for `f0.5`; precision and recall as they are."""
    return name.upper() if name[1:2].isdigit() else name


# Correction for rater error


RESAMPLES = 4000
UNDEFINED = "nothing to divide by after the correction, or nothing judged"


def correct(
    estimates: Sampled,
    judgments: Judgments,
    gold: Table,
    *,
    truth: str = "majority",
    merge: Mapping[str, str] | None = None,
    unknown: Unknown = "drop",
    fpc: bool = True,
    level: float = 0.95,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
    decisions: Table | None = None,
    by_flag: bool | None = False,
) -> CorrectedSample:
    """The estimates of a sample, corrected by gold items; judgments and truth are those of the estimates.

    With `by_flag` each side of a system's decision is corrected by itself; with None, only where the sides differ.
    """
    read = partial(rater_error, judgments, gold, truth=truth, merge=merge, unknown=unknown, seed=seed, level=level)
    raters = read()
    sides = {
        system.system: sides_of(read, decisions, system.system) if decisions is not None else None
        for system in estimates.systems
    }
    chosen = {name: usable(pair) if is_by_side(pair, by_flag) else None for name, pair in sides.items()}
    systems = tuple(
        corrected(
            system,
            raters,
            fpc=fpc,
            n_resamples=n_resamples,
            rng=generator(seed, "rater-error", system.system),
            by_side=chosen[system.system],
            again=estimates.again,
        )
        for system in estimates.systems
    )
    rng = generator(seed, "rater-error", "differences")
    pairs = (
        ()
        if by_flag or any(chosen.values())
        else corrected_differences(
            estimates.systems, raters, fpc=fpc, n_resamples=n_resamples, rng=rng, again=estimates.again
        )
    )
    told = [line for name, pair in sides.items() for line in side_lines(name, pair, by_flag=by_flag)]
    return CorrectedSample(
        raters=raters,
        systems=systems,
        differences=pairs,
        warnings=(*_warnings(estimates.systems, raters), *told),
        signature=_signature(estimates, gold, n_resamples=n_resamples, seed=seed),
    )


def corrected(
    estimate: SystemEstimate,
    raters: RaterError,
    *,
    fpc: bool = True,
    n_resamples: int = RESAMPLES,
    rng: np.random.Generator,
    by_side: Sides | None = None,
    again: Resampled | None = None,
) -> CorrectedEstimate:
    """One system, with intervals from resampled gold items and judged items, or essays where `again` has them."""
    if raters.undefined_because:
        none = Interval(nan, nan, nan, raters.undefined_because)
        return CorrectedEstimate(
            system=estimate.system, precision=none, recall=none, f=dict.fromkeys(BETAS, none), hit=none, miss=none
        )
    sides = [_side(estimate.strata, is_flagged=is_flagged) for is_flagged in (True, False)]
    sizes = [sum(stratum.size for stratum in side) for side in sides]
    both = by_side or (raters, raters)
    drawn = [side.drawn(n_resamples, rng) for side in by_side] if by_side else [raters.drawn(n_resamples, rng)] * 2
    value = _totals(sides, [np.array([pooled_rate(side)]) for side in sides], *(each.point for each in both))
    rates = [_rates(side, each, n_resamples, rng, fpc=fpc) for side, each in zip(sides, both, strict=True)]
    spread = _totals(sides, rates, *drawn)
    by_unit = _of_units(again, estimate.system, _drawn_sides(both, again, rng)) if again else None

    def interval(name: str, beta: float = 1.0, most: float = 1.0) -> Interval:
        (middle,), draws = (_score(name, *totals, sizes[0], beta) for totals in (value, spread))
        around = partial(corrected_interval, float(middle), level=raters.level, most=most)
        by_item = around(draws, UNDEFINED)
        if again is None or by_unit is None or by_item.undefined_because:
            return by_item
        wide = around(by_unit.score(name, beta), UNDEFINED, n_units=again.n_units_of(estimate.system, name))
        return holding(wide, by_item) if again.chance.unit and not wide.undefined_because else wide

    f = {beta: interval("f", beta) for beta in BETAS}
    hit, miss = (interval(name, most=size) for name, size in zip(("hit", "miss"), sizes, strict=True))
    return CorrectedEstimate(
        system=estimate.system, precision=interval("precision"), recall=interval("recall"), f=f, hit=hit, miss=miss
    )


def _drawn_sides(sides: Sides, again: Resampled, rng: np.random.Generator) -> tuple[Rates, Rates]:
    """Sensitivity and specificity for every resample of essays; the same on both sides where raters err alike."""
    on_flagged, on_rest = sides
    first = on_flagged.drawn(again.n_resamples, rng)
    return first, first if on_flagged is on_rest else on_rest.drawn(again.n_resamples, rng)


def _of_units(again: Resampled, system: str, rates: tuple[Rates, Rates]) -> Totals:
    """One system in every resample of essays, after the correction."""
    totals = again.by_system[system]
    hit, _, miss, _ = np.moveaxis(corrected_sums(totals.sums, *rates), -1, 0)
    return Totals(hit=hit, miss=miss, flagged=totals.flagged, passed=totals.passed)


def _side(strata: Sequence[Stratum], *, is_flagged: bool) -> list[Stratum]:
    return [stratum for stratum in strata if stratum.is_flagged == is_flagged and stratum.size > 0]


def corrected_differences(
    estimates: Sequence[SystemEstimate],
    raters: RaterError,
    *,
    fpc: bool = True,
    n_resamples: int = RESAMPLES,
    rng: np.random.Generator,
    again: Resampled | None = None,
) -> tuple[Difference, ...]:
    """The first system less the second, of every two; the strata of all are the same cells in the same order."""
    if raters.undefined_because or len(estimates) < 2:
        none = Interval(nan, nan, nan, raters.undefined_because)
        pairs = combinations([estimate.system for estimate in estimates], 2)
        return tuple(Difference(pair, none, none, dict.fromkeys(BETAS, none)) for pair in pairs)
    drawn = raters.drawn(n_resamples, rng)
    rates = [_rate(cell, raters, n_resamples, rng, fpc=fpc) for cell in estimates[0].strata]
    both = {
        estimate.system: (_seen(estimate.strata, raters), _drawn(estimate.strata, rates, drawn))
        for estimate in estimates
    }
    between = tuple(_difference(first, second, both, raters.level) for first, second in combinations(both, 2))
    if again is None:
        return between
    alike = _drawn_sides((raters, raters), again, rng)
    by_unit = {estimate.system: _of_units(again, estimate.system, alike) for estimate in estimates}
    return tuple(_redrawn(pair, by_unit, again, raters.level) for pair in between)


def _redrawn(pair: Difference, by_unit: Mapping[str, Totals], again: Resampled, level: float) -> Difference:
    """The difference with intervals from the resamples of essays."""
    first, second = (by_unit[system] for system in pair.systems)

    def around(name: str, own: Interval, beta: float = 1.0) -> Interval:
        drawn = first.score(name, beta) - second.score(name, beta)
        return corrected_interval(own.value, drawn, UNDEFINED, least=-1.0, level=level, n_units=again.n_units)

    f = {beta: around("f", value, beta) for beta, value in pair.f.items()}
    return Difference(pair.systems, around("precision", pair.precision), around("recall", pair.recall), f)


FlaggedTotals: TypeAlias = tuple[tuple[Numbers, Numbers], float]
"""Hits and misses over the corpus, and the number of flagged items."""


def _seen(strata: Sequence[Stratum], raters: RaterError) -> FlaggedTotals:
    sides = [_side(strata, is_flagged=is_flagged) for is_flagged in (True, False)]
    totals = _totals(sides, [np.array([pooled_rate(side)]) for side in sides], raters.point)
    return totals, sum(stratum.size for stratum in sides[0])


def _drawn(strata: Sequence[Stratum], rates: Sequence[Numbers], raters: tuple[Numbers, Numbers]) -> FlaggedTotals:
    """One system in every resample, from rates that belong to the cells and not to the system."""
    sides, of_sides = [], []
    for is_flagged in (True, False):
        side = [
            (stratum, rate)
            for stratum, rate in zip(strata, rates, strict=True)
            if stratum.is_flagged == is_flagged and stratum.size > 0
        ]
        sides.append([stratum for stratum, _ in side])
        of_sides.append(_mean_rate(side, len(raters[0])))
    return _totals(sides, of_sides, raters), sum(stratum.size for stratum in sides[0])


def _difference(
    first: str, second: str, both: Mapping[str, tuple[FlaggedTotals, FlaggedTotals]], level: float
) -> Difference:
    def between(name: str, beta: float = 1.0) -> Interval:
        seen, drawn = (
            np.subtract(*(_score(name, *totals, n_flagged, beta) for totals, n_flagged in pair))
            for pair in zip(both[first], both[second], strict=True)
        )
        return corrected_interval(float(seen[0]), drawn, UNDEFINED, least=-1.0, level=level)

    f = {beta: between("f", beta) for beta in BETAS}
    return Difference((first, second), between("precision"), between("recall"), f)


def _rates(side: Sequence[Stratum], raters: RaterError, n: int, rng: np.random.Generator, *, fpc: bool) -> Numbers:
    """The judged rate of errors of one side, resampled within its strata."""
    return _mean_rate([(stratum, _rate(stratum, raters, n, rng, fpc=fpc)) for stratum in side], n)


def _mean_rate(side: Sequence[tuple[Stratum, Numbers]], n: int) -> Numbers:
    total = sum((stratum.size * rate for stratum, rate in side), np.zeros(n))
    return total / (sum(stratum.size for stratum, _ in side) or nan)


def _rate(stratum: Stratum, raters: RaterError, n: int, rng: np.random.Generator, *, fpc: bool) -> Numbers:
    """The judged rate of errors of a stratum, n times."""
    worth = _worth(stratum, raters) if fpc else stratum.n_judged
    rate = stratum.rate if stratum.n_judged else 0.0
    if worth == inf:
        return np.full(n, rate)
    return rng.beta(worth * rate + 0.5, worth * (1 - rate) + 0.5, n)


def _worth(stratum: Stratum, raters: RaterError) -> float:
    """What the judged items of a finite stratum are worth: the variance of their verdicts without what is not chance.

    Verdicts have variance p (1 - p); d² q (1 - q) of it, d = se + sp - 1, is that of the truth, which is fixed.
    """
    if stratum.size <= 1 or not stratum.n_judged:
        return stratum.n_judged
    sensitivity, specificity = raters.sensitivity.value, raters.specificity.value
    rate = (stratum.errors + 0.5) / (stratum.n_judged + 1)
    truth = min(1.0, max(0.0, true_rate(rate, sensitivity, specificity)))
    fixed = (sensitivity + specificity - 1) ** 2 * truth * (1 - truth) / (rate * (1 - rate))
    left = 1 - min(1.0, fixed) * (stratum.n_judged - 1) / (stratum.size - 1)
    return stratum.n_judged / left if left > 0 else inf


def _totals(
    sides: Sequence[Sequence[Stratum]],
    rates: Sequence[Numbers],
    raters: tuple[Numbers, Numbers],
    on_rest: tuple[Numbers, Numbers] | None = None,
) -> tuple[Numbers, Numbers]:
    """Hits and misses over the corpus after the correction, clipped to the size of their side.

    `on_rest` are the raters of what is not flagged, where they differ.
    """
    hits, misses = (
        _corrected_total(side, rate, *known)
        for side, rate, known in zip(sides, rates, (raters, on_rest or raters), strict=True)
    )
    return hits, misses


def _corrected_total(side: Sequence[Stratum], rate: Numbers, sensitivity: Numbers, specificity: Numbers) -> Numbers:
    informed = np.where(sensitivity + specificity > 1, sensitivity + specificity - 1, nan)
    if not side:
        return 0 * informed * np.ones_like(rate)
    total: Numbers = sum(stratum.size for stratum in side) * np.clip((rate + specificity - 1) / informed, 0, 1)
    return total


def _score(name: str, hits: Numbers, misses: Numbers, n_flagged: float, beta: float) -> Numbers:
    match name:
        case "hit":
            return hits
        case "miss":
            return misses
        case "precision":
            top, bottom = hits, np.full_like(hits, n_flagged)
        case "recall":
            top, bottom = hits, hits + misses
        case _:
            top, bottom = (1 + beta**2) * hits, n_flagged + beta**2 * (hits + misses)
    return np.divide(top, bottom, out=np.full_like(hits, nan), where=bottom > 0)


def _warnings(estimates: Sequence[SystemEstimate], raters: RaterError) -> Iterator[str]:
    """What cannot be corrected, what was clipped, and where specificity limits recall."""
    if raters.undefined_because:
        yield f"nothing is corrected: {raters.undefined_because}"
    for estimate in estimates if not raters.undefined_because else ():
        yield from _clipped(estimate, raters)
        yield from _limited_by_specificity(estimate, raters)
    if raters.n_left_out:
        yield left_out_words(raters)


def _rates_of_side(estimate: SystemEstimate, raters: RaterError, *, is_flagged: bool) -> tuple[float, float]:
    """The rate of errors of one side, as judged and corrected."""
    judged = pooled_rate(_side(estimate.strata, is_flagged=is_flagged))
    return judged, true_rate(judged, raters.sensitivity.value, raters.specificity.value)


def _clipped(estimate: SystemEstimate, raters: RaterError) -> Iterator[str]:
    for is_flagged, word in ((True, "flagged"), (False, "unflagged")):
        _, rate = _rates_of_side(estimate, raters, is_flagged=is_flagged)
        if not 0 <= rate <= 1 and rate == rate:
            end = "0" if rate < 0 else "1"
            yield f"{estimate.system}: the corrected rate of errors in {word} items is {rate:.4f}; set to {end}"


def _limited_by_specificity(estimate: SystemEstimate, raters: RaterError) -> Iterator[str]:
    judged, rate = _rates_of_side(estimate, raters, is_flagged=False)
    # As often as the low bound of specificity allows, not as its value says: gold without a mistake proves nothing.
    false_calls = (1 - raters.specificity.low) * (1 - min(1.0, max(0.0, rate)))
    if judged > 0 and 2 * false_calls >= judged:
        yield (
            f"{estimate.system}: {judged:.1%} of unflagged items are called errors, and raters may do so with "
            f"{1 - raters.specificity.low:.1%} of good ones: specificity limits what can be known of recall; "
            "judge more gold items without errors"
        )


def _signature(estimates: Sampled, gold: Table, *, n_resamples: int, seed: int) -> Signature:
    rows = gold.frame.select("item", "label").sort("item").iter_rows()
    options = {
        **estimates.signature.options,
        "correction": "rogan-gladen",
        "gold": digest(f"{item}|{label}" for item, label in rows),
        "resamples": str(n_resamples),
        "resampling-seed": str(seed),
    }
    return Signature("sampled-corrected", options)
