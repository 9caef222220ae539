"""Estimates of systems from the cells of a judged sample, by two routes; differences; types of error.

**Differences.** Two systems are estimated from the same items, so their difference is known better than either.  The
variance is that of the linearised difference over cells (Cochran 1977, 5.5 and 6.3): a cell that both treat alike
adds little.  Rates in it are pulled a little to the middle, (x + 1/2) / (n + 1), so that a cell without an error seen
is not taken as certain.  For a wider population the sizes of cells add a variance of their own
(`uncertainty/stratified.py`).

**Inclusion probabilities alone.** Every judged item stands for 1 / probability items (Horvitz & Thompson 1952, J. Am.
Stat. Assoc. 47, 663-685).  A check on the post-stratified estimates, which know more (the sizes of cells) and are
steadier; with one draw, fully judged, both give the same numbers.  Intervals are normal, on the linearised ratio with
residuals around their stratum's mean (Deville 1999).  Items that nobody judged make the others of their stratum stand
for more.

**By type of error**: choice, extraneous, missing, each apart (T&C 2008, section 2, note 4).  A system says of what
type each of its flags is.  For one type its other flags do not count as flags.  A missing word stands in a gap, an
item of no width, so gaps have a precision and a recall of their own.  Elsewhere raters may say of which type an error
is (`evaluate.error_types`): recall is of the errors of that type, however they were flagged, and F has the limits
that those of precision and recall give together, which is wide.  Where raters do not say, choice and extraneous have
a precision, and no recall.

A judged sample as cells: items that were drawn alike and that every system treats alike.

A sample that grater drew has its design beside it: cells cross the strata of all its draws with the flags of the
systems asked for, their sizes are counted in the corpus, and what was judged in a cell is a simple random sample of
it (post-stratification).  So any system with decisions on the corpus can be estimated, drawn for or not, and so can a
part of the corpus (`only`).

A sample from elsewhere has only its strata: their sizes are as the table says, each must be flagged as a whole, and
nobody knows how much of them lies in a part of the corpus.

Parts of the corpus: a column of the items, or else of the decisions, says which part an item is in.  It is known for
the whole corpus, so a part has cells of its own, with sizes counted.  That somebody found an item impossible to judge
is known for judged items only: those are set aside (`without unknown`), as if they had not been judged.

A cheap judge of every item beside people who judged a sample: narrower intervals, however good the judge.

The difference estimator with its best weight (Cochran 1977, section 7.5; prediction-powered inference, PPI++:
Angelopoulos, Duchi & Zrnic 2023).  In cell k people found the rate y, the judge says g on average over the judged
items and G over all items of the cell; the rate of errors is y + b (G - g).  The best weight b is the slope of
verdicts on what the judge says.  What is left of their variance is 1 - r²; `uncertainty/stratified.py` says how r²
enters an interval.  A binary judge makes this post-stratification on its label; a score may have any scale.

Departures: r² is adjusted for the one slope it took, and where that leaves nothing (a judge that is no better than
chance, fewer than ten judged items, one verdict only) b is 0: a worthless judge changes neither estimate nor
interval.  The judge must have said something of every item.  It is never truth by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from math import inf, nan, sqrt
from typing import NamedTuple

import numpy as np
import polars as pl

from grater.errors import BadInput, Problem, UnknownName
from grater.measure.evaluation.cases import NONE, Truth, Votes, votes_of
from grater.measure.evaluation.suggestions import stated_types
from grater.measure.sampling.draw import crossed, draws_of, require_unchanged
from grater.measure.sampling.plan import decided
from grater.model import Interval
from grater.registry import unknown
from grater.result import Data, key
from grater.tables import Judgments, Sample, Table, require_same_items, with_stratum_size
from grater.uncertainty.intervals import Numbers, z_value
from grater.uncertainty.stratified import Scores, Slopes, Stratum, drawn_variance, scores, slopes


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Items with their cell: item, name, is_drawn, and a column `flag SYSTEM` for each system.

    The whole corpus where the design is known; else the drawn items, with the size of their stratum in `size`.
    """

    frame: pl.DataFrame
    systems: tuple[str, ...]
    is_whole: bool
    name: str

    @property
    def keys(self) -> list[str]:
        return ["name", *(f"flag {system}" for system in self.systems)]

    @property
    def cell_numbers(self) -> pl.DataFrame:
        """The cells in their order, each with its number."""
        rows = self.frame.select(self.keys).unique().sort(self.keys).with_row_index("cell")
        return rows.with_columns(pl.col("cell").cast(pl.Int64))

    def only(self, items: pl.Series) -> Members:
        """The same sample for a part of the corpus."""
        if not self.is_whole:
            message = "expected a sample with its design for parts of the corpus, found strata of unknown make-up"
            raise BadInput(Problem(self.name, f"{message}; draw it with grater, and keep NAME.meta.json beside it"))
        return replace(self, frame=self.frame.join(pl.DataFrame({"item": items}), on="item", how="semi"))


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells with what was judged in each; `flags` says by system which cells it flags."""

    cells: tuple[Stratum, ...]
    flags: dict[str, tuple[bool, ...]]
    n_items: float

    @property
    def n_counted(self) -> float:
        """The items that sizes were counted among; infinite where a table has shares in place of counts."""
        return self.n_items if self.n_items >= sum(cell.n_drawn for cell in self.cells) else inf

    def of(self, system: str) -> list[Stratum]:
        """The cells as strata of one system."""
        pairs = zip(self.cells, self.flags[system], strict=True)
        return [replace(cell, is_flagged=is_flagged) for cell, is_flagged in pairs]


def members_of(
    decisions: Table, sample: Sample, systems: Sequence[str], *, labels: Judgments | None = None
) -> Members:
    """Which cell each item is in for these systems; another corpus than the sample's is refused."""
    draws = draws_of(sample)
    if not draws:
        require_same_items(sample, decisions.frame["item"].unique())
        return _from_table(decisions, sample, systems)
    require_unchanged(sample, decisions)
    if labels is None and len(draws) == 1 and draws[0].strata == "label" and list(systems) == [draws[0].system]:
        return _from_table(decisions, sample, systems)
    whole = crossed(decisions, sample, labels=labels)
    strata = [f"stratum {place}" for place in range(len(draws))]
    named = whole.select("item", "is_drawn", name=pl.concat_str(strata, separator=" / "))
    return Members(_with_flags(named, decisions, systems), tuple(systems), True, sample.name)


