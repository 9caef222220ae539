"""The equal-tailed interval for a share under Jeffreys' prior, Beta(1/2, 1/2).

Brown, Cai & DasGupta 2001, Statistical Science 16, 101-133, section 3.1, with their choice at the rim: no hit gives
the lower limit 0, nothing but hits the upper limit 1.  `n` may be an effective number of cases, and hits a fraction.
"""

from __future__ import annotations

from math import nan

from scipy.special import betaincinv

from grater.model import Interval


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
