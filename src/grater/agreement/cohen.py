"""Cohen's kappa for two raters, with the standard errors of two papers.

Cohen 1960; with weights Cohen 1968.  `fce` is the large-sample standard error of Fleiss, Cohen & Everitt 1969, eq. 13
(weighted: eq. 9), which is the delta method on the table, and is computed as such.  `simple` is Cohen's own,
sqrt(po (1 - po) / (n (1 - pe)^2)), which takes pe as known; it stands behind the z of Lee et al. 2009 and is here to
reproduce such numbers.  `bootstrap` is `limits.py`.

Kappa is undefined where both raters used one and the same label throughout, or share no item.  Where the two never
disagree both errors are 0, which nobody believes: limits then come from the bootstrap.  Limits stay within [-1, 1].
"""

from __future__ import annotations

from math import nan, sqrt
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np

from grater.agreement.coefficient import Coefficient, Numbers, Sums, gradient, ratio
from grater.agreement.confusion import Confusion
from grater.agreement.limits import RESAMPLES, Units, interval, scores
from grater.agreement.weights import Matrix, weight_matrix
from grater.errors import UsageError
from grater.model import Interval

Error: TypeAlias = Literal["fce", "simple"]
Method: TypeAlias = Literal["fce", "simple", "bootstrap"]
METHODS: tuple[Method, ...] = ("fce", "simple", "bootstrap")

NO_ITEM = "the two raters share no item"
ONE_LABEL = "both raters used one label only, so that chance alone agrees as well"


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
    level: float = 0.95,
) -> Interval:
    """Kappa with its limits."""
    value = kappa(table, weights=weights)
    if value != value:
        return Interval(nan, nan, nan, ONE_LABEL if table.n else NO_ITEM)
    if table.n < 2:
        return Interval(value, nan, nan, "a single item says nothing about chance")
    error = 0.0 if method == "bootstrap" else standard_error(table, error=method, weights=weights)
    if error == 0:
        return _bootstrapped(table, value, _coefficient(table, weights), rng, n_resamples, level)
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return Interval(value, max(-1.0, value - half), min(1.0, value + half))


def _bootstrapped(
    table: Confusion, value: float, coefficient: Coefficient, rng: np.random.Generator, n_resamples: int, level: float
) -> Interval:
    units = cell_units(table)
    [draws] = scores([coefficient], units, rng=rng, n_resamples=n_resamples)
    return interval(coefficient, value, units, draws, level=level)


def cell_units(table: Confusion) -> Units:
    """The cells as what is resampled; the made-up item as in `limits.py`, its split half in both directions."""
    n_labels = len(table.labels)
    modal = int((table.cells.sum(axis=0) + table.cells.sum(axis=1)).argmax())
    made_up = np.eye(n_labels) * 0.5 / n_labels
    for label in set(range(n_labels)) - {modal}:
        made_up[label, modal] = made_up[modal, label] = 0.25 / (n_labels - 1)
    n_cells = n_labels * n_labels
    return Units(np.eye(n_cells, dtype=np.int64), table.cells.ravel(), made_up.ravel() / made_up.sum())


def _coefficient(table: Confusion, weights: Matrix | None) -> Coefficient:
    return cohen(weight_matrix("identity", len(table.labels)) if weights is None else weights)
