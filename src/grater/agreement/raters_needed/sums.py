"""What each kind of item adds to the agreement of a crowd of N with each expert, and of experts with each other.

The crowd's label is known only as a probability, so what a kind adds is an expectation, and kappa is that of the
expected table.  It differs a little from the mean kappa over draws, which the paper gives.  An item with fewer than N
judgments has no draw of N, and adds nothing there.
"""

from __future__ import annotations

import numpy as np

from grater.agreement.coefficient import Numbers
from grater.agreement.confusion import NOBODY
from grater.agreement.counts import Whole
from grater.agreement.raters_needed.design import Design
from grater.agreement.raters_needed.wins import wins_of_rows


def exact_wins(found: Design) -> Numbers:
    """[kind, label, N - 1]: how likely the label wins; 0 for all labels where the kind has fewer judgments."""
    table = np.zeros((len(found.counts), len(found.labels), found.most))
    for kind, probabilities in enumerate(wins_of_rows(found.counts)):
        table[kind, :, : probabilities.shape[1]] = probabilities
    return table


def crowd_rows(found: Design, wins: Numbers) -> Numbers:
    """[kind, expert, column of `agreement.nominal`] for the wins [kind, label] of one N."""
    said = _one_hot(found.said, len(found.labels))
    drawn = (wins.sum(axis=1) > 0)[:, None, None]
    says = said * drawn
    ours = wins[:, None, :] * says.any(axis=2, keepdims=True)
    return _rows(ours, says)


def expert_rows(found: Design) -> Numbers:
    """[kind, pair, column] for the pairs of experts that are to be matched."""
    said = _one_hot(found.said, len(found.labels))
    first = said[:, [one for one, _ in found.pairs]]
    second = said[:, [other for _, other in found.pairs]]
    both = first.any(axis=2, keepdims=True) & second.any(axis=2, keepdims=True)
    return _rows(first * both, second * both)


def _rows(first: Numbers, second: Numbers) -> Numbers:
    n = second.sum(axis=2, keepdims=True)
    agreeing = (first * second).sum(axis=2, keepdims=True)
    return np.concatenate([n, agreeing, first, second], axis=2)


def _one_hot(labels: Whole, n_labels: int) -> Numbers:
    table = np.zeros((*labels.shape, n_labels))
    kind, rater = np.nonzero(labels != NOBODY)
    table[kind, rater, labels[kind, rater]] = 1
    return table
