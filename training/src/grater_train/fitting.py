"""Fitting linear models: a dictionary of features, maximum entropy, the averaged perceptron, and pruning.

The dictionary has the features that enough training events have, the most frequent first: their weights are touched
at every event, and side by side they stay in the processor's cache, which makes training several times faster than
any other order.  The inner loops are compiled by numba; using a model never needs it.

Maximum entropy (multinomial logistic regression): T&C 2008, section 3.1, p(preposition | context) = exp(sum of
weights) / Z (Ratnaparkhi 1998).  The paper does not name its trainer; ours goes through the events in a random order
and moves the weights of an event's features against the gradient of its log-likelihood, by a step that shrinks with
the squared gradients a feature has seen (AdaGrad: Duchi, Hazan & Singer 2011; one number per feature, not per weight,
which halves memory and costs no accuracy).  The steps shrink to a tenth by the last event, which does what averaging
would.  The order comes from the seed and one thread does the work, so training twice gives the same weights.

Averaged perceptron (Freund & Schapire 1999; Collins 2002), one column of weights per class: Madnani et al. 2011,
section 2.1, evaluate such a system (PERC) beside the language model.  Where the best answer to an event is not what
stood there, the weights of its features go up by one for what stood there and down by one for the answer.  The
weights of all moments are averaged by Daumé's trick: the sum of moment times change is kept beside the weights.

Pruning makes a fitted model small.  Weights are rounded to whole steps, and the highest are cut off; those below
`smallest` steps are dropped.  A feature with equal weights for all answers changes nothing, so weights are taken
around the row's median first (adding a constant to a row changes no probability): most become zero.  Then, as `Size`
asks,

- weights are dropped one by one (`n_weights`): those that change least over the training text, by size times the
  root of the feature's count; evidence against an answer counts a third.  The rest is rounded to a few levels, the
  coarser the larger, which compresses better;
- features are dropped as a whole (`n_features`), by the same measure for the row.

Chosen on OneStopEnglish: a perceptron, whose rows are full, loses half as much the first way; maximum entropy, whose
rows are nearly empty, loses next to nothing the second way.

Temperature (Guo et al. 2017, "On Calibration of Modern Neural Networks"): all scores are multiplied by one factor,
chosen by the likelihood of text that training did not see.  The order of answers does not change.  It is found by
golden section, since the likelihood has one peak.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import exp, sqrt
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.detect.linear import Hashing, Keys, Rows, Scores, Weights, log_softmax
from grater_train.events import Labels

Places: TypeAlias = npt.NDArray[np.int32]

MIN_FEATURE_COUNT = 3
"""Features of fewer contexts are not in the dictionary."""

Matrix = npt.NDArray[np.float32]

RATE = 0.35
"""Chosen on OneStopEnglish: a tenth learns too little in a few passes, 0.8 memorises the training text."""

DAMPING = 1.0
"""Added to the squared gradients, so that the first event of a rare feature does not decide its weights."""

STEPS = 127
AGAINST = 3.0
"""How much larger a weight against an answer must be to be kept."""

LEVELS = np.array([0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, STEPS])
BLOCK = 1 << 16

GOLDEN = (sqrt(5) - 1) / 2
N_STEPS = 40


def all_keys(hashing: Hashing, rows: Rows) -> Keys:
    """The keys of many rows, in memory that grows by the result only."""
    keys = np.empty((len(rows), len(hashing.templates)), np.uint32)
    for start in range(0, len(rows), BLOCK):
        keys[start : start + BLOCK] = hashing.keys(rows[start : start + BLOCK])
    return keys


@cache
def compiled(function: Callable[..., None]) -> Callable[..., None]:
    """The function as machine code, kept beside the source: compiling takes seconds."""
    from numba import njit  # half a second, which only fitting pays

    machine_code: Callable[..., Any] = njit(fastmath=True, nogil=True, cache=True)(function)
    return machine_code


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """`keys` and `counts` by the number of a feature; `len` itself is the number of every other feature."""

    keys: Keys
    counts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.keys)


def numbered(
    keys: Keys, *, min_count: int = MIN_FEATURE_COUNT, templates: tuple[int, ...] = ()
) -> tuple[Dictionary, Places]:
    """The dictionary of some contexts, and the numbers of their features, which overwrite the keys."""
    chosen = templates or tuple(range(keys.shape[1]))
    frequent = {column: _frequent(keys, column, min_count) for column in chosen}
    dictionary = _merged(list(frequent.values()))
    order = np.argsort(dictionary.keys, kind="stable")
    sorted_keys = dictionary.keys[order]
    for column in range(keys.shape[1]):
        if column in frequent:
            own = np.searchsorted(sorted_keys, frequent[column][0])
            numbers = np.append(order[own], len(dictionary)).astype(np.uint32)
            keys[:, column] = numbers[keys[:, column]]
        else:
            keys[:, column] = len(dictionary)
    return dictionary, keys.view(np.int32)


def looked_up(keys: Keys, dictionary: Dictionary) -> Places:
    """The numbers that the features of other contexts have in a dictionary; they overwrite the keys."""
    order = np.argsort(dictionary.keys, kind="stable")
    sorted_keys = dictionary.keys[order]
    for column in range(keys.shape[1]):
        keys[:, column] = _numbers(keys[:, column], sorted_keys, order)
    return keys.view(np.int32)


def _frequent(keys: Keys, column: int, min_count: int) -> tuple[Keys, npt.NDArray[np.int64]]:
    """The frequent keys of a column and their counts; the column becomes their indices, one more for the others."""
    distinct, inverse, counts = np.unique(keys[:, column], return_inverse=True, return_counts=True)
    is_frequent = counts >= min_count
    n_frequent = int(is_frequent.sum())
    numbers = np.where(is_frequent, np.cumsum(is_frequent) - 1, n_frequent).astype(np.uint32)
    keys[:, column] = numbers[inverse]
    return distinct[is_frequent], counts[is_frequent]


def _merged(parts: list[tuple[Keys, npt.NDArray[np.int64]]]) -> Dictionary:
    """The features of all templates by falling count; where two share a key, they share a number."""
    keys, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    distinct, first = np.unique(keys, return_index=True)
    order = np.argsort(-counts[first], kind="stable")
    return Dictionary(distinct[order], counts[first][order])


def _numbers(keys: Keys, sorted_keys: Keys, order: npt.NDArray[np.intp]) -> Keys:
    """The numbers of features; looking up in order is ten times as fast as at random."""
    distinct, inverse = np.unique(keys, return_inverse=True)
    indices = np.searchsorted(sorted_keys, distinct)
    is_known = (
        np.take(sorted_keys, indices, mode="clip") == distinct if len(sorted_keys) else np.zeros(len(distinct), bool)
    )
    numbers = np.where(is_known, np.take(order, indices, mode="clip"), len(sorted_keys)).astype(np.uint32)
    feature_numbers: Keys = numbers[inverse]
    return feature_numbers


def fit_maxent(
    features: Places,
    labels: Labels,
    n_features: int,
    n_classes: int,
    *,
    rng: np.random.Generator,
    epochs: int = 5,
    rate: float = RATE,
    penalty: float = 0.0,
    tell: Callable[[int], None] | None = None,
) -> Matrix:
    """(features + 1, classes) weights; the last row stays zero, for features that are not in the dictionary."""
    weights = np.zeros((n_features + 1, n_classes), np.float32)
    seen = np.full(n_features + 1, DAMPING, np.float32)
    run = compiled(_maxent_pass)
    for epoch in range(epochs):
        order = rng.permutation(len(labels)).astype(np.int32)
        from_rate, to_rate = (rate * (1 - 0.9 * done / epochs) for done in (epoch, epoch + 1))
        run(weights, seen, features, labels, order, from_rate, to_rate, penalty)
        if tell:
            tell(epoch + 1)
    return weights


def _maxent_pass(
    weights: Matrix,
    seen: Any,
    features: Places,
    labels: Labels,
    order: Any,
    from_rate: float,
    to_rate: float,
    penalty: float,
) -> None:
    """One pass over the events (compiled)."""
    n_none, n_classes = weights.shape[0] - 1, weights.shape[1]
    gradient = np.zeros(n_classes, np.float32)
    for done in range(len(order)):
        event = order[done]
        rate = from_rate + (to_rate - from_rate) * done / len(order)
        gradient[:] = 0
        for feature in features[event]:
            for column in range(n_classes):
                gradient[column] += weights[feature, column]
        highest, total = gradient.max(), np.float32(0)
        for column in range(n_classes):
            gradient[column] = exp(gradient[column] - highest)
            total += gradient[column]
        squared = np.float32(0)
        for column in range(n_classes):
            gradient[column] /= total
            if column == labels[event]:
                gradient[column] -= 1
            squared += gradient[column] * gradient[column]
        for feature in features[event]:
            if feature < n_none:
                seen[feature] += squared
                step = np.float32(rate / sqrt(seen[feature]))
                shrink = np.float32(1 - step * penalty)
                for column in range(n_classes):
                    weights[feature, column] = shrink * weights[feature, column] - step * gradient[column]


def fit_perceptron(
    features: Places,
    labels: Labels,
    n_features: int,
    n_classes: int,
    *,
    rng: np.random.Generator,
    epochs: int = 5,
    tell: Callable[[int], None] | None = None,
) -> Matrix:
    """(features + 1, classes) averaged weights; the last row is zero."""
    weights, moments = (np.zeros((n_features + 1, n_classes), np.float32) for _ in range(2))
    run = compiled(_perceptron_pass)
    for epoch in range(epochs):
        order = rng.permutation(len(labels)).astype(np.int32)
        run(weights, moments, features, labels, order, float(epoch), float(epochs))
        if tell:
            tell(epoch + 1)
    weights -= moments
    weights[-1] = 0
    return weights


def _perceptron_pass(
    weights: Matrix, moments: Matrix, features: Places, labels: Labels, order: Any, epoch: float, epochs: float
) -> None:
    """One pass over the events (compiled); moments are shares of the whole training, from 0 to 1."""
    n_classes = weights.shape[1]
    scores = np.zeros(n_classes, np.float32)
    for done in range(len(order)):
        event = order[done]
        scores[:] = 0
        for feature in features[event]:
            for column in range(n_classes):
                scores[column] += weights[feature, column]
        best, right = scores.argmax(), labels[event]
        if best != right:
            moment = np.float32((epoch + done / len(order)) / epochs)
            for feature in features[event]:
                if feature < weights.shape[0] - 1:
                    weights[feature, right] += 1
                    weights[feature, best] -= 1
                    moments[feature, right] += moment
                    moments[feature, best] -= moment


@dataclass(frozen=True, slots=True)
class Size:
    """How much of a model to keep: features at most, weights at most (all if none), the smallest weight in steps."""

    n_features: int = 2_000_000
    n_weights: int | None = None
    smallest: int = 2
    highest: float = 4.0
    """The largest weight, in units of log-odds; it sets the step."""


@dataclass(frozen=True, slots=True, eq=False)
class Pruned:
    """Sorted keys, their rows and a last row of zeros, and what a step is worth."""

    keys: Keys
    table: Weights
    step: float


def pruned(weights: Matrix, dictionary: Dictionary, size: Size) -> Pruned:
    """The part of a model that is worth keeping."""
    step = size.highest / STEPS
    table = np.zeros((len(dictionary), weights.shape[1]), np.int8)
    for start in range(0, len(dictionary), BLOCK):
        block = weights[start : min(start + BLOCK, len(dictionary))]
        block = block - np.median(block, axis=1, keepdims=True)
        steps = np.rint(block / step).clip(-STEPS, STEPS)
        steps[np.abs(steps) < size.smallest] = 0
        table[start : start + len(block)] = steps
    if size.n_weights is not None:
        _drop_weights(table, dictionary, size.n_weights)
    kept = _best_features(table, dictionary, size.n_features)
    zeros = np.zeros((1, table.shape[1]), np.int8)
    return Pruned(dictionary.keys[kept], np.concatenate([table[kept], zeros]), step)


def _drop_weights(table: Weights, dictionary: Dictionary, n_weights: int) -> None:
    """Keep the weights that are worth most, rounded, in the table itself."""
    blocks = range(0, len(table), BLOCK)
    worth = [_worth(table, dictionary, start) for start in blocks]
    sizes = np.concatenate([values[values > 0] for values in worth]) if worth else np.zeros(0, np.float32)
    least = np.partition(sizes, -n_weights)[-n_weights] if len(sizes) > n_weights else 0
    nearest = _nearest_levels()
    for start, values in zip(blocks, worth, strict=True):
        block = table[start : start + BLOCK]
        rounded = np.sign(block) * nearest[np.abs(block)]
        table[start : start + BLOCK] = np.where(values >= least, rounded, 0)


def _worth(table: Weights, dictionary: Dictionary, start: int) -> npt.NDArray[np.float32]:
    """What each weight of a block of rows changes over the training text."""
    block = table[start : start + BLOCK].astype(np.float32)
    sizes = np.where(block < 0, -block / np.float32(AGAINST), block)
    roots = np.sqrt(dictionary.counts[start : start + BLOCK]).astype(np.float32)
    worth: npt.NDArray[np.float32] = sizes * roots[:, None]
    return worth


def _nearest_levels() -> Weights:
    """For every number of steps the nearest level, by ratio."""
    distances = np.log1p(np.arange(STEPS + 1))[:, None] - np.log1p(LEVELS)
    levels: Weights = LEVELS[np.abs(distances).argmin(axis=1)].astype(np.int8)
    return levels


def _best_features(table: Weights, dictionary: Dictionary, n_features: int) -> npt.NDArray[np.intp]:
    """The indices of the features that are worth most, by rising key."""
    worth = np.zeros(len(dictionary), np.float64)
    for start in range(0, len(dictionary), BLOCK):
        block = table[start : start + BLOCK].astype(np.float32)
        worth[start : start + len(block)] = np.sqrt((block**2).sum(axis=1))
    worth *= np.sqrt(dictionary.counts)
    kept = np.argsort(-worth, kind="stable")[:n_features]
    kept = kept[worth[kept] > 0]
    return kept[np.argsort(dictionary.keys[kept])]


def temperature(sums: Scores, labels: npt.NDArray[np.int8], *, low: float = 1e-4, high: float = 0.3) -> float:
    """The factor between `low` and `high` that makes the labels likeliest."""
    left, right = np.log(low), np.log(high)
    for _ in range(N_STEPS):
        one, other = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
        if likelihood(sums * np.exp(one), labels) > likelihood(sums * np.exp(other), labels):
            right = other
        else:
            left = one
    return float(np.exp((left + right) / 2))


def likelihood(scores: Scores, labels: npt.NDArray[np.int8]) -> float:
    """The mean log-probability of the labels."""
    return float(log_softmax(scores)[np.arange(len(labels)), labels].mean())


def miscalibration(scores: Scores, labels: npt.NDArray[np.int8], *, n_bins: int = 15) -> float:
    """Expected calibration error: how far the likeliest answer's probability is from how often it is right."""
    shares = np.exp(log_softmax(scores))
    answers = shares.argmax(axis=1)
    sure = shares[np.arange(len(shares)), answers]
    is_right = answers == labels
    bins = np.minimum((sure * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.bincount(bins, weights=sure - is_right, minlength=n_bins)
    return float(np.abs(gaps).sum() / max(1, len(labels)))
