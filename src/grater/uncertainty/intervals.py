"""From a standard error, or from the draws of a bootstrap, to a confidence interval.

`normal_interval` is the value plus or minus z standard errors.  `percentile_interval` takes *expanded percentiles*
(Hesterberg 2015, The American Statistician 69, 371-386): a plain percentile interval of n units is too narrow by
sqrt((n - 1) / n) and by the difference of Student's t from the normal, and both are put back.  With a few hundred
units nothing changes; with five it matters much.  A single unit cannot be resampled: the interval is nan, with the
reason.

Where no resample differs from another (every flag right, two systems that never part), percentiles would be a point,
as if n units could prove that nothing else is to be had.  `alike_interval` stands in their place: Wilson's limits for
a share of n cases, on the scale between the ends of the number.

What remains is skew, which percentiles do not correct.  For densities that differ much between documents (gamma of
shape 2, 2,000 simulated corpora) 95 % intervals covered .920 with 8 units, .934 with 40, .948 with 150 and .950 with
400; most misses lay too low.  Below a hundred units read them as a little too narrow.

Confidence intervals for a proportion: hits out of n independent cases.

`wilson` is the score interval (Wilson 1927, J. Am. Stat. Assoc. 22, 209-212): the proportions p with |x/n - p| <= z
sqrt(p (1 - p) / n).  It never leaves [0, 1] and keeps a width when no case, or every case, is a hit.

`jeffreys` is the equal-tailed interval under the prior Beta(1/2, 1/2) (Brown, Cai & DasGupta 2001, Statistical
Science 16, 101-133, section 3.1, with their choice at the boundary: no hit gives the lower bound 0, nothing but hits
the upper bound 1).

`finite_jeffreys` is the same in a finite population: cases drawn without replacement say more
than as many from an infinite one.  The variance of a proportion shrinks by (N - n) / (N - 1) (Cochran 1977, Sampling
Techniques, theorem 3.2), so n cases count as n (N - 1) / (N - n).  Where all N were seen nothing is uncertain.

`cluster_wilson` is Wilson's interval for cases that were drawn in clusters, essays say: n counts as n divided by the
design effect, and by the square of Student's t over z for the clusters' degrees of freedom (Korn & Graubard 1998,
Survey Methodology 24, 193-201), but never as more than n.  A long essay pulls the share towards its own, so that the
spread around it comes out too small: the variance is that of the jackknife over clusters.  Where a few clusters hold
most of the cases the variance itself is poorly known; `degrees_of_freedom` says how poorly.  In a world whose longer
essays have more errors, essays counted as what they are worth held .89, ours .92 to .93; what is left is
that a sample without a long essay cannot know of them.

`graded_wilson` is Wilson's form for a mean of n shares between 0 and 1, such as the shares of raters who call an item
an error, from its standard error in resamples.  Twelve flags that nearly all raters accept say nothing of the one
that all reject, and percentiles of resamples held in .72 of simulated samples: one more case at the far end is added,
but the variance is no larger than that of hits and misses, which no shares exceed.  Ours held in .957 to .987.

`n` may be an effective number of cases, and hits a fraction.  With no case the proportion is undefined (nan), with
the reason.

What an interval is about: which population, which independent units, and what clustering costs.

A reader takes an interval as "for essays like these".  Errors cluster in essays (one learner, one topic, one
marker), so where essays are known they are what is drawn, and the *design effect* (Kish 1965, Survey Sampling,
section 8.2) says how many times the variance is that of as many independent items.  `Scope` holds this for one
result: its `sentence` stands under every table, its `warnings` go before it, and `to_dict` is its JSON.

Populations: `wider` (other essays, items or raters like these) and `these` (exactly this corpus, with the
finite-population correction).  Units: item, essay, document or rater, and with `n_raters` raters drawn beside them.

The rule for few units, `cluster_interval`: below `FEW_UNITS` Student's t on the spread of the resamples
(`grater.uncertainty.bootstrap`), from there on expanded percentiles (`grater.uncertainty.intervals`); below `TOO_FEW`
a warning.  In simulated corpora of 20 essays x 25 items limits that took items as independent held .72-.85 instead of
.95 (docs/agreement.md).

*Dispersion*: do events fall on units by chance alone, or do some units draw many of them?  The variance test of
Poisson counts with unequal exposure (Fisher 1925; Cochran 1954, Biometrics 10, 417-451, section 3.1): with x[u]
events in unit u, exposure t[u] and rate r = sum x / sum t,

    X2 = sum (x[u] - r t[u])^2 / (r t[u])

is chi-squared with n - 1 degrees of freedom where events fall by chance.  The *index of dispersion* X2 / (n - 1) is 1
then; above 1 some units have more than chance gives them: the "rich get richer".  p is one-sided.

Chance, always by a seed that is written down.

Every function that draws takes a generator; nothing in grater uses a global one.  `generator` makes independent
streams from one seed by name, so adding a draw in one place never changes another.  `permanent_number` gives an item
its one random number for life, which makes re-testing cheap (docs/architecture.md).

Intervals and tests where few units are drawn: Student's t on the spread of resamples.

A handful of raters drawn with replacement cannot spread as far as raters in the world do, and no percentile of such
resamples, however far out, gives an interval that holds (docs/evaluating.md).  Their standard deviation is sound
after a factor sqrt(n / (n - 1)), so the interval is the value ± that times t of n - 1 degrees of freedom (Efron &
Tibshirani 1993, section 12.2).  A score between 0 and 1 is taken on the scale of its logit, so that the interval
stays between 0 and 1; where a resample reaches 0 or 1, and for differences and totals, as it is.

`share_interval` is for precision, recall and F by essay.  Near 0 and 1 a cluster bootstrap of few flags is far too
narrow: with precision near .9 and 12 to 25 flags percentiles held .67 to .89 of 400 simulated worlds; Wilson's form,
for as many cases as the spread shows the clustered ones to be worth, held .93 to .98 (docs/evaluating.md).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from math import inf, isfinite, isnan, nan, pi, sqrt, tan
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.model import Interval
from grater.result import HIDDEN, Data, in_json, key

Numbers: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

LEVEL = 0.95
RESAMPLES = 1000
ONE_UNIT = "a single unit cannot be resampled"
NO_UNIT = "there is nothing to score"
NO_DRAWS = "no resample was drawn"
NO_SPREAD = "no resample differs from another, so that they show no spread"
ALIKE = 1e-12
"""Draws no further apart than this differ by rounding alone."""


def z_value(level: float = LEVEL) -> float:
    """The normal quantile that leaves (1 - level) / 2 above it: 1.96 for 95 %."""
    return NormalDist().inv_cdf((1 + level) / 2)


def two_sided_p(z: float) -> float:
    """The chance of a standard normal number at least as far from 0."""
    return 2 * NormalDist().cdf(-abs(z))


def normal_interval(
    value: float, error: float, *, level: float = LEVEL, ends: tuple[float, float] = (-inf, inf)
) -> Interval:
    """The value plus or minus z standard errors, never beyond its `ends`."""
    half = z_value(level) * error
    return Interval(value, max(ends[0], value - half), min(ends[1], value + half))


def percentile_interval(
    value: float,
    draws: Numbers,
    *,
    n_units: int,
    level: float = LEVEL,
    one_unit: str = ONE_UNIT,
    ends: tuple[float, float] = (-inf, inf),
) -> Interval:
    """The value with the expanded percentiles of its draws; `one_unit` names a unit in the reason for having none.

    With the `ends` of its scale a number whose draws are all alike still has a width.
    """
    if n_units < 2 or isnan(value):
        return Interval(value, nan, nan, one_unit if n_units else NO_UNIT)
    if not draws.size:
        return Interval(value, nan, nan, NO_DRAWS)
    if are_alike(draws) and isfinite(ends[0]) and isfinite(ends[1]):
        return alike_interval(value, n_units, quantile=z_value(level), ends=ends)
    return tail_interval(value, draws, expanded_tail(n_units, level=level))


def tail_interval(
    value: float, draws: Numbers, tail: float, *, method: Literal["linear", "inverted_cdf"] = "linear"
) -> Interval:
    """What `tail` of the draws lie below, and what as many lie above; the value itself is never excluded."""
    low, high = np.quantile(draws, [tail, 1 - tail], method=method)
    return Interval(value, min(float(low), value), max(float(high), value))


def are_alike(draws: Numbers) -> bool:
    """Whether resamples show no spread at all."""
    return bool(np.ptp(draws) <= ALIKE)


def alike_interval(value: float, n: float, *, quantile: float, ends: tuple[float, float] = (0.0, 1.0)) -> Interval:
    """A number that is the same in every resample of n cases: Wilson's limits on the scale between its ends."""
    bottom, width = ends[0], ends[1] - ends[0]
    low, high = score_limits((value - bottom) / width, n, quantile)
    return Interval(value, min(value, bottom + width * low), max(value, bottom + width * high))


