"""The sampling design: which items could have been judged, which were, and why.

A score is a statement about a population of items. `Design` describes how a judged sample was drawn (T&C 2008,
section 6): the cell of every item, and the size of each cell. If grater drew the sample, a system's cells cross the
strata of all draws with its own flags, and sizes are counted in the corpus. Any system with decisions on the corpus
can therefore be scored, whether or not the sample was drawn for it, and so can parts of the corpus
(post-stratification). Samples from elsewhere have only strata: the table gives their sizes, and each must be
completely flagged or completely unflagged.

Without a sample, `selection` compares the shares of flagged and unflagged items that were judged, and the scores of
judged and unjudged items. If these differ, people judged what a system pointed at: precision can be estimated, recall
cannot.

**A cheap judge of every item**, and people on a sample: the difference estimator with its best weight (Cochran 1977,
section 7.5; PPI++, Angelopoulos, Duchi & Zrnic 2023). In a cell, people found the error rate y; the judge's mean
answer is g on the judged items and G on all; the estimated rate is y + b (G - g), where b is the slope of verdicts on
the judge's answers. The variance explained is that of each item by a slope fitted to the others (Allen 1974). With
fewer than ten judged items, or a judge no better than chance, b is 0.

**Checking the judge.** The difference estimator is unbiased for any judge, however poor, that treats judged items
like the others. Items of a cell were drawn at random, so the judge's answers on them are a random draw from its
answers in the cell: a judge with two answers has a hypergeometric number of errors among them (Fisher 1935), any
other is compared by the Kolmogorov-Smirnov test. A judge trained or prompted on the labels answers there like people
and elsewhere like itself. Cells, and the sums over the cells of each side, are tested with Holm's correction at .01,
or at .05 if the judge agrees with people on every judged item (at least 20). A judge that knows the labels and gives
the same rates elsewhere looks perfect; this only gives a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UnknownName, UsageError, unknown
from grater.measure.sampling.draw import crossed, draws_of, require_unchanged
from grater.measure.sampling.plan import decided
from grater.result import Data, key
from grater.sheet import counted, number
from grater.tables import Judgments, Sample, Table, require_same_items, with_stratum_size
from grater.uncertainty import Basis, Influence, Ints, Numbers, holm, shares_differ, z_value
from grater.uncertainty.sampled import ASIDE, Flags, Strata, influence_of, own_rates

FEWEST = 10
"""Judged items of a cell below which no slope is fitted."""
SURE = 0.999
LEAST_RATIO = 0.1
"""Judged shares that differ by less, of the larger one, are taken as equal."""
NEARLY_ALL = 0.8
"""From this share of judged items on, the scores of the others do not matter: recall has narrow bounds."""


@dataclass(frozen=True, slots=True, eq=False)
class CheapJudge:
    """The judge's answers: item, value; its name is that of its file or column."""

    name: str
    frame: pl.DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class CellsOf:
    """The cells of one system: the cell of each item, -1 if unknown; names, flags and sizes of cells.

    `sizes` is None if they are counted among the items.
    """

    cell: Ints
    names: tuple[str, ...]
    flagged: Flags
    sizes: Numbers | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """How the judged items were drawn, in the order of the evaluated items.

    `judge_warning` warns that the judge may have seen the labels.
    """

    sample: Sample
    is_drawn: Flags
    systems: tuple[CellsOf, ...]
    judge: Numbers | None = None
    judge_name: str = ""
    judge_warning: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the cell of every item is known, so that parts of the corpus can be counted."""
        return all(cells.sizes is None for cells in self.systems)

    def of_systems(self, columns: Sequence[int]) -> Design:
        return replace(self, systems=tuple(self.systems[column] for column in columns))

    def require_whole(self, what: str) -> None:
        if not self.is_whole:
            message = f"expected a sample with its design for {what}, found strata of unknown make-up"
            raise BadInput(Problem(self.sample.name, f"{message}; keep NAME.meta.json next to the sample"))

    def weights(self, system: int, known: Flags) -> Numbers:
        """The number of corpus items that each judged item represents; 0 for all others."""
        cells = self.systems[system]
        used = known & self.is_drawn
        judged = np.bincount(cells.cell[used], minlength=len(cells.names))
        sizes = self._sizes(cells)
        each = np.divide(sizes, judged, out=np.zeros(len(sizes)), where=judged > 0)
        weights = np.zeros(len(cells.cell))
        weights[used] = each[cells.cell[used]]
        return weights

    def _sizes(self, cells: CellsOf) -> Numbers:
        if cells.sizes is not None:
            return cells.sizes
        return np.bincount(cells.cell, minlength=len(cells.names)).astype(np.float64)

    def strata(
        self, system: int, truth: Numbers, unit_of: Ints, unit: str, *, basis: Basis, where: Flags | None = None
    ) -> Strata:
        """The judgments in each cell, by unit; assisted by a cheap judge if there is one."""
        cells, k = self.systems[system], len(self.systems[system].names)
        here = np.ones(len(truth), bool) if where is None else where
        used = here & self.is_drawn & ~np.isnan(truth)
        rows = np.zeros(len(truth), np.int64) if unit == "item" else unit_of
        n_rows = int(rows.max(initial=0)) + 1
        judged, errors = (_table(rows, cells.cell, of, n_rows, k) for of in (used, np.where(used, truth, 0.0)))
        if cells.sizes is None:
            sizes = _table(rows, cells.cell, here, n_rows, k)
        else:  # where undrawn items stand is not known: like the drawn ones
            n = judged.sum(axis=0)
            sizes = judged * np.divide(cells.sizes, n, out=np.zeros(k), where=n > 0)
            sizes[0, n == 0] = cells.sizes[n == 0]
        plain = Strata(sizes, judged, errors, unit, basis.population)
        return plain if self.judge is None else self._assisted(plain, cells, truth, rows, used, here)

    def _assisted(
        self, plain: Strata, cells: CellsOf, truth: Numbers, rows: Ints, used: Flags, here: Flags
    ) -> Strata:
        assert self.judge is not None
        n_rows, k = plain.sizes.shape
        fitted = [_fit(truth[own], self.judge[own]) for own in (used & (cells.cell == cell) for cell in range(k))]
        slopes, explained = (np.array(part) for part in zip(*fitted, strict=True))
        answers = np.where(here, self.judge, 0.0)
        own = _table(rows, cells.cell, np.where(used, answers, 0.0), n_rows, k)
        offsets = slopes * _table(rows, cells.cell, answers, n_rows, k)
        return replace(plain, errors=plain.errors - slopes * own, offsets=offsets, explained=explained)

    def influence(self, system: int, strata: Strata, name: str, truth: Numbers, where: Flags | None) -> Influence:
        """The influence of each unit on a score; if units are items, of each item of the corpus."""
        cells = self.systems[system]
        it = influence_of(strata, name, cells.flagged)
        if strata.unit != "item" or cells.sizes is not None:
            return it
        here = np.ones(len(truth), bool) if where is None else where
        error, ok, rest = np.split(it.change, 3)
        hits, others, _ = np.split(it.den, 3)
        used = here & self.is_drawn & ~np.isnan(truth)
        share = np.nan_to_num(truth)
        change = np.where(used, share * error[cells.cell] + (1 - share) * ok[cells.cell], rest[cells.cell])
        den = np.where(used, share * hits[cells.cell] + (1 - share) * others[cells.cell] + ASIDE, ASIDE)
        counted = used if strata.population == "these" else here
        return Influence(it.value, change, den, counted.astype(np.float64), "item")


def _table(rows: Ints, columns: Ints, values: npt.NDArray[np.generic], n_rows: int, n_columns: int) -> Numbers:
    known = columns >= 0
    place = rows[known] * n_columns + columns[known]
    sums = np.bincount(place, values[known].astype(np.float64), n_rows * n_columns)
    return np.asarray(sums.reshape(n_rows, n_columns), np.float64)


def _fit(error: Numbers, value: Numbers) -> tuple[float, float]:
    """The slope, and the share of variance that it explains out of sample.

    With the variance explained in sample, the intervals of recall covered .932 instead of .944.
    """
    n = len(error)
    if n < FEWEST or np.ptp(error) == 0 or np.ptp(value) == 0:
        return 0.0, 0.0
    away, spread = error - error.mean(), value - value.mean()
    slope = float(spread @ error / (spread @ spread))
    leverage = 1 / n + spread**2 / (spread @ spread)
    left_out = (away - slope * spread) / np.maximum(1 - leverage, 1 / n)
    explained = 1 - float(left_out @ left_out) / float(away @ away) * ((n - 1) / n) ** 2
    return (slope, min(explained, SURE)) if explained > 0 else (0.0, 0.0)


def design_of(
    decisions: Table,
    sample: Sample,
    systems: Sequence[str],
    items: pl.Series,
    *,
    labels: Judgments | None = None,
    judge: CheapJudge | None = None,
) -> Design:
    """The design of a sample for these systems and items; a sample of another corpus is refused.

    `labels` are those that strata were built from, if any.
    """
    draws = draws_of(sample)
    if not draws:
        require_same_items(sample, decisions.frame["item"].unique())
    else:
        require_unchanged(sample, decisions)
    is_whole = bool(draws) and not (labels is None and any(draw.strata == "label" for draw in draws))
    if is_whole:
        whole = crossed(decisions, sample, labels=labels)
        strata = [f"stratum {place}" for place in range(len(draws))]
        rows = whole.select("item", "is_drawn", name=pl.concat_str(strata, separator=" / "))
    else:
        table = with_stratum_size(sample)
        if table["item"].is_duplicated().any():
            message = "expected each item once, found several draws without their design"
            raise BadInput(Problem(sample.name, f"{message}; keep NAME.meta.json next to it"))
        drawn = pl.lit(value=True)
        rows = table.select("item", is_drawn=drawn, name=pl.col("stratum"), size=pl.col("stratum_size"))
    placed = pl.DataFrame({"item": items}).join(rows, on="item", how="left", maintain_order="left")
    return Design(
        sample=sample,
        is_drawn=placed["is_drawn"].fill_null(value=False).to_numpy(),
        systems=tuple(_cells_of(decisions, system, placed, sample.name) for system in systems),
        judge=None if judge is None else _answers_of(judge, items),
        judge_name=judge.name if judge else "",
    )


def is_of_these(sample: Sample, n_items: int) -> bool:
    """Whether a sample represents only these items, not a larger corpus."""
    if draws_of(sample):
        return True
    sizes = with_stratum_size(sample).unique("stratum")["stratum_size"].sum()
    return 1 <= sizes <= n_items


def _cells_of(decisions: Table, system: str, placed: pl.DataFrame, name: str) -> CellsOf:
    own = decided(decisions, system).select("item", "flagged")
    rows = placed.join(own, on="item", how="left", maintain_order="left")
    is_known = rows["name"].is_not_null()
    n_missing = rows.filter(is_known)["flagged"].null_count()
    if n_missing:
        message = f"expected a decision of {system!r} on every item, found none on {n_missing}"
        raise BadInput(Problem(decisions.name, f"{message}; run the system on the whole corpus"))
    keys = rows.filter(is_known).select("name", "flagged").unique().sort("name", "flagged")
    numbered = keys.with_row_index("cell").with_columns(pl.col("cell").cast(pl.Int64))
    cell = rows.join(numbered, on=["name", "flagged"], how="left", maintain_order="left")["cell"].fill_null(-1)
    sizes = None
    if "size" in placed.columns:
        mixed = keys.filter(pl.col("name").is_duplicated())
        if not mixed.is_empty():
            message = f"expected strata that {system} flags as a whole or not at all, found {mixed['name'].min()!r}"
            raise BadInput(Problem(name, f"{message}; draw it with grater to have its design kept"))
        by_name = dict(placed.filter(is_known).select("name", "size").unique("name").iter_rows())
        sizes = np.array([float(by_name[each]) for each in keys["name"]])
    return CellsOf(cell.to_numpy(), tuple(keys["name"]), keys["flagged"].to_numpy().astype(bool), sizes)


def _answers_of(judge: CheapJudge, items: pl.Series) -> Numbers:
    values = pl.DataFrame({"item": items}).join(judge.frame, on="item", how="left", maintain_order="left")["value"]
    if values.null_count():
        message = f"expected a value for every item, found none for {values.null_count():,}"
        raise BadInput(Problem(judge.name, message))
    return values.to_numpy().astype(np.float64)


def judge_of_column(column: str, *tables: Table | None) -> CheapJudge:
    """A numeric column of the items or decisions as a judge; several rows of an item are averaged."""
    present = [table for table in tables if table is not None]
    table = next((each for each in present if column in each.frame.columns), None)
    if table is None:
        known = sorted({name for each in present for name in each.frame.columns})
        raise UnknownName(unknown("column", column, known))
    number = pl.col(column).cast(pl.Float64, strict=False)
    frame = table.frame.group_by(pl.col("item").cast(pl.String)).agg(value=number.mean()).drop_nulls()
    if frame.is_empty():
        raise BadInput(Problem(table.name, f"expected numbers in column {column!r}, found none"))
    return CheapJudge(column, frame)


@dataclass(frozen=True, slots=True)
class Assisted(Data):
    """The cheap judge of a result, and how many human judgments it saved for recall, by system."""

    name: str = field(metadata=key("judge"))
    saved: dict[str, float] = field(default_factory=dict, metadata=key("judgments_saved"))

    @property
    def sentence(self) -> str:
        worth = "; ".join(f"{system}: {n:,.0f}" for system, n in self.saved.items())
        return f"assisted by {self.name}; for recall it is worth this number of additional human judgments: {worth}"


def judgments_saved(strata: Strata, flagged: Flags) -> float:
    """The number of further judgments, drawn alike, that recall would need without the judge; at most the corpus."""
    sizes, judged = (part.sum(axis=0)[None] for part in (strata.sizes, strata.judged))
    errors = np.nan_to_num(own_rates(strata)) * judged
    helped = Strata(sizes, judged, errors, population=strata.population, explained=strata.explained)
    with_judge = influence_of(helped, "recall", flagged).variance
    without = influence_of(replace(helped, explained=None), "recall", flagged).variance
    more = float(judged.sum()) * (without / with_judge - 1) if with_judge > 0 else 0.0
    return min(max(0.0, more), max(0.0, float(sizes.sum() - judged.sum())))


# No sample: who chose what was judged?


def selection(flagged: npt.NDArray[np.int8], judged: Flags, systems: Sequence[str], scores: Numbers) -> Iterator[str]:
    """Why the judged items cannot represent the others: one line for each system that they were chosen by.

    `flagged` is items x systems, as is `scores`, with nan if missing.
    """
    for column, system in enumerate(systems):
        marks = flagged[:, column]
        seen, all_ = ([int(((marks == side) & of).sum()) for side in (1, 0)] for of in (judged, marks >= 0))
        if not all(all_) or sum(seen) == sum(all_):
            continue
        shares = [n / total for n, total in zip(seen, all_, strict=True)]
        by_chance = not shares_differ(seen[0], all_[0], seen[1], all_[1], level=SURE)
        if not by_chance and abs(shares[0] - shares[1]) > LEAST_RATIO * max(shares):
            yield f"{100 * shares[0]:.0f} % of what {system} flags was judged and {100 * shares[1]:.0f} % of the rest"
        elif shares[1] < NEARLY_ALL and _ranks_differ(scores[:, column], judged, marks == 0):
            yield f"the unflagged items that were judged have other scores of {system} than those that were not"


def _ranks_differ(scores: Numbers, judged: Flags, where: Flags) -> bool:
    """Mann and Whitney's test of whether judged items rank like the others, at the .001 level."""
    used = where & ~np.isnan(scores)
    n, n_judged = int(used.sum()), int((used & judged).sum())
    if min(n_judged, n - n_judged) < FEWEST:
        return False
    values, inverse, times = np.unique(scores[used], return_inverse=True, return_counts=True)
    ranks = (np.cumsum(times) - (times - 1) / 2)[inverse]
    spread = n_judged * (n - n_judged) / 12 * (n + 1 - float((times**3 - times).sum()) / (n * (n - 1)))
    away = float(ranks[judged[used]].sum()) - n_judged * (n + 1) / 2
    shift = abs(away) / (n_judged * (n - n_judged))
    return len(values) > 1 and spread > 0 and abs(away) > z_value(SURE) * sqrt(spread) and shift > LEAST_RATIO


