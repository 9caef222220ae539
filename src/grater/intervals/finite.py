"""Shares of a finite population: cases drawn without replacement say more than as many from an endless one.

The variance of a share shrinks by (N - n) / (N - 1) (Cochran 1977, Sampling Techniques, theorem 3.2), so n cases
count as n (N - 1) / (N - n).  Where all N were seen there is nothing left to doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

from grater.intervals.jeffreys import jeffreys
from grater.intervals.wilson import wilson
from grater.model import Interval


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
