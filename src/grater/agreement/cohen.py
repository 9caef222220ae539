"""Cohen's kappa for two raters with the standard errors of two papers, and its mean over all pairs of raters.

Cohen 1960; with weights Cohen 1968.  `fce` is the large-sample standard error of Fleiss, Cohen & Everitt 1969, eq. 13
(weighted: eq. 9), which is the delta method on the table, and is computed as such.  `simple` is Cohen's own,
sqrt(po (1 - po) / (n (1 - pe)^2)), which takes pe as known; it stands behind the z of Lee et al. 2009 and is here to
reproduce such numbers.  `bootstrap` is that of `grater.statistics.bca`.

Kappa is undefined where both raters used one and the same label throughout, or share no item.  Where the two never
disagree both errors are 0, which nobody believes: the interval then comes from the bootstrap.  It stays within [-1,
1].

The mean over pairs is Light's (1971, Psychological Bulletin 76, 365-377).  Pairs that share no item, or whose kappa
is undefined, are left out and counted, in every resample too.  Pairs share items and raters, so their kappas are
dependent: whole items are resampled, with all that their raters said.  Where that would take too much memory (many
items or many pairs) the interval is that of the delta method: an item's influence on the mean is the mean of its
influences on the pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan, sqrt
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.agreement.coded import Coded
from grater.agreement.coefficients import Coefficient
from grater.agreement.confusion import NOBODY, Confusion, label_matrix
from grater.agreement.weights import Matrix, weight_matrix
from grater.errors import UsageError
from grater.model import Interval
from grater.statistics.bca import PatternUnits, Sums, bca_interval, gradient, ratio, resampled_scores
from grater.statistics.intervals import LEVEL, RESAMPLES, Ints, Numbers, normal_interval, student_quantile

Error: TypeAlias = Literal["fce", "simple"]
Method: TypeAlias = Literal["fce", "simple", "bootstrap"]
METHODS: tuple[Method, ...] = ("fce", "simple", "bootstrap")

NO_ITEM = "the two raters share no item"
ONE_LABEL = "both raters used one label only, so that chance alone agrees as well"
NO_KAPPA = "no pair of raters has a kappa"

MOST_SUMS = 1024
MOST_CELLS = 1 << 24
"""What the bootstrap may take: cells of all pairs' tables, and these times items (128 MB)."""


def cohen(weights: Matrix) -> Coefficient:
    """Kappa as a function of the cells of the table, row by row."""
    n_labels = len(weights)

    def score(sums: Sums) -> Sums:
        cells = sums.reshape(*sums.shape[:-1], n_labels, n_labels)
        n = cells.sum(axis=(-2, -1))
        rows, columns = cells.sum(axis=-1), cells.sum(axis=-2)
        expected = ratio(((rows @ weights) * columns).sum(axis=-1), n * n)
        return ratio(ratio((cells * weights).sum(axis=(-2, -1)), n) - expected, 1 - expected)

    return Coefficient("kappa", lambda patterns: patterns.astype(np.float64), score, ONE_LABEL)


def kappa(table: Confusion, *, weights: Matrix | None = None) -> float:
    """The value alone; nan where it is undefined."""
    return float(_coefficient(table, weights).score(table.cells.ravel().astype(np.float64)))


def influence(table: Confusion, *, weights: Matrix | None = None) -> Numbers:
    """What one more item in each cell would do to kappa, at first order; nan where kappa is undefined."""
    cells = table.cells.ravel().astype(np.float64)
    slope = gradient(_coefficient(table, weights).score, cells)
    centred: Numbers = (slope - cells @ slope / max(1.0, cells.sum())).reshape(table.cells.shape)
    return centred


def standard_error(table: Confusion, *, error: Error = "fce", weights: Matrix | None = None) -> float:
    """The standard error of kappa."""
    if error == "fce":
        return sqrt(float((table.cells * influence(table, weights=weights) ** 2).sum()))
    if weights is not None and (weights != np.eye(len(weights))).any():
        raise UsageError("the simple standard error is for kappa without weights; use fce")
    n = max(1, table.n)
    observed = table.cells.trace() / n
    expected = float((table.cells.sum(axis=0) / n) @ (table.cells.sum(axis=1) / n))
    return sqrt(observed * (1 - observed) / n) / (1 - expected) if expected != 1 else nan


