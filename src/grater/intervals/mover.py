"""Limits for sums and ratios of independent numbers that have limits of their own.

MOVER, the "method of variance estimates recovery": Zou & Donner 2008, Statistics in Medicine 27, 1693-1702 (sums);
Donner & Zou 2012, Statistical Methods in Medical Research 21, 347-359 (ratios).  Each number brings its own limits,
skewed as they may be, and these are carried over; nothing is taken to be normal.

The ratio is over / under, t2 / t1 in the papers.  Its lower limit is written here with the root in the denominator,
which is the same number and stays finite where u1 = 2 t1.  A lower limit of 0 below the line leaves the ratio without
an upper limit (inf); 0 / 0 is undefined (nan).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan, sqrt

from grater.model import Interval


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
    return Interval(value, _low(over, under), _high(over, under))


def _low(over: Interval, under: Interval) -> float:
    rest = over.low * (2 * over.value - over.low)
    if rest <= 0:
        return 0.0
    product = over.value * under.value
    root = sqrt(max(0.0, product**2 - rest * under.high * (2 * under.value - under.high)))
    # Both are 0 only where the number below the line is 0 and known to be so.
    return rest / (product + root) if product + root else inf


def _high(over: Interval, under: Interval) -> float:
    bottom = under.low * (2 * under.value - under.low)
    if bottom <= 0:
        return inf
    product = over.value * under.value
    root = sqrt(max(0.0, product**2 - bottom * over.high * (2 * over.value - over.high)))
    return (product + root) / bottom
