"""Estimates from a stratified sample: totals over strata, and precision, recall and F as ratios of totals.

**Totals.**  T = sum N_k p_k, with x_k hits in n_k cases of stratum k, each stratum sampled by itself.  The interval
holds the totals that a score test does not reject (Rao 1948; Miettinen & Nurminen 1985, Statistics in Medicine 4,
213-226, for two strata): Wilson's interval for more than one proportion.  Under T = t the likeliest rates solve x_k
- n_k p_k + l N_k p_k (1 - p_k) = 0 for one number l, and then t - T^ = l V with V = sum N_k² p_k (1 - p_k) / n_k,
the variance at those rates.  So the bounds lie where l² V = z², one unknown however many strata there are.  Adding
up the intervals of the strata (`mover_sum`) would not do: the interval of a stratum with one hit is lopsided, and a
sum of many such strata is less so; adding squares keeps the skew of the parts, and the lower bound comes out too
high.

**Sums and ratios** of independent numbers with intervals of their own: MOVER, the "method of variance estimates
recovery" (Zou & Donner 2008, Statistics in Medicine 27, 1693-1702, for sums; Donner & Zou 2012, Statistical Methods
in Medical Research 21, 347-359, for ratios).  Each number brings its own interval, skewed as it may be; nothing is
taken to be normal.  The ratio is over / under, t2 / t1 in the papers.  Its lower bound is written with the root in
the denominator, which is the same number and stays finite where u1 = 2 t1.  A lower bound of 0 in the denominator
leaves the ratio without an upper bound (inf); 0 / 0 is undefined (nan).

**Scores** (T&C 2008, section 6, in the notation of Cochran 1977, chapter 5): stratum k has N_k items, n_k of them
judged, x_k errors among these; f_k says whether the system flags it.  H = sum f_k N_k p_k are the hits, M the same
over strata that are not flagged, P = H / sum f_k N_k, R = H / (H + M), F_b = (1 + b²) H / (sum f_k N_k + b² (H +
M)).  `scores` takes score intervals of H and of M (Wilson's where a side is one stratum) through MOVER to the
ratios; finite populations unless `fpc` is off.

**A wider population.**  Where the corpus stands for a wider one, its strata were drawn too: N_k is a count among
`n_items` (two-phase sampling, Cochran 1977, section 12.2).  A score theta(N, p) then has the variance of drawn items,
sum (dtheta/dp_k)² p_k (1 - p_k) / n_k, and that of sizes, sum N_k (dtheta/dN_k)²; a corpus judged whole has the
binomial variance of its counts, as it must.  Each score counts every n_k as n_k divided by the ratio of the sum to
the first term, with rates (x + 1/2) / (n + 1) in both.  Sizes that are known (`n_items` infinite) add nothing.

**A cheap judge of every item** moves the rate of a stratum to `assisted` and explains a share r² of the variance of
verdicts: n_k counts as n_k / (1 - r² (1 - n_k / N_k)), in a finite population as its corrected number divided by
1 - r².

A stratum in which nothing was judged borrows its rate from the
others of its side and may lie anywhere between 0 and 1.  Jeffreys intervals in each stratum, added up by MOVER, stay
available (`method="jeffreys"`); with many small strata they are too short.  `normal_scores` has the paper's
intervals: p ± 1.96 standard errors for rates, and the delta method on them for R and F.  They take populations to be
infinite, and a stratum without an error has variance 0 there, so that recall looks better known than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan, sqrt
from typing import Literal, NamedTuple, TypeAlias

from grater.model import Interval
from grater.uncertainty.intervals import LEVEL, effective_n, finite_jeffreys, z_value

BETAS = (0.5, 1.0)
IntervalMethod: TypeAlias = Literal["score", "jeffreys"]

STEPS = 200
CLOSE = 1e-13


# Totals over strata


class Part(NamedTuple):
    """A stratum of a total: what one unit of its share adds, hits, and (effective) cases."""

    size: float
    hits: float
    n: float

    def rate(self, pull: float) -> float:
        """The likeliest share where totals are pulled by `pull`: up where it is above 0, down below."""
        moved = pull * self.size
        rest = self.n - moved
        root = sqrt(max(0.0, rest * rest + 4 * moved * self.hits))
        # Two ways to write one root; each is exact where the other takes the difference of near equals.
        if rest > 0:
            return 2 * self.hits / (rest + root)
        return (root - rest) / (2 * moved) if moved else self.hits / self.n

    def variance(self, pull: float) -> float:
        share = self.rate(pull)
        return max(0.0, self.size**2 * share * (1 - share) / self.n)


def stratified_total(parts: Sequence[Part], *, level: float = LEVEL) -> Interval:
    """The total over strata with its score interval; of no stratum it is 0 and certain."""
    total, most = sum(part.size * part.hits / part.n for part in parts), sum(part.size for part in parts)
    z = z_value(level)
    is_none, is_all = all(part.hits == 0 for part in parts), all(part.hits == part.n for part in parts)
    low = 0.0 if is_none else total + _distance(parts, z, -1)
    high = most if is_all else total + _distance(parts, z, 1)
    return Interval(total, min(max(0.0, low), total), max(min(most, high), total))


def _distance(parts: Sequence[Part], z: float, sign: int) -> float:
    """How far the bound lies from the total, downwards for -1 and upwards for 1."""

    def beyond(pull: float) -> float:
        return pull * sqrt(sum(part.variance(sign * pull) for part in parts)) - z

    pull = _crossing(beyond, 1 / max(part.size / part.n for part in parts))
    return sign * pull * sum(part.variance(sign * pull) for part in parts)


def _crossing(function: Callable[[float], float], start: float) -> float:
    """Where a function that is below 0 at 0 first rises above it: brackets from `start`, then false position."""
    low, high, below, above = 0.0, start, function(0.0), function(start)
    while above < 0:
        low, high, below, above = high, 2 * high, above, function(2 * high)
    moved = 0
    for _ in range(STEPS):
        middle = (low * above - high * below) / (above - below)
        height = function(middle)
        # The Illinois rule: an end that stays put twice in a row loses weight.
        if height < 0:
            low, below, above, moved = middle, height, above / 2 if moved < 0 else above, -1
        else:
            high, above, below, moved = middle, height, below / 2 if moved > 0 else below, 1
        if abs(high - low) <= CLOSE * high or height == 0:
            break
    return high


# Sums and ratios: MOVER


def mover_sum(parts: Sequence[Interval]) -> Interval:
    """The sum of independent numbers; of none it is 0 and certain."""
    value = sum(part.value for part in parts)
    below = sqrt(sum((part.value - part.low) ** 2 for part in parts))
    above = sqrt(sum((part.high - part.value) ** 2 for part in parts))
    return Interval(value, value - below, value + above)


def mover_ratio(over: Interval, under: Interval) -> Interval:
    """over / under for two independent numbers that cannot be negative."""
    if over.value == 0 and under.value == 0:
        return Interval(nan, nan, nan, "nothing to divide by: both totals are 0")
    value = over.value / under.value if under.value else inf
    return Interval(value, _ratio_low(over, under), _ratio_high(over, under))


def _ratio_low(over: Interval, under: Interval) -> float:
    rest = over.low * (2 * over.value - over.low)
    if rest <= 0:
        return 0.0
    product = over.value * under.value
    root = sqrt(max(0.0, product**2 - rest * under.high * (2 * under.value - under.high)))
    # Both are 0 only where the denominator is 0 and known to be so.
    return rest / (product + root) if product + root else inf


def _ratio_high(over: Interval, under: Interval) -> float:
    bottom = under.low * (2 * under.value - under.low)
    if bottom <= 0:
        return inf
    product = over.value * under.value
    root = sqrt(max(0.0, product**2 - bottom * over.high * (2 * over.value - over.high)))
    return (product + root) / bottom


# Precision, recall and F from judged strata


@dataclass(frozen=True, slots=True)
class Stratum:
    """Items that are drawn alike; `size` may be a share of an infinite corpus, `errors` a sum of shares of raters."""

    name: str
    is_flagged: bool
    size: float
    n_judged: float = 0.0
    errors: float = 0.0
    n_drawn: int = 0
    assisted: float | None = None
    explained: float = 0.0

    @property
    def rate(self) -> float:
        """The estimated rate of errors: with the help of a cheap judge, where there is one."""
        if self.assisted is not None:
            return self.assisted
        return self.errors / self.n_judged if self.n_judged else nan

    @property
    def smoothed(self) -> float:
        """The rate, never quite 0 or 1."""
        return (self.rate * self.n_judged + 0.5) / (self.n_judged + 1) if self.n_judged else nan

    def worth(self, *, fpc: bool) -> float:
        """What the judged items count as; inf where they are all there are."""
        if fpc:
            return effective_n(self.n_judged, self.size) / (1 - self.explained)
        # A size below the number judged is a share of an endless corpus, which leaves everything to the judge.
        left = 1 - self.n_judged / self.size if 0 < self.n_judged <= self.size else 1.0
        return self.n_judged / (1 - self.explained * left)


@dataclass(frozen=True, slots=True)
class Scores:
    """Precision, recall and F of a system; hit, false_alarm and miss are totals over the corpus."""

    precision: Interval
    recall: Interval
    f: Mapping[float, Interval]
    hit: Interval
    false_alarm: Interval
    miss: Interval
    method: str


def scores(
    strata: Sequence[Stratum],
    *,
    fpc: bool = True,
    n_items: float = inf,
    level: float = LEVEL,
    method: IntervalMethod = "score",
) -> Scores:
    """P, R and F with intervals that hold: MOVER on score intervals of hits and misses.

    Without `fpc` the corpus stands for a wider one; `n_items` are then those its strata were counted among.
    """
    sides = [_side(strata, is_flagged=True), _side(strata, is_flagged=False)]
    n_flagged = sum(stratum.size for stratum in sides[0])

    known: dict[float, tuple[Interval, Interval]] = {}

    def totals(name: str, beta: float = 1.0) -> tuple[Interval, Interval]:
        inflation = 1.0 if fpc or n_items == inf else size_inflation(strata, name, beta, n_items=n_items)
        if inflation not in known:
            hit, miss = (_total(side, method, fpc=fpc, level=level, inflation=inflation) for side in sides)
            known[inflation] = (hit, miss)
        return known[inflation]

    hit, miss = totals("hit")[0], totals("miss")[1]
    is_simple = method == "score" and all(len(side) <= 1 for side in sides)
    return Scores(
        precision=_precision(totals("precision")[0], n_flagged),
        recall=_recall(*totals("recall")),
        f={beta: _f(*totals("f", beta), n_flagged, beta) for beta in BETAS},
        hit=hit,
        false_alarm=_false_alarms(hit, n_flagged),
        miss=miss,
        method="mover-wilson" if is_simple else f"mover-{method}",
    )


class Slopes(NamedTuple):
    """By how much a score moves for one more error and for one more item in each stratum."""

    errors: list[float]
    items: list[float]


def slopes(strata: Sequence[Stratum], rates: Sequence[float], name: str, beta: float = 1.0) -> Slopes:
    """The derivatives of a score at these rates; hits and misses are taken as shares of all items."""
    of_errors = [stratum.size * rate for stratum, rate in zip(strata, rates, strict=True)]
    hits = sum(n for n, stratum in zip(of_errors, strata, strict=True) if stratum.is_flagged)
    total, size = sum(of_errors), sum(stratum.size for stratum in strata)
    n_flagged = sum(stratum.size for stratum in strata if stratum.is_flagged)
    by_hit, by_miss, by_flagged, by_item = _derivatives(name, hits, total, n_flagged, size, beta)
    errors = [by_hit if stratum.is_flagged else by_miss for stratum in strata]
    items = [
        slope * rate + by_flagged * stratum.is_flagged + by_item
        for slope, rate, stratum in zip(errors, rates, strata, strict=True)
    ]
    return Slopes(errors, items)


def _derivatives(
    name: str, hits: float, total: float, n_flagged: float, size: float, beta: float
) -> tuple[float, float, float, float]:
    """By one more hit, miss, flagged item and item of any kind; nan where the score is undefined."""
    square, none = beta**2, (nan, nan, nan, nan)
    bottom = n_flagged + square * total
    match name:
        case "precision":
            return (1 / n_flagged, 0.0, -hits / n_flagged**2, 0.0) if n_flagged else none
        case "recall":
            return ((total - hits) / total**2, -hits / total**2, 0.0, 0.0) if total else none
        case "hit":
            return (1 / size, 0.0, 0.0, -hits / size**2) if size else none
        case "miss":
            return (0.0, 1 / size, 0.0, -(total - hits) / size**2) if size else none
    if not bottom:
        return none
    by_bottom = -(1 + square) * hits / bottom**2
    return (1 + square) / bottom + square * by_bottom, square * by_bottom, by_bottom, 0.0


def size_inflation(strata: Sequence[Stratum], name: str, beta: float = 1.0, *, n_items: float) -> float:
    """How many times the variance is that with sizes known, where strata were counted among `n_items`."""
    judged = [stratum for stratum in strata if stratum.n_judged and stratum.size > 0]
    if not judged:
        return 1.0
    slope = slopes(judged, [stratum.smoothed for stratum in judged], name, beta)
    drawn = drawn_variance(judged, name, beta)
    sizes = sum(stratum.size * by_item**2 for stratum, by_item in zip(judged, slope.items, strict=True))
    scale = sum(stratum.size for stratum in judged) / n_items
    return 1 + sizes * scale / drawn if drawn > 0 else 1.0


def drawn_variance(strata: Sequence[Stratum], name: str, beta: float = 1.0) -> float:
    """The variance of a score that comes from which items were judged, of a wider population."""
    judged = [stratum for stratum in strata if stratum.n_judged and stratum.size > 0]
    rates = [stratum.smoothed for stratum in judged]
    slope = slopes(judged, rates, name, beta).errors
    return sum(
        (by_error * stratum.size) ** 2 * rate * (1 - rate) / stratum.worth(fpc=False)
        for stratum, rate, by_error in zip(judged, rates, slope, strict=True)
    )


def expected_misses(strata: Sequence[Stratum]) -> float:
    """The errors among the judged items of strata that are not flagged; below three, intervals are too short."""
    return sum(stratum.errors for stratum in _side(strata, is_flagged=False))


def pooled_rate(side: Sequence[Stratum]) -> float:
    """The rate of errors over some strata together, by size; nan where nothing was judged in any."""
    judged = [stratum for stratum in side if stratum.n_judged]
    size = sum(stratum.size for stratum in judged)
    return sum(stratum.size * stratum.rate for stratum in judged) / size if size else nan


def _side(strata: Sequence[Stratum], *, is_flagged: bool) -> list[Stratum]:
    return [stratum for stratum in strata if stratum.is_flagged == is_flagged and stratum.size > 0]


def _total(side: Sequence[Stratum], method: IntervalMethod, *, fpc: bool, level: float, inflation: float) -> Interval:
    borrowed = pooled_rate(side)
    # Half an item of a stratum of one (in a plan) says nothing of the rest.
    judged = [stratum for stratum in side if stratum.worth(fpc=fpc) > 0]
    unseen = [stratum for stratum in side if not stratum.worth(fpc=fpc) > 0]
    is_score = method == "score"
    seen = _score_totals(judged, fpc, level, inflation) if is_score else _jeffreys_totals(judged, fpc, level)
    total = mover_sum([*seen, *(Interval(stratum.size * borrowed, 0.0, stratum.size) for stratum in unseen)])
    size = sum(stratum.size for stratum in side)
    return Interval(total.value, max(0.0, total.low), min(size, total.high), total.undefined_because)


def _score_totals(judged: Sequence[Stratum], fpc: bool, level: float, inflation: float) -> list[Interval]:
    """The errors of all judged strata; a stratum judged whole is known and only moves the interval."""
    worths = [(stratum, stratum.worth(fpc=fpc) / inflation) for stratum in judged]
    known = sum(stratum.size * stratum.rate for stratum, worth in worths if worth == inf)
    parts = [Part(stratum.size, stratum.rate * worth, worth) for stratum, worth in worths if worth < inf]
    return [Interval(known, known, known), stratified_total(parts, level=level)]


def _jeffreys_totals(judged: Sequence[Stratum], fpc: bool, level: float) -> list[Interval]:
    totals = []
    for stratum in judged:
        size = stratum.size
        share = finite_jeffreys(stratum.errors, stratum.n_judged, size=size if fpc else inf, level=level)
        totals.append(Interval(size * share.value, size * share.low, size * share.high))
    return totals


def _precision(hit: Interval, n_flagged: float) -> Interval:
    if n_flagged == 0:
        return Interval(nan, nan, nan, "the system flags nothing")
    return _or_unjudged(Interval(hit.value / n_flagged, hit.low / n_flagged, hit.high / n_flagged))


def _false_alarms(hit: Interval, n_flagged: float) -> Interval:
    return _or_unjudged(Interval(n_flagged - hit.value, n_flagged - hit.high, n_flagged - hit.low))


def _recall(hit: Interval, miss: Interval) -> Interval:
    if hit.value == 0 and miss.value == 0:
        return Interval(nan, nan, nan, "no error was found, flagged or not")
    ratio = mover_ratio(miss, hit)
    return _or_unjudged(Interval(1 / (1 + ratio.value), 1 / (1 + ratio.high), 1 / (1 + ratio.low)))


def _f(hit: Interval, miss: Interval, n_flagged: float, beta: float) -> Interval:
    fixed = n_flagged / beta**2
    over = Interval(fixed + miss.value, fixed + miss.low, fixed + miss.high)
    if hit.value == 0 and over.value == 0:
        return Interval(nan, nan, nan, "nothing is flagged and no error was found")
    ratio, top = mover_ratio(over, hit), (1 + beta**2) / beta**2
    return _or_unjudged(Interval(top / (1 + ratio.value), top / (1 + ratio.high), top / (1 + ratio.low)))


def _or_unjudged(interval: Interval) -> Interval:
    if interval.value == interval.value:
        return interval
    return Interval(nan, nan, nan, "nothing was judged on one side, what is flagged or what is not")


# The same with the paper's normal intervals


def normal_scores(strata: Sequence[Stratum], *, level: float = LEVEL) -> Scores:
    """P, R and F with the paper's normal intervals (T&C 2008, 6.3), the delta method for R and F."""
    z = z_value(level)
    flagged, other = _side(strata, is_flagged=True), _side(strata, is_flagged=False)
    n_flagged = sum(stratum.size for stratum in flagged)
    (hits, var_hits), (misses, var_misses) = _moments(flagged), _moments(other)
    hit, miss = _normal(hits, var_hits, z), _normal(misses, var_misses, z)
    total = hits + misses
    recall = _recall(Interval(hits, hits, hits), Interval(misses, misses, misses)).value
    var_recall = (misses**2 * var_hits + hits**2 * var_misses) / total**4 if total else nan
    return Scores(
        precision=_precision(hit, n_flagged),
        recall=_normal(recall, var_recall, z),
        f={beta: _normal(*_f_moments(n_flagged, hits, misses, var_hits, var_misses, beta), z) for beta in BETAS},
        hit=hit,
        false_alarm=_false_alarms(hit, n_flagged),
        miss=miss,
        method="normal",
    )


def _moments(side: Sequence[Stratum]) -> tuple[float, float]:
    """The total of errors and its variance as the normal formula has it."""
    borrowed = pooled_rate(side)
    total = sum(stratum.size * (stratum.rate if stratum.n_judged else borrowed) for stratum in side)
    judged = [stratum for stratum in side if stratum.n_judged]
    return total, sum(stratum.size**2 * stratum.rate * (1 - stratum.rate) / stratum.n_judged for stratum in judged)


def _f_moments(
    n_flagged: float, hits: float, misses: float, var_hits: float, var_misses: float, beta: float
) -> tuple[float, float]:
    square = beta**2
    bottom = n_flagged + square * (hits + misses)
    if bottom == 0:
        return nan, nan
    by_hits = (1 + square) * (n_flagged + square * misses) / bottom**2
    by_misses = (1 + square) * hits * square / bottom**2
    return (1 + square) * hits / bottom, by_hits**2 * var_hits + by_misses**2 * var_misses


def _normal(value: float, variance: float, z: float) -> Interval:
    if value != value:
        return Interval(nan, nan, nan, "nothing to divide by, or nothing judged")
    half = z * sqrt(variance)
    return Interval(value, value - half, value + half)