def cells_of(members: Members, truth: pl.DataFrame) -> Cells:
    """The cells with their sizes and what was judged in them; `truth` has item and error."""
    drawn = members.frame.filter("is_drawn").join(truth, on="item", how="left")
    judged = drawn.group_by(members.keys).agg(
        n_drawn=pl.col("is_drawn").sum(), n_judged=pl.col("error").is_not_null().sum(), errors=pl.col("error").sum()
    )
    size = pl.len() if members.is_whole else pl.col("size").first()
    sizes = members.frame.group_by(members.keys).agg(size=size)
    rows = sizes.join(judged, on=members.keys, how="left").fill_null(0).sort(members.keys)
    return _cells(rows, members.systems)


def _from_table(decisions: Table, sample: Sample, systems: Sequence[str]) -> Members:
    rows = with_stratum_size(sample)
    if rows["item"].is_duplicated().any():
        message = "expected each item once, found several draws without their design; keep NAME.meta.json beside it"
        raise BadInput(Problem(sample.name, message))
    named = rows.select("item", is_drawn=pl.lit(True), name=pl.col("stratum"), size=pl.col("stratum_size"))
    members = Members(_with_flags(named, decisions, systems), tuple(systems), False, sample.name)
    mixed = members.frame.select(members.keys).unique().filter(pl.col("name").is_duplicated())
    if not mixed.is_empty():
        message = (
            f"expected strata that a system flags as a whole or not at all, found both in {mixed['name'].min()!r}"
        )
        raise BadInput(Problem(sample.name, f"{message}; draw it with grater to have its design kept"))
    return members


