"""Two raters: their labels cross-tabulated, Cohen's kappa, and its mean over all pairs of raters.

Cohen 1960; with weights Cohen 1968. Intervals are those of `grater.uncertainty`. Two published standard errors, which
treat items as independent, are here for comparison with the literature: `fce` is that of Fleiss, Cohen & Everitt
1969, eq. 13 (weighted: eq. 9); `simple` is Cohen's own, sqrt(po (1 - po) / (n (1 - pe)^2)), which takes pe as known
and underlies the z of Lee et al. 2009. Kappa is undefined if both raters used the same single label throughout or
share no item.

The mean over pairs is Light's (1971, Psychological Bulletin 76, 365-377). Pairs that share no item, or whose kappa is
undefined, are left out and counted. Kappa is biased low when items are few: with four or five items per pair, a true
kappa of .45 gives a mean of .37 (docs/agreement.md); a warning says so, and alpha is printed first.

Conger's kappa (1980, Psychological Bulletin 88, 322-328) extends Cohen's kappa to more raters: it compares the
agreement of all pairs with chance agreement computed from each rater's own label shares.

    pe = mean over raters g != h of sum_kl w_kl p_gk p_hl

If judgments are missing, a rater's shares are taken over the items that this rater judged, and each rater counts
once, as in Gwet 2014, chapter 2. With two raters it equals Cohen's kappa.

T&C 2008, Table 3, shows two raters and two *disagreement rates*: the proportion of one rater's errors that the other
calls OK (26 of 86, 37 of 97). `unknown` is never an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isnan, nan, sqrt
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.errors import UnknownName, UsageError, unknown
from grater.measure.agreement.coefficients import NO_PAIR, Matrix, for_other_raters, pair_agreement, weight_matrix
from grater.measure.agreement.coefficients import ONE_LABEL as ONE_LABEL_OF_ALL
from grater.measure.units import MOST_CELLS, UNKNOWN, Coded
from grater.model import Interval
from grater.result import FLAT, HIDDEN, Data, in_json, key
from grater.uncertainty import (
    BASIS,
    Basis,
    Influence,
    Ints,
    Numbers,
    Rare,
    Score,
    Units,
    coefficient,
    grouped_rows,
    influence,
    mean_influence,
    ratio,
    shares_by_unit,
    wilson,
    z_value,
)

NOBODY = -1
"""In a label matrix: this rater did not judge this item."""
Labels: TypeAlias = npt.NDArray[np.int32]
Error: TypeAlias = Literal["fce", "simple"]

NO_ITEM = "the two raters share no item"
ONE_LABEL = "both raters used one label only, so chance alone would agree as often"
NO_KAPPA = "no pair of raters has a kappa"
FEW_SHARED = 50
"""Items of the middle pair below which a mean kappa is biased low."""


@dataclass(frozen=True, slots=True, eq=False)
class Confusion(Data):
    """`cells[k, l]` counts the items with label k from the first rater and label l from the second.

    If units are not items, each row of `by_unit` has the cells of one unit.
    """

    cells: Ints = field(metadata=key("confusion"))
    labels: tuple[str, ...]
    raters: tuple[str, str]
    by_unit: Numbers | None = field(default=None, metadata=HIDDEN)
    unit: str = field(default="item", metadata=HIDDEN)

    @property
    @in_json()
    def n(self) -> int:
        return int(self.cells.sum())

    @property
    def units(self) -> Units:
        if self.by_unit is None:
            return Units(np.eye(self.cells.size), "item", self.cells.ravel().astype(np.float64))
        return Units(self.by_unit, self.unit)

    @property
    def observed(self) -> Interval:
        return self.share(np.eye(len(self.labels), dtype=bool), np.ones_like(self.cells, dtype=bool))

    def share(self, part: npt.NDArray[np.bool_], whole: npt.NDArray[np.bool_]) -> Interval:
        """The proportion of items in the cells `part` among those in `whole`."""
        if self.by_unit is None:
            return wilson(int(self.cells[part].sum()), int(self.cells[whole].sum()))
        hits, n = (self.by_unit @ of.ravel().astype(np.float64) for of in (part, whole))
        return shares_by_unit(hits, n, self.unit)

    @property
    def rare(self) -> Rare:
        """Items that do not get the most frequent label, counted for the rater with fewer of them."""
        n_labels = len(self.labels)
        modal = int((self.cells.sum(axis=0) + self.cells.sum(axis=1)).argmax())
        is_other = np.arange(n_labels) != modal
        margins = [np.repeat(is_other, n_labels), np.tile(is_other, n_labels)]
        cases, margin = min(((float(self.cells.ravel() @ each), each) for each in margins), key=lambda pair: pair[0])
        units = self.units
        return Rare(cases, float(units.counts @ (units.rows @ margin.astype(np.float64) > 0)))


def label_matrix(coded: Coded) -> Labels:
    """Items by raters, with `NOBODY` where a judgment is missing."""
    n_items, n_raters = len(coded.items), len(coded.raters)
    if n_items * n_raters > MOST_CELLS:
        raise UsageError(f"{coded.name}: {n_raters} raters of {n_items} items are too many to compare in pairs")
    matrix = np.full((n_items, n_raters), NOBODY, np.int32)
    matrix[coded.item, coded.rater] = coded.label
    return matrix


def confusions(coded: Coded) -> Iterator[Confusion]:
    """The table of every pair of raters, including pairs that share no item."""
    matrix = label_matrix(coded)
    for first, second in combinations(range(len(coded.raters)), 2):
        raters = coded.raters[first], coded.raters[second]
        sides = matrix[:, first], matrix[:, second]
        yield between(*sides, coded.labels, raters, unit_of=coded.unit_of, unit=coded.unit)


def between(
    first: Labels,
    second: Labels,
    labels: tuple[str, ...],
    raters: tuple[str, str],
    *,
    unit_of: Ints | None = None,
    unit: str = "essay",
    n_units: int = 0,
) -> Confusion:
    """The table of two aligned columns of labels; `unit_of` numbers each row's unit from 0."""
    cell, n_cells = _cell(first, second, len(labels)), len(labels) ** 2
    both = cell >= 0
    cells = np.bincount(cell[both], minlength=n_cells).reshape(len(labels), len(labels))
    if unit_of is None:
        return Confusion(cells, labels, raters)
    n_units = n_units or int(unit_of.max(initial=-1)) + 1
    by_unit = np.bincount(unit_of[both] * n_cells + cell[both], minlength=n_units * n_cells)
    return Confusion(cells, labels, raters, by_unit.reshape(n_units, n_cells).astype(np.float64), unit)


