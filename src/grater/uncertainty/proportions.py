"""Confidence intervals for a proportion: hits out of n independent cases.

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
"""

from __future__ import annotations

from math import inf, nan, sqrt

from grater.model import Interval
from grater.uncertainty.intervals import LEVEL, ONE_UNIT, Numbers, score_limits, student_quantile, z_value

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