def _with_flags(rows: pl.DataFrame, decisions: Table, systems: Sequence[str]) -> pl.DataFrame:
    for system in systems:
        own = decided(decisions, system).select("item", pl.col("flagged").alias(f"flag {system}"))
        rows = rows.join(own, on="item", how="left")
        n_missing = rows[f"flag {system}"].null_count()
        if n_missing:
            message = f"expected a decision of {system!r} on every item, found none on {n_missing}"
            raise BadInput(Problem(decisions.name, f"{message}; run the system on the whole corpus"))
    return rows


def _cells(rows: pl.DataFrame, systems: Sequence[str]) -> Cells:
    columns = rows.select("name", "size", "n_judged", "errors", "n_drawn")
    cells = tuple(
        Stratum(
            name=name,
            is_flagged=False,
            size=float(size),
            n_judged=float(n_judged),
            errors=float(errors),
            n_drawn=int(n_drawn),
        )
        for name, size, n_judged, errors, n_drawn in columns.iter_rows()
    )
    flags = {system: tuple(rows[f"flag {system}"].to_list()) for system in systems}
    return Cells(cells, flags, sum(cell.size for cell in cells))


ESSAY = "essay"
NOT_A_PROPERTY = ("item", "system", "flagged", "score", "suggestion")


def parts_of(decisions: Table, items: Table | None, column: str) -> dict[str, pl.Series]:
    """The items with each value of a column, by value."""
    rows = _column(decisions, items, column).with_columns(pl.col("value").fill_null(NONE)).sort("value", "item")
    return {str(value): part["item"] for (value,), part in rows.group_by("value", maintain_order=True)}


def units_of_items(
    decisions: Table, items: Table | None, column: str, *, sample: Sample | None = None
) -> pl.DataFrame:
    """The essay or document of every item that was decided on: item, unit.

    Where only the sample has the column, of the drawn items; the others have none.
    """
    source = _source_of(decisions, items, column)
    if source is None and sample is not None and column in sample.frame.columns:
        return sample.frame.select("item", unit=pl.col(column).cast(pl.String)).unique("item").sort("item")
    rows = _column(decisions, items, column).rename({"value": "unit"})
    n_missing = rows["unit"].null_count()
    if n_missing:
        name = (source or decisions).name
        raise BadInput(Problem(name, f"expected the {column} of every item, found none for {n_missing}"))
    return rows


def knows_essays(decisions: Table, items: Table | None, sample: Sample) -> bool:
    """Whether a table says which essay every item stands in, or at least every drawn one."""
    if _source_of(decisions, items, ESSAY) is not None:
        return _column(decisions, items, ESSAY)["value"].null_count() == 0
    return ESSAY in sample.frame.columns and sample.frame[ESSAY].null_count() == 0


def _source_of(decisions: Table, items: Table | None, column: str) -> Table | None:
    """The table that has a column of the items: theirs, or else the decisions."""
    return next((table for table in (items, decisions) if table is not None and column in table.frame.columns), None)


def without_unknown(votes: Votes, truth: Truth) -> Truth:
    """The truth, with nothing known of items that somebody called unknown."""
    return replace(truth, values=np.where(votes.has_unknown, np.nan, truth.values))


def _column(decisions: Table, items: Table | None, column: str) -> pl.DataFrame:
    """Every item that was decided on, with its value in a column: item, value."""
    source = (_source_of(decisions, items, column) or items or decisions).frame
    known = [name for name in source.columns if name not in NOT_A_PROPERTY]
    if column not in known:
        raise UnknownName(f"{unknown('column', column, known)}; columns of items come from a table of items")
    decided = decisions.frame.select(pl.col("item").cast(pl.String)).unique()
    values = source.select(pl.col("item").cast(pl.String), value=pl.col(column).cast(pl.String))
    return decided.join(values.unique("item", keep="first", maintain_order=True), on="item", how="left")