def _cell(first: Labels, second: Labels, n_labels: int) -> Ints:
    """The cell of each row in the flattened table of two raters; -1 where one of them did not judge."""
    both = (first != NOBODY) & (second != NOBODY)
    return np.where(both, first.astype(np.int64) * n_labels + second, -1)


@dataclass(frozen=True, slots=True)
class Disagreement(Data):
    """The other rater accepts `n_ok` of the `n` items that a rater calls an error."""

    rater: str
    other: str
    n_ok: int
    n: int
    rate: Interval = field(metadata=FLAT)


def disagreements(table: Confusion, *, ok: str) -> tuple[Disagreement, Disagreement]:
    """T&C 2008, 5.2: for each rater, the proportion of their errors that the other rater calls OK."""
    if ok not in table.labels:
        raise UnknownName(unknown("label", ok, list(table.labels)))
    is_ok = np.array([label == ok for label in table.labels])
    is_error = np.array([label not in (ok, UNKNOWN) for label in table.labels])
    whole = np.repeat(is_error[:, None], len(is_ok), axis=1)
    part = is_error[:, None] & is_ok

    def of(part: npt.NDArray[np.bool_], whole: npt.NDArray[np.bool_], rater: str, other: str) -> Disagreement:
        n_ok, n = int(table.cells[part].sum()), int(table.cells[whole].sum())
        return Disagreement(rater=rater, other=other, n_ok=n_ok, n=n, rate=table.share(part, whole))

    first, second = table.raters
    return of(part, whole, first, second), of(part.T, whole.T, second, first)


def ok_label(labels: Sequence[str]) -> str | None:
    """The label that means "no error", if there is one."""
    return next((label for label in labels if label.casefold() == "ok"), None)


# Cohen's kappa


def cohen(weights: Matrix) -> Score:
    """Kappa as a function of the flattened cells of the table."""
    n_labels = len(weights)

    def score(sums: Numbers) -> Numbers:
        cells = sums.reshape(*sums.shape[:-1], n_labels, n_labels)
        n = cells.sum(axis=(-2, -1))
        rows, columns = cells.sum(axis=-1), cells.sum(axis=-2)
        expected = ratio(((rows @ weights) * columns).sum(axis=-1), n * n)
        return ratio(ratio((cells * weights).sum(axis=(-2, -1)), n) - expected, 1 - expected)

    return score


def _weights(table: Confusion, weights: Matrix | None) -> Matrix:
    return weight_matrix("identity", len(table.labels)) if weights is None else weights