def cohen_kappa(
    table: Confusion,
    *,
    rng: np.random.Generator,
    weights: Matrix | None = None,
    method: Method = "fce",
    n_resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """Kappa with its interval."""
    value = kappa(table, weights=weights)
    if value != value:
        return Interval(nan, nan, nan, ONE_LABEL if table.n else NO_ITEM)
    if table.n < 2:
        return Interval(value, nan, nan, "a single item says nothing about chance")
    error = 0.0 if method == "bootstrap" else standard_error(table, error=method, weights=weights)
    if error == 0:
        return _bootstrapped(table, value, _coefficient(table, weights), rng, n_resamples, level)
    return normal_interval(value, error, level=level, ends=(-1.0, 1.0))


def _bootstrapped(
    table: Confusion, value: float, coefficient: Coefficient, rng: np.random.Generator, n_resamples: int, level: float
) -> Interval:
    units = cell_units(table)
    [draws] = resampled_scores([coefficient], units, rng=rng, n_resamples=n_resamples)
    return bca_interval(coefficient, value, units, draws, level=level)


def cell_units(table: Confusion) -> PatternUnits:
    """The cells as what is resampled; the made-up item as in `coefficients.py`, its split half in both directions."""
    n_labels = len(table.labels)
    modal = int((table.cells.sum(axis=0) + table.cells.sum(axis=1)).argmax())
    made_up = np.eye(n_labels) * 0.5 / n_labels
    for label in set(range(n_labels)) - {modal}:
        made_up[label, modal] = made_up[modal, label] = 0.25 / (n_labels - 1)
    n_cells = n_labels * n_labels
    return PatternUnits(np.eye(n_cells, dtype=np.int64), table.cells.ravel(), made_up.ravel() / made_up.sum())


def _coefficient(table: Confusion, weights: Matrix | None) -> Coefficient:
    return cohen(weight_matrix("identity", len(table.labels)) if weights is None else weights)


# The mean over all pairs of raters


@dataclass(frozen=True, slots=True)
class MeanPairwise:
    """Mean kappa over `n_pairs` pairs; `n_undefined` more have none.  `method` says how its interval was made."""

    kappa: Interval
    n_pairs: int
    n_undefined: int
    method: str


def mean_pairwise(
    coded: Coded,
    tables: Sequence[Confusion],
    *,
    rng: np.random.Generator,
    weights: Matrix | None = None,
    n_resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> MeanPairwise:
    """`tables` are those of every pair, in the order of `confusions`."""
    values = np.array([kappa(table, weights=weights) for table in tables])
    is_defined = ~np.isnan(values)
    n_pairs, n_undefined = int(is_defined.sum()), int((~is_defined).sum())
    if n_pairs == 0:
        return MeanPairwise(Interval(nan, nan, nan, NO_KAPPA), 0, n_undefined, "none")
    value = float(values[is_defined].mean())
    matrix = label_matrix(coded)
    matrix = matrix[(matrix != NOBODY).sum(axis=1) > 1]
    if len(matrix) < 2:
        alone = Interval(value, nan, nan, "a single item cannot be resampled")
        return MeanPairwise(alone, n_pairs, n_undefined, "none")
    n_sums = len(tables) * len(coded.labels) ** 2
    if n_sums > MOST_SUMS or n_sums * len(matrix) > MOST_CELLS:
        half = student_quantile((1 + level) / 2, len(matrix) - 1) * _delta_error(matrix, tables, is_defined, weights)
        interval = Interval(value, max(-1.0, value - half), min(1.0, value + half))
        return MeanPairwise(interval, n_pairs, n_undefined, "delta")
    chosen = weight_matrix("identity", len(coded.labels)) if weights is None else weights
    mean, units = mean_kappa(matrix.shape[1], chosen), row_units(matrix, len(coded.labels))
    [draws] = resampled_scores([mean], units, rng=rng, n_resamples=n_resamples)
    return MeanPairwise(bca_interval(mean, value, units, draws, level=level), n_pairs, n_undefined, "bootstrap")


def mean_kappa(n_raters: int, weights: Matrix) -> Coefficient:
    """The mean as a function of the cells of all pairs' tables; a pattern is an item's labels by rater."""
    pairs = list(combinations(range(n_raters), 2))
    n_labels = len(weights)
    score_pair = cohen(weights).score

    def rows(patterns: Ints) -> Numbers:
        cells = np.zeros((len(patterns), len(pairs), n_labels * n_labels))
        for index, (first, second) in enumerate(pairs):
            both = (patterns[:, first] != NOBODY) & (patterns[:, second] != NOBODY)
            cell = patterns[both, first] * n_labels + patterns[both, second]
            cells[np.flatnonzero(both), index, cell] = 1
        return cells.reshape(len(patterns), -1)

    def score(sums: Sums) -> Sums:
        kappas = score_pair(sums.reshape(*sums.shape[:-1], len(pairs), n_labels * n_labels))
        is_defined = ~np.isnan(kappas)
        return ratio(np.where(is_defined, kappas, 0).sum(axis=-1), is_defined.sum(axis=-1))

    return Coefficient("mean kappa", rows, score, NO_KAPPA)


def row_units(matrix: npt.NDArray[np.int32], n_labels: int) -> PatternUnits:
    """Distinct items; the made-up one as in `coefficients.py`, its split half with every other rater on each side."""
    patterns, n_items = np.unique(matrix, axis=0, return_counts=True)
    modal = int(np.bincount(matrix[matrix != NOBODY], minlength=n_labels).argmax())
    others = np.array([label for label in range(n_labels) if label != modal], np.int64)
    unanimous = np.repeat(np.arange(n_labels)[:, None], matrix.shape[1], axis=1)
    is_odd = np.arange(matrix.shape[1]) % 2 == 1
    split = np.vstack([np.where(is_odd == odd, others[:, None], modal) for odd in (True, False)])
    made_up = [
        np.zeros(len(patterns)),
        np.full(n_labels, 0.5 / n_labels),
        np.full(len(split), 0.5 / max(1, len(split))),
    ]
    shares = np.concatenate(made_up)
    n_of_each = np.concatenate([n_items, np.zeros(len(unanimous) + len(split), np.int64)])
    return PatternUnits(np.vstack([patterns, unanimous, split]).astype(np.int64), n_of_each, shares / shares.sum())


def _delta_error(
    matrix: npt.NDArray[np.int32],
    tables: Sequence[Confusion],
    is_defined: npt.NDArray[np.bool_],
    weights: Matrix | None,
) -> float:
    """The standard error of the mean from each item's influence on it."""
    total = np.zeros(len(matrix))
    pairs = combinations(range(matrix.shape[1]), 2)
    for (first, second), table, defined in zip(pairs, tables, is_defined, strict=True):
        if defined:
            both = (matrix[:, first] != NOBODY) & (matrix[:, second] != NOBODY)
            total[both] += influence(table, weights=weights)[matrix[both, first], matrix[both, second]]
    n = len(matrix)
    return sqrt(float((total**2).sum()) * n / (n - 1)) / int(is_defined.sum())
