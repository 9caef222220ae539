"""The score interval for a share of independent cases.

Wilson 1927, J. Am. Stat. Assoc. 22, 209-212: the shares p with |x/n - p| <= z sqrt(p (1 - p) / n).  It never leaves
[0, 1] and keeps a width when no case, or every case, is a hit.  `n` may be an effective number of cases.  With no
case at all the share is undefined (nan) and says so.
"""

from __future__ import annotations

from math import nan, sqrt
from statistics import NormalDist

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
