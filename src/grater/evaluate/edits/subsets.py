"""Which of several annotators a sentence is held against, for many sets of annotators at once.

m2scorer and ERRANT go through the corpus and take for each sentence the annotator with the best F *so far*
(`maxmatch_choice`, `errant.choose`), so every set of annotators is a walk of its own.  Here all sets walk together,
one sentence at a time: a thousand sets cost little more than ten.  A test holds the result to the official walks.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb
from typing import TypeAlias

import numpy as np

from grater.evaluate.edits.counts import Bools, Ints
from grater.evaluate.resampling import Numbers

Keys: TypeAlias = Callable[[Ints], list[Numbers]]
"""From sums with a sentence added, (tp, fp, fn) in the last axis, to what is wanted high, first things first."""


def subsets_of(n_annotators: int, size: int, *, most: int, rng: np.random.Generator) -> Bools:
    """A row for each set of annotators: all of them, or a sample without repeats where they are more than `most`."""
    if comb(n_annotators, size) <= most:
        chosen = list(combinations(range(n_annotators), size))
    else:
        found: dict[tuple[int, ...], None] = {}
        while len(found) < most:
            found[tuple(sorted(rng.choice(n_annotators, size, replace=False).tolist()))] = None
        chosen = list(found)
    rows = np.zeros((len(chosen), n_annotators), np.bool_)
    for row, members in zip(rows, chosen, strict=True):
        row[list(members)] = True
    return rows


def choose(cells: Ints, subsets: Bools, keys: Keys) -> Ints:
    """The annotator of each sentence, for every set: (sets, sentences), from (sentences, annotators, 3)."""
    so_far = np.zeros((len(subsets), 1, 3), np.int64)
    chosen = np.zeros((len(subsets), len(cells)), np.int64)
    for sentence, counts in enumerate(cells):
        if (counts == counts[0]).all():  # as of most sentences that a system leaves alone
            chosen[:, sentence] = subsets.argmax(axis=1)
            so_far += counts[0]
            continue
        best = subsets
        for key in keys(so_far + counts):
            key = np.where(best, key, -np.inf)
            best = key == key.max(axis=1, keepdims=True)
        place = best.argmax(axis=1)
        chosen[:, sentence] = place
        so_far += counts[place][:, None, :]
    return chosen


def chosen_rows(cells: Ints, chosen: Ints) -> Ints:
    """The counts of the chosen annotators: (sets, sentences, columns)."""
    return cells[np.arange(len(cells)), chosen]


def maxmatch_keys(beta: float) -> Keys:
    """F so far, then correct edits, then fewer proposed and gold edits, in m2scorer's order of operations."""

    def keys(sums: Ints) -> list[Numbers]:
        correct, proposed, gold = sums[..., 0], sums[..., 0] + sums[..., 1], sums[..., 0] + sums[..., 2]
        below = beta * beta * gold + proposed
        f = np.divide((1 + beta * beta) * correct, below, out=np.ones(below.shape), where=below != 0)
        return [f, correct.astype(np.float64), -(proposed + beta * beta * gold)]

    return keys


def errant_keys(beta: float) -> Keys:
    """F so far to four places, then more true positives, fewer false positives, fewer false negatives."""

    def keys(sums: Ints) -> list[Numbers]:
        tp, fp, fn = (sums[..., column] for column in range(3))
        return [_round4(_f(tp, fp, fn, beta)), tp.astype(np.float64), -fp.astype(np.float64), -fn.astype(np.float64)]

    return keys


def _f(tp: Ints, fp: Ints, fn: Ints, beta: float) -> Numbers:
    precision = np.divide(tp, tp + fp, out=np.ones(tp.shape), where=fp != 0)
    recall = np.divide(tp, tp + fn, out=np.ones(tp.shape), where=fn != 0)
    below = beta**2 * precision + recall
    f: Numbers = np.divide((1 + beta**2) * precision * recall, below, out=np.zeros(tp.shape), where=below != 0)
    return f


def _round4(values: Numbers) -> Numbers:
    """Python's `round`, which is exact; numpy's is not where the fifth place is a 5 followed by nothing much."""
    rounded: Numbers = np.round(values, 4)
    near = np.abs(values * 1e4 % 1 - 0.5) < 1e-6
    rounded[near] = [round(value, 4) for value in values[near].tolist()]
    return rounded
