"""How likely each label is to win a draw of N of an item's judgments, exactly.

Tetreault, Chodorow & Madnani 2013, 5.2, draw N of an item's judgments a hundred times; the most frequent label wins,
and of several that are as frequent one at random.  With k_i of n judgments for label i a draw is multivariate
hypergeometric, so no draw is needed.  Label j wins with t judgments, together with s others that have t too, in

    C(k_j, t) [x^(N - t) y^s] prod_(i != j) (sum_(c < t) C(k_i, c) x^c + y C(k_i, t) x^t)

of the C(n, N) draws, and then with probability 1 / (s + 1).  That is the integral of y^s from 0 to 1, so the product
need not be expanded in y: Gauss-Legendre nodes integrate a polynomial of degree d exactly with d // 2 + 1 of them.
Every term is positive, nothing cancels, and answers are good to about 1e-14.

An item with ten judgments is one of 42 partitions of ten, with twenty one of 627, however many labels and items there
are; each is worked out once.
"""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt

from grater.agreement.coefficient import Numbers
from grater.agreement.counts import Whole

MOST_JUDGMENTS = 1000
"""C(1000, 500) is still a floating-point number."""

MOST_WORK = 3e9
"""Multiplications that take about ten seconds."""


def wins(counts: npt.ArrayLike) -> Numbers:
    """Probabilities that label j (row) wins a draw of N = 1, 2, ... n judgments (column)."""
    given = np.asarray(counts, np.int64)
    n = int(given.sum())
    by_size = {size: _wins_of(size, _others(given, size), n) for size in np.unique(given[given > 0]).tolist()}
    return np.array([by_size.get(size, np.zeros(n)) for size in given.tolist()]).reshape(len(given), n)


def wins_of_rows(rows: Whole) -> list[Numbers]:
    """`wins` of every row of counts; equal partitions are worked out once."""
    known: dict[tuple[int, ...], dict[int, Numbers]] = {}
    found = []
    for row in rows.tolist():
        partition = tuple(sorted(size for size in row if size))
        if partition not in known:
            known[partition] = dict(zip(partition, wins(partition), strict=True))
        n = sum(partition)
        found.append(np.array([known[partition].get(size, np.zeros(n)) for size in row]).reshape(len(row), n))
    return found


def work(rows: Whole) -> float:
    """About how many multiplications the rows ask for; infinite where numbers would be too large."""
    partitions = {tuple(sorted(size for size in row if size)) for row in rows.tolist()}
    if max(map(sum, partitions), default=0) > MOST_JUDGMENTS:
        return float("inf")
    return float(sum(_work(partition) for partition in partitions))


def _work(partition: tuple[int, ...]) -> int:
    n, nodes = sum(partition), (len(partition) - 1) // 2 + 1
    return len(set(partition)) * n * max(partition, default=0) * nodes * (n + 1)


def _others(counts: Whole, size: int) -> list[int]:
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