# A cheap judge


FEWEST = 10
"""Judged items of a cell below which no slope is fitted."""


@dataclass(frozen=True, slots=True, eq=False)
class CheapJudge:
    """What it says of every item: item, value; its name is that of its file or column."""

    name: str
    frame: pl.DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """By cell: the slope, the share of variance that it explains, what the judge says on average."""

    slopes: Numbers
    explained: Numbers
    means: Numbers
    judged_means: Numbers
    judge: CheapJudge


@dataclass(frozen=True, slots=True)
class Assisted(Data):
    """The cheap judge of a result, and by system how many more judgments of people it was worth for recall."""

    name: str = field(metadata=key("judge"))
    saved: Mapping[str, float] = field(default_factory=dict, metadata=key("judgments_saved"))

    @property
    def sentence(self) -> str:
        worth = "; ".join(f"{system}: {n:,.0f}" for system, n in self.saved.items())
        return f"assisted by {self.name}; for recall it is worth this number of additional human judgments: {worth}"


def judge_of_labels(judgments: Judgments) -> CheapJudge:
    """A cheap rater's verdicts, or the share of several that call an item an error."""
    votes = votes_of(judgments)
    frame = pl.DataFrame({"item": votes.items.cast(pl.String), "value": votes.share})
    return CheapJudge(judgments.name, frame.filter(pl.col("value").is_not_nan()))


def judge_of_column(column: str, *tables: Table | None) -> CheapJudge:
    """A number that a table of items, or of decisions, has for every item; of several rows the mean."""
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


def weights_of(members: Members, cells: Cells, truth: pl.DataFrame, judge: CheapJudge) -> Weights:
    """The best weight in each cell; `truth` has item and error."""
    if not members.is_whole:
        message = "expected a sample with its design for a cheap judge, found strata of unknown make-up"
        raise BadInput(Problem(members.name, message))
    rows = members.frame.join(members.cell_numbers, on=members.keys).select("item", "cell", "is_drawn")
    rows = rows.join(judge.frame, on="item", how="left").join(truth, on="item", how="left")
    n_missing = rows["value"].null_count()
    if n_missing:
        raise BadInput(Problem(judge.name, f"expected a value for every item, found none for {n_missing:,}"))
    judged = rows.filter(pl.col("is_drawn") & pl.col("error").is_not_null())
    fitted = {cell: _fit(part["error"].to_numpy(), part["value"].to_numpy()) for (cell,), part in _by_cell(judged)}
    means = dict(rows.group_by("cell").agg(pl.col("value").mean()).iter_rows())
    seen = dict(judged.group_by("cell").agg(pl.col("value").mean()).iter_rows())
    n = len(cells.cells)
    return Weights(
        slopes=np.array([fitted.get(cell, (0.0, 0.0))[0] for cell in range(n)]),
        explained=np.array([fitted.get(cell, (0.0, 0.0))[1] for cell in range(n)]),
        means=np.array([means.get(cell, 0.0) for cell in range(n)]),
        judged_means=np.array([seen.get(cell, 0.0) for cell in range(n)]),
        judge=judge,
    )


def _by_cell(rows: pl.DataFrame) -> Iterator[tuple[tuple[int], pl.DataFrame]]:
    for (cell,), part in rows.group_by("cell"):
        yield (int(str(cell)),), part


def _fit(error: Numbers, value: Numbers) -> tuple[float, float]:
    """The slope, and the share of variance that it explains beyond what any slope would."""
    n = len(error)
    if n < FEWEST or np.ptp(error) == 0 or np.ptp(value) == 0:
        return 0.0, 0.0
    spread = value - value.mean()
    slope = float(spread @ error / (spread @ spread))
    plain = float(np.corrcoef(error, value)[0, 1]) ** 2
    adjusted = 1 - (1 - plain) * (n - 1) / (n - 2)
    return (slope, min(adjusted, 0.999)) if adjusted > 0 else (0.0, 0.0)


