"""Making a fitted model small: few features, few weights per feature, eight bits per weight.

Weights are rounded to whole steps, and the highest are cut off; those below `smallest` steps are dropped.  A feature
with equal weights for all answers changes nothing, so weights are taken around the row's median first (adding a
constant to a row changes no probability): most become zero.  Then, as `Size` asks,

- weights are dropped one by one (`n_weights`): those that change least over the training text, by size times the
  root of the feature's count; evidence against an answer counts a third.  The rest is rounded to a few levels, the
  coarser the larger, which compresses better;
- features are dropped as a whole (`n_features`), by the same measure for the row.

Chosen on OneStopEnglish: a perceptron, whose rows are full, loses half as much the first way; maximum entropy, whose
rows are nearly empty, loses next to nothing the second way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grater.detect.learning.features import Keys
from grater.detect.learning.fitting import Dictionary, Matrix
from grater.detect.learning.weights import Weights

STEPS = 127
AGAINST = 3.0
"""How much larger a weight against an answer must be to be kept."""

LEVELS = np.array([0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, STEPS])
BLOCK = 1 << 16


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