def kappa(table: Confusion, *, weights: Matrix | None = None) -> float:
    """The point estimate alone; nan if undefined."""
    return float(cohen(_weights(table, weights))(table.cells.ravel().astype(np.float64)))


def kappa_influence(table: Confusion, *, weights: Matrix | None = None, basis: Basis = BASIS) -> Influence:
    """Kappa and each unit's influence; `den` of a cell is the mean distance of its labels to all."""
    used = _weights(table, weights)
    given = table.cells.sum(axis=0) + table.cells.sum(axis=1)
    apart = (1 - used) @ given / max(1, given.sum())
    units = table.units
    return influence(units, cohen(used), units.rows @ np.add.outer(apart, apart).ravel(), basis)


def cohen_kappa(table: Confusion, *, weights: Matrix | None = None, basis: Basis = BASIS) -> Interval:
    """Kappa with an interval that rests on the pair's own shared and rare items."""
    it = kappa_influence(table, weights=weights, basis=basis)
    return coefficient(it, rare=table.rare, undefined=ONE_LABEL if table.n else NO_ITEM)


def standard_error(table: Confusion, *, error: Error = "fce", weights: Matrix | None = None) -> float:
    """A published standard error of kappa, which treats items as independent."""
    used, n = _weights(table, weights), max(1, table.n)
    rows, columns = table.cells.sum(axis=1) / n, table.cells.sum(axis=0) / n
    observed, expected = float((table.cells * used).sum()) / n, float(rows @ used @ columns)
    if expected == 1:
        return nan
    if error == "fce":
        by_margin = np.add.outer(used @ columns, rows @ used) - 2 * expected
        slope = ((used - observed) * (1 - expected) - (1 - observed) * by_margin) / (1 - expected) ** 2
        return sqrt(float((table.cells * slope**2).sum())) / n
    if (used != np.eye(len(used))).any():
        raise UsageError("the simple standard error is for kappa without weights; use fce")
    return sqrt(observed * (1 - observed) / n) / (1 - expected)


def fce_interval(table: Confusion, *, weights: Matrix | None = None) -> Interval:
    """Kappa with the interval of Fleiss, Cohen & Everitt 1969, which treats items as independent."""
    value, error = kappa(table, weights=weights), standard_error(table, weights=weights)
    return published_interval(value, error, undefined=ONE_LABEL if table.n else NO_ITEM)


def published_interval(kappa: float, error: float, *, undefined: str) -> Interval:
    """A kappa with the normal interval of a standard error from the literature."""
    if isnan(kappa):
        return Interval(nan, nan, nan, undefined)
    if error == 0:
        return Interval(kappa, nan, nan, "the two never disagree, so the standard error is 0")
    half = z_value() * error
    return Interval(kappa, max(-1.0, kappa - half), min(1.0, kappa + half))


# The mean over all pairs of raters, and Conger's kappa


@dataclass(frozen=True, slots=True)
class MeanPairwise:
    """The mean of `n_pairs` kappas; `n_undefined` pairs have none; `n_shared` is the median of shared items."""

    kappa: Interval
    n_pairs: int
    n_undefined: int
    n_shared: int = 0

    @property
    def is_sparse(self) -> bool:
        """Whether pairs share so few items that kappas, and hence their mean, are biased low."""
        return 0 < self.n_shared < FEW_SHARED


def mean_pairwise(
    coded: Coded, tables: Sequence[Confusion], *, weights: Matrix | None = None, basis: Basis = BASIS
) -> MeanPairwise:
    """`tables` holds the table of every pair, in the order of `confusions`."""
    matrix = label_matrix(coded)
    pairs = combinations(range(len(coded.raters)), 2)
    found = [
        (on_items(matrix[:, pair], table, weights=weights, basis=basis), pair, table)
        for pair, table in zip(pairs, tables, strict=True)
    ]
    found = [(it, pair, table) for it, pair, table in found if not isnan(it.value)]
    n_undefined = len(tables) - len(found)
    if not found:
        return MeanPairwise(Interval(nan, nan, nan, NO_KAPPA), 0, n_undefined)
    n_shared = int(np.median([table.n for _, _, table in found]))
    mean = mean_influence([it for it, _, _ in found])
    if basis.raters == "random":
        left = [[it.value for it, pair, _ in found if rater not in pair] for rater in range(len(coded.raters))]
        without = np.array([float(np.mean(values)) if values else nan for values in left])
        by_item = [on_items(matrix[:, pair], replace(of, by_unit=None), weights=weights) for _, pair, of in found]
        mean = for_other_raters(mean, without, mean_influence(by_item))
    rarest = [table.rare for table in tables if table.n]
    rare = Rare(*np.median([(each.cases, each.units) for each in rarest], axis=0))
    interval = coefficient(mean, rare=rare, undefined=NO_KAPPA)
    return MeanPairwise(interval, n_pairs=len(found), n_undefined=n_undefined, n_shared=n_shared)


