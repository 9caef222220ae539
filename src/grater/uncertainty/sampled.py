"""Precision, recall and F from a judged sample: rule 6 of the engine.

Cell k (a stratum, or a cell of several systems) has N_k items, n_k of them judged, x_k errors among these (T&C 2008,
section 6; Cochran 1977, chapter 5), counted by essay for all essays of the corpus, judged or not.  Its total is t_k =
N_k x_k / n_k.  Each side, what a system flags and what it does not, has the rate q = sum t_k / sum N_k with V by
leaving out essays, or sum N_k² p_k (1 - p_k) / n_k / W² with items as units, and Wilson's limits for n* cases (by
item not capped at n, without which strata of a score would be worth nothing: docs/benchmarks.md, coverage).
Precision is the rate of the flagged side; recall and F are ratios of totals, with limits by MOVER (Donner & Zou 2012,
Statistical Methods in Medical Research 21, 347-359): each total brings its own limits, skewed as they may be.

A cell without a judgment borrows the rate of its side and may lie anywhere between 0 and 1.  With the population
`these` n_k counts as n_k (N_k - 1) / (N_k - n_k).  A cheap judge of every item (PPI++: Angelopoulos, Duchi & Zrnic
2023) leaves `errors` as residuals x - b g, with b times its own total in `offsets` and the share r² of variance that
it explains in `explained`: n_k counts as n_k / (1 - r² (1 - n_k / N_k)).

With items of a real corpus as units the flagged share of the population is uncertain as well; it is moved to its
Wilson limits in recall and F (rule 8), without which recall held .905 with a good judge, .935 without.

`normal_scores` has the paper's intervals: p ± 1.96 standard errors, and the delta method for R and F.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isnan, nan, sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.model import Interval
from grater.sheet import counted
from grater.uncertainty import (
    FEWEST_UNITS,
    Influence,
    Numbers,
    Population,
    Units,
    changes,
    influence,
    kish,
    ratio,
    t_value,
    wilson,
    wilson_limits,
    with_parameters,
    worth_of,
    z_value,
)

Flags: TypeAlias = npt.NDArray[np.bool_]
Correct: TypeAlias = Callable[[Numbers, Numbers], Numbers]
"""From the errors that raters see on a side, and its size, to those there are."""

BETAS = (0.5, 1.0)
ASIDE = 1e-9
"""The weight of an item without a case in a denominator: it counts only as a unit."""
ALL_FLAGGED = "everything is flagged, so recall is 1 by definition, not an estimate"
NO_PASSED = "no unflagged item was judged, so the misses are unknown; judge a random sample of them"
NO_FLAGS = "no flagged item was judged, so the hits are unknown; judge a random sample of them"


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """A judged sample by unit (a row each; one row where items are the units) and cell (a column each)."""

    sizes: Numbers
    judged: Numbers
    errors: Numbers
    unit: str = "item"
    population: Population = "wider"
    offsets: Numbers | None = None
    explained: Numbers | None = None

    @property
    def n_cells(self) -> int:
        return int(self.sizes.shape[1])

    def rows(self) -> Numbers:
        """Sizes, judged items, errors and offsets, side by side."""
        offsets = np.zeros_like(self.sizes) if self.offsets is None else self.offsets
        return np.concatenate([self.sizes, self.judged, self.errors, offsets], axis=1)

    def worths(self) -> Numbers:
        """The effective number of judged items of each cell; inf if all items were judged."""
        size, n = self.sizes.sum(axis=0), self.judged.sum(axis=0)
        r2 = np.zeros(self.n_cells) if self.explained is None else self.explained
        if self.population == "these":
            finite = np.where(n == size, inf, n * (size - 1) / np.where(n < size, size - n, 1.0))
            return np.asarray(np.where((n == 0) | (n > size), n, finite) / (1 - r2), np.float64)
        # A size below the number judged is a share of an endless corpus.
        left = np.where((n > 0) & (n <= size), 1 - n / np.where(size > 0, size, 1.0), 1.0)
        return np.asarray(n / (1 - r2 * left), np.float64)


def totals(sums: Numbers, flagged: Flags) -> tuple[Numbers, Numbers, Numbers]:
    """Hits, misses and flagged items from sums of `Strata.rows`, in the last axis; unjudged cells borrow a rate."""
    size, n, x, offset = np.split(sums, 4, axis=-1)
    is_seen = n > 0
    own = np.where(is_seen, size * x / np.where(is_seen, n, 1.0) + offset, 0.0)
    found = []
    for side in (flagged, ~flagged):
        seen = (own * side).sum(axis=-1)
        seen_size = (size * (side & is_seen)).sum(axis=-1)
        unseen = (size * (side & ~is_seen)).sum(axis=-1)
        rate = np.divide(seen, seen_size, out=np.full(np.shape(seen), np.nan), where=seen_size > 0)
        found.append(seen + np.where(unseen > 0, unseen * rate, 0.0))
    return found[0], found[1], (size * flagged).sum(axis=-1)


def score_of(name: str, flagged: Flags, correct: Correct | None = None) -> Callable[[Numbers], Numbers]:
    """precision, recall, f0.5 or f1 as a function of sums of `Strata.rows`."""

    def score(sums: Numbers) -> Numbers:
        hit, miss, n_flagged = totals(sums, flagged)
        if correct is not None:
            hit, miss = correct(hit, n_flagged), correct(miss, _sizes(sums).sum(axis=-1) - n_flagged)
        if name == "precision":
            above, below = hit, n_flagged
        elif name == "recall":
            above, below = hit, hit + miss
        else:
            square = float(name.removeprefix("f")) ** 2
            above, below = (1 + square) * hit, n_flagged + square * (hit + miss)
        return ratio(above, below)

    return score


def influence_of(strata: Strata, name: str, flagged: Flags, correct: Correct | None = None) -> Influence:
    """The influence of every unit on a score, for differences of systems on one sample.

    With items as units every item of the corpus is one: unjudged, an error, or none.
    """
    score = score_of(name, flagged, correct)
    if strata.unit != "item":
        weights = strata.sizes.sum(axis=0) / np.maximum(1.0, strata.judged.sum(axis=0))
        errors = np.clip(strata.errors, 0.0, strata.judged)
        parts = {"precision": strata.judged * flagged, "recall": errors}
        den = parts.get(name, errors + (strata.judged - errors) * flagged) @ weights
        return influence(Units(strata.rows(), strata.unit), score, den)
    size, n = strata.sizes.sum(axis=0), strata.judged.sum(axis=0)
    x = np.nan_to_num(own_rates(strata)) * n  # what the judge explains comes in below
    size = size * (1e6 if (size < n).any() else 1.0)  # shares of an endless corpus
    is_finite, k = strata.population == "these", strata.n_cells
    eye, none = np.eye(k), np.zeros((k, k))
    own = none if is_finite else eye
    kinds = [(own, eye, eye, none), (own, eye, none, none), (own, none, none, none)]
    rows = np.concatenate([np.concatenate(kind, axis=1) for kind in kinds])
    times = np.concatenate([x, n - x, np.zeros(k) if is_finite else np.maximum(0.0, size - n)])
    sums = np.concatenate([size, n, x, np.zeros(k)])
    value = float(score(sums))
    change = changes(value, score(sums - rows))
    if is_finite:
        change = change * np.tile(np.sqrt(np.maximum(0.0, size - n) / np.maximum(1.0, size - 1)), 3)
    if strata.explained is not None:
        left = np.sqrt(np.divide(n, strata.worths(), out=np.ones(k), where=n > 0))
        change[: 2 * k] = change[: 2 * k] * np.tile(left, 2)
    weights = np.divide(size, n, out=np.zeros(k), where=n > 0)
    hits, others = (weights * flagged, weights * flagged) if name == "precision" else (weights, 0 * weights)
    others = weights * flagged if name not in ("precision", "recall") else others
    # Every item moves a score, by the sizes of cells; the cases that it rests on are judged items.
    return Influence(value, change, np.concatenate([hits, others, 0 * weights]) + ASIDE, times, "item")


STEP = 1e-6


def small_cell_variance(strata: Strata, name: str, first: Flags, second: Flags) -> float:
    """The variance that a difference lacks where all judged items of a cell have the same label: ½/n_k² per rate.

    Without it, equal systems on a sample drawn for one of them differed significantly in 10 to 37 % of simulations.
    """
    size, n, x, offset = (part.sum(axis=0) for part in np.split(strata.rows(), 4, axis=1))
    k, seen = strata.n_cells, n > 0

    def score(errors: Numbers) -> Numbers:
        rows = np.concatenate([np.broadcast_to(each, errors.shape) for each in (size, n)] + [errors], axis=-1)
        rows = np.concatenate([rows, np.broadcast_to(offset, errors.shape)], axis=-1)
        return score_of(name, first)(rows) - score_of(name, second)(rows)

    slopes = (score(x + STEP * np.diag(n)) - score(np.broadcast_to(x, (k, k)))) / STEP
    return float((np.nan_to_num(slopes[seen]) ** 2 * 0.5 / n[seen] ** 2).sum())


@dataclass(frozen=True, slots=True)
class SampleScores:
    """Precision, recall and F of a system; hit, false_alarm and miss are totals over the corpus.

    `flagged_share` is given where recall and F carry its uncertainty.
    """

    precision: Interval
    recall: Interval
    f: Mapping[float, Interval]
    hit: Interval
    false_alarm: Interval
    miss: Interval
    method: str = "mover-wilson"
    flagged_share: Interval | None = None

    def named(self) -> dict[str, Interval]:
        return {"precision": self.precision, "recall": self.recall, **{f"f{b:g}": f for b, f in self.f.items()}}


def sample_scores(strata: Strata, flagged: Flags) -> SampleScores:
    """P, R and F of a system that flags these cells."""
    n_flagged, n_passed = (float(strata.sizes[:, side].sum()) for side in (flagged, ~flagged))
    found = scores_of_totals(_total(strata, flagged), _total(strata, ~flagged), n_flagged, n_passed)
    is_counted = bool((strata.sizes.sum(axis=0) >= strata.judged.sum(axis=0)).all())
    if strata.unit != "item" or strata.population == "these" or not is_counted or not n_flagged or not n_passed:
        return found
    return with_flagged_share(found, wilson(n_flagged, n_flagged + n_passed), n_passed)


def with_flagged_share(found: SampleScores, phi: Interval, n_passed: float) -> SampleScores:
    """Among other items like these the share that is flagged, phi, would be another one, too."""
    caught, missed = found.precision.value, found.miss.value / n_passed

    def recall(at: Sequence[float]) -> float:
        errors = at[0] * caught + (1 - at[0]) * missed
        return at[0] * caught / errors if errors else nan

    def f(beta: float, at: Sequence[float]) -> float:
        below = at[0] + beta**2 * (at[0] * caught + (1 - at[0]) * missed)
        return (1 + beta**2) * at[0] * caught / below if below else nan

    f_scores = {beta: with_parameters(of, partial(f, beta), [phi]) for beta, of in found.f.items()}
    recall_score = with_parameters(found.recall, recall, [phi])
    return replace(found, recall=recall_score, f=f_scores, flagged_share=phi)


def scores_of_totals(hit: Interval, miss: Interval, n_flagged: float, n_passed: float) -> SampleScores:
    """P, R and F from the errors on both sides with their limits."""
    return SampleScores(
        precision=_precision(hit, n_flagged),
        recall=_recall(hit, miss, has_rest=n_passed > 0),
        f={beta: _f(hit, miss, n_flagged, beta) for beta in BETAS},
        hit=hit,
        false_alarm=Interval(n_flagged - hit.value, n_flagged - hit.high, n_flagged - hit.low, hit.undefined_because),
        miss=miss,
    )


def _total(strata: Strata, side: Flags) -> Interval:
    """The errors of one side, with limits."""
    size, n = strata.sizes.sum(axis=0) * side, strata.judged.sum(axis=0) * side
    if not size.sum():
        return Interval(0.0, 0.0, 0.0)
    seen = side & (n > 0)
    if not seen.any():
        return Interval(nan, nan, nan, "")
    worths, weight = strata.worths(), float(size[seen].sum())
    value = float(totals(strata.rows().sum(axis=0), side)[0])
    own = value * weight / float(size.sum())
    share, unseen = own / weight, float(size[side & ~seen].sum())
    squares = float((size[seen] ** 2 / worths[seen]).sum())
    n_design = weight**2 / squares if squares else inf
    n_counted = float(worths[seen].sum())
    if strata.unit == "item":
        rates = own_rates(strata)[seen]
        variance = float((size[seen] ** 2 * rates * (1 - rates) / worths[seen]).sum()) / weight**2
        quantile = z_value()
    else:
        rows = strata.rows()
        it = influence(Units(rows, strata.unit), lambda sums: totals(sums, seen)[0] / (_sizes(sums) @ seen))
        variance = it.variance
        weights = np.divide(size, n, out=np.zeros(len(size)), where=n > 0)
        by_unit = strata.judged @ weights
        n_units = int((by_unit > 0).sum())
        if n_units < FEWEST_UNITS:
            few = f"its cases come from {counted(n_units, strata.unit)}; an interval needs {FEWEST_UNITS}"
            return Interval(value, nan, nan, few)
        quantile = t_value(max(1.0, kish(by_unit) - 1))
    # By item the variance is that of the design, so strata may be worth more than as many items drawn alike.
    most = inf if strata.unit == "item" else n_counted
    low, high = wilson_limits(min(1.0, max(0.0, share)), worth_of(share, variance, most, n_design), quantile)
    low, high = weight * min(low, share), weight * max(high, share)
    if unseen:
        borrowed = unseen * share
        low, high = (
            value - sqrt((own - low) ** 2 + borrowed**2),
            value + sqrt((high - own) ** 2 + (unseen - borrowed) ** 2),
        )
    return Interval(value, max(0.0, low), min(float(size.sum()), high))


def own_rates(strata: Strata) -> Numbers:
    """The rate of errors in each cell; nan where nothing was judged."""
    size, n, x, offset = (part.sum(axis=0) for part in np.split(strata.rows(), 4, axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        rates: Numbers = np.where(n > 0, x / n + np.where(size > 0, offset / size, 0.0), np.nan)
    return np.clip(rates, 0.0, 1.0)


def _sizes(sums: Numbers) -> Numbers:
    return np.split(sums, 4, axis=-1)[0]


def _precision(hit: Interval, n_flagged: float) -> Interval:
    if n_flagged == 0:
        return Interval(nan, nan, nan, "the system flags nothing")
    if isnan(hit.value):
        return Interval(nan, nan, nan, NO_FLAGS)
    return Interval(hit.value / n_flagged, hit.low / n_flagged, hit.high / n_flagged, hit.undefined_because)


def _unknown(hit: Interval, miss: Interval) -> Interval | None:
    if isnan(hit.value):
        return Interval(nan, nan, nan, NO_FLAGS)
    return Interval(nan, nan, nan, NO_PASSED) if isnan(miss.value) else None


def _recall(hit: Interval, miss: Interval, *, has_rest: bool) -> Interval:
    if unknown := _unknown(hit, miss):
        return unknown
    if hit.value == 0 and miss.value == 0:
        return Interval(nan, nan, nan, "no judged item is an error")
    if not has_rest:
        return Interval(1.0, nan, nan, ALL_FLAGGED)
    reason = hit.undefined_because or miss.undefined_because
    return _inverse(1.0, mover_ratio(miss, hit), reason)


def _f(hit: Interval, miss: Interval, n_flagged: float, beta: float) -> Interval:
    if unknown := _unknown(hit, miss):
        return unknown
    fixed = n_flagged / beta**2
    over = Interval(fixed + miss.value, fixed + miss.low, fixed + miss.high)
    if hit.value == 0 and over.value == 0:
        return Interval(nan, nan, nan, "nothing is flagged and no judged item is an error")
    reason = hit.undefined_because or miss.undefined_because
    return _inverse((1 + beta**2) / beta**2, mover_ratio(over, hit), reason)


def _inverse(top: float, over: Interval, reason: str) -> Interval:
    """top / (1 + over), whose limits change places."""
    if isnan(over.low):
        return Interval(top / (1 + over.value), nan, nan, reason)
    return Interval(top / (1 + over.value), top / (1 + over.high), top / (1 + over.low))


def mover_ratio(over: Interval, under: Interval) -> Interval:
    """over / under for two independent numbers that cannot be negative."""
    if over.value == 0 and under.value == 0:
        return Interval(nan, nan, nan, "both totals are 0")
    value = over.value / under.value if under.value else inf
    if isnan(over.low) or isnan(under.low):
        return Interval(value, nan, nan, over.undefined_because or under.undefined_because)
    product = over.value * under.value
    rest = over.low * (2 * over.value - over.low)
    bottom = under.low * (2 * under.value - under.low)
    below = sqrt(max(0.0, product**2 - rest * under.high * (2 * under.value - under.high)))
    above = sqrt(max(0.0, product**2 - bottom * over.high * (2 * over.value - over.high)))
    # The root stands in the denominator, which stays finite where the upper limit is twice the total.
    low = 0.0 if rest <= 0 else rest / (product + below) if product + below else inf
    return Interval(value, low, inf if bottom <= 0 else (product + above) / bottom)


# The paper's intervals


def normal_scores(strata: Strata, flagged: Flags) -> SampleScores:
    """P, R and F with the paper's normal intervals (T&C 2008, 6.3), items taken as independent."""
    z, size, n = z_value(), strata.sizes.sum(axis=0), strata.judged.sum(axis=0)
    hits, misses, n_flagged = (float(each) for each in totals(strata.rows().sum(axis=0), flagged))
    rates = own_rates(strata)
    spread = np.where(n > 0, size**2 * rates * (1 - rates) / np.where(n > 0, n, 1.0), 0.0)
    var_hits, var_misses = float(spread[flagged].sum()), float(spread[~flagged].sum())

    def around(value: float, by_hit: float, by_miss: float) -> Interval:
        half = z * sqrt(by_hit**2 * var_hits + by_miss**2 * var_misses) if not isnan(value) else nan
        return Interval(value, value - half, value + half, "" if not isnan(value) else "nothing to divide by")

    total = hits + misses
    f = {}
    for beta in BETAS:
        square = beta**2
        bottom = n_flagged + square * total
        by_hits = (1 + square) * (n_flagged + square * misses) / bottom**2 if bottom else nan
        by_misses = (1 + square) * hits * square / bottom**2 if bottom else nan
        f[beta] = around((1 + square) * hits / bottom if bottom else nan, by_hits, by_misses)
    hit = around(hits, 1.0, 0.0)
    return SampleScores(
        precision=around(hits / n_flagged if n_flagged else nan, 1 / n_flagged if n_flagged else nan, 0.0),
        recall=around(
            hits / total if total else nan, *((misses / total**2, hits / total**2) if total else (nan, nan))
        ),
        f=f,
        hit=hit,
        false_alarm=Interval(n_flagged - hits, n_flagged - hit.high, n_flagged - hit.low),
        miss=around(misses, 0.0, 1.0),
        method="normal",
    )
