"""Limits for the agreement of annotators, with essays as what was drawn.

Tokens of an essay are not independent: one writer, one topic, one mood of the annotator.  So whole essays are
resampled (documents, where M2 sentences know theirs), the same ones for every pair of annotators and every criterion;
the mean over pairs then has its limits too, however much pairs depend on each other.  Limits are expanded percentiles
(`grater.intervals`).  `fce` is the error of Fleiss, Cohen & Everitt 1969 over tokens, as if they were independent:
it is here to reproduce such numbers, and too narrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan, nan, sqrt
from statistics import NormalDist

import numpy as np

from grater.agreement.coefficient import Numbers
from grater.agreement.edits.sums import Cells, Statistic, pair_statistic
from grater.intervals.bootstrap import MOST_WEIGHTS, expanded_tail
from grater.model import Interval

ONE_CLUSTER = "a single essay cannot be resampled"
NO_SPREAD = "every resample of essays gives the same value, so that it says nothing of its certainty"


def draws(
    statistics: Sequence[Statistic], n_clusters: int, *, rng: np.random.Generator, n_resamples: int
) -> list[Numbers]:
    """For each statistic its scores in every resample, a row each."""
    widest = max([n_clusters, *(statistic.rows.shape[1] for statistic in statistics)])
    blocks: list[list[Numbers]] = [[np.zeros((0, len(statistic.names)))] for statistic in statistics]
    for weights in _weights(n_clusters, n_resamples, max(1, 4 * MOST_WEIGHTS // widest), rng):
        for block, statistic in zip(blocks, statistics, strict=True):
            block.append(statistic.score((statistic.rows.T @ weights.T).T))
    return [np.concatenate(block) for block in blocks]


def _weights(n_clusters: int, n_resamples: int, n_at_once: int, rng: np.random.Generator) -> Iterator[Numbers]:
    """How often each cluster is drawn, a row for each resample."""
    for start in range(0, n_resamples if n_clusters else 0, n_at_once):
        n_now = min(n_at_once, n_resamples - start)
        drawn = rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=n_now)
        yield drawn.astype(np.float64)


def interval(value: float, drawn: Numbers, n_clusters: int, *, undefined: str, level: float) -> Interval:
    """A value with the limits that its draws give."""
    if isnan(value):
        return Interval(nan, nan, nan, undefined)
    drawn = drawn[~np.isnan(drawn)]
    if n_clusters < 2 or not drawn.size:
        return Interval(value, nan, nan, ONE_CLUSTER if n_clusters < 2 else "no resample gives a value")
    if np.ptp(drawn) < 1e-12:
        return Interval(value, nan, nan, NO_SPREAD)
    tail = expanded_tail(n_clusters, level=level)
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Interval(value, min(float(low), value), max(float(high), value))


def fce_interval(found: Cells, *, undefined: str, level: float) -> Interval:
    """Cohen's kappa with limits as if tokens were independent (Fleiss, Cohen & Everitt 1969, eq. 13)."""
    statistic = pair_statistic(found, int(found.cluster.max(initial=0)) + 1)
    observed, value = map(float, statistic.score(statistic.sums))
    if isnan(value):
        return Interval(nan, nan, nan, undefined)
    error = sqrt(float(found.times @ _influence(found, observed) ** 2))
    if error == 0:
        return Interval(value, nan, nan, "the two never disagree, so that the error is 0; use the bootstrap")
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return Interval(value, max(-1.0, value - half), min(1.0, value + half))


def _influence(found: Cells, observed: float) -> Numbers:
    """What one more token in each cell would do to kappa, at first order."""
    n_labels = int(max(found.first.max(), found.second.max())) + 1
    rows = np.bincount(found.first, weights=found.times, minlength=n_labels)
    columns = np.bincount(found.second, weights=found.times, minlength=n_labels)
    n = found.n
    expected = float(rows @ columns) / n**2
    by_observed = ((found.first == found.second) - observed) / n
    by_expected = (columns[found.first] + rows[found.second]) / n**2 - 2 * expected / n
    slope: Numbers = (by_observed * (1 - expected) - (1 - observed) * by_expected) / (1 - expected) ** 2
    return slope