def assisted(cells: Cells, weights: Weights) -> Cells:
    """The cells with rates moved by what the judge says of the items that nobody judged."""
    moved = []
    for place, cell in enumerate(cells.cells):
        slope = float(weights.slopes[place])
        if not slope:
            moved.append(cell)
            continue
        rate = cell.rate + slope * float(weights.means[place] - weights.judged_means[place])
        explained = float(weights.explained[place])
        moved.append(replace(cell, assisted=min(1.0, max(0.0, rate)), explained=explained))
    return replace(cells, cells=tuple(moved))


def judgments_saved(strata: Sequence[Stratum]) -> float:
    """How many more judgments, drawn alike, would bring recall as far without the judge."""
    plain = [replace(stratum, assisted=None, explained=0.0) for stratum in strata]
    n_judged = sum(stratum.n_judged for stratum in strata)
    with_judge, without = (drawn_variance(parts, "recall") for parts in (strata, plain))
    return max(0.0, n_judged * (without / with_judge - 1)) if with_judge > 0 else 0.0


# Estimates


@dataclass(frozen=True, slots=True)
class Difference:
    """The first system minus the second."""

    systems: tuple[str, str]
    precision: Interval
    recall: Interval
    f: dict[float, Interval]


def differences(cells: Cells, *, fpc: bool = True, level: float = 0.95) -> Iterator[Difference]:
    """Every pair of systems."""
    by_system = {}
    for system in cells.flags:
        strata = cells.of(system)
        by_system[system] = _Scored(strata, scores(strata, fpc=fpc, level=level))
    n_items = inf if fpc else cells.n_counted
    for first, second in combinations(by_system, 2):
        between = partial(_difference, by_system[first], by_system[second], fpc=fpc, n_items=n_items, level=level)
        f = {beta: between("f", beta) for beta in by_system[first].scores.f}
        yield Difference((first, second), between("precision", 1.0), between("recall", 1.0), f)


class _Scored(NamedTuple):
    """One system's cells and its scores on them."""

    strata: list[Stratum]
    scores: Scores


def _difference(
    first: _Scored, second: _Scored, name: str, beta: float, *, fpc: bool, n_items: float, level: float
) -> Interval:
    value = _value(first.scores, name, beta) - _value(second.scores, name, beta)
    if value != value:
        return Interval(nan, nan, nan, "one of the two is undefined")
    own, other = (_slopes(scored, name, beta) for scored in (first, second))
    errors, items = (
        [one - two for one, two in zip(*pair, strict=True)]
        for pair in ((own.errors, other.errors), (own.items, other.items))
    )
    pairs = list(zip(errors, items, first.strata, strict=True))
    drawn = sum((slope * cell.size) ** 2 * _variance(cell, fpc=fpc) for slope, _, cell in pairs)
    sizes = sum(cell.size * slope**2 for _, slope, cell in pairs)
    half = z_value(level) * sqrt(drawn + sizes * sum(cell.size for cell in first.strata) / n_items)
    return Interval(value, value - half, value + half)


def _value(scores: Scores, name: str, beta: float) -> float:
    interval: Interval = scores.f[beta] if name == "f" else getattr(scores, name)
    return interval.value


def _slopes(scored: _Scored, name: str, beta: float) -> Slopes:
    rates = [stratum.rate if stratum.n_judged else 0.0 for stratum in scored.strata]
    return slopes(scored.strata, rates, name, beta)


def _variance(stratum: Stratum, *, fpc: bool) -> float:
    if not stratum.n_judged:
        return 0.25
    rate = stratum.smoothed
    worth = stratum.worth(fpc=fpc)
    return rate * (1 - rate) / worth if worth else 0.25


