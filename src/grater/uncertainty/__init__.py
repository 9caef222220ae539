"""The one engine of uncertainty: every interval, difference and p value, from sums over units.

A score is a smooth function f of sums over units, `value = f(sum of s_u)`, where s_u is the row of counts of unit u:
an essay (for sentences, a document) where it is known, else an item.  Nothing is drawn, so the same data give the
same digits everywhere.  The rules (design: "One engine of uncertainty"):

1. *Influence*: d_u = (m - 1) (f(S) - f(S - s_u)), centred; an undefined leave-out counts as no change.
   V = sum d² / (m (m - 1)); m counts empty units too (Efron & Tibshirani 1993, chapter 11).
2. *Degrees of freedom*: min(Kish(den) - 1, 2 / (sum d⁴ / (sum d²)² - 1/m), m - 1), at least 1.  `den` is a unit's
   part of the score's denominator; Kish(w) = (sum w)² / sum w² (Kish 1965, section 11.7).
3. *Scales*, t the Student quantile.  Shares: Wilson with t and n* = min(n, (q (1 - q) + ½/K) / (V + ½/K²)) cases,
   n being the cases counted without weights and K what they are worth under a design.  Coefficients:
   tanh(atanh v ± t √V / (1 - v²)).  Densities: v exp(± t √V / v).  Differences: v ± t √V, with p from the same t.
   Agreement in fewer than 15 essays: on either side the larger of t and Hall's quantile (1992, Journal of the Royal
   Statistical Society B 54, 221-228) for influences as skewed as these, at most 1.5 t: with 12 essays and rare errors
   alpha and mean kappa held .90 without it, .93 with it.
4. *Items as units*: shares use z and V (m - 1) / m over the items in the denominator, which is Wilson's interval.
5. *No interval* where cases come from fewer than three essays, where a coefficient's rarer label has fewer than five
   cases or four units, where V = 0 on the scale of coefficients or densities, or where the value is undefined.

Random raters are rule 7 (`with_raters`), raters' errors rule 8 (`with_parameters`), several systems Holm's correction
(`holm`, `rank_groups`).  Samples (rule 6) are in `sampled.py`.  The bootstrap (Efron & Tibshirani 1993, chapter 6) is
a choice of `Basis`: units are drawn and their sums scored; a seed gives the same units to every score on the same
rows, so differences are paired.

On request only: approximate randomisation (Noreen 1989; Yeh 2000) swaps the two systems' rows of a unit with
probability one half; p counts the observed data as one more draw (Phipson & Smyth 2010).  McNemar 1947 without a
correction for continuity, exact, and mid-p (Fagerland, Lydersen & Laake 2013): on independent items only.
`dispersion` tests whether events fall on units by chance alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from math import atan, atanh, erfc, exp, inf, isnan, lgamma, nan, pi, sqrt, tan, tanh
from statistics import NormalDist
from string import ascii_lowercase, ascii_uppercase
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.errors import UsageError
from grater.model import Interval
from grater.result import HIDDEN, Data, Result, in_json, key
from grater.sheet import counted

Numbers: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Score: TypeAlias = Callable[[Numbers], Numbers]
"""From sums in the last axis to one number: shape (..., k) gives (...)."""

Unit: TypeAlias = str
"""`auto`, `item`, `essay`, `document`, or another column that groups items."""
Population: TypeAlias = Literal["wider", "these"]
CHOICES = {"raters": ("these", "random"), "population": ("wider", "these"), "interval": ("jackknife", "bootstrap")}

LEVEL = 0.95
FEWEST_UNITS = 3
"""Essays with cases below which there is no interval."""
FEW_UNITS = 10
"""Essays below which a result warns."""
FEW_FOR_AGREEMENT = 15
"""Essays below which intervals of agreement allow for skewness."""
FEWEST_FOR_AGREEMENT = 12
MOST_SKEWED = 1.5
FEWEST_RARE = 5
FEWEST_RARE_UNITS = 4
ALIKE = 1e-12
MANY_DEGREES = 200


@dataclass(frozen=True, slots=True)
class Basis:
    """The basis of intervals: the units, whether raters represent others, the population and the method.

    `auto` is the essay (for sentences the document) where it is known, else the item.  Seed and number of resamples
    matter only where `interval` is `bootstrap`, or where a named test draws.
    """

    units: Unit = "auto"
    raters: Literal["these", "random"] = "these"
    population: Population = "wider"
    interval: Literal["jackknife", "bootstrap"] = "jackknife"
    n_resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise UsageError(f"expected {name} {' or '.join(known)}, found {getattr(self, name)!r}")

    def signature(self, unit: str, *, design: str = "") -> dict[str, str]:
        """The options of a signature; `unit` is the one that was used."""
        drawn = {"resamples": str(self.n_resamples), "seed": str(self.seed)} if self.interval == "bootstrap" else {}
        return {
            "units": unit,
            "interval": "bootstrap" if self.interval == "bootstrap" else "jackknife-t",
            **({"raters": "random"} if self.raters == "random" else {}),
            **({"population": "these"} if self.population == "these" else {}),
            **({"design": design} if design else {}),
            **drawn,
        }


BASIS = Basis()


def z_value(level: float = LEVEL) -> float:
    """The normal quantile that leaves (1 - level) / 2 above it: 1.96 for 95 %."""
    return NormalDist().inv_cdf((1 + level) / 2)


@lru_cache(maxsize=1 << 12)
def t_value(freedom: float) -> float:
    """Student's quantile, from one degree of freedom up; scipy, which has it, takes a fifth of a second to import.

    t = sqrt(freedom) tan(angle), and the chance of an angle this near to 0 is found by Newton's method.  Its slope
    falls all the way, so that no step from the left, where the normal quantile is, leads too far.
    """
    if freedom == inf:
        return z_value()
    angle, step = atan(z_value() / sqrt(freedom)), inf
    nodes, weights = _quadrature()
    while step > ALIKE * angle:
        # the chance of |t| <= sqrt(freedom) tan(angle), exact to 1e-12
        within = angle * float(weights @ _density(angle * (nodes + 1) / 2, freedom))
        step = (LEVEL - within) / (2 * float(_density(np.array(angle), freedom)))
        angle += step
    return sqrt(freedom) * tan(angle)


@lru_cache(maxsize=1)
def _quadrature() -> tuple[Numbers, Numbers]:
    """The nodes and weights of Gauss and Legendre."""
    return np.polynomial.legendre.leggauss(32)


def _density(angles: Numbers, freedom: float) -> Numbers:
    """The density of the angle: gamma((v + 1) / 2) / (gamma(v / 2) sqrt(pi)) cos(angle) ** (v - 1)."""
    v = freedom
    if v < MANY_DEGREES:
        gammas = exp(lgamma((v + 1) / 2) - lgamma(v / 2))
    else:
        gammas = sqrt(v / 2) * (1 - 1 / (4 * v) + 1 / (32 * v**2) + 5 / (128 * v**3) - 21 / (2048 * v**4))
    density: Numbers = gammas / sqrt(pi) * np.exp((v - 1) / 2 * np.log1p(-(np.sin(angles) ** 2)))
    return density


def kish(weights: Numbers, times: Numbers | None = None) -> float:
    """How many equal units these are worth: (sum w)² / sum w²; 0 without any weight."""
    times = np.ones(len(weights)) if times is None else times
    squares = float(times @ weights**2)
    return float(times @ weights) ** 2 / squares if squares else 0.0


def ratio(above: npt.ArrayLike, under: npt.ArrayLike) -> Numbers:
    """above / under, nan where there is nothing to divide by."""
    bottom = np.asarray(under, np.float64)
    found: Numbers = np.asarray(above, np.float64) / np.where(bottom == 0, np.nan, bottom)
    return found


def nan_mean(values: Numbers, *, axis: int) -> Numbers:
    """The mean of the numbers that are not nan; nan, without numpy's warning, if all are."""
    known = ~np.isnan(values)
    n = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.asarray(np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0), np.float64)


