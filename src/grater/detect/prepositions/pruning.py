"""A fitted model made small: few features, few weights of each, eight bits a weight.

Weights are rounded to whole steps, `HIGHEST` being cut off; then weights below `smallest` steps are dropped, and
features by how much they change over the training text: their count times the spread of their weights.  A feature
with equal weights for all prepositions changes nothing, so weights are taken around the row's median first (adding a
constant to a row changes no probability): most become zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grater.detect.prepositions.dictionary import Dictionary
from grater.detect.prepositions.features import Keys
from grater.detect.prepositions.linear import Weights
from grater.detect.prepositions.maxent import Matrix

STEPS = 127


@dataclass(frozen=True, slots=True)
class Size:
    """How much of a model to keep: features at most, and the smallest weight in steps."""

    n_features: int = 2_000_000
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
    """The part of a model that is worth its place."""
    step = size.highest / STEPS
    table = np.zeros((len(dictionary), weights.shape[1]), np.int8)
    worth = np.zeros(len(dictionary), np.float64)
    for start in range(0, len(dictionary), 1 << 16):
        block = weights[start : min(start + (1 << 16), len(dictionary))]
        block = block - np.median(block, axis=1, keepdims=True)
        steps = np.rint(block / step).clip(-STEPS, STEPS)
        steps[np.abs(steps) < size.smallest] = 0
        table[start : start + len(block)] = steps
        worth[start : start + len(block)] = np.sqrt((steps**2).sum(axis=1))
    worth *= np.sqrt(dictionary.counts)
    kept = np.argsort(-worth, kind="stable")[: size.n_features]
    kept = kept[worth[kept] > 0]
    kept = kept[np.argsort(dictionary.keys[kept])]
    zeros = np.zeros((1, table.shape[1]), np.int8)
    return Pruned(dictionary.keys[kept], np.concatenate([table[kept], zeros]), step)
