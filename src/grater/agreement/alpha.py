"""Krippendorff's alpha: 1 - observed / expected disagreement, on four scales.

Krippendorff 2011, "Computing Krippendorff's alpha-reliability".  Each item with m judgments adds its m (m - 1)
ordered pairs, weighted 1 / (m - 1), to the coincidences o_kl; n_k are their margins and n the number of judgments in
them:

    alpha = 1 - (n - 1) sum_kl o_kl d_kl / sum_kl n_k n_l d_kl

The ordinal distance is the squared difference of midranks, so it changes with the margins in every resample; its sums
are therefore the coincidences themselves (labels squared), those of the other scales one number and the margins.
With one label only nothing can disagree by chance and alpha is undefined.
"""

from __future__ import annotations

import numpy as np

from grater.agreement.coefficient import Coefficient, Numbers, Sums, ratio
from grater.agreement.counts import Whole
from grater.agreement.weights import Matrix, Scale, distances


def alpha(scale: Scale, labels: tuple[str, ...]) -> Coefficient:
    """The coefficient for labels in their order; numbers for the scales interval and ratio."""
    return _ordinal(len(labels)) if scale == "ordinal" else _with_distances(distances(scale, labels))


def _with_distances(apart: Matrix) -> Coefficient:
    def rows(patterns: Whole) -> Numbers:
        disagreeing = (patterns * (patterns @ apart)).sum(axis=1) / (patterns.sum(axis=1) - 1)
        return np.column_stack([disagreeing, patterns])

    def score(sums: Sums) -> Sums:
        return _alpha(sums[..., 0], sums[..., 1:], ((sums[..., 1:] @ apart) * sums[..., 1:]).sum(axis=-1))

    return Coefficient("alpha", rows, score)


def _alpha(disagreeing: Sums, margins: Sums, by_chance: Sums) -> Sums:
    return 1 - ratio(disagreeing * (margins.sum(axis=-1) - 1), by_chance)


def _ordinal(n_labels: int) -> Coefficient:
    upper = np.triu_indices(n_labels)

    def rows(patterns: Whole) -> Numbers:
        pairs = patterns[:, upper[0]] * (patterns[:, upper[1]] - (upper[0] == upper[1]))
        return np.asarray(pairs / (patterns.sum(axis=1, keepdims=True) - 1), np.float64)

    def score(sums: Sums) -> Sums:
        margins = np.zeros((*sums.shape[:-1], n_labels), sums.dtype)
        for pair, (first, second) in enumerate(zip(*upper, strict=True)):
            margins[..., first] += sums[..., pair]
            if first != second:
                margins[..., second] += sums[..., pair]
        midrank = margins.cumsum(axis=-1) - margins / 2
        apart = (midrank[..., upper[0]] - midrank[..., upper[1]]) ** 2
        by_chance = 2 * (margins[..., upper[0]] * margins[..., upper[1]] * apart).sum(axis=-1)
        return _alpha(2 * (sums * apart).sum(axis=-1), margins, by_chance)

    return Coefficient("alpha", rows, score)