# Has a cheap judge seen the labels?

FEWEST_SHARED = 20
"""Judged items below which equal labels prove nothing."""
REFUSED = 0.01
"""The probability of refusing an honest judge."""
REFUSED_PERFECT = 0.05
"""The same where it agrees with people on every judged item."""
FEWEST_FOR_NORMAL = 5.0


def check_judge(name: str, values: Numbers, labels: Numbers, drawn: Flags, cell: Ints, flagged: Flags) -> str:
    """Refuse a judge whose answers on drawn items are no random draw; otherwise return a warning, or an empty text.

    By item: the judge's answer, the human label (nan if none), whether it was drawn, its cell, and whether the system
    flags it.
    """
    is_binary, tests = len(np.unique(values)) <= 2, []
    for place in np.unique(cell):
        inside = cell == place
        if 0 < drawn[inside].sum() < inside.sum():
            p = (_draw_p if is_binary else _smirnov_p)(values[inside], drawn[inside])
            tests.append((p, inside))
    tests += [(_stratified_p(values[side], drawn[side], cell[side]), side) for side in (flagged, ~flagged)]
    adjusted = holm([p for p, _ in tests])
    known = ~np.isnan(labels)
    n = int(known.sum())
    is_perfect = (
        n >= FEWEST_SHARED and len(np.unique(labels[known])) > 1 and bool((values[known] == labels[known]).all())
    )
    agrees = f"gives the label of people on all {n:,} judged items"
    if min(adjusted) < (REFUSED_PERFECT if is_perfect else REFUSED):
        where = tests[int(np.argmin(adjusted))][1]
        here, there = (number(float(values[where & part].mean())) for part in (drawn, ~drawn))
        side = "flagged" if flagged[where].all() else "unflagged"
        raise UsageError(
            f"judge {name} {f'{agrees} but ' if is_perfect else ''}answers otherwise on drawn items than elsewhere: "
            f"{here} on average on {counted(int(drawn[where].sum()), f'{side} item')}, {there} on the others. "
            "It may have seen the labels; use a judge that has not"
        )
    return f"judge {name} {agrees}; if it has seen them, leave it out" if is_perfect else ""


