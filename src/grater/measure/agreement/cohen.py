"""Cohen's kappa for two raters with the standard errors of two papers, and its mean over all pairs of raters.

Cohen 1960; with weights Cohen 1968.  `fce` is the large-sample standard error of Fleiss, Cohen & Everitt 1969, eq. 13
(weighted: eq. 9), which is the delta method on the table, and is computed as such.  `simple` is Cohen's own,
sqrt(po (1 - po) / (n (1 - pe)^2)), which takes pe as known; it stands behind the z of Lee et al. 2009 and is here to
reproduce such numbers.  `bootstrap` is that of `grater.uncertainty.bootstrap`.

Kappa is undefined where both raters used one and the same label throughout, or share no item.  Where the two never
disagree both standard errors are 0, which is not credible: the interval then comes from the bootstrap.  It stays
within [-1, 1].

The mean over pairs is Light's (1971, Psychological Bulletin 76, 365-377).  Pairs that share no item, or whose kappa
is undefined, are left out and counted, in every resample too.  Pairs share items and raters, so their kappas are
dependent: whole items (essays, where they are known) are resampled, with all that their raters said.  Where that
would take too much memory (many items or many pairs) the interval is that of the delta method, an item's influence on
the mean being the mean of its influences on the pairs; by essay that of the jackknife.

A kappa of few items is biased low: with four or five items a pair, the mean of kappas that are .45 in truth comes out
at .37 (docs/agreement.md), and a resample, with fewer distinct items still, is biased once more.  So where the middle
pair shares fewer than `FEW_SHARED` items the interval is the jackknife's, around the value less its bias (Efron &
Tibshirani 1993, chapter 10), widened to hold that of Conger's kappa.  The jackknife alone held .84 to .95 in such
worlds, least where errors are rare: pairs whose kappa is undefined, or rests on one item, hide their part of the
spread.  Conger's kappa is the mean of the same kappas with weights 1 - pe, is computed from all items at once, and so
has no such bias.  Both together err on the safe side (.96 to 1).  Essays of very unequal lengths count as the number
that they are worth (`effective_units`) in every one of these intervals.

Conger's kappa (1980, Psychological Bulletin 88, 322-328) takes the agreement of all pairs against the chance of each
rater's own shares of labels, so that one coefficient does for all raters what Cohen's does for two:

    pe = mean over raters g != h of sum_kl w_kl p_gk p_hl

With missing judgments a rater's shares are those on the items that he or she judged, and each rater counts once, as
in Gwet 2014, chapter 2.  With two raters it is Cohen's kappa.

Two raters' labels cross-tabulated, and how often each contradicts the other.

T&C 2008, Table 3, prints such a table and two *disagreement rates*: of the items that a rater calls an error, the
share that the other calls OK (26 of 86, 37 of 97).  Here a rate has Wilson's interval, and is given for each rater.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isnan, nan, sqrt
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.errors import UnknownName, UsageError
from grater.measure.agreement.coded import MOST_CELLS, Coded
from grater.measure.agreement.coefficients import NO_PAIR, Coefficient, Matrix, pair_agreement, weight_matrix
from grater.measure.agreement.coefficients import ONE_LABEL as ONE_LABEL_OF_ALL
from grater.model import Interval
from grater.registry import unknown
from grater.result import FLAT, HIDDEN, Data, in_json, key
from grater.uncertainty.bootstrap import (
    Groups,
    PatternUnits,
    Sums,
    bca_interval,
    gradient,
    grouped,
    point_estimate,
    ratio,
    resampled_scores,
)
from grater.uncertainty.intervals import (
    LEVEL,
    ONE_UNIT,
    RESAMPLES,
    Ints,
    Numbers,
    cluster_wilson,
    effective_units,
    holding,
    normal_interval,
    student_quantile,
    widening,
    wilson,
)

NOBODY = -1
"""In a label matrix: this rater did not judge this item."""


@dataclass(frozen=True, slots=True, eq=False)
class Confusion(Data):
    """`cells[k, l]` items were given label k by the first rater and label l by the second.

    `groups` are the essays that these items stand in, where they are known; their patterns are cells, row by row.
    """

    cells: Ints = field(metadata=key("confusion"))
    labels: tuple[str, ...]
    raters: tuple[str, str]
    groups: Groups | None = field(default=None, metadata=HIDDEN)

    @property
    @in_json()
    def n(self) -> int:
        """The items that both judged."""
        return int(self.cells.sum())

    @property
    def observed(self) -> Interval:
        """The share of items on which the two agree."""
        return self.share(np.eye(len(self.labels), dtype=bool), np.ones_like(self.cells, dtype=bool))

    def share(self, part: npt.NDArray[np.bool_], whole: npt.NDArray[np.bool_]) -> Interval:
        """The items in some cells among those in others; essays are drawn where they are known."""
        if self.groups is None:
            return wilson(int(self.cells[part].sum()), int(self.cells[whole].sum()))
        cells = np.column_stack([part.ravel(), whole.ravel()]).astype(np.float64)
        sums = self.groups.sums(cells)
        return cluster_wilson(sums[:, 0], sums[:, 1])

    def merged(self, *groups: Sequence[str], names: Sequence[str]) -> Confusion:
        """The table of coarser labels, each group under its new name."""
        places = [[self.labels.index(label) for label in group] for group in groups]
        cells = [[int(self.cells[np.ix_(rows, columns)].sum()) for columns in places] for rows in places]
        return Confusion(np.array(cells, np.int64), tuple(names), self.raters)


def confusion(cells: npt.ArrayLike, labels: Sequence[str], raters: tuple[str, str] = ("R1", "R2")) -> Confusion:
    """A table as a paper prints it: rows are the first rater's labels."""
    table = np.asarray(cells, np.int64)
    if table.shape != (len(labels), len(labels)):
        raise UsageError(f"expected a table of {len(labels)} x {len(labels)} labels, found {table.shape}")
    return Confusion(table, tuple(labels), raters)


