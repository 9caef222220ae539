"""The paper's own way: draw N of an item's judgments at random, again and again.

Tetreault, Chodorow & Madnani 2013, 5.2: a hundred draws for each N, majority with a random tie-break, and the mean of
agreement and kappa over draws.  Here one shuffle of an item's judgments gives a draw of every N, its first N; for
each N alone that is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grater.agreement.coefficient import Numbers
from grater.agreement.confusion import NOBODY
from grater.agreement.nominal import pair_scores
from grater.agreement.raters_needed.design import Design


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """`scores[N - 1, expert]` is the mean agreement and kappa over draws; `wins[kind, label, N - 1]` how often each
    label won."""

    scores: Numbers
    wins: Numbers


def draw(found: Design, *, n_draws: int, rng: np.random.Generator) -> Drawn:
    """All draws; every item is drawn by itself, also where items are of one kind."""
    kind = np.repeat(np.arange(len(found.n_items)), found.n_items)
    judgments = _judgments(found)[kind]
    scores = np.zeros((n_draws, found.most, len(found.experts), 2))
    won = np.zeros((len(found.n_items), len(found.labels), found.most))
    for each in scores:
        for column, winner in enumerate(_winners(judgments, len(found.labels), rng)):
            has = winner != NOBODY
            np.add.at(won[:, :, column], (kind[has], winner[has]), 1)
            each[column] = [_score(winner, said, len(found.labels)) for said in found.said[kind].T]
    won /= n_draws * found.n_items[:, None, None]
    return Drawn(nan_mean(scores, axis=0), won)


def _judgments(found: Design) -> npt.NDArray[np.int64]:
    """Each kind's labels one by one, filled up with `NOBODY`."""
    size = found.counts.sum(axis=1)
    table = np.full((len(size), found.most), NOBODY, np.int64)
    labels = np.tile(np.arange(len(found.labels)), len(size))
    table[np.arange(found.most) < size[:, None]] = np.repeat(labels, found.counts.ravel())
    return table


def _winners(
    judgments: npt.NDArray[np.int64], n_labels: int, rng: np.random.Generator
) -> list[npt.NDArray[np.int64]]:
    """For N = 1, 2, ... the winning label of each item; `NOBODY` where an item has fewer judgments."""
    keys = np.where(judgments == NOBODY, 2.0, rng.random(judgments.shape))
    shuffled = np.take_along_axis(judgments, np.argsort(keys, axis=1), axis=1)
    times = np.zeros((len(judgments), n_labels))
    winners = []
    for column in shuffled.T:
        has = column != NOBODY
        times[np.flatnonzero(has), column[has]] += 1
        best = (times + rng.random(times.shape) / 2).argmax(axis=1)
        winners.append(np.where(has, best, NOBODY))
    return winners


def _score(winner: npt.NDArray[np.int64], said: npt.NDArray[np.int64], n_labels: int) -> Numbers:
    both = (winner != NOBODY) & (said != NOBODY)
    ours = np.bincount(winner[both], minlength=n_labels)
    theirs = np.bincount(said[both], minlength=n_labels)
    agreeing = np.count_nonzero(winner[both] == said[both])
    sums = np.concatenate([[np.count_nonzero(both), agreeing], ours, theirs]).astype(np.float64)
    return np.asarray(pair_scores(sums, n_labels))


def nan_mean(values: Numbers, *, axis: int) -> Numbers:
    """The mean of the numbers that there are; nan, without a word, where there is none."""
    known = ~np.isnan(values)
    n = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.asarray(np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0), np.float64)
