"""What each essay adds to the sums that agreement is made of.

A coefficient is a function of sums over tokens, and sums over tokens are sums over essays; so an essay is one row of
numbers, and resampling essays is a product of matrices (statistics.md).  Labels may be thousands, so rows are sparse;
their columns are those of `agreement.nominal`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from grater.agreement.coefficient import Numbers, Sums
from grater.agreement.counts import Whole
from grater.agreement.edits.marks import UNMARKED, Labels, Marks
from grater.agreement.nominal import OF_ALL, OF_PAIR, all_scores, pair_scores

Criterion: TypeAlias = Literal["identification", "classification", "exact"]
CRITERIA: tuple[Criterion, ...] = ("identification", "classification", "exact")

OK, ERROR = "ok", "error"


@dataclass(frozen=True, slots=True, eq=False)
class Statistic:
    """Rows by cluster, and the scores (last axis, in the order of `names`) that their sums give."""

    names: tuple[str, ...]
    rows: Any
    score: Callable[[Sums], Sums]
    n_units: int

    @property
    def sums(self) -> Numbers:
        return np.asarray(self.rows.sum(axis=0), np.float64).ravel()

    @property
    def n_clusters(self) -> int:
        """The clusters that take part."""
        return int(np.count_nonzero(self.rows[:, [0]].toarray()))


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """What two annotators said, as the different pairs of labels: `times` units of a `cluster` have each."""

    cluster: Whole
    first: Whole
    second: Whole
    times: Whole

    @property
    def n(self) -> int:
        return int(self.times.sum())


def cells(marks: Marks, first: int, second: int, criterion: Criterion) -> Cells:
    """Units of essays that both read; for classification and exact, those that both marked."""
    if criterion == "identification":
        return _identified(marks, first, second)
    labels = marks.tag if criterion == "classification" else marks.exact
    ours, theirs = labels[:, first], labels[:, second]
    both = (ours != UNMARKED) & (theirs != UNMARKED)
    cluster = marks.cluster[marks.essay[both]]
    return _counted(cluster, ours[both].astype(np.int64), theirs[both].astype(np.int64), np.ones(len(cluster)))


def _identified(marks: Marks, first: int, second: int) -> Cells:
    together = marks.reads[:, first] & marks.reads[:, second]
    here = together[marks.essay]
    ours, theirs = (marks.tag[here][:, rater] != UNMARKED for rater in (first, second))
    somebody = np.bincount(marks.essay, minlength=len(together))
    silent = np.where(together, marks.n_units - somebody, 0)
    zeros = np.zeros(len(silent), np.int64)
    return _counted(
        np.concatenate([marks.cluster[marks.essay[here]], marks.cluster]),
        np.concatenate([ours, zeros]),
        np.concatenate([theirs, zeros]),
        np.concatenate([np.ones(int(here.sum())), silent]),
    )


def _counted(cluster: Whole, first: Whole, second: Whole, times: npt.NDArray[Any]) -> Cells:
    """Equal cells of a cluster taken together."""
    keys, place = np.unique(np.stack([cluster, first, second]), axis=1, return_inverse=True)
    total = np.bincount(place.ravel(), weights=times, minlength=keys.shape[1]).astype(np.int64)
    kept = total > 0
    return Cells(keys[0, kept], keys[1, kept], keys[2, kept], total[kept])


def pair_statistic(found: Cells, n_clusters: int) -> Statistic:
    """Observed agreement and Cohen's kappa of two annotators."""
    used, codes = np.unique(np.concatenate([found.first, found.second]), return_inverse=True)
    first, second = codes[: len(found.first)], codes[len(found.first) :]
    columns = [np.zeros_like(first), np.ones_like(first), 2 + first, 2 + len(used) + second]
    values = [found.times, found.times * (first == second), found.times, found.times]
    rows = _sparse(np.tile(found.cluster, 4), columns, values, (n_clusters, 2 + 2 * len(used)))
    return Statistic(OF_PAIR, rows, lambda sums: pair_scores(sums, len(used)), found.n)


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Units with two judgments or more: `times` units of a cluster have `size` judgments; `unit`, `label` and
    `count` say which."""

    cluster: Whole
    size: Whole
    times: Whole
    unit: Whole
    label: Whole
    count: Whole
    n_labels: int
    n_left_out: int

    @property
    def n(self) -> int:
        return int(self.times.sum())

    @property
    def n_judgments(self) -> int:
        return int(self.times @ self.size)


def judged(marks: Marks, criterion: Criterion) -> Judged:
    """All annotators together; for classification and exact, a unit is judged by those who marked it."""
    if criterion == "identification":
        return _all_identified(marks)
    labels, names = (marks.tag, marks.tags) if criterion == "classification" else (marks.exact, marks.exacts)
    size = (labels != UNMARKED).sum(axis=1)
    kept = size > 1
    unit, label, count = _label_counts(labels[kept])
    ones = np.ones(int(kept.sum()), np.int64)
    cluster = marks.cluster[marks.essay[kept]]
    return Judged(cluster, size[kept], ones, unit, label, count, len(names), int((~kept).sum()))


def _label_counts(labels: Labels) -> tuple[Whole, Whole, Whole]:
    unit, rater = np.nonzero(labels != UNMARKED)
    keys, count = np.unique(np.stack([unit, labels[unit, rater].astype(np.int64)]), axis=1, return_counts=True)
    return keys[0], keys[1], count


def _all_identified(marks: Marks) -> Judged:
    n_readers = marks.reads.sum(axis=1)
    silent = marks.n_units - np.bincount(marks.essay, minlength=len(n_readers))
    size = np.concatenate([n_readers[marks.essay], n_readers])
    n_errors = np.concatenate([(marks.tag != UNMARKED).sum(axis=1), np.zeros_like(n_readers)])
    times = np.concatenate([np.ones_like(marks.essay), silent])
    cluster = np.concatenate([marks.cluster[marks.essay], marks.cluster])
    kept = (size > 1) & (times > 0)
    left_out = int(times[size < 2].sum())
    size, n_errors, units = size[kept], n_errors[kept], np.arange(int(kept.sum()))
    count = np.concatenate([size - n_errors, n_errors])
    label = np.repeat([0, 1], len(units))
    return Judged(cluster[kept], size, times[kept], np.tile(units, 2), label, count, 2, left_out)


def all_statistic(found: Judged, n_clusters: int) -> Statistic:
    """Observed agreement, Fleiss, AC1, S and alpha of all annotators."""
    squares = np.bincount(found.unit, weights=found.count.astype(np.float64) ** 2, minlength=len(found.size))
    size, times = found.size.astype(np.float64), found.times
    agreeing = times * (squares - size) / (size * (size - 1))
    apart = times * (size**2 - squares) / (size - 1)
    counted = times[found.unit] * found.count
    columns = [
        *(np.full(len(size), column) for column in range(3)),
        3 + found.label,
        3 + found.n_labels + found.label,
    ]
    values = [times, agreeing, apart, counted / size[found.unit], counted]
    cluster = np.concatenate([np.tile(found.cluster, 3), np.tile(found.cluster[found.unit], 2)])
    rows = _sparse(cluster, columns, values, (n_clusters, 3 + 2 * found.n_labels))
    return Statistic(OF_ALL, rows, lambda sums: all_scores(sums, found.n_labels), found.n)


def _sparse(
    cluster: Whole, columns: list[npt.NDArray[Any]], values: list[npt.NDArray[Any]], shape: tuple[int, int]
) -> Any:
    return csr_array((np.concatenate(values).astype(np.float64), (cluster, np.concatenate(columns))), shape=shape)