# Rules 1 and 2


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """A row of counts for every unit; equal rows may be stored once, with the number of units that have them."""

    rows: Numbers
    unit: str = "item"
    times: Numbers | None = None

    @property
    def counts(self) -> Numbers:
        return np.ones(len(self.rows)) if self.times is None else self.times.astype(np.float64)

    @property
    def sums(self) -> Numbers:
        sums: Numbers = self.counts @ self.rows
        return sums

    @property
    def is_items(self) -> bool:
        return self.unit == "item"


def grouped_rows(rows: Numbers, unit_of: Ints, n_units: int) -> Numbers:
    """The sums of the rows of each unit; rows of unit -1 are left out."""
    kept = unit_of >= 0
    sums = [np.bincount(unit_of[kept], column[kept], n_units) for column in rows.T]
    return np.stack(sums, axis=1) if sums else np.zeros((n_units, 0))


@dataclass(frozen=True, slots=True, eq=False)
class Influence:
    """A score and what leaving out each unit changes; two on the same units can be subtracted.

    Items outside the denominator are left aside (rule 4).  `draws` are the resamples of a bootstrap, where one was
    asked for; `is_concentrated` says that one unit holds most of the cases, `withheld_because` why there can be no
    interval.  `raters` are the influences of raters and items if raters represent others (rule 7).
    """

    value: float
    change: Numbers
    den: Numbers
    times: Numbers
    unit: str = "item"
    draws: Numbers | None = None
    variance: float = nan
    freedom: float = nan
    is_concentrated: bool = False
    withheld_because: str = ""
    raters: tuple[Influence, Influence] | None = None

    def __post_init__(self) -> None:
        if not isnan(self.variance):
            return
        times = np.where(self.den > 0, self.times, 0.0) if self.unit == "item" else self.times
        m = float(times.sum())
        moved = (m - 1) * self.change
        moved = moved - (times @ moved / m if m else 0.0)
        squares = float(times @ moved**2)
        if squares <= (ALIKE * m) ** 2:
            squares = 0.0
        worth = kish(self.den, times) - 1
        freedom = min(worth, m - 1)
        if squares:
            spread = float(times @ moved**4) / squares**2 - 1 / m
            freedom = min(freedom, 2 / spread) if spread > 0 else freedom
        object.__setattr__(self, "variance", squares / (m * (m - 1)) if m > 1 else 0.0)
        object.__setattr__(self, "freedom", max(1.0, freedom))
        object.__setattr__(self, "is_concentrated", worth < 1)

    @property
    def n_with_cases(self) -> int:
        return int(self.times[self.den > 0].sum())

    @property
    def error(self) -> float:
        return sqrt(self.variance)

    def __sub__(self, other: Influence) -> Influence:
        """The difference of two scores on the same units: paired."""
        change, den = self.change - other.change, self.den + other.den
        draws = None if self.draws is None or other.draws is None else self.draws - other.draws
        it = Influence(self.value - other.value, change, den, self.times, self.unit, draws)
        if self.raters is None or other.raters is None:
            return it
        return with_raters(it, self.raters[0] - other.raters[0], self.raters[1] - other.raters[1])

    def unpaired(self, other: Influence) -> Influence:
        """The difference of two scores on different units (Welch 1947)."""
        variance = self.variance + other.variance
        return Influence(
            value=self.value - other.value,
            change=np.concatenate([self.change, -other.change]),
            den=np.concatenate([self.den, other.den]),
            times=np.concatenate([self.times, other.times]),
            unit=self.unit,
            draws=None if self.draws is None or other.draws is None else self.draws - other.draws,
            variance=variance,
            freedom=_welch(variance, [(each.variance, each.freedom) for each in (self, other)]),
        )