def label_matrix(coded: Coded) -> npt.NDArray[np.int32]:
    """Items by raters, with `NOBODY` where a judgment is missing."""
    n_items, n_raters = len(coded.items), len(coded.raters)
    if n_items * n_raters > MOST_CELLS:
        raise UsageError(f"{coded.name}: {n_raters} raters of {n_items} items are too many to compare in pairs")
    matrix = np.full((n_items, n_raters), NOBODY, np.int32)
    matrix[coded.item, coded.rater] = coded.label
    return matrix


def confusions(coded: Coded) -> Iterator[Confusion]:
    """The table of every pair of raters, also of pairs that share no item."""
    matrix = label_matrix(coded)
    for first, second in combinations(range(len(coded.raters)), 2):
        raters = coded.raters[first], coded.raters[second]
        yield between(matrix[:, first], matrix[:, second], coded.labels, raters, unit_of=coded.unit)


def between(
    first: npt.NDArray[np.int32],
    second: npt.NDArray[np.int32],
    labels: tuple[str, ...],
    raters: tuple[str, str],
    *,
    unit_of: Ints | None = None,
) -> Confusion:
    """The table of two aligned columns of labels; `unit_of` has the essay of each row."""
    both = (first != NOBODY) & (second != NOBODY)
    cell = first[both].astype(np.int64) * len(labels) + second[both]
    cells = np.bincount(cell, minlength=len(labels) ** 2).reshape(len(labels), len(labels))
    return Confusion(cells, labels, raters, None if unit_of is None else grouped(cell, unit_of[both]))


@dataclass(frozen=True, slots=True)
class Disagreement(Data):
    """Of the `n` items that a rater calls an error, `n_ok` are OK to the other."""

    rater: str
    other: str
    n_ok: int
    n: int
    rate: Interval = field(metadata=FLAT)


def disagreements(table: Confusion, *, ok: str) -> tuple[Disagreement, Disagreement]:
    """T&C 2008, 5.2: for each rater, the share of their errors that are OK to the other."""
    if ok not in table.labels:
        raise UnknownName(unknown("label", ok, list(table.labels)))
    place = table.labels.index(ok)
    first, second = table.raters
    is_error = np.arange(len(table.labels)) != place
    by_first = np.repeat(is_error[:, None], len(table.labels), axis=1)
    both = is_error[:, None] & is_error
    return (
        _disagreement(table, by_first & ~both, by_first, first, second),
        _disagreement(table, by_first.T & ~both, by_first.T, second, first),
    )


