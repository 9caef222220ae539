"""Intervals that cover other raters like these: raters as random, as well as items or essays.

Gwet 2014 (Handbook of Inter-Rater Reliability, chapter 5) adds two variances: that over items with these raters,
and that over raters with these items, the latter by the jackknife, which leaves out one rater at a time.  (A
bootstrap of raters would pair a rater with himself, who always agrees.) The jackknife's part holds some of the
variance over items as well, so intervals err on the safe side.

Both variances are those of log(1 - x), as in `grater.statistics.bca`, or of x where it reaches 1; that over items
is read off the interval for these raters.  The interval is Student's t with the degrees of freedom of Satterthwaite
1946.  Three raters are needed; with fewer than ten the interval is wide, as it should be.

A rater who is left out changes the items that he or she judged and no others, so that leaving out each in turn costs
as much as counting all judgments once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, isnan, log, sqrt

import numpy as np

from grater.agreement.coded import Coded
from grater.agreement.coefficients import Coefficient
from grater.agreement.counts import table_of
from grater.errors import UsageError
from grater.model import Interval
from grater.statistics.bca import Sums
from grater.statistics.intervals import Numbers

FEWEST = 3


def require_random(coded: Coded) -> None:
    """Refuse raters that cannot stand for others."""
    if coded.anonymous_raters:
        raise UsageError("raters are positions, not people: they cannot be drawn")
    if len(coded.raters) < FEWEST:
        raise UsageError(f"expected at least {FEWEST} raters to speak of others like them, found {len(coded.raters)}")


def without_each_rater(coefficients: Sequence[Coefficient], coded: Coded) -> list[Numbers]:
    """For each coefficient its values with one rater left out, in the order of raters."""
    table = table_of(coded.item, coded.label, len(coded.labels))
    order = np.argsort(coded.rater, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(coded.rater, minlength=len(coded.raters)))[:-1])
    values: list[list[float]] = [[] for _ in coefficients]
    totals = [_sums(coefficient, table) for coefficient in coefficients]
    for rows in parts:
        before = table[coded.item[rows]]
        after = before.copy()
        after[np.arange(len(rows)), coded.label[rows]] -= 1
        for column, coefficient, total in zip(values, coefficients, totals, strict=True):
            changed = total - _sums(coefficient, before) + _sums(coefficient, after)
            column.append(float(coefficient.score(changed)))
    return [np.array(column) for column in values]


def _sums(coefficient: Coefficient, rows: Sums) -> Numbers:
    compared = rows[rows.sum(axis=1) > 1]
    sums: Numbers = coefficient.rows(compared).sum(axis=0)
    return sums


def random_interval(fixed: Interval, without: Numbers, *, n_units: int, level: float) -> Interval:
    """The interval for other raters too: `fixed` is for these raters, `without` has the values with one left out."""
    from scipy.special import stdtrit  # a fifth of a second that most commands need not wait for

    without = without[~np.isnan(without)]
    if isnan(fixed.value) or isnan(fixed.low) or len(without) < FEWEST:
        return fixed
    is_plain = max(fixed.high, float(without.max())) >= 1
    value, low, high = (number if is_plain else -log(1 - number) for number in (fixed.value, fixed.low, fixed.high))
    left = without if is_plain else -np.log(1 - without)
    over_items = ((high - low) / 2 / float(stdtrit(n_units - 1, (1 + level) / 2))) ** 2
    over_raters = float(np.var(left)) * (len(left) - 1)
    total = over_items + over_raters
    if total == 0:
        return fixed
    freedom = total**2 / (over_items**2 / (n_units - 1) + over_raters**2 / (len(left) - 1))
    half = float(stdtrit(freedom, (1 + level) / 2)) * sqrt(total)
    if is_plain:
        return Interval(fixed.value, max(-1.0, value - half), min(1.0, value + half))
    return Interval(fixed.value, max(-1.0, 1 - exp(half - value)), 1 - exp(-value - half))