@dataclass(frozen=True, slots=True)
class HorvitzThompson:
    """Precision and recall by inclusion probabilities alone."""

    precision: Interval
    recall: Interval


def horvitz_thompson(
    decisions: Table, sample: Sample, truth: pl.DataFrame, system: str, *, fpc: bool = True, level: float = 0.95
) -> HorvitzThompson:
    """Precision over all that the system flags, and recall, from the judged items of the whole sample."""
    own = decided(decisions, system)
    rows = _judged(sample, truth).join(own.select("item", "flagged"), on="item", how="left")
    hit = pl.col("flagged") * pl.col("error")
    hits, errors = (float(rows.select((part / pl.col("chance")).sum()).item()) for part in (hit, pl.col("error")))
    n_flagged = int(own["flagged"].sum())
    z = z_value(level)
    if not n_flagged:
        precision = Interval(nan, nan, nan, "the system flags nothing")
    else:
        away = (hit - hits / n_flagged * pl.col("flagged")) / n_flagged
        precision = _normal(hits / n_flagged, rows, away, z, fpc=fpc)
    if not errors:
        return HorvitzThompson(precision, Interval(nan, nan, nan, "no error was found, flagged or not"))
    residual = (hit - hits / errors * pl.col("error")) / errors
    return HorvitzThompson(precision, _normal(hits / errors, rows, residual, z, fpc=fpc))


def _judged(sample: Sample, truth: pl.DataFrame) -> pl.DataFrame:
    """The judged items, once each, with the chance to be drawn and judged; strata of several draws are crossed."""
    items = sample.frame.group_by("item").agg(
        pl.col("stratum").sort_by("system" if "system" in sample.frame.columns else "stratum").str.join(" / "),
        pl.col("probability").first(),
    )
    joined = items.join(truth, on="item", how="left")
    response = pl.col("error").count().over("stratum") / pl.len().over("stratum")
    rows = joined.with_columns(chance=pl.col("probability") * response)
    return rows.filter(pl.col("error").is_not_null()).sort("item")


def _normal(value: float, rows: pl.DataFrame, residual: pl.Expr, z: float, *, fpc: bool) -> Interval:
    weighted = residual / pl.col("chance")
    away = (
        (weighted - weighted.mean().over("stratum")) ** 2 * pl.len().over("stratum") / (pl.len().over("stratum") - 1)
    )
    rest = 1 - pl.col("chance") if fpc else pl.lit(1.0)
    variance = float(rows.select((away.fill_nan(0.0) * rest).sum()).item())
    if not fpc:  # the strata were drawn too
        sizes = residual.mean().over("stratum") ** 2 / pl.col("chance")
        variance += float(rows.select(sizes.sum()).item())
    half = z * sqrt(variance)
    return Interval(value, value - half, value + half)


@dataclass(frozen=True, slots=True)
class SystemEstimate:
    """One system: our scores, the paper's, those by inclusion probabilities alone, and the cells they come from."""

    system: str
    scores: Scores
    paper: Scores
    weighted: HorvitzThompson
    strata: tuple[Stratum, ...]
    design_effects: Mapping[str, float] = field(default_factory=dict)


# By type of error


TYPE = "type"
MISSING = "missing"
UNKNOWN_TYPE = "judgments do not say of which type a missed error is"
NOT_KNOWN = Interval(nan, nan, nan, UNKNOWN_TYPE)


@dataclass(frozen=True, slots=True, eq=False)
class TypedPart:
    """The flags of one type, among the items where it can be; `has_recall` where no other type can be there.

    `of_any_type` are the same items with all flags.
    """

    name: str
    decisions: Table
    members: Members
    of_any_type: Members
    has_recall: bool