def _draw_p(values: Numbers, drawn: Flags) -> float:
    """The two-sided p of the number of high answers among n drawn of N items (hypergeometric)."""
    from scipy.special import gammaln

    is_high = values == values.max()
    size, high, n, found = (float(each) for each in (len(values), is_high.sum(), drawn.sum(), is_high[drawn].sum()))
    k = np.arange(max(0.0, n + high - size), min(n, high) + 1)
    parts = (k, high - k, n - k, size - high - n + k)
    logs = -np.sum([gammaln(part + 1) for part in parts], axis=0)
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    return min(1.0, 2 * float(min(chances[k <= found].sum(), chances[k >= found].sum())))


def _smirnov_p(values: Numbers, drawn: Flags) -> float:
    from scipy.special import kolmogorov

    points, n, m = np.sort(values), float(drawn.sum()), float((~drawn).sum())
    here, there = (np.searchsorted(np.sort(values[part]), points, side="right") for part in (drawn, ~drawn))
    return float(kolmogorov(sqrt(n * m / (n + m)) * np.abs(here / n - there / m).max()))


def _stratified_p(values: Numbers, drawn: Flags, cell: Ints) -> float:
    """The two-sided p of the sum of drawn answers over several cells, given random draws (Cochran 1977, 5.3)."""
    if not len(values):
        return 1.0
    _, code = np.unique(cell, return_inverse=True)
    size, n = np.bincount(code).astype(float), np.bincount(code, drawn)
    centred = values - (np.bincount(code, values) / size)[code]
    spread = np.bincount(code, centred**2) / np.maximum(1.0, size - 1)
    variance = float((spread * n * (1 - n / size)).sum())
    reach = float(values.max() - values.min())
    if not reach or variance < FEWEST_FOR_NORMAL * reach**2:
        return 1.0
    return 2 * NormalDist().cdf(-abs(float(centred[drawn].sum())) / sqrt(variance))