def _disagreement(
    table: Confusion, part: npt.NDArray[np.bool_], whole: npt.NDArray[np.bool_], rater: str, other: str
) -> Disagreement:
    n_ok, n = int(table.cells[part].sum()), int(table.cells[whole].sum())
    return Disagreement(rater=rater, other=other, n_ok=n_ok, n=n, rate=table.share(part, whole))


def ok_label(labels: Sequence[str]) -> str | None:
    """The label that says "no error", where one is called ok."""
    return next((label for label in labels if label.casefold() == "ok"), None)


# Cohen's kappa


Error: TypeAlias = Literal["fce", "simple"]
Method: TypeAlias = Literal["fce", "simple", "bootstrap"]
METHODS: tuple[Method, ...] = ("bootstrap", "fce", "simple")

NO_ITEM = "the two raters share no item"
ONE_LABEL = "both raters used one label only, so chance alone would agree as often"
NO_KAPPA = "no pair of raters has a kappa"

MOST_SUMS = 1024
MOST_PAIR_CELLS = 1 << 24
"""What the bootstrap may take: cells of all pairs' tables, and these times items (128 MB)."""

FEW_SHARED = 50
"""Items of the middle pair below which a mean kappa is biased low."""

MOST_SETS = 64
"""Sets of raters that share the made-up item."""


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
    method: Method = "bootstrap",
    n_resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """Kappa with its interval; the formulas take items as independent even where essays are known."""
    value = kappa(table, weights=weights)
    if value != value:
        return Interval(nan, nan, nan, ONE_LABEL if table.n else NO_ITEM)
    if table.n < 2:
        return Interval(value, nan, nan, "a single item says nothing about chance")
    error = 0.0 if method == "bootstrap" else standard_error(table, error=method, weights=weights)
    if error == 0:
        coefficient = _coefficient(table, weights)
        units = cell_units(table)
        [draws] = resampled_scores([coefficient], units, rng=rng, n_resamples=n_resamples)
        return bca_interval(coefficient, value, units, draws, level=level)
    return normal_interval(value, error, level=level, ends=(-1.0, 1.0))


def cell_units(table: Confusion) -> PatternUnits:
    """The cells as what is resampled; the made-up item as in `coefficients.py`, its split half in both directions."""
    n_labels = len(table.labels)
    modal = int((table.cells.sum(axis=0) + table.cells.sum(axis=1)).argmax())
    made_up = np.eye(n_labels) * 0.5 / n_labels
    for label in set(range(n_labels)) - {modal}:
        made_up[label, modal] = made_up[modal, label] = 0.25 / (n_labels - 1)
    n_cells = n_labels * n_labels
    return PatternUnits(
        patterns=np.eye(n_cells, dtype=np.int64),
        n_items=table.cells.ravel(),
        made_up=made_up.ravel() / made_up.sum(),
        groups=table.groups,
    )


def _coefficient(table: Confusion, weights: Matrix | None) -> Coefficient:
    return cohen(weight_matrix("identity", len(table.labels)) if weights is None else weights)


# The mean over all pairs of raters, and Conger's kappa


@dataclass(frozen=True, slots=True, eq=False)
class LabelRows:
    """Items with two judgments or more: their labels by rater, and their essays where they are known."""

    matrix: npt.NDArray[np.int32]
    unit_of: Ints | None


def compared_rows(coded: Coded) -> LabelRows:
    """What pairs of raters are compared on."""
    matrix = label_matrix(coded)
    is_compared = (matrix != NOBODY).sum(axis=1) > 1
    return LabelRows(matrix[is_compared], None if coded.unit is None else coded.unit[is_compared])


@dataclass(frozen=True, slots=True)
class MeanPairwise:
    """Mean kappa over `n_pairs` pairs; `n_undefined` more have none.  `method` says how its interval was made, and
    `n_shared` how many items the middle pair shares."""

    kappa: Interval
    n_pairs: int
    n_undefined: int
    method: str
    n_shared: int = 0

    @property
    def is_sparse(self) -> bool:
        """Whether pairs share so few items that their kappas, and so the mean, are biased low."""
        return 0 < self.n_shared < FEW_SHARED