def typed_parts(decisions: Table, members: Members, items: Table | None) -> Iterator[TypedPart]:
    """One part for each type, where systems flag more than one."""
    if TYPE not in decisions.frame.columns or not members.is_whole:
        return
    types = decisions.frame.filter(pl.col("flagged") & pl.col("system").is_in(list(members.systems)))[TYPE]
    names = types.drop_nulls().unique().sort().to_list()
    if len(names) < 2:
        return
    gaps = _gaps(decisions, items)
    for name in names:
        known = gaps is not None
        inside = decisions.frame.select("item").unique()
        if gaps is not None:
            inside = inside.join(gaps, on="item", how="semi" if name == MISSING else "anti")
        yield _part(name, decisions, members, inside["item"], has_recall=known and name == MISSING)


def _part(name: str, decisions: Table, members: Members, inside: pl.Series, *, has_recall: bool) -> TypedPart:
    here = pl.DataFrame({"item": inside})
    frame = decisions.frame.join(here, on="item", how="semi")
    frame = frame.with_columns(flagged=pl.col("flagged") & (pl.col(TYPE).fill_null("") == name))
    own = members.only(inside)
    flags = own.frame
    for system in members.systems:
        of_type = frame.filter(pl.col("system") == system).select("item", pl.col("flagged").alias(f"flag {system}"))
        flags = flags.drop(f"flag {system}").join(of_type, on="item", how="left")
    return TypedPart(
        name=name,
        decisions=replace(decisions, frame=frame),
        members=replace(own, frame=flags),
        of_any_type=own,
        has_recall=has_recall,
    )


def _gaps(decisions: Table, items: Table | None) -> pl.DataFrame | None:
    """The items of no width; None where no table says where items stand."""
    for table in (items, decisions):
        if table is not None and {"start", "end"} <= set(table.frame.columns):
            places = table.frame.filter(pl.col("start") == pl.col("end"))
            return places.select(pl.col("item").cast(pl.String)).unique()
    return None


def truth_of_type(votes: Votes, truth: Truth, name: str) -> Truth | None:
    """Errors that raters call of one type, and nothing else, are errors; None where raters name no type."""
    types = stated_types(votes)
    if not (types != "").any():
        return None
    return replace(truth, values=np.where(np.isnan(truth.values) | (types == name), truth.values, 0.0))


def with_recall(estimate: SystemEstimate, of_any_type: SystemEstimate) -> SystemEstimate:
    """Precision of the flags of a type, and recall of its errors by flags of any type."""
    return replace(
        estimate,
        scores=_with_recall(estimate.scores, of_any_type.scores),
        paper=_with_recall(estimate.paper, of_any_type.paper),
        weighted=replace(estimate.weighted, recall=of_any_type.weighted.recall),
    )


def _with_recall(scores: Scores, others: Scores) -> Scores:
    f = {beta: _f_of(scores.precision, others.recall, beta) for beta in scores.f}
    return replace(scores, recall=others.recall, miss=others.miss, f=f)


def _f_of(precision: Interval, recall: Interval, beta: float) -> Interval:
    """F grows with both, so the limits of both give its own."""
    pairs = zip(
        (precision.value, precision.low, precision.high), (recall.value, recall.low, recall.high), strict=True
    )
    value, low, high = (_f(*pair, beta) for pair in pairs)
    return Interval(value, low, high, precision.undefined_because or recall.undefined_because)


def _f(precision: float, recall: float, beta: float) -> float:
    precision, recall = max(precision, 0.0), max(recall, 0.0)  # the paper's limits may lie below 0
    below = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / below if below else 0.0


def precision_only(estimate: SystemEstimate) -> SystemEstimate:
    """The estimate without what needs the type of missed errors."""
    return replace(
        estimate,
        scores=_precision_only(estimate.scores),
        paper=_precision_only(estimate.paper),
        weighted=replace(estimate.weighted, recall=NOT_KNOWN),
    )


def _precision_only(scores: Scores) -> Scores:
    return replace(scores, recall=NOT_KNOWN, f=dict.fromkeys(scores.f, NOT_KNOWN), miss=NOT_KNOWN)
