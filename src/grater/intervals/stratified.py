"""Limits for a total over strata, each of which was sampled by itself: Wilson's interval for more than one share.

The total is T = sum N_k p_k, with x_k hits in n_k cases of stratum k.  Limits are the totals that a score test does
not refuse (Rao 1948; Miettinen & Nurminen 1985, Statistics in Medicine 4, 213-226, for two strata).  Under T = t the
likeliest rates solve x_k - n_k p_k + l N_k p_k (1 - p_k) = 0 for one number l, and then t - T^ = l V with V = sum
N_k² p_k (1 - p_k) / n_k, the variance at those rates.  So the limits lie where l² V = z², one unknown however many
strata there are.  With a single stratum this is Wilson's interval.

Why not add up limits of the strata (`mover_sum`): the limits of a stratum with one hit are lopsided, and a sum of
many such strata is less so.  Adding squares keeps the skew of the parts, and the low limit comes out too high.

A stratum without a hit bends the high limit only where it weighs enough.  `n` may be an effective number of cases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

from grater.model import Interval

STEPS = 200
CLOSE = 1e-13


class Part(NamedTuple):
    """A stratum: what one unit of its share adds to the total, hits, and cases."""

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


def stratified(parts: Sequence[Part], *, level: float = 0.95) -> Interval:
    """The total over strata with its limits; of no stratum it is 0 and certain."""
    total, most = sum(part.size * part.hits / part.n for part in parts), sum(part.size for part in parts)
    z = NormalDist().inv_cdf((1 + level) / 2)
    is_none, is_all = all(part.hits == 0 for part in parts), all(part.hits == part.n for part in parts)
    low = 0.0 if is_none else total + _distance(parts, z, -1)
    high = most if is_all else total + _distance(parts, z, 1)
    return Interval(total, min(max(0.0, low), total), max(min(most, high), total))


def _distance(parts: Sequence[Part], z: float, sign: int) -> float:
    """How far the limit lies from the total, downwards for -1 and upwards for 1."""

    def beyond(pull: float) -> float:
        return pull * sqrt(sum(part.variance(sign * pull) for part in parts)) - z

    pull = _crossing(beyond, 1 / max(part.size / part.n for part in parts))
    return sign * pull * sum(part.variance(sign * pull) for part in parts)


def _crossing(function: Callable[[float], float], start: float) -> float:
    """Where a function that is below 0 at 0 first rises above it: brackets from `start`, then false position."""
    low, high, below, above = 0.0, start, function(0.0), function(start)
    while above < 0:
        low, high, below, above = high, 2 * high, above, function(2 * high)
    for _ in range(STEPS):
        middle = (low * above - high * below) / (above - below)
        here = function(middle)
        if here < 0:
            low, below, above = middle, here, above / 2  # the Illinois rule: an end that stays put loses weight
        else:
            high, above, below = middle, here, below / 2
        if abs(high - low) <= CLOSE * high or here == 0:
            break
    return high