def on_items(columns: Labels, table: Confusion, *, weights: Matrix | None = None, basis: Basis = BASIS) -> Influence:
    """Kappa of two columns of labels, with one influence per item if units are items.

    Two kappas on the same items can then be subtracted.
    """
    if table.by_unit is not None:
        return kappa_influence(table, weights=weights, basis=basis)
    cell = _cell(columns[:, 0], columns[:, 1], len(table.labels))
    if basis.interval == "bootstrap":
        rows = np.vstack([np.eye(table.cells.size), np.zeros(table.cells.size)])[cell]
        return kappa_influence(replace(table, by_unit=rows), weights=weights, basis=basis)
    it = kappa_influence(table, weights=weights)
    change, den = (np.append(of, 0.0)[cell] for of in (it.change, it.den))
    return Influence(it.value, change, den, np.ones(len(cell)))


def conger(n_raters: int, weights: Matrix) -> Score:
    """Conger's kappa as a function of the number of items, their agreeing pairs and each rater's label counts."""
    n_labels = len(weights)

    def score(sums: Numbers) -> Numbers:
        given = sums[..., 2:].reshape(*sums.shape[:-1], n_raters, n_labels)
        shares = np.nan_to_num(ratio(given, given.sum(axis=-1, keepdims=True)))
        n_active = (shares.sum(axis=-1) > 0).sum(axis=-1)
        together, alone = shares.sum(axis=-2), ((shares @ weights) * shares).sum(axis=(-2, -1))
        expected = ratio(((together @ weights) * together).sum(axis=-1) - alone, n_active * (n_active - 1))
        return ratio(ratio(sums[..., 1], sums[..., 0]) - expected, 1 - expected)

    return score


def _conger_rows(matrix: Labels, weights: Matrix) -> Numbers:
    """One row per item: 1 and its agreement, if two raters judged it, then the label from each rater."""
    given = np.zeros((*matrix.shape, len(weights)))
    is_compared = (matrix != NOBODY).sum(axis=1) > 1
    item, rater = np.nonzero((matrix != NOBODY) & is_compared[:, None])
    given[item, rater, matrix[item, rater]] = 1
    agreeing = np.zeros(len(matrix))
    agreeing[is_compared] = pair_agreement(given[is_compared].sum(axis=1).astype(np.int64), weights)
    return np.column_stack([is_compared, agreeing, given.reshape(len(matrix), -1)]).astype(np.float64)


def conger_kappa(
    coded: Coded, *, weights: Matrix | None = None, basis: Basis = BASIS, rare: Rare | None = None
) -> Interval:
    n_labels = len(coded.labels)
    used = weight_matrix("identity", n_labels) if weights is None else weights
    matrix = label_matrix(coded)
    patterns, place, n_items = np.unique(matrix, axis=0, return_inverse=True, return_counts=True)
    rows, score = _conger_rows(patterns, used), conger(len(coded.raters), used)
    if not rows[:, 0].any():
        return Interval(nan, nan, nan, NO_PAIR)
    given = rows[:, 2:].reshape(len(rows), -1, n_labels).sum(axis=1)
    margins = n_items @ given
    den = given @ ((1 - used) @ margins) / margins.sum()
    by_item = it = influence(Units(rows, "item", n_items.astype(np.float64)), score, den, basis)
    if coded.unit_of is not None:
        n_units = int(coded.unit_of.max(initial=-1)) + 1
        units = grouped_rows(np.column_stack([rows, den])[place.ravel()], coded.unit_of, n_units)
        it = influence(Units(units[:, :-1], coded.unit), score, units[:, -1], basis)
    if basis.raters == "random":
        it = for_other_raters(it, _conger_without_each(matrix, used), by_item)
    return coefficient(it, rare=rare, undefined=ONE_LABEL_OF_ALL)


def _conger_without_each(matrix: Labels, weights: Matrix) -> Numbers:
    score, values = conger(matrix.shape[1], weights), []
    for rater in range(matrix.shape[1]):
        others = matrix.copy()
        others[:, rater] = NOBODY
        values.append(float(score(_conger_rows(others, weights).sum(axis=0))))
    return np.array(values)
