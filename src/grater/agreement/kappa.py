"""Agreement beyond chance for any number of raters: Scott, Fleiss, Gwet, Bennett.

All are (po - pe) / (1 - pe).  po is the mean over items of the share of pairs of judgments that agree (Fleiss 1971,
eq. 3; with weights Gwet 2014, chapter 3); items may have different numbers of judgments, and each counts once.  They
differ in the chance pe, with p_k the mean over items of the share of label k, w the weights and q the number of
labels:

    fleiss   sum_kl w_kl p_k p_l                    Fleiss 1971; for two raters Scott's pi (1955)
    ac1      sum w / (q (q - 1)) sum_k p_k (1-p_k)  Gwet 2008; with weights AC2 (Gwet 2014, chapter 4)
    s        sum w / q^2                            Bennett, Alpert & Goldstein 1954; Brennan & Prediger 1981

q counts the labels of the table, so a label that nobody used should not be in its order.  With one label only pe is 1
(for S and AC1: q - 1 is 0) and the coefficient undefined.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grater.agreement.coefficient import Coefficient, Numbers, Sums, ratio
from grater.agreement.counts import Whole
from grater.agreement.weights import Matrix


def observed(weights: Matrix) -> Coefficient:
    """The share of pairs of judgments that agree, averaged over items."""

    def rows(patterns: Whole) -> Numbers:
        return np.column_stack([np.ones(len(patterns)), pair_agreement(patterns, weights)])

    return Coefficient("observed", rows, lambda sums: ratio(sums[..., 1], sums[..., 0]), "no item has two judgments")


def fleiss(weights: Matrix) -> Coefficient:
    def chance(shares: Sums) -> Sums:
        return np.asarray(((shares @ weights) * shares).sum(axis=-1))

    return _beyond("fleiss", weights, chance)


def gwet(weights: Matrix) -> Coefficient:
    n_labels = len(weights)
    scale = weights.sum() / (n_labels * (n_labels - 1)) if n_labels > 1 else np.nan
    is_plain = bool((weights == np.eye(n_labels)).all())
    return _beyond("ac1" if is_plain else "ac2", weights, lambda shares: scale * (shares * (1 - shares)).sum(axis=-1))


def bennett(weights: Matrix) -> Coefficient:
    chance = weights.sum() / len(weights) ** 2 if len(weights) > 1 else np.nan
    return _beyond("s", weights, lambda shares: chance * shares.sum(axis=-1))


def pair_agreement(patterns: Whole, weights: Matrix) -> Numbers:
    """The (weighted) share of an item's pairs of judgments that agree."""
    n_judgments = patterns.sum(axis=1)
    # A judgment is not paired with itself: its own weight of 1 goes.
    agreeing = (patterns * (patterns @ weights)).sum(axis=1) - n_judgments
    return np.asarray(agreeing / (n_judgments * (n_judgments - 1)), np.float64)


def _beyond(name: str, weights: Matrix, chance: Callable[[Sums], Sums]) -> Coefficient:
    def rows(patterns: Whole) -> Numbers:
        shares = patterns / patterns.sum(axis=1, keepdims=True)
        return np.column_stack([np.ones(len(patterns)), pair_agreement(patterns, weights), shares])

    def score(sums: Sums) -> Sums:
        expected = chance(ratio(sums[..., 2:], sums[..., :1]))
        return ratio(ratio(sums[..., 1], sums[..., 0]) - expected, 1 - expected)

    return Coefficient(name, rows, score)
