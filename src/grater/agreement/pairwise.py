"""The mean of kappa over all pairs of raters, with the items as what was drawn.

Light 1971, Psychological Bulletin 76, 365-377.  Pairs that share no item, or whose kappa is undefined, are left out
and counted, in every resample too.  Pairs share items and raters, so their kappas are dependent: whole items are
resampled, with all that their raters said (`limits.py`).  Where that would take too much memory (many items or many
pairs) limits are the delta method: an item's influence on the mean is the mean of its influences on the pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan, sqrt

import numpy as np
import numpy.typing as npt

from grater.agreement.coded import Coded
from grater.agreement.coefficient import Coefficient, Numbers, Sums, ratio
from grater.agreement.cohen import cohen, influence, kappa
from grater.agreement.confusion import NOBODY, Confusion, label_matrix
from grater.agreement.counts import Whole
from grater.agreement.limits import RESAMPLES, Units, interval, scores
from grater.agreement.weights import Matrix, weight_matrix
from grater.intervals.bootstrap import student_quantile
from grater.model import Interval

MOST_SUMS = 1024
MOST_CELLS = 1 << 24
"""What the bootstrap may take: cells of all pairs' tables, and these times items (128 MB)."""


@dataclass(frozen=True, slots=True)
class MeanPairwise:
    """Mean kappa over `n_pairs` pairs; `n_undefined` more have none.  `method` says how its limits were made."""

    kappa: Interval
    n_pairs: int
    n_undefined: int
    method: str


def mean_pairwise(
    coded: Coded,
    tables: Sequence[Confusion],
    *,
    rng: np.random.Generator,
    weights: Matrix | None = None,
    n_resamples: int = RESAMPLES,
    level: float = 0.95,
) -> MeanPairwise:
    """`tables` are those of every pair, in the order of `confusions`."""
    values = np.array([kappa(table, weights=weights) for table in tables])
    is_defined = ~np.isnan(values)
    n_pairs, n_undefined = int(is_defined.sum()), int((~is_defined).sum())
    if n_pairs == 0:
        undefined = Interval(nan, nan, nan, "no pair of raters has a kappa")
        return MeanPairwise(undefined, 0, n_undefined, "none")
    value = float(values[is_defined].mean())
    matrix = label_matrix(coded)
    matrix = matrix[(matrix != NOBODY).sum(axis=1) > 1]
    if len(matrix) < 2:
        alone = Interval(value, nan, nan, "a single item cannot be resampled")
        return MeanPairwise(alone, n_pairs, n_undefined, "none")
    n_sums = len(tables) * len(coded.labels) ** 2
    if n_sums > MOST_SUMS or n_sums * len(matrix) > MOST_CELLS:
        half = student_quantile((1 + level) / 2, len(matrix) - 1) * _delta_error(matrix, tables, is_defined, weights)
        limits = Interval(value, max(-1.0, value - half), min(1.0, value + half))
        return MeanPairwise(limits, n_pairs, n_undefined, "delta")
    chosen = weight_matrix("identity", len(coded.labels)) if weights is None else weights
    mean, units = mean_kappa(matrix.shape[1], chosen), row_units(matrix, len(coded.labels))
    [draws] = scores([mean], units, rng=rng, n_resamples=n_resamples)
    return MeanPairwise(interval(mean, value, units, draws, level=level), n_pairs, n_undefined, "bootstrap")


def mean_kappa(n_raters: int, weights: Matrix) -> Coefficient:
    """The mean as a function of the cells of all pairs' tables; a pattern is an item's labels by rater."""
    pairs = list(combinations(range(n_raters), 2))
    n_labels = len(weights)
    score_pair = cohen(weights).score

    def rows(patterns: Whole) -> Numbers:
        cells = np.zeros((len(patterns), len(pairs), n_labels * n_labels))
        for place, (first, second) in enumerate(pairs):
            both = (patterns[:, first] != NOBODY) & (patterns[:, second] != NOBODY)
            cell = patterns[both, first] * n_labels + patterns[both, second]
            cells[np.flatnonzero(both), place, cell] = 1
        return cells.reshape(len(patterns), -1)

    def score(sums: Sums) -> Sums:
        kappas = score_pair(sums.reshape(*sums.shape[:-1], len(pairs), n_labels * n_labels))
        is_defined = ~np.isnan(kappas)
        return ratio(np.where(is_defined, kappas, 0).sum(axis=-1), is_defined.sum(axis=-1))

    return Coefficient("mean kappa", rows, score, "no pair of raters has a kappa")


def row_units(matrix: npt.NDArray[np.int32], n_labels: int) -> Units:
    """Distinct items; the made-up one as in `limits.py`, its split half with every other rater on each side."""
    patterns, n_items = np.unique(matrix, axis=0, return_counts=True)
    modal = int(np.bincount(matrix[matrix != NOBODY], minlength=n_labels).argmax())
    others = np.array([label for label in range(n_labels) if label != modal], np.int64)
    unanimous = np.repeat(np.arange(n_labels)[:, None], matrix.shape[1], axis=1)
    is_odd = np.arange(matrix.shape[1]) % 2 == 1
    split = np.vstack([np.where(is_odd == odd, others[:, None], modal) for odd in (True, False)])
    made_up = [
        np.zeros(len(patterns)),
        np.full(n_labels, 0.5 / n_labels),
        np.full(len(split), 0.5 / max(1, len(split))),
    ]
    shares = np.concatenate(made_up)
    n_of_each = np.concatenate([n_items, np.zeros(len(unanimous) + len(split), np.int64)])
    return Units(np.vstack([patterns, unanimous, split]).astype(np.int64), n_of_each, shares / shares.sum())


def _delta_error(
    matrix: npt.NDArray[np.int32],
    tables: Sequence[Confusion],
    is_defined: npt.NDArray[np.bool_],
    weights: Matrix | None,
) -> float:
    """The standard error of the mean from each item's influence on it."""
    total = np.zeros(len(matrix))
    pairs = combinations(range(matrix.shape[1]), 2)
    for (first, second), table, defined in zip(pairs, tables, is_defined, strict=True):
        if defined:
            both = (matrix[:, first] != NOBODY) & (matrix[:, second] != NOBODY)
            total[both] += influence(table, weights=weights)[matrix[both, first], matrix[both, second]]
    n = len(matrix)
    return sqrt(float((total**2).sum()) * n / (n - 1)) / int(is_defined.sum())