def influence(units: Units, score: Score, den: Numbers | None = None, basis: Basis = BASIS) -> Influence:
    """The score of all units, and what each changes; `den` is by unit, 1 by default."""
    dens = [np.ones(len(units.rows)) if den is None else den]
    [it] = influences(units, lambda sums: np.asarray(score(sums))[..., None], dens, basis)
    return it


def influences(units: Units, scores: Score, dens: Iterable[Numbers], basis: Basis = BASIS) -> list[Influence]:
    """Several scores, which `scores` puts into the last axis, each with its `den`; rows may be sparse."""
    sums = units.sums
    values = scores(sums)
    at_once = max(1, 4 * MOST_WEIGHTS // max(1, sums.size))
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is no change
        starts = range(0, units.rows.shape[0], at_once)
        blocks = [scores(sums - units.rows[start : start + at_once]) for start in starts]
    left_out = np.concatenate([np.zeros((0, len(values))), *blocks])
    draws: Sequence[Numbers | None] = [None] * len(values)
    if basis.interval == "bootstrap":
        draws = list(scores(resampled_sums(units, n_resamples=basis.n_resamples, seed=basis.seed)).T)
    return [
        Influence(float(value), changes(value, without), den, units.counts, units.unit, drawn)
        for value, without, den, drawn in zip(values, left_out.T, dens, draws, strict=True)
    ]


def changes(value: float, left_out: Numbers) -> Numbers:
    """An undefined leave-out counts as no change."""
    change: Numbers = np.where(np.isnan(left_out) | isnan(value), 0.0, value - left_out)
    return change


def design_effect(by_unit: Influence, by_item: Influence) -> float:
    """The variance with whole essays as units over that with items (Kish 1965, section 8.2)."""
    is_known = by_item.variance > 0 and by_unit.n_with_cases >= FEWEST_UNITS
    return by_unit.variance / by_item.variance if is_known else nan


# Rules 3 to 5


def no_interval(it: Influence, undefined: str = "") -> str:
    """Why the score has no interval on any scale; nothing where it has one."""
    if isnan(it.value):
        return undefined or "nothing to divide by"
    if it.withheld_because:
        return it.withheld_because
    if it.unit != "item" and it.n_with_cases < FEWEST_UNITS:
        return f"its cases come from {counted(it.n_with_cases, it.unit)}; an interval needs {FEWEST_UNITS}"
    if it.draws is not None and not np.isfinite(it.draws).any():
        return "no resample gives a value"
    return ""


def wilson_limits(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson 1927: the shares p with |share - p| <= quantile sqrt(p (1 - p) / n)."""
    if n == inf:
        return share, share
    square = quantile * quantile
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = quantile / (1 + square / n) * sqrt(max(0.0, share * (1 - share) / n) + square / (4 * n * n))
    return (0.0 if share <= 0 else max(0.0, centre - half)), (1.0 if share >= 1 else min(1.0, centre + half))


def worth_of(share: float, variance: float, n: float, n_design: float) -> float:
    """The effective number of cases, n* (rule 3)."""
    if n_design == inf:
        return inf
    # Half a case above and below keeps a share of 0 or 1 from claiming more than its cases.
    return min(n, (share * (1 - share) + 0.5 / n_design) / (variance + 0.5 / n_design**2))


def skewed(it: Influence) -> tuple[float, float]:
    """The quantiles of agreement below and above its value: those of t, or of Hall 1992 where essays are few."""
    t, m = t_value(it.freedom), float(it.times.sum())
    if it.unit == "item" or m >= FEW_FOR_AGREEMENT or it.raters or not it.variance:
        return t, t
    away = it.change - it.times @ it.change / m
    skew = float(it.times @ away**3) / float(it.times @ away**2) ** 1.5
    ends = [t if not skew else side * 3 / skew * (np.cbrt(1 + skew * (side * t - skew / 6)) - 1) for side in (1, -1)]
    below, above = (min(MOST_SKEWED * t, max(t, float(end))) for end in ends)
    return below, above


def share(
    it: Influence, *, n: float, n_design: float | None = None, undefined: str = "", is_agreement: bool = False
) -> Interval:
    """A share of n cases, counted without weights; `n_design` is what they are worth under a design."""
    if reason := no_interval(it, undefined):
        return Interval(it.value, nan, nan, reason)
    if it.draws is not None:
        return _percentiles(it, (0.0, 1.0))
    m = it.n_with_cases
    variance = it.variance * (m - 1) / m if it.unit == "item" else it.variance
    worth = worth_of(it.value, variance, n, n if n_design is None else n_design)
    t = z_value() if it.unit == "item" else t_value(it.freedom)
    below, above = skewed(it) if is_agreement and it.unit != "item" else (t, t)
    limits = wilson_limits(it.value, worth, below)[0], wilson_limits(it.value, worth, above)[1]
    return Interval(it.value, *_around(it.value, limits))


def wilson(hits: float, n: float) -> Interval:
    """The share of hits among n independent cases."""
    if n <= 0:
        return Interval(nan, nan, nan, "no case was counted")
    return Interval(hits / n, *_around(hits / n, wilson_limits(hits / n, n, z_value())))


def shares_by_unit(hits: Numbers, n: Numbers, unit: str) -> Interval:
    """The share of hits among n cases, both by unit."""
    it = influence(Units(np.stack([hits, n], axis=1), unit), lambda sums: ratio(sums[..., 0], sums[..., 1]), n)
    return share(it, n=float(n.sum()), undefined="no case was counted")


@dataclass(frozen=True, slots=True)
class Rare:
    """The rarer margin of a coefficient: its cases, and the units that have any."""

    cases: float
    units: float


def coefficient(it: Influence, *, rare: Rare | None = None, undefined: str = "") -> Interval:
    """A coefficient of agreement, between -1 and 1."""
    reason = no_interval(it, undefined)
    if not reason and rare is not None and (rare.cases < FEWEST_RARE or rare.units < FEWEST_RARE_UNITS):
        where = "" if it.unit == "item" else f" in {counted(int(rare.units), it.unit)}"
        reason = f"the rarer label has {counted(int(rare.cases), 'case')}{where}, too few for an interval"
    if not reason and it.draws is None and (it.variance == 0 or abs(it.value) >= 1):
        reason = f"leaving out any {it.unit} changes nothing, so the data show no spread"
    if reason:
        return Interval(it.value, nan, nan, reason)
    if it.draws is not None:
        return _percentiles(it, (-1.0, 1.0))
    below, above = (t * it.error / (1 - it.value**2) for t in skewed(it))
    return Interval(it.value, tanh(atanh(it.value) - below), tanh(atanh(it.value) + above))


def density(it: Influence, *, undefined: str = "") -> Interval:
    """A rate with no upper end, such as edits per 100 words."""
    reason = no_interval(it, undefined)
    if not reason and it.draws is None and (it.variance == 0 or it.value <= 0):
        reason = f"every {it.unit} has the same rate, so the data show no spread"
    if reason:
        return Interval(it.value, nan, nan, reason)
    if it.draws is not None:
        return _percentiles(it, (0.0, inf))
    factor = exp(t_value(it.freedom) * it.error / it.value)
    return Interval(it.value, it.value / factor, it.value * factor)


@dataclass(frozen=True, slots=True)
class Difference(Data):
    """A difference with its interval and p: p < .05 and a 95 % interval without 0 are the same fact."""

    difference: Interval
    p: float
    freedom: float = field(default=nan, metadata=HIDDEN)


def difference(it: Influence, *, undefined: str = "") -> Difference:
    """A difference of two scores; identical scores have p = 1."""
    from scipy.special import stdtr

    if reason := no_interval(it, undefined):
        return Difference(Interval(it.value, nan, nan, reason), nan)
    if it.draws is not None:
        kept = it.draws[np.isfinite(it.draws)]
        beyond = min(float((kept < 0).sum()), float((kept > 0).sum())) + float((kept == 0).sum()) / 2
        return Difference(_percentiles(it, (-inf, inf)), min(1.0, 2 * (1 + beyond) / (1 + len(kept))))
    if it.variance == 0 and it.value == 0:
        return Difference(Interval(0.0, 0.0, 0.0), 1.0)
    t = t_value(it.freedom)
    # A difference that is the same in every unit may yet move by what none of them shows (Newcombe 1998).
    error = it.error or sqrt(2) * t / (it.n_with_cases + t * t)
    p = float(2 * stdtr(it.freedom, -abs(it.value) / error))
    return Difference(Interval(it.value, it.value - t * error, it.value + t * error), p, it.freedom)


def _around(value: float, limits: tuple[float, float]) -> tuple[float, float]:
    return min(value, limits[0]), max(value, limits[1])


def _percentiles(it: Influence, ends: tuple[float, float]) -> Interval:
    """Percentiles, expanded for few units (Hesterberg 2015)."""
    draws = it.draws[np.isfinite(it.draws)] if it.draws is not None else np.zeros(0)
    m = max(2.0, float(it.times.sum()))
    tail = NormalDist().cdf(-sqrt(m / (m - 1)) * t_value(m - 1))
    low, high = np.quantile(draws, [tail, 1 - tail])
    return Interval(it.value, *_around(it.value, (max(ends[0], float(low)), min(ends[1], float(high)))))


# Rules 7 to 9


def with_raters(by_essay: Influence, by_rater: Influence, by_item: Influence) -> Influence:
    """The score for other essays and other raters: V = V_essay + V_rater - V_item, at least each of the first two.

    `by_rater` leaves out one rater at a time; of two, that would leave none to compare.
    """
    by_essay = replace(by_essay, raters=(by_rater, by_item))
    if len(by_rater.times) < FEWEST_UNITS:
        return replace(by_essay, withheld_because=f"an interval for other raters needs {FEWEST_UNITS} raters")
    essay, rater = by_essay.variance, by_rater.variance
    variance = max(essay + rater - by_item.variance, essay, rater)
    parts = [(essay, by_essay.freedom), (rater, by_rater.freedom)]
    return replace(by_essay, variance=variance, freedom=_welch(variance, parts))


def from_left_out(
    value: float, left_out: Sequence[float] | Numbers, unit: str = "rater", den: Numbers | None = None
) -> Influence:
    """The influence of units that are not rows of sums, such as raters: the score without each of them."""
    without = np.asarray(left_out, np.float64)
    ones = np.ones(len(without))
    return Influence(value, changes(value, without), ones if den is None else den, ones, unit)


def mean_influence(scores: Sequence[Influence]) -> Influence:
    """The mean of scores on the same units; its cases are those of all of them."""
    draws = [it.draws for it in scores if it.draws is not None]
    return Influence(
        value=float(np.mean([it.value for it in scores])),
        change=np.sum([it.change for it in scores], axis=0) / len(scores),
        den=np.sum([it.den for it in scores], axis=0),
        times=scores[0].times,
        unit=scores[0].unit,
        draws=nan_mean(np.stack(draws), axis=0) if draws else None,
    )


def _welch(variance: float, parts: Iterable[tuple[float, float]]) -> float:
    below = sum(part**2 / freedom for part, freedom in parts)
    return max(1.0, variance**2 / below) if below else inf


def with_parameters(
    base: Interval, score: Callable[[Sequence[float]], float], parameters: Sequence[Interval]
) -> Interval:
    """A share that also rests on estimated parameters, such as raters' sensitivity (Rogan & Gladen 1978).

    Each parameter is moved to its limits; the distances are added in quadrature on each side.
    """
    if isnan(base.low):
        return base
    at = [parameter.value for parameter in parameters]
    below, above = (base.value - base.low) ** 2, (base.high - base.value) ** 2
    for place, parameter in enumerate(parameters):
        moved = [score([*at[:place], limit, *at[place + 1 :]]) for limit in (parameter.low, parameter.high)]
        moved = [each for each in moved if not isnan(each)]
        below += max([0.0, *(base.value - each for each in moved)]) ** 2
        above += max([0.0, *(each - base.value for each in moved)]) ** 2
    return Interval(base.value, max(0.0, base.value - sqrt(below)), min(1.0, base.value + sqrt(above)))


def holm(values: Sequence[float]) -> list[float]:
    """The p of each test, adjusted for their number (Holm 1979); undefined ones stay so and do not count."""
    ordered = sorted((p, index) for index, p in enumerate(values) if not isnan(p))
    adjusted, highest = [nan] * len(values), 0.0
    for rank, (p, index) in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - rank) * p))
        adjusted[index] = highest
    return adjusted


@dataclass(frozen=True, slots=True)
class PairTest(Data):
    """The first system's score less the second's; `p_holm` is p adjusted for all pairs."""

    systems: tuple[str, str]
    difference: Interval
    p: float
    p_holm: float

    @property
    def first(self) -> str:
        return self.systems[0]

    @property
    def second(self) -> str:
        return self.systems[1]

    def is_apart(self) -> bool:
        return self.p_holm < 1 - LEVEL


def paired_tests(scores: Mapping[str, Influence], *, baseline: str = "") -> list[PairTest]:
    """Every two systems on the same units; with a baseline, every other system against that one."""
    pairs = list(combinations(scores, 2))
    if baseline:
        pairs = [(name, baseline) for name in scores if name != baseline]
    return adjusted_tests(pairs, [difference(scores[first] - scores[second]) for first, second in pairs])


def adjusted_tests(pairs: Sequence[tuple[str, str]], found: Sequence[Difference]) -> list[PairTest]:
    """The difference of each pair, with Holm's correction for all of them."""
    adjusted = holm([each.p for each in found])
    rows = zip(pairs, found, adjusted, strict=True)
    return [PairTest(pair, each.difference, each.p, p_holm) for pair, each, p_holm in rows]


LETTERS = ascii_uppercase + ascii_lowercase


def shares_differ(hits: float, n: float, other_hits: float, other_n: float, *, level: float = LEVEL) -> bool:
    """Whether two shares differ by more than chance allows, by the test for two proportions with a common rate."""
    rate = (hits + other_hits) / (n + other_n)
    error = sqrt(rate * (1 - rate) * (1 / n + 1 / other_n))
    return error > 0 and abs(hits / n - other_hits / other_n) > z_value(level) * error


def few_draws(basis: Basis, n_pairs: int, *, are_swaps: bool) -> Iterator[str]:
    """A warning where so few were drawn that no p can be significant after Holm's correction."""
    sides = 1 if are_swaps else 2 if basis.interval == "bootstrap" else 0
    least = round(sides * n_pairs / (1 - LEVEL))
    if basis.n_resamples < least:
        few = f"{basis.n_resamples:,} {'swaps' if are_swaps else 'resamples'} cannot show any difference to be"
        yield f"{few} significant; use `resamples` {least:,} or more"


def rank_groups(ranked: Sequence[str], apart: Collection[tuple[str, str]]) -> dict[str, str]:
    """The letters of each system (Piepho 2004): two share one if and only if they do not differ significantly.

    `ranked` has the best first, `apart` the pairs that differ significantly.
    """
    is_apart = {frozenset(pair) for pair in apart}
    alike = {
        name: {other for other in ranked if other != name and frozenset((name, other)) not in is_apart}
        for name in ranked
    }
    rank = {name: number for number, name in enumerate(ranked)}
    sets = sorted(sorted(rank[name] for name in members) for members in _maximal_sets(alike))
    letters = dict.fromkeys(ranked, "")
    for number, members in enumerate(sets):
        for member in members:
            letters[ranked[member]] += LETTERS[number] if number < len(LETTERS) else f"({number + 1})"
    return letters


def _maximal_sets(alike: Mapping[str, set[str]]) -> list[set[str]]:
    """All sets of systems that are pairwise alike and cannot grow: Bron & Kerbosch 1973, with a pivot."""
    cliques: list[set[str]] = []

    def grow(members: set[str], candidates: set[str], seen: set[str]) -> None:
        if not candidates and not seen:
            cliques.append(members)
            return
        pivot = max(candidates | seen, key=lambda name: (len(alike[name] & candidates), name))
        for name in sorted(candidates - alike[pivot]):
            grow(members | {name}, candidates & alike[name], seen & alike[name])
            candidates, seen = candidates - {name}, seen | {name}

    if alike:
        grow(set(), set(alike), set())
    return cliques


# What an interval speaks of


@dataclass(frozen=True, slots=True)
class Scope(Data):
    """What the intervals of one result generalise to; `note` explains why units are not essays, or what is special.

    `n_units` is 0 where it differs between the numbers of the result, `n_raters` where raters were taken as they are.
    """

    unit: str = "item"
    n_units: int = 0
    population: Population = "wider"
    design_effect: float = nan
    n_raters: int = field(default=0, metadata=key("raters_drawn"))
    note: str = field(default="", metadata=HIDDEN)
    level: float = LEVEL
    is_agreement: bool = field(default=False, metadata=HIDDEN)

    @property
    def is_clustered(self) -> bool:
        return self.unit not in ("item", "sentence")

    @property
    @in_json()
    def sentence(self) -> str:
        """What a reader may claim about the intervals: "95 % intervals generalise to other essays like these 20."."""
        level = f"{100 * self.level:g} % intervals"
        these = counted(self.n_units, self.unit) if self.n_units else f"{self.unit}s"
        if self.population == "these":
            return f"{level} are for exactly these {these}, not for others (finite-population correction)."
        likes = f"other {self.unit}s like these" + (f" {self.n_units:,}" if self.n_units else "")
        raters = ", with these raters" if self.is_agreement else ""
        raters = f" and other raters like these {self.n_raters:,}" if self.n_raters else raters
        notes = [self.note] if self.note else []
        if not isnan(self.design_effect):
            notes.append(f"design effect {self.design_effect:.1f}")
        return f"{level} generalise to {likes}{raters}" + (f" ({'; '.join(notes)})." if notes else ".")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Where there are too few units, or raters, to trust the intervals."""
        if self.population == "these":
            return ()
        found = []
        n = self.n_units
        if self.is_clustered and 0 < n < FEW_UNITS:
            found.append(f"only {counted(n, self.unit)}: intervals by {self.unit} are rough below {FEW_UNITS}")
        if self.is_agreement and self.is_clustered and 0 < n < FEWEST_FOR_AGREEMENT:
            few = f"with fewer than {FEWEST_FOR_AGREEMENT} {self.unit}s"
            found.append(f"{few}, 95 % intervals of agreement hold in 80 to 93 % of cases")
        if 0 < self.n_raters < FEW_UNITS:
            found.append(f"only {counted(self.n_raters, 'rater')}: intervals for other raters are rough")
        return tuple(found)


class Scoped(Result):
    """A result whose warnings are those of its scope."""

    __slots__ = ()
    scope: Scope

    @property
    @in_json()
    def warnings(self) -> tuple[str, ...]:
        return self.scope.warnings


INDEPENDENT = "items taken as independent: their essays are not known"
SENTENCES = "sentences taken as independent: their documents are not known; pass `documents`"


# Chance, where it is asked for

MOST_WEIGHTS = 1 << 20
"""Weights drawn at one time, so that memory stays flat."""


def resampled_sums(units: Units, *, n_resamples: int, seed: int) -> Numbers:
    """Sums over units drawn with replacement, one row per resample."""
    counts = units.counts
    n, rng = int(counts.sum()), generator(seed, "bootstrap")
    blocks = [
        rng.multinomial(n, counts / n, size=n_now) @ units.rows
        for n_now in portions(n_resamples if n else 0, len(counts))
    ]
    return np.concatenate([np.zeros((0, units.rows.shape[1])), *blocks])


def portions(n_resamples: int, width: int) -> Iterator[int]:
    """The number of resamples to draw at one time."""
    at_once = max(1, MOST_WEIGHTS // max(1, width))
    for start in range(0, n_resamples, at_once):
        yield min(at_once, n_resamples - start)


def generator(seed: int, *path: str) -> np.random.Generator:
    """An independent stream for the named purpose: `generator(0, "bootstrap", "recall")`."""
    words = [int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") for name in path]
    return np.random.default_rng([seed, *words])


def permanent_number(seed: int, item_id: str) -> float:
    """The item's own number in [0, 1), the same on every machine and in every draw of a study with this seed."""
    digest = hashlib.sha256(f"{seed}|{item_id}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53  # 53 bits, as many as a float holds: never 1.0


# Tests on request


def randomisation(first: Units, second: Units, score: Score, *, n_swaps: int, seed: int) -> float:
    """p of the difference of two systems on the same units; nan with fewer than two units."""
    counts = first.counts.astype(np.int64)
    if counts.sum() < 2:
        return nan
    rng, apart = generator(seed, "randomisation"), second.rows - first.rows
    observed = abs(float(score(first.sums) - score(second.sums)))
    n_as_large = 0
    for n_now in portions(n_swaps, len(counts)):
        moved = rng.binomial(counts, 0.5, size=(n_now, len(counts))) @ apart
        differences = score(first.sums + moved) - score(second.sums - moved)
        # Sums that are equal may differ in the last bit of their scores.
        n_as_large += int((np.abs(differences) >= observed - ALIKE).sum())
    return (1 + n_as_large) / (1 + n_swaps)


@dataclass(frozen=True, slots=True)
class McNemar(Data):
    """`first` items only the first system got right, `second` only the second."""

    first: int = field(metadata=HIDDEN)
    second: int = field(metadata=HIDDEN)
    chi2: float
    p: float
    exact: float
    mid_p: float

    @property
    @in_json()
    def discordant(self) -> tuple[int, int]:
        return self.first, self.second


def mcnemar(first: int, second: int) -> McNemar:
    """The three forms of the test for two counts of discordant items; all are 1 without any."""
    if first < 0 or second < 0:
        raise UsageError(f"expected counts of items, found {first} and {second}")
    n, fewer = first + second, min(first, second)
    if n == 0:
        return McNemar(first=0, second=0, chi2=0.0, p=1.0, exact=1.0, mid_p=1.0)
    chi2 = (first - second) ** 2 / n
    from scipy.special import bdtr  # takes a fifth of a second to import

    at_most, below = float(bdtr(fewer, n, 0.5)), float(bdtr(fewer - 1, n, 0.5)) if fewer else 0.0
    # mid-p has half of the chance of the observed counts on each side.
    exact, mid_p = min(1.0, 2 * at_most), min(1.0, at_most + below)
    return McNemar(first=first, second=second, chi2=chi2, p=erfc(sqrt(chi2 / 2)), exact=exact, mid_p=mid_p)


@dataclass(frozen=True, slots=True)
class Dispersion(Data):
    """`index` is 1 by chance; both numbers are nan where fewer than two units have any exposure, or no event."""

    index: float
    p: float
    n_units: int


def dispersion(events: Numbers, exposure: Numbers) -> Dispersion:
    """The variance test of counts with unequal exposure (Cochran 1954, section 3.1): X² / (m - 1), one-sided p."""
    from scipy.special import chdtrc

    is_exposed = exposure > 0
    events, exposure = events[is_exposed], exposure[is_exposed]
    n_units = len(events)
    if n_units < 2 or not events.sum():
        return Dispersion(index=nan, p=nan, n_units=n_units)
    expected = exposure * (events.sum() / exposure.sum())
    freedom = n_units - 1
    index = float(np.sum((events - expected) ** 2 / expected)) / freedom
    return Dispersion(index=index, p=float(chdtrc(freedom, index * freedom)), n_units=n_units)
