"""The score interval for a share of independent cases.

Wilson 1927, J. Am. Stat. Assoc. 22, 209-212: the shares p with |x/n - p| <= z sqrt(p (1 - p) / n).  It never leaves
[0, 1] and keeps a width when no case, or every case, is a hit.  `n` may be an effective number of cases.  With no
case at all the share is undefined (nan) and says so.

The equal-tailed interval for a share under Jeffreys' prior, Beta(1/2, 1/2).

Brown, Cai & DasGupta 2001, Statistical Science 16, 101-133, section 3.1, with their choice at the rim: no hit gives
the lower limit 0, nothing but hits the upper limit 1.  `n` may be an effective number of cases, and hits a fraction.

Shares of a finite population: cases drawn without replacement say more than as many from an endless one.

The variance of a share shrinks by (N - n) / (N - 1) (Cochran 1977, Sampling Techniques, theorem 3.2), so n cases
count as n (N - 1) / (N - n).  Where all N were seen there is nothing left to doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan, sqrt
from statistics import NormalDist

from scipy.special import betaincinv

from grater.model import Interval


def wilson(hits: float, n: float, *, level: float = 0.95) -> Interval:
    """The share hits/n with its limits."""
    if n <= 0:
        return Interval(nan, nan, nan, "no case was counted")
    share, z = hits / n, NormalDist().inv_cdf((1 + level) / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At the rim the limit is the share itself; in floating point it would miss by a hair.
    low = 0.0 if hits == 0 else centre - half
    high = 1.0 if hits == n else centre + half
    return Interval(share, low, high)


def jeffreys(hits: float, n: float, *, level: float = 0.95) -> Interval:
    """The share hits/n with its limits."""
    if n <= 0:
        return Interval(nan, nan, nan, "no case was counted")
    share, tail = hits / n, (1 - level) / 2
    first, second = hits + 0.5, n - hits + 0.5
    low = 0.0 if hits == 0 else float(betaincinv(first, second, tail))
    high = 1.0 if hits == n else float(betaincinv(first, second, 1 - tail))
    # A single case of two halves may leave the share a hair outside its own limits.
    return Interval(share, min(low, share), max(high, share))


def effective_n(n: float, size: float) -> float:
    """What n cases out of `size` are worth; inf where they are all of them, or where the one case is."""
    if size == inf:
        return n
    return inf if n >= size else n * (size - 1) / (size - n)


def finite_wilson(hits: float, n: float, *, size: float = inf, level: float = 0.95) -> Interval:
    """The share hits/n of a population of `size`, with Wilson's limits."""
    return _limits(wilson, hits, n, size, level)


def finite_jeffreys(hits: float, n: float, *, size: float = inf, level: float = 0.95) -> Interval:
    """The share hits/n of a population of `size`, with Jeffreys' limits."""
    return _limits(jeffreys, hits, n, size, level)


def _limits(limits: Callable[..., Interval], hits: float, n: float, size: float, level: float) -> Interval:
    if n <= 0:
        return Interval(nan, nan, nan, "no case was counted")
    share, worth = hits / n, effective_n(n, size)
    if worth == inf:
        return Interval(share, share, share)
    return limits(share * worth, worth, level=level)
