"""Crowds of N raters: how likely each label is to win, and the agreement with experts that follows.

**Design.**  The crowd and the experts on the items that both judged.  An item matters only through how often the
crowd gave each label and what each expert said; items that agree in both are one *kind*, and a resample of items is
a draw of kinds.

**Wins.**  Tetreault, Chodorow & Madnani 2013, 5.2, draw N of an item's judgments a hundred times; the most frequent
label wins, and of several that are as frequent one at random.  With k_i of n judgments for label i a draw is
multivariate hypergeometric, so no draw is needed.  Label j wins with t judgments, together with s others that have t
too, in

    C(k_j, t) [x^(N - t) y^s] prod_(i != j) (sum_(c < t) C(k_i, c) x^c + y C(k_i, t) x^t)

of the C(n, N) draws, and then with probability 1 / (s + 1).  That is the integral of y^s from 0 to 1, so the product
need not be expanded in y: Gauss-Legendre nodes integrate a polynomial of degree d exactly with d // 2 + 1 of them.
Every term is positive, nothing cancels, and answers are good to about 1e-14.  An item with ten judgments is one of 42
partitions of ten, with twenty one of 627, however many labels and items there are; each is worked out once.

**Sums.**  The crowd's label is known only as a probability, so what a kind adds to the agreement of a crowd of N with
an expert is an expectation, and kappa is that of the expected table.  It differs a little from the mean kappa over
draws, which the paper gives.  An item with fewer than N judgments has no draw of N, and adds nothing there.

**Draws** are the paper's own way: a hundred for each N, majority with a random tie-break, and the mean of agreement
and kappa over draws.  Here one shuffle of an item's judgments gives a draw of every N, its first N; for each N alone
that is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from grater.errors import BadInput, Problem
from grater.measure.agreement.coded import coded, in_order
from grater.measure.agreement.coefficients import pair_scores
from grater.measure.agreement.confusion import NOBODY, label_matrix
from grater.measure.agreement.counts import table_of
from grater.measure.agreement.essays import NO_ESSAYS, Essays, with_essays
from grater.tables import Judgments, require_raters
from grater.uncertainty.bca import Groups, grouped
from grater.uncertainty.intervals import Ints, Numbers

WRITER = "writer"


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Kinds of items: the crowd's counts by label, the experts' labels (`NOBODY` where one has none), the number of
    items of each kind, and the essays that these stand in where they are known."""

    counts: Ints
    said: Ints
    n_items: Ints
    labels: tuple[str, ...]
    experts: tuple[str, ...]
    n_crowd_only: int
    n_experts_only: int
    groups: Groups | None = None

    @property
    def n_units(self) -> int:
        """How many are drawn independently: items, or essays."""
        return self.groups.n if self.groups else self.n

    @property
    def n_effective(self) -> float:
        """The same, essays of very unequal lengths as the number that they are worth."""
        return self.groups.n_effective if self.groups else self.n

    @property
    def most(self) -> int:
        """The most judgments that an item has."""
        return int(self.counts.sum(axis=1).max())

    @property
    def n(self) -> int:
        return int(self.n_items.sum())

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The experts whose agreement is to be matched: each with the writer where there is one, else each two."""
        if WRITER in self.experts:
            writer = self.experts.index(WRITER)
            return [(expert, writer) for expert in range(len(self.experts)) if expert != writer]
        return list(combinations(range(len(self.experts)), 2))


def design(crowd: Judgments, experts: Judgments, *, essays: Essays = NO_ESSAYS) -> Design:
    """The two tables side by side; experts must be people, the crowd need not."""
    require_raters(experts, "experts")
    ours, theirs = with_essays(coded(crowd), essays), coded(experts)
    row_of = {item: row for row, item in enumerate(theirs.items.to_list())}
    rows = np.array([row_of.get(item, NOBODY) for item in ours.items.to_list()], np.int64)
    both = rows != NOBODY
    if not both.any():
        raise BadInput(Problem(experts.name, f"expected items of {crowd.name}, found none of them"))
    labels = _in_order({*ours.labels, *theirs.labels})
    counts = table_of(ours.item, _recoded(ours.labels, labels)[ours.label], len(labels))[both]
    said = label_matrix(theirs)[rows[both]]
    said = np.where(said == NOBODY, NOBODY, _recoded(theirs.labels, labels)[said])
    kinds, place, n_items = np.unique(np.hstack([counts, said]), axis=0, return_inverse=True, return_counts=True)
    return Design(
        counts=kinds[:, : len(labels)],
        said=kinds[:, len(labels) :],
        n_items=n_items,
        labels=labels,
        experts=theirs.raters,
        n_crowd_only=int((~both).sum()),
        n_experts_only=len(theirs.items) - int(both.sum()),
        groups=None if ours.unit is None else grouped(place.ravel(), ours.unit[both]),
    )


def _in_order(names: set[str]) -> tuple[str, ...]:
    listed = sorted(names)
    return tuple(listed[index] for index in in_order(listed))


def _recoded(old: tuple[str, ...], new: tuple[str, ...]) -> Ints:
    return np.array([new.index(label) for label in old], np.int64)


MOST_JUDGMENTS = 1000
"""C(1000, 500) is still a floating-point number."""

MOST_WORK = 3e9
"""Multiplications that take about ten seconds."""


def win_probabilities(counts: npt.ArrayLike) -> Numbers:
    """Probabilities that label j (row) wins a draw of N = 1, 2, ... n judgments (column)."""
    given = np.asarray(counts, np.int64)
    n = int(given.sum())
    by_size = {size: _wins_of(size, _others(given, size), n) for size in np.unique(given[given > 0]).tolist()}
    return np.array([by_size.get(size, np.zeros(n)) for size in given.tolist()]).reshape(len(given), n)


def wins_of_rows(rows: Ints) -> list[Numbers]:
    """`wins` of every row of counts; equal partitions are worked out once."""
    known: dict[tuple[int, ...], dict[int, Numbers]] = {}
    probabilities = []
    for row in rows.tolist():
        partition = tuple(sorted(size for size in row if size))
        if partition not in known:
            known[partition] = dict(zip(partition, win_probabilities(partition), strict=True))
        n = sum(partition)
        probabilities.append(np.array([known[partition].get(size, np.zeros(n)) for size in row]).reshape(len(row), n))
    return probabilities


def work(rows: Ints) -> float:
    """About the number of multiplications that the rows take; infinite where numbers would be too large."""
    partitions = {tuple(sorted(size for size in row if size)) for row in rows.tolist()}
    if max(map(sum, partitions), default=0) > MOST_JUDGMENTS:
        return float("inf")
    return float(sum(_work(partition) for partition in partitions))


def _work(partition: tuple[int, ...]) -> int:
    n, nodes = sum(partition), (len(partition) - 1) // 2 + 1
    return len(set(partition)) * n * max(partition, default=0) * nodes * (n + 1)


def _others(counts: Ints, size: int) -> list[int]:
    """The labels that compete with one of this size."""
    others: list[int] = counts[counts > 0].tolist()
    others.remove(size)
    return others


def _wins_of(size: int, others: list[int], n: int) -> Numbers:
    """For each N, the probability that a label with `size` judgments wins against the others."""
    nodes, weights = np.polynomial.legendre.leggauss(len(others) // 2 + 1)
    ties, share = (nodes + 1) / 2, weights / 2
    drawn = _against(size, others, ties, n)
    own = np.array([comb(size, t) for t in range(size + 1)], np.float64)
    total = np.zeros(n + 1)
    for t in range(1, size + 1):
        total[t:] += own[t] * (share @ drawn[t])[: n + 1 - t]
    return total[1:] / np.array([comb(n, drawn_n) for drawn_n in range(1, n + 1)], np.float64)


def _against(size: int, others: list[int], ties: Numbers, n: int) -> Numbers:
    """[t, node, m]: the ways in which the others have m judgments together and none more than t."""
    ways = np.zeros((size + 1, len(ties), n + 1))
    ways[:, :, 0] = 1
    t = np.arange(size + 1)[:, None]
    for other in others:
        grown = np.zeros_like(ways)
        for c in range(min(other, size) + 1):
            factor = comb(other, c) * np.where(c < t, 1.0, np.where(c == t, ties, 0.0))
            grown[:, :, c:] += factor[:, :, None] * ways[:, :, : n + 1 - c]
        ways = grown
    return ways


def exact_wins(shared: Design) -> Numbers:
    """[kind, label, N - 1]: how likely the label wins; 0 for all labels where the kind has fewer judgments."""
    table = np.zeros((len(shared.counts), len(shared.labels), shared.most))
    for kind, probabilities in enumerate(wins_of_rows(shared.counts)):
        table[kind, :, : probabilities.shape[1]] = probabilities
    return table


def crowd_rows(shared: Design, wins: Numbers) -> Numbers:
    """[kind, expert, column of `_rows`] for the wins [kind, label] of one N."""
    said = _one_hot(shared.said, len(shared.labels))
    drawn = (wins.sum(axis=1) > 0)[:, None, None]
    says = said * drawn
    ours = wins[:, None, :] * says.any(axis=2, keepdims=True)
    return _rows(ours, says)


def expert_rows(shared: Design) -> Numbers:
    """[kind, pair, column] for the pairs of experts that are to be matched."""
    said = _one_hot(shared.said, len(shared.labels))
    first = said[:, [one for one, _ in shared.pairs]]
    second = said[:, [other for _, other in shared.pairs]]
    both = first.any(axis=2, keepdims=True) & second.any(axis=2, keepdims=True)
    return _rows(first * both, second * both)


def _rows(first: Numbers, second: Numbers) -> Numbers:
    n = second.sum(axis=2, keepdims=True)
    agreeing = (first * second).sum(axis=2, keepdims=True)
    return np.concatenate([n, agreeing, first, second], axis=2)


def _one_hot(labels: Ints, n_labels: int) -> Numbers:
    table = np.zeros((*labels.shape, n_labels))
    kind, rater = np.nonzero(labels != NOBODY)
    table[kind, rater, labels[kind, rater]] = 1
    return table


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """`scores[N - 1, expert]` is the mean agreement and kappa over draws; `wins[kind, label, N - 1]` how often each
    label won."""

    scores: Numbers
    wins: Numbers


def draw(shared: Design, *, n_draws: int, rng: np.random.Generator) -> Drawn:
    """All draws; every item is drawn by itself, also where items are of one kind."""
    kind = np.repeat(np.arange(len(shared.n_items)), shared.n_items)
    judgments = _judgments(shared)[kind]
    scores = np.zeros((n_draws, shared.most, len(shared.experts), 2))
    won = np.zeros((len(shared.n_items), len(shared.labels), shared.most))
    for scores_of_draw in scores:
        for column, winner in enumerate(_winners(judgments, len(shared.labels), rng)):
            has = winner != NOBODY
            np.add.at(won[:, :, column], (kind[has], winner[has]), 1)
            scores_of_draw[column] = [_score(winner, said, len(shared.labels)) for said in shared.said[kind].T]
    won /= n_draws * shared.n_items[:, None, None]
    return Drawn(nan_mean(scores, axis=0), won)


def _judgments(shared: Design) -> npt.NDArray[np.int64]:
    """Each kind's labels one by one, filled up with `NOBODY`."""
    size = shared.counts.sum(axis=1)
    table = np.full((len(size), shared.most), NOBODY, np.int64)
    labels = np.tile(np.arange(len(shared.labels)), len(size))
    table[np.arange(shared.most) < size[:, None]] = np.repeat(labels, shared.counts.ravel())
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