def mean_pairwise(
    coded: Coded,
    tables: Sequence[Confusion],
    *,
    rng: np.random.Generator,
    weights: Matrix | None = None,
    conger: Interval | None = None,
    n_resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> MeanPairwise:
    """`tables` are those of every pair, in the order of `confusions`; `conger` is Conger's kappa, if known."""
    chosen = weight_matrix("identity", len(coded.labels)) if weights is None else weights
    values = np.array([kappa(table, weights=chosen) for table in tables])
    is_defined = ~np.isnan(values)
    n_pairs, n_undefined = int(is_defined.sum()), int((~is_defined).sum())
    if n_pairs == 0:
        return MeanPairwise(Interval(nan, nan, nan, NO_KAPPA), 0, n_undefined, "none")
    n_shared = int(np.median([table.n for table, defined in zip(tables, is_defined, strict=True) if defined]))
    is_sparse = n_shared < FEW_SHARED
    interval, method = _mean_interval(
        coded, tables, values, chosen, is_sparse=is_sparse, rng=rng, n_resamples=n_resamples, level=level
    )
    if is_sparse and method != "none":
        other = conger or conger_kappa(coded, rng=rng, weights=chosen, n_resamples=n_resamples, level=level)
        interval, method = holding(interval, other), f"{method}+conger"
    return MeanPairwise(interval, n_pairs=n_pairs, n_undefined=n_undefined, n_shared=n_shared, method=method)


def _mean_interval(
    coded: Coded,
    tables: Sequence[Confusion],
    values: Numbers,
    weights: Matrix,
    *,
    is_sparse: bool,
    rng: np.random.Generator,
    n_resamples: int,
    level: float,
) -> tuple[Interval, str]:
    """The mean of the pairs' kappas with its interval, and how that was made."""
    is_defined = ~np.isnan(values)
    value, rows = float(values[is_defined].mean()), compared_rows(coded)
    if len(rows.matrix) < 2:
        return Interval(value, nan, nan, "a single item cannot be resampled"), "none"
    if _is_large(len(tables) * len(coded.labels) ** 2, len(rows.matrix)):
        if rows.unit_of is not None:
            return _by_essay(value, rows.matrix, rows.unit_of, tables, weights, level), "jackknife"
        return _student(
            value, _delta_error(rows.matrix, tables, is_defined, weights), len(rows.matrix), level
        ), "delta"
    statistic, units = mean_kappa(len(coded.raters), weights), row_units(rows, len(coded.labels))
    if is_sparse:
        return jackknife(statistic, value, units, level=level), "jackknife"
    [draws] = resampled_scores([statistic], units, rng=rng, n_resamples=n_resamples)
    return bca_interval(statistic, value, units, draws, level=level), "bootstrap"


def _is_large(n_sums: int, n_items: int) -> bool:
    return n_sums > MOST_SUMS or n_sums * n_items > MOST_PAIR_CELLS


def _student(value: float, error: float, n_items: int, level: float) -> Interval:
    half = student_quantile((1 + level) / 2, n_items - 1) * error
    return Interval(value, max(-1.0, value - half), min(1.0, value + half))


def jackknife(statistic: Coefficient, value: float, units: PatternUnits, *, level: float = LEVEL) -> Interval:
    """The value with the interval of the jackknife over items or essays, around the value less its bias."""
    rows = statistic.rows(units.patterns)
    total = units.n_items @ rows
    left_out = units.groups.sums(rows) if units.groups else rows[units.n_items > 0]
    times = np.ones(len(left_out)) if units.groups else units.n_items[units.n_items > 0]
    lengths = units.groups.lengths if units.groups else None
    return _jackknifed(value, statistic.score(total - left_out), times, lengths, level)


def _jackknifed(
    value: float, without: Numbers, times: Numbers | Ints, lengths: Numbers | None, level: float
) -> Interval:
    """From the values without each kind of unit, of which there are `times`; of essays, `lengths` are their items."""
    defined = ~np.isnan(without)
    n = float(times[defined].sum())
    if n < 2:
        return Interval(value, nan, nan, ONE_UNIT)
    middle = float(times[defined] @ without[defined]) / n
    error = sqrt((n - 1) / n * float(times[defined] @ (without[defined] - middle) ** 2))
    centre = value - (n - 1) * (middle - value)
    n_effective = n if lengths is None else effective_units(lengths[defined])
    half = student_quantile((1 + level) / 2, n_effective - 1) * widening(n, n_effective) * error
    return Interval(value, max(-1.0, min(value, centre - half)), min(1.0, max(value, centre + half)))


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


def conger(n_raters: int, weights: Matrix) -> Coefficient:
    """Conger's kappa as a function of the number of items, their agreeing pairs and each rater's labels."""
    n_labels = len(weights)

    def rows(patterns: Ints) -> Numbers:
        said = np.zeros((len(patterns), n_raters, n_labels))
        item, rater = np.nonzero(patterns != NOBODY)
        said[item, rater, patterns[item, rater]] = 1
        agreeing = pair_agreement(said.sum(axis=1).astype(np.int64), weights)
        return np.column_stack([np.ones(len(patterns)), agreeing, said.reshape(len(patterns), -1)])

    def score(sums: Sums) -> Sums:
        said = sums[..., 2:].reshape(*sums.shape[:-1], n_raters, n_labels)
        n_said = said.sum(axis=-1, keepdims=True)
        shares = np.where(n_said != 0, said / np.where(n_said != 0, n_said, 1), 0)
        n_active = (n_said[..., 0].real > 0).sum(axis=-1)
        together, alone = shares.sum(axis=-2), ((shares @ weights) * shares).sum(axis=(-2, -1))
        expected = ratio(((together @ weights) * together).sum(axis=-1) - alone, n_active * (n_active - 1))
        return ratio(ratio(sums[..., 1], sums[..., 0]) - expected, 1 - expected)

    return Coefficient("conger", rows, score, ONE_LABEL_OF_ALL)


def conger_kappa(
    coded: Coded,
    *,
    rng: np.random.Generator,
    weights: Matrix | None = None,
    n_resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """Conger's kappa of all raters with its interval; by the jackknife where there is too much for the bootstrap."""
    rows = compared_rows(coded)
    chosen = weight_matrix("identity", len(coded.labels)) if weights is None else weights
    statistic, units = conger(len(coded.raters), chosen), row_units(rows, len(coded.labels))
    if not len(rows.matrix):
        return Interval(nan, nan, nan, NO_PAIR)
    value = point_estimate(statistic, units.patterns, units.n_items)
    if isnan(value):
        return Interval(nan, nan, nan, ONE_LABEL_OF_ALL)
    if len(rows.matrix) < 2:
        return Interval(value, nan, nan, "a single item cannot be resampled")
    n_sums = 2 + len(coded.raters) * len(coded.labels)
    if _is_large(n_sums, len(rows.matrix)):
        return jackknife(statistic, value, units, level=level)
    [draws] = resampled_scores([statistic], units, rng=rng, n_resamples=n_resamples)
    return bca_interval(statistic, value, units, draws, level=level)


def conger_without_each(coded: Coded, weights: Matrix) -> Numbers:
    """Conger's kappa with one rater left out, in the order of raters."""
    statistic = conger(len(coded.raters), weights)
    matrix = label_matrix(coded)
    values = []
    for rater in range(len(coded.raters)):
        others = matrix.copy()
        others[:, rater] = NOBODY
        rows = np.unique(others[(others != NOBODY).sum(axis=1) > 1], axis=0, return_counts=True)
        values.append(point_estimate(statistic, rows[0].astype(np.int64), rows[1]))
    return np.array(values)


def row_units(rows: LabelRows, n_labels: int) -> PatternUnits:
    """Distinct items; the made-up one as in `coefficients.py`, judged by such raters as judge an item together."""
    matrix = rows.matrix
    patterns, place, n_items = np.unique(matrix, axis=0, return_inverse=True, return_counts=True)
    made_up, shares = _made_up_rows(matrix, n_labels)
    n_of_each = np.concatenate([n_items, np.zeros(len(made_up), np.int64)])
    return PatternUnits(
        patterns=np.vstack([patterns, made_up]).astype(np.int64),
        n_items=n_of_each,
        made_up=np.concatenate([np.zeros(len(patterns)), shares]),
        groups=None if rows.unit_of is None else grouped(place.ravel(), rows.unit_of),
    )


def _made_up_rows(matrix: npt.NDArray[np.int32], n_labels: int) -> tuple[npt.NDArray[np.int32], Numbers]:
    """Unanimous and split items of the most frequent sets of raters, and the share of the made-up item on each."""
    judged, times = np.unique(matrix != NOBODY, axis=0, return_counts=True)
    chosen = np.argsort(-times, kind="stable")[:MOST_SETS]
    modal = int(np.bincount(matrix[matrix != NOBODY], minlength=n_labels).argmax()) if matrix.size else 0
    rows: list[npt.NDArray[np.int32]] = []
    shares: list[float] = []
    for is_judge, n in zip(judged[chosen], times[chosen].tolist(), strict=True):
        is_odd = np.cumsum(is_judge) % 2 == 1
        splits = [
            np.where(is_odd == odd, label, modal) for label in range(n_labels) if label != modal for odd in (0, 1)
        ]
        answers = [*(np.full(len(is_judge), label) for label in range(n_labels)), *splits]
        rows += [np.where(is_judge, answer, NOBODY).astype(np.int32) for answer in answers]
        shares += [0.5 * n / n_labels] * n_labels + [0.5 * n / max(1, len(splits))] * len(splits)
    return np.array(rows, np.int32).reshape(-1, matrix.shape[1]), np.array(shares) / max(sum(shares), 1e-12)


def _delta_error(
    matrix: npt.NDArray[np.int32],
    tables: Sequence[Confusion],
    is_defined: npt.NDArray[np.bool_],
    weights: Matrix | None,
) -> float:
    """The standard error of the mean from each item's influence on it."""
    total = np.zeros(len(matrix))
    for first, second, table in _pairs_of(matrix, tables, is_defined):
        both = (matrix[:, first] != NOBODY) & (matrix[:, second] != NOBODY)
        total[both] += influence(table, weights=weights)[matrix[both, first], matrix[both, second]]
    n = len(total)
    return sqrt(float((total**2).sum()) * n / max(1, n - 1)) / int(is_defined.sum())


def _by_essay(
    value: float,
    matrix: npt.NDArray[np.int32],
    unit_of: Ints,
    tables: Sequence[Confusion],
    weights: Matrix,
    level: float,
) -> Interval:
    """The jackknife over essays, one pair of raters after the other."""
    unit = np.unique(unit_of, return_inverse=True)[1]
    lengths, n_cells = np.bincount(unit).astype(np.float64), weights.size
    total, n_defined = np.zeros(len(lengths)), np.zeros(len(lengths))
    for first, second, table in _pairs_of(matrix, tables, np.ones(len(tables), bool)):
        both = (matrix[:, first] != NOBODY) & (matrix[:, second] != NOBODY)
        place = unit[both] * n_cells + matrix[both, first] * len(weights) + matrix[both, second]
        cells = np.bincount(place, minlength=len(lengths) * n_cells).reshape(-1, n_cells)
        without = cohen(weights).score(table.cells.ravel() - cells.astype(np.float64))
        total += np.nan_to_num(without)
        n_defined += ~np.isnan(without)
    means = np.divide(total, n_defined, out=np.full(len(total), nan), where=n_defined > 0)
    return _jackknifed(value, means, np.ones(len(lengths)), lengths, level)


def _pairs_of(
    matrix: npt.NDArray[np.int32], tables: Sequence[Confusion], is_wanted: npt.NDArray[np.bool_]
) -> Iterator[tuple[int, int, Confusion]]:
    pairs = combinations(range(matrix.shape[1]), 2)
    for (first, second), table, wanted in zip(pairs, tables, is_wanted, strict=True):
        if wanted:
            yield first, second, table