def score_limits(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's limits of a share of n cases: the shares p with |share - p| <= quantile sqrt(p (1 - p) / n)."""
    square = quantile * quantile
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = quantile / (1 + square / n) * sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def unseen_share(n: float, quantile: float) -> float:
    """Wilson's upper limit for what none of n cases shows."""
    return quantile**2 / (n + quantile**2)


def holding(interval: Interval, other: Interval) -> Interval:
    """The interval, wide enough to hold another too; the other's alone where it has no limits itself."""
    if isnan(other.low):
        return interval
    lows, highs = [other.low, interval.value], [other.high, interval.value]
    if not isnan(interval.low):
        lows, highs = [*lows, interval.low], [*highs, interval.high]
    return Interval(interval.value, min(lows), max(highs))


def expanded_tail(n_units: float, *, level: float = LEVEL) -> float:
    """The share of draws left out on each side, so that n units give the width that Student's t would."""
    t = student_quantile((1 + level) / 2, n_units - 1)
    return NormalDist().cdf(-sqrt(n_units / (n_units - 1)) * t)


def contracted_tail(share: float, n_units: float) -> float:
    """The tail that `expanded_tail` turns into this share of the draws, so that a p is in step with its interval."""
    low, high = 0.0, 1.0
    for _ in range(40):
        level = (low + high) / 2
        low, high = (level, high) if expanded_tail(n_units, level=level) > share else (low, level)
    return (1 - low) / 2


def student_quantile(share: float, freedom: float) -> float:
    """Abramowitz & Stegun 26.7.5, off by less than 1 % from three degrees of freedom on; below, exact."""
    # Good enough to say how far out to look, and importing scipy for it costs a fifth of a second.
    if freedom == 1:
        return tan(pi * (share - 0.5))
    if freedom == 2:
        return (2 * share - 1) / sqrt(2 * share * (1 - share))
    if freedom < 3:
        from scipy.special import stdtrit

        return float(stdtrit(freedom, share))
    z = NormalDist().inv_cdf(share)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


# Proportions


NO_CASE = "no case was counted"


def wilson(hits: float, n: float, *, level: float = LEVEL) -> Interval:
    """The proportion hits/n with Wilson's interval."""
    if n <= 0:
        return Interval(nan, nan, nan, NO_CASE)
    share = hits / n
    low, high = score_limits(share, n, z_value(level))
    # At the boundary the bound is the share itself; in floating point it would miss by a hair.
    return Interval(share, 0.0 if hits == 0 else low, 1.0 if hits == n else high)


def graded_wilson(share: float, error: float, n: float, *, level: float = LEVEL) -> Interval:
    """The mean of n shares with this standard error."""
    of_hits, unseen = share * (1 - share) / n, (max(share, 1 - share) / n) ** 2
    variance = max(error**2, min(of_hits, error**2 + unseen))
    worth = share * (1 - share) / variance if of_hits > 0 else n
    return wilson(share * worth, worth, level=level)


def cluster_wilson(hits: Numbers, n: Numbers, *, level: float = LEVEL) -> Interval:
    """The proportion of hits among n cases, both by cluster."""
    total = float(n.sum())
    if total <= 0:
        return Interval(nan, nan, nan, NO_CASE)
    share = float(hits.sum()) / total
    n_clusters = int((n > 0).sum())
    if n_clusters < 2:
        return Interval(share, nan, nan, ONE_UNIT)
    weights = n / total
    moved = (hits - share * n) / total / (1 - weights)  # by how much the share moves when a cluster is left out
    variance = float(moved @ moved) * (n_clusters - 1) / n_clusters
    worth = share * (1 - share) / variance if variance > 0 else total
    worth *= (z_value(level) / student_quantile((1 + level) / 2, degrees_of_freedom(weights))) ** 2
    worth = min(total, worth)
    return wilson(share * worth, worth, level=level)


def degrees_of_freedom(weights: Numbers) -> float:
    """Those of the jackknife variance over clusters with these shares of the cases: one less than clusters, or fewer.

    The geometric mean of what the clusters are worth (Kish 1965), less one, which is too many where clusters are
    unequal, and Satterthwaite's number, which is too few (Bell & McCaffrey 2002, Survey Methodology 28, 169-181,
    section 4, for cluster means of one variance).
    """
    squares = float(weights @ weights)
    if squares >= 1 / 2:
        return 1.0
    by_cluster = (weights / (1 - weights)) ** 2
    total, first, second = (float(by_cluster @ weights**power) for power in range(3))
    own = 1 - 2 * weights + squares
    between = squares**2 * total**2 + 2 * total * second + 2 * first**2 - 4 * squares * total * first
    trace_of_square = between + float(by_cluster**2 @ (own**2 - (squares - 2 * weights) ** 2))
    satterthwaite = float(by_cluster @ own) ** 2 / trace_of_square
    return max(1.0, sqrt((1 / squares - 1) * satterthwaite))


def jeffreys(hits: float, n: float, *, level: float = LEVEL) -> Interval:
    """The proportion hits/n with Jeffreys' interval."""
    from scipy.special import betaincinv  # a fifth of a second that most commands need not wait for

    if n <= 0:
        return Interval(nan, nan, nan, NO_CASE)
    share, tail = hits / n, (1 - level) / 2
    first, second = hits + 0.5, n - hits + 0.5
    low = 0.0 if hits == 0 else float(betaincinv(first, second, tail))
    high = 1.0 if hits == n else float(betaincinv(first, second, 1 - tail))
    # A single case of two halves may leave the share a hair outside its own interval.
    return Interval(share, min(low, share), max(high, share))


def effective_n(n: float, size: float) -> float:
    """What n cases out of `size` are worth; inf where they are all of them, or where the one case is."""
    if size == inf:
        return n
    return inf if n >= size else n * (size - 1) / (size - n)


def finite_jeffreys(hits: float, n: float, *, size: float = inf, level: float = LEVEL) -> Interval:
    """The proportion hits/n in a population of `size`, with Jeffreys' interval."""
    if n <= 0:
        return Interval(nan, nan, nan, NO_CASE)
    share, worth = hits / n, effective_n(n, size)
    if worth == inf:
        return Interval(share, share, share)
    return jeffreys(share * worth, worth, level=level)


# Few units


SHARE = (0.0, 1.0)
"""The ends of a score that is taken on the scale of its logit."""


def student_interval(
    value: float, drawn: Numbers, *, n_units: float, level: float = LEVEL, ends: tuple[float, float] = (-inf, inf)
) -> Interval:
    """A number with an interval from resamples of few units, never beyond its `ends`."""
    from scipy.special import expit, logit, stdtrit  # a fifth of a second that most commands need not wait for

    if n_units < 2 or isnan(value):
        return Interval(value, nan, nan, ONE_UNIT if n_units else NO_UNIT)
    if not drawn.size:
        return Interval(value, nan, nan, NO_DRAWS)
    t = float(stdtrit(n_units - 1, (1 + level) / 2))
    if are_alike(drawn) and isfinite(ends[0]) and isfinite(ends[1]):
        return alike_interval(value, n_units, quantile=t, ends=ends)
    if ends == SHARE and min(value, drawn.min()) > 0 and max(value, drawn.max()) < 1:
        middle, half = float(logit(value)), t * student_spread(logit(drawn), n_units)
        return Interval(value, float(expit(middle - half)), float(expit(middle + half)))
    half = t * student_spread(drawn, n_units)
    return Interval(value, max(ends[0], value - half), min(ends[1], value + half))


def share_interval(value: float, drawn: Numbers, *, n: float, n_units: float, level: float = LEVEL) -> Interval:
    """A share of n cases that come in units: Wilson's interval for as many cases as they are worth.

    The effective number of cases (Kish 1965) comes from the spread of the resamples, and Student's t stands in place
    of the normal quantile; where all resamples are alike, each unit is worth a case.
    """
    from scipy.special import stdtrit  # a fifth of a second that most commands need not wait for

    if n_units < 2 or isnan(value):
        return Interval(value, nan, nan, ONE_UNIT if n_units else NO_UNIT)
    if not drawn.size:
        return Interval(value, nan, nan, NO_DRAWS)
    t, error = float(stdtrit(n_units - 1, (1 + level) / 2)), _share_spread(value, drawn, n_units)
    is_spread = 0 < value < 1 and not are_alike(drawn)
    return alike_interval(value, value * (1 - value) / error**2 if is_spread else min(n, n_units), quantile=t)


def _share_spread(value: float, drawn: Numbers, n_units: float) -> float:
    """The spread of a share, or that of its logit where this says more: far from one half resamples are skew."""
    from scipy.special import logit  # a fifth of a second that most commands need not wait for

    plain = student_spread(drawn, n_units)
    if drawn.min() <= 0 or drawn.max() >= 1 or not 0 < value < 1:
        return plain
    return max(plain, value * (1 - value) * student_spread(logit(drawn), n_units))


def student_spread(drawn: Numbers, n_units: float) -> float:
    """The standard deviation of resamples, as far as raters in the world would spread."""
    return float(np.std(drawn)) * sqrt(n_units / (n_units - 1))


# What an interval speaks of


Population: TypeAlias = Literal["wider", "these"]

FEW_UNITS = 20
"""Essays below which an interval is Student's t on the cluster bootstrap."""

TOO_FEW = 10
"""Essays below which a result warns."""

ESSAYS_UNKNOWN = "their essays are not known"
AS_ASKED = "as asked"


@dataclass(frozen=True, slots=True)
class Scope(Data):
    """What the intervals of one result speak of.

    `unit` is what was drawn, `n_units` how many there are, 0 where that is not told; `n_raters` is 0 where raters
    were taken as they are.  `independent_because` says why items were drawn although they stand in essays.
    """

    unit: str = "item"
    n_units: int = 0
    population: Population = "wider"
    design_effect: float = nan
    n_raters: int = field(default=0, metadata=key("raters_drawn"))
    independent_because: str = field(default=ESSAYS_UNKNOWN, metadata=HIDDEN)
    level: float = LEVEL

    @property
    def is_clustered(self) -> bool:
        return self.unit not in ("item", "")

    @property
    def is_few(self) -> bool:
        """Whether intervals are Student's t."""
        return self.is_clustered and 0 < self.n_units < FEW_UNITS

    @property
    def of_each(self) -> Scope:
        """The same for systems that have some of the units each: no number is true of all of them."""
        return replace(self, n_units=0)

    @property
    @in_json()
    def sentence(self) -> str:
        """What a reader may say of the intervals: "95 % intervals generalise to other essays like these 20 (...)"."""
        return f"{100 * self.level:g} % intervals {self._verb()} {self._whom()}{self._how()}."

    @property
    def warnings(self) -> tuple[str, ...]:
        """Where there are too few units, or too few raters that were drawn, to say much."""
        if self.population == "these":
            return ()
        drawn = [(self.unit, self.n_units)] if self.is_clustered else []
        drawn += [("rater", self.n_raters)] if self.n_raters else []
        return tuple(
            f"only {_counted(n, unit)}: intervals by {unit} are rough below {TOO_FEW}"
            for unit, n in drawn
            if n < TOO_FEW
        )

    def _verb(self) -> str:
        return "are for" if self.population == "these" else "generalise to"

    def _whom(self) -> str:
        if self.population == "these":
            unit = self.unit or "item"
            return f"exactly these {_counted(self.n_units, unit) if self.n_units else f'{unit}s'}"
        parts = [(self.unit, self.n_units), ("rater", self.n_raters)]
        likes = [f"other {unit}s like these {n:,}" for unit, n in parts if unit and n]
        if self.unit and not self.n_units:
            likes.insert(0, f"other {self.unit}s like these")
        return " and ".join(likes) or "other data like these"

    def _how(self) -> str:
        if self.population == "these":
            return ", not for others (finite-population correction)"
        if self.unit == "item":
            return f", taken as independent ({self.independent_because})"
        drawn = [f"resampled by {self.unit}"] if self.unit else []
        effect = [] if isnan(self.design_effect) else [f"design effect {self.design_effect:.1f}"]
        student = ["Student's t"] if self.is_few else []
        return f" ({', '.join([*drawn, *effect, *student])})" if drawn else ""


def cluster_interval(
    value: float, draws: Numbers, *, n_units: int, level: float = LEVEL, ends: tuple[float, float] = (-inf, inf)
) -> Interval:
    """A value with the interval of its draws by essay or rater: Student's t where these are few."""
    if n_units >= FEW_UNITS:
        return percentile_interval(value, draws, n_units=n_units, level=level, ends=ends)

    return student_interval(value, draws, n_units=n_units, level=level, ends=ends)


def design_effect(influence: Numbers, unit_of: Ints) -> float:
    """The variance with units drawn whole over that with items drawn one by one; nan where nothing varies.

    `influence` is what each item adds to the statistic at first order; `unit_of` the code of its essay, from 0 on.
    """
    of_units = np.bincount(unit_of, weights=influence).astype(np.float64)
    return variance_ratio(of_units, float(influence @ influence), n_items=len(influence))


def variance_ratio(of_units: Numbers, of_items: float, *, n_items: int) -> float:
    """The same from the sum of influences in each unit and the sum of squares over items."""
    n_units = len(of_units)
    if n_units < 2 or n_items < 2 or of_items <= 0:
        return nan
    by_unit = float(of_units @ of_units) * n_units / (n_units - 1)
    return by_unit / (of_items * n_items / (n_items - 1))


def effective_units(lengths: Numbers, times: Ints | None = None) -> float:
    """How many essays of one length these are worth, where they are very unequal: worth fewer than half of them.

    (Sum of lengths)² / (sum of squared lengths): Carter, Schnepel & Steigerwald 2017, Review of Economics and
    Statistics 99, 698-709, after Kish 1965.  Thirty essays of Pareto lengths, as if they were thirty, held .90.
    """
    weights = np.ones(len(lengths)) if times is None else times
    n, squares = float(weights.sum()), float(weights @ lengths**2)
    worth = float(weights @ lengths) ** 2 / squares if squares else n
    return max(2.0, worth) if worth < n / 2 else n


def widening(n_units: float, n_effective: float) -> float:
    """What the error of n units of unequal lengths misses, over what that of as many of one length does."""
    return sqrt(n_effective / (n_effective - 1) * (n_units - 1) / n_units) if n_units > 1 else 1.0


def _counted(n: int, unit: str) -> str:
    return f"{n:,} {unit}" if n == 1 else f"{n:,} {unit}s"


@dataclass(frozen=True, slots=True)
class Dispersion(Data):
    """`index` is 1 by chance; both numbers are nan where fewer than two units have any exposure, or no event."""

    index: float
    p: float
    n_units: int


def dispersion(events: Numbers, exposure: Numbers) -> Dispersion:
    """The test of events in units of some exposure: edits in essays of a number of tokens."""
    is_exposed = exposure > 0
    events, exposure = events[is_exposed], exposure[is_exposed]
    n_units = len(events)
    from scipy.special import chdtrc  # a fifth of a second that most commands need not wait for

    if n_units < 2 or not events.sum():
        return Dispersion(index=nan, p=nan, n_units=n_units)
    expected = exposure * (events.sum() / exposure.sum())
    freedom = n_units - 1
    index = float(np.sum((events - expected) ** 2 / expected)) / freedom
    return Dispersion(index=index, p=float(chdtrc(freedom, index * freedom)), n_units=n_units)


# Chance


def generator(seed: int, *path: str) -> np.random.Generator:
    """An independent stream for the named purpose: `generator(0, "bootstrap", "recall")`."""
    words = [int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") for name in path]
    return np.random.default_rng([seed, *words])


def permanent_number(seed: int, item_id: str) -> float:
    """The item's own number in [0, 1), the same on every machine and in every draw of a study with this seed."""
    digest = hashlib.sha256(f"{seed}|{item_id}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53  # 53 bits: what a float holds, so never 1.0
