"""Precision, recall and F of detectors: against one truth, each rater, shares of raters, and in bins of agreement.

**Raters in turn.** T&C 2008, 5.2 and Table 4, find that the same system gains or loses ten points of precision with
the rater it is held against; `each_rater` scores it against every rater, and `spread` says how far apart they are.

**Weighted scores.** Madnani et al. 2011, section 4.1, equations 1-3: with c the system's class and p the share of the
crowd for error, H = sum c p, M = sum (1 - c) p, FP = sum c (1 - p).  An item that divides people divides the credit;
one rater more or less moves an item by 1/n, where the majority would move it from one side to the other.  Departures:
the paper gives no interval, ours resamples items, clusters or raters (below); p may be a Dawid-Skene posterior
in place of a share.  Shares need a number of votes that does not depend on the votes: where asking stopped as soon as
raters agreed, they are those of the first judgments of each item (`cases.py`).  A posterior is of all votes, for a
likelihood does not depend on why asking stopped.

**Bins of agreement.** Madnani et al. 2011, 4.2, figures 1 and 2.  The agreement of an item is the share of its
majority.  Bins are 50-75, 75-90 and 90-100 % by default: low edge closed, high edge open, the last closed; items
below the lowest edge are a row of their own.  Two raters agree wholly or not at all, so by default their one bin is
100 %.  Scores in a bin are unweighted (the bins have used the agreement already), against the majority; a tie is half
on each side, and where all items of a bin are ties there is no majority, and no score.  Error rates differ between
data sets, and precision with them: to compare systems on *different* data read kappa by agreement, as the paper
advises, or standardised scores (`different.py`); `different_rates` warns.

**Intervals.** Wilson for precision, recall and the error rate where items are drawn one by one and the truth is yes
or no; the bootstrap otherwise, by item in Wilson's form (`graded_wilson`).  By essay or document,
precision, recall and F have Wilson's form for as many cases as the resamples show the clustered ones to be worth,
with Student's t (`grater.uncertainty.bootstrap`); raters alone, being few, Student's t too; all else expanded
percentiles.  Kappa has the interval of `grater.agreement`: by essay Student's t on the scale of log(1 - kappa); by
item where counts are whole.  Where every resample is alike (all flags right), a bootstrap interval has no width,
which nobody believes: Wilson's interval for the number of units takes its place.  With no flagged item precision is
undefined (nan) and the report says so; where everything is flagged recall is 1 and kappa 0 by definition; recall is
unknown where nobody looked at what was passed over.  For exactly these items (`population`) intervals shrink with the
share that was judged.

What is resampled for the intervals of scores, what they are then about, and the resamples themselves.

Errors cluster in essays, so essays are drawn where they are known (`auto`): the `essay` of the items table, or its
`document` where essays are only the sentences of documents, as in M2.  Items are drawn one by one where no essay is
known, where all are of one essay, where no two are of the same, and where the population is exactly this corpus
(`these`): then only the choice of the judged items is chance.  `Scope` says so in words.

**Design effects.**  To first order a score is a sum over items of their influences (the gradient of the score at the
observed counts times the item's own counts); the design effect compares the variance of that sum over essays with
that over items (`grater.uncertainty.intervals`).  The gradient is numerical: one rule for precision, recall, F and
kappa.

**Resamples** are by item, by essay or document, by rater, or by both at once.  Items enter a score only through their
*pattern* (who flagged them, how true they are), so a million items are a few hundred patterns, and a resample is a
draw of pattern weights (statistics.md, "Agreement").  Patterns are in the order of their values, never of rows:
neither the order of a file nor the names of items change an interval.  Clusters are drawn whole, with the sums of
their items.  Raters are drawn with all their votes, the items held fast: intervals then say how far other raters of
the same kind would move the number; raters stand in the order of what they said. With `item+rater` (or `essay+rater`,
`document+rater`) items and raters are drawn again together, each by itself: the pigeonhole bootstrap (Owen 2007,
Annals of Applied Statistics 1, 386-411), which is a little too wide by design.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isnan, nan, sqrt
from statistics import fmean, stdev
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UsageError
from grater.measure.agreement.coded import Codes
from grater.measure.agreement.cohen import cohen_kappa, confusion
from grater.measure.evaluation.cases import (
    ALL_FLAGGED,
    CELLS,
    NO_FLAGS,
    NO_PASSED,
    ONE_DECISION,
    REASONS,
    SCORES,
    SHARES,
    Cases,
    Counts,
    Flags,
    Truth,
    Truths,
    Votes,
    below,
    cells,
    graded,
    scores,
    share_of,
    sides,
)
from grater.model import Interval, Json
from grater.sheet import Sheet
from grater.tables import require_raters
from grater.uncertainty.bootstrap import (
    Chance,
    McNemar,
    UnitCounts,
    defined_draws,
    distinct,
    group_interval,
    mcnemar,
    patterns,
    portions,
    resample_units,
)
from grater.uncertainty.intervals import (
    AS_ASKED,
    ESSAYS_UNKNOWN,
    SHARE,
    Numbers,
    Scope,
    alike_interval,
    are_alike,
    effective_units,
    generator,
    graded_wilson,
    percentile_interval,
    share_interval,
    student_interval,
    student_quantile,
    variance_ratio,
    wilson,
    z_value,
)

Unit: TypeAlias = Literal["item", "essay", "document"]

STEP = 1e-4
SHOWN = {"precision": "precision", "recall": "recall", "f0.5": "F0.5"}
"""The scores whose design effects are printed."""
DECIMALS = 9
ODD = np.uint64(0x9E3779B97F4A7C15)


def settled(chance: Chance, columns: pl.DataFrame) -> tuple[Chance, str]:
    """What `auto` means for these items, one per row, and why they are drawn one by one where they are."""
    if chance.population == "these" and chance.with_raters:
        raise UsageError("exactly these items leave no room for other raters: draw items, essays or documents")
    if chance.cluster != "auto":
        return chance, AS_ASKED if chance.cluster == "item" else ""
    if chance.population == "these":
        return replace(chance, cluster="item"), ""
    unit, because = unit_of_items(columns)
    return replace(chance, cluster=unit), because


def unit_of_items(columns: pl.DataFrame) -> tuple[Unit, str]:
    """The unit that items are drawn in, and the reason where it is the item."""
    units: dict[Unit, int] = {}
    because = ESSAYS_UNKNOWN
    names: tuple[Unit, ...] = ("essay", "document")
    for name in names:
        if name not in columns.columns:
            continue
        known = columns[name].cast(pl.String).replace("", None)
        n_missing = known.null_count()
        if n_missing and name == "essay" and n_missing < len(columns):
            because = f"the essay of {n_missing:,} is not known"
        if not n_missing and len(columns):
            units[name] = known.n_unique()
    if not units:
        return "item", because
    unit: Unit = min(units, key=lambda name: (units[name], name == "document"))
    if units[unit] == 1:
        return "item", f"all of one {unit}"
    return ("item", f"each of another {unit}") if units[unit] == len(columns) else (unit, "")


def scope_of(chance: Chance, *, n_units: int, n_raters: int, because: str, effect: float = nan) -> Scope:
    """What intervals speak of; `n_units` counts what is drawn, or all items where the population is these."""
    return Scope(
        unit=chance.unit,
        n_units=n_units if chance.unit else 0,
        population=chance.population,
        design_effect=effect,
        n_raters=n_raters if chance.with_raters else 0,
        independent_because=because or AS_ASKED,
        level=chance.level,
    )


def narrowing(n_judged: int, n_decided: int) -> float:
    """How much narrower intervals are in a finite population: 0 where every item of it was judged."""
    if n_judged >= n_decided:
        return 0.0
    return sqrt((n_decided - n_judged) / (n_decided - 1))


def design_effects(of_items: UnitCounts, of_units: UnitCounts, sums: Numbers) -> dict[str, float]:
    """The design effect of each score of one system, from its counts by item, by unit and in all."""
    gradient = _gradient(sums)
    by_item, by_unit = of_items.rows @ gradient, np.repeat(of_units.rows @ gradient, of_units.times, axis=0)
    squares = of_items.times @ by_item**2
    return {
        name: variance_ratio(by_unit[:, column], float(squares[column]), n_items=of_items.n)
        for column, name in enumerate(SCORES)
    }


def _gradient(sums: Numbers) -> Numbers:
    """Counts x scores: how fast each score moves with each count; nan where it is undefined."""
    step = STEP * max(1.0, float(sums.sum()))
    shifts = step * np.eye(len(sums))
    slopes: Numbers = (scores(sums + shifts) - scores(np.maximum(sums - shifts, 0.0))) / (
        step + np.minimum(sums, step)[:, None]
    )
    return slopes


def with_words(sheets: Iterable[Sheet], words: Sequence[str]) -> list[Sheet]:
    """The tables, each one that has an interval with the words on what intervals speak of below it."""
    return [
        replace(sheet, notes=(*sheet.notes, *words))
        if any("[" in cell for row in sheet.rows for cell in row)
        else sheet
        for sheet in sheets
    ]


def effects_note(effects: dict[str, dict[str, float]]) -> str:
    """The design effects of every system in a line; empty where there is none."""
    parts = []
    for system, of_scores in effects.items():
        shown = [
            f"{title} {of_scores[name]:.1f}" for name, title in SHOWN.items() if not isnan(of_scores.get(name, nan))
        ]
        if shown:
            parts.append(f"{system} {', '.join(shown)}")
    return f"Design effects: {'; '.join(parts)}." if parts else ""


def units_of(cases: Cases, truth: Truth, places: Codes, *, unit: str) -> UnitCounts:
    """The counts of all systems, side by side, of what is drawn."""
    n_columns = 4 * len(cases.systems)
    if unit in ("item", ""):
        kinds, times = patterns([*cases.flagged.T, truth.values], places)
        rows = cells(kinds[:, :-1].astype(np.int8), kinds[:, -1]).reshape(len(kinds), n_columns)
        return UnitCounts(rows, times)
    flagged, values = cases.flagged[places], truth.values[places]
    first, pattern = distinct([*flagged.T, values])
    rows = cells(flagged[first], values[first]).reshape(len(first), n_columns)
    group, names = cases.clusters(unit)
    of_clusters = [np.bincount(group[places], weights=column[pattern], minlength=len(names)) for column in rows.T]
    held = np.bincount(group[places], minlength=len(names)) > 0
    # Sums in another order of rows differ in their last digits, and must not make two patterns of one.
    sums = np.round(np.stack(of_clusters, axis=1)[held], DECIMALS)
    rows, times = np.unique(sums, axis=0, return_counts=True)
    return UnitCounts(rows.astype(np.float64), times)


@dataclass(frozen=True, slots=True, eq=False)
class Resamples:
    """The sums of all systems' counts, one row per resample, and the number of units they were drawn from."""

    sums: Numbers
    n_units: int
    n_effective: float = 0.0


def effective_number(units: UnitCounts, n_systems: int) -> float:
    """How many essays of one length these are worth."""
    lengths = units.rows.reshape(len(units.rows), n_systems, len(CELLS)).sum(axis=2).max(axis=1, initial=0)
    return effective_units(lengths, units.times)


def drawn_sums(cases: Cases, truth: Truth, places: Codes, units: UnitCounts, *, chance: Chance) -> Resamples:
    """The counts of all systems in every resample, whatever is drawn; `units` are those of `chance.unit`."""
    if chance.with_raters:
        sums = resampled_raters(cases, truth, places, chance=chance)
        # The scarcer kind decides how far intervals are expanded: there are many items and a handful of raters.
        n_units = min(len(cases.raters), units.n) if chance.unit else len(cases.raters)
        return Resamples(sums, n_units)
    rng = generator(chance.seed, "evaluate", chance.cluster)
    sums = resample_units(units, n_resamples=chance.n_resamples, rng=rng)
    return Resamples(sums, units.n, effective_number(units, len(cases.systems)))


def resampled_raters(cases: Cases, truth: Truth, places: Codes, *, chance: Chance) -> Numbers:
    """The counts of all systems, the raters drawn with replacement; an item without a vote then counts nowhere."""
    require_drawable(cases, truth)
    # Items by name, not by row: what is drawn for an item does not depend on the order of a file.
    places = places[np.argsort(cases.items.gather(places).cast(pl.String).to_numpy().astype(str), kind="stable")]
    flagged, weigh = cases.flagged[places], _unit_weights(cases, places, chance)
    blocks = [
        _sums_of(flagged, shares[places], weigh(shares.shape[1]))
        for shares in rater_shares(cases, truth, n_resamples=chance.n_resamples, seed=chance.seed)
    ]
    return np.concatenate([np.zeros((0, flagged.shape[1] * 4)), *blocks])


def require_drawable(votes: Votes, truth: Truth) -> None:
    """Raters can be drawn where the truth is made of their votes and they have names."""
    if not truth.is_of_votes:
        raise UsageError(f"raters can be drawn for the share or the majority, not for the truth {truth.name}")
    require_raters(votes.judgments, "intervals by rater")


def rater_shares(votes: Votes, truth: Truth, *, n_resamples: int, seed: int) -> Iterator[Numbers]:
    """How true each item is to raters drawn with replacement, in blocks of items x resamples; nan without a vote."""
    n_votes, n_error = _votes_by_rater(votes.equal if truth.is_graded else votes)
    n_raters, rng = len(votes.raters), generator(seed, "evaluate", "raters")
    for n in portions(n_resamples if n_raters else 0, len(votes)):
        weights = rng.multinomial(n_raters, np.full(n_raters, 1 / n_raters), size=n).T
        share = share_of(n_error @ weights, n_votes @ weights)
        yield share if truth.is_graded else sides(share)


def _unit_weights(cases: Cases, places: Codes, chance: Chance) -> Callable[[int], Numbers | None]:
    """How often each item is drawn, for as many resamples as asked: items x resamples."""
    if not chance.unit or not places.size:
        return lambda n: None  # noqa: ARG005 (the items held fast, or none at all)
    rng = generator(chance.seed, "evaluate", "units", chance.cluster)
    group = np.arange(len(places)) if chance.unit == "item" else cases.clusters(chance.unit)[0][places]
    held, unit = np.unique(group, return_inverse=True)
    shares = np.full(len(held), 1 / max(1, len(held)))
    return lambda n: rng.multinomial(len(held), shares, size=n).T[unit].astype(np.float64)


def _sums_of(flagged: npt.NDArray[np.int8], share: Numbers, weights: Numbers | None) -> Numbers:
    """Resamples x (systems x 4) from items x resamples; an item whose truth is nan counts nowhere."""
    counted = ~np.isnan(share) * (1.0 if weights is None else weights)
    errors = np.where(counted > 0, share, 0.0) * counted
    is_flagged, is_passed = ((flagged == mark).astype(np.float64).T for mark in (1, 0))
    hit, miss = is_flagged @ errors, is_passed @ errors
    cells_of = [hit, is_flagged @ counted - hit, miss, is_passed @ counted - miss]
    return np.stack(cells_of, axis=-1).transpose(1, 0, 2).reshape(share.shape[1], -1)


def _votes_by_rater(votes: Votes) -> tuple[Any, Any]:
    """Items x raters: who voted, and who voted for error; raters by what they said, not by their names."""
    from scipy.sparse import coo_array  # a fifth of a second that most commands need not wait for

    rank = np.argsort(np.argsort(votes.items.cast(pl.String).to_numpy().astype(str))).astype(np.uint64)
    mixed = ((rank[votes.item] * np.uint64(2) + votes.is_error + np.uint64(1)) * ODD) >> np.uint64(12)
    content = np.zeros(len(votes.raters), np.uint64)
    np.add.at(content, votes.rater, mixed * mixed)
    place = np.argsort(np.argsort(content, kind="stable"))[votes.rater]
    shape = (len(votes), len(votes.raters))
    n_votes = coo_array((np.ones(len(place)), (votes.item, place)), shape=shape).tocsr()
    n_error = coo_array((votes.is_error.astype(np.float64), (votes.item, place)), shape=shape).tocsr()
    return n_votes, n_error


def discordant(cases: Cases, truth: Truth, first: int, second: int) -> McNemar:
    """The test for two systems (by place) on the items that both decided on and that have an answer."""
    one, other = cases.flagged[:, first], cases.flagged[:, second]
    known = (one >= 0) & (other >= 0) & np.isin(truth.values, (0.0, 1.0))
    differ = known & (one != other)
    is_first_right = one[differ] == truth.values[differ]
    n_first = int(is_first_right.sum())
    return mcnemar(n_first, int(differ.sum()) - n_first)


# Scores


HEADLINE = ("precision", "recall", "f0.5", "f1")
"""The scores that every system is reported with."""
IN_BIN = ("error_rate", "precision", "recall", "kappa")
MOST_RATERS = 40
"""Raters for whom F and kappa get intervals."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """One system against one truth: `n` items, all `SCORES`, and what made them."""

    system: str
    n: int
    counts: Counts
    scores: dict[str, Interval]
    design_effect: dict[str, float] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Interval:
        return self.scores[name]

    def as_json(self, names: Sequence[str] = HEADLINE) -> dict[str, Json]:
        """The named scores and the counts behind them."""
        return {**{name: self.scores[name].as_json() for name in names}, "counts": self.counts.as_json()}


@dataclass(frozen=True, slots=True)
class Spread:
    """A score over raters: lowest, highest, mean and standard deviation."""

    n_raters: int
    low: float
    high: float
    mean: float
    sd: float


def against(cases: Cases, truth: Truth, *, chance: Chance, where: Truths | None = None) -> list[Scored]:
    """Every system against the truth, on the items that it decided on, that have a truth and that `where` allows.

    Systems that decided on the same items share their resamples; others have essays, or items, of their own.
    """
    here = np.ones(len(cases), bool) if where is None else where
    known = here & ~np.isnan(truth.values)
    scored: dict[int, Scored] = {}
    for columns in same_items(cases.flagged[known]):
        own = of_systems(cases, columns)
        places = np.flatnonzero(known & (own.flagged[:, 0] >= 0))
        scored |= zip(columns, _on_same_items(own, truth, places, here, chance), strict=True)
    return [scored[column] for column in range(len(cases.systems))]


def same_items(flagged: Flags) -> tuple[tuple[int, ...], ...]:
    """The numbers of systems (columns) that decided on the same items (rows), together."""
    groups: dict[bytes, list[int]] = {}
    for column, flags in enumerate(flagged.T):
        groups.setdefault(np.packbits(flags >= 0).tobytes(), []).append(column)
    return tuple(tuple(columns) for columns in groups.values())


def of_systems(cases: Cases, columns: Sequence[int]) -> Cases:
    """The cases of some systems, by number."""
    chosen = list(columns)
    names = tuple(cases.systems[column] for column in chosen)
    return replace(cases, systems=names, flagged=cases.flagged[:, chosen])


def _on_same_items(cases: Cases, truth: Truth, places: Codes, here: Truths, chance: Chance) -> list[Scored]:
    units = units_of(cases, truth, places, unit=chance.unit)
    shape = (len(cases.systems), len(CELLS))
    drawn = drawn_sums(cases, truth, places, units, chance=chance)
    sums, numbers = units.sums.reshape(shape), scores(drawn.sums.reshape(-1, *shape))
    is_plain = chance.is_by_item and not truth.is_graded
    scored = []
    for column, system in enumerate(cases.systems):
        decided = Decided.of(cases.flagged[here, column])
        doubt = Doubt(
            numbers[:, column],
            drawn.n_units,
            chance,
            is_plain=is_plain,
            decided=decided,
            n_effective=drawn.n_effective or drawn.n_units,
        )
        scored.append(_score_system(system, sums[column], doubt))
    return _with_effects(scored, cases, truth, places, units, chance)


def _with_effects(
    scored: Sequence[Scored], cases: Cases, truth: Truth, places: Codes, units: UnitCounts, chance: Chance
) -> list[Scored]:
    """The systems with the design effects of their scores, where essays or documents are drawn."""
    if not is_clustered(chance):
        return list(scored)
    of_items = units_of(cases, truth, places, unit="item")
    return [
        replace(system, design_effect=design_effects(_side(of_items, at), _side(units, at), system.counts.row()))
        for at, system in enumerate(scored)
    ]


def _side(units: UnitCounts, system: int) -> UnitCounts:
    """The counts of one system."""
    return UnitCounts(units.rows[:, system * len(CELLS) : (system + 1) * len(CELLS)], units.times)


def is_clustered(chance: Chance) -> bool:
    """Whether essays or documents are drawn, and nothing else."""
    return chance.unit in ("essay", "document") and not chance.with_raters


@dataclass(frozen=True, slots=True)
class Decided:
    """Items that a system flagged and passed over, judged or not."""

    n_flagged: int
    n_passed: int

    @classmethod
    def of(cls, flags: Flags) -> Decided:
        return cls(n_flagged=int((flags == 1).sum()), n_passed=int((flags == 0).sum()))


@dataclass(frozen=True, slots=True, eq=False)
class Doubt:
    """What the intervals of one system are made of: its scores in every resample, and what else was decided.

    `is_plain`: items are drawn one by one, and each is an error or not.  `n_effective` is what units of unequal
    length are worth: a few long essays among many short ones are few.
    """

    drawn: Numbers
    n_units: int
    chance: Chance
    is_plain: bool
    decided: Decided
    n_effective: float

    def draws(self, name: str, value: float, factor: float) -> Numbers:
        drawn = defined_draws(self.drawn[:, SCORES.index(name)], value)
        return drawn if factor == 1 else value + factor * (drawn - value)

    def factor(self, name: str, counts: Counts) -> float:
        """How much narrower intervals are for exactly these items; precision looks at flags alone."""
        if self.chance.population == "wider":
            return 1.0
        if name == "precision":
            return narrowing(round(counts.hit + counts.false_alarm), self.decided.n_flagged)
        return narrowing(round(counts.n), self.decided.n_flagged + self.decided.n_passed)


def _score_system(system: str, sums: Numbers, doubt: Doubt) -> Scored:
    counts, values = Counts.of_row(sums), scores(sums)
    intervals = {name: _interval(name, float(values[column]), counts, doubt) for column, name in enumerate(SCORES)}
    return Scored(system, round(counts.n), counts, intervals)


def _interval(name: str, value: float, counts: Counts, doubt: Doubt) -> Interval:
    reason = _unknown(name, counts, doubt.decided) or (REASONS[name] if isnan(value) else "")
    if reason:
        return Interval(nan, nan, nan, reason)
    if name == "recall" and not doubt.decided.n_passed:
        return Interval(value, nan, nan, ALL_FLAGGED)
    if name == "kappa" and not (doubt.decided.n_passed and doubt.decided.n_flagged):
        return Interval(value, nan, nan, ONE_DECISION)
    chance, factor = doubt.chance, doubt.factor(name, counts)
    if factor == 0:
        return Interval(value, value, value)
    if doubt.is_plain and name in SHARES:
        worth = below(name, counts) / factor**2
        return wilson(value * worth, worth, level=chance.level)
    if doubt.is_plain and factor == 1 and name == "kappa" and len(doubt.drawn) and (counts.row() % 1 == 0).all():
        table = confusion(
            [[counts.hit, counts.false_alarm], [counts.miss, counts.correct_rejection]], ("error", "ok")
        )
        rng = generator(chance.seed, "evaluate", "kappa")
        n_resamples = chance.n_resamples
        return cohen_kappa(table, rng=rng, method="bootstrap", n_resamples=n_resamples, level=chance.level)
    return _resampled(name, value, counts, doubt, factor)


def _unknown(name: str, counts: Counts, decided: Decided) -> str:
    """Why recall and F cannot be known: a side of the system's decisions that nobody looked at."""
    if name not in ("recall", "f0.5", "f1") or not counts.n:
        return ""
    if decided.n_passed and counts.miss + counts.correct_rejection == 0:
        return NO_PASSED
    return NO_FLAGS if decided.n_flagged and counts.hit + counts.false_alarm == 0 else ""


def _resampled(name: str, value: float, counts: Counts, doubt: Doubt, factor: float) -> Interval:
    chance, n_units, ends = doubt.chance, doubt.n_units, (-1.0, 1.0) if name == "kappa" else SHARE
    drawn = doubt.draws(name, value, factor)
    if name == "kappa" and n_units > 1 and drawn.size and are_alike(drawn):
        return _alike_kappa(value, counts, min(counts.n, doubt.n_effective) / factor**2, chance.level)
    if chance.cluster == "rater":
        return student_interval(value, drawn, n_units=n_units, level=chance.level, ends=ends)
    if is_clustered(chance) and name == "kappa":
        return group_interval(value, drawn, n_units=doubt.n_effective, level=chance.level)
    if is_clustered(chance):
        return share_interval(value, drawn, n=below(name, counts), n_units=doubt.n_effective, level=chance.level)
    if n_units > 1 and drawn.size and are_alike(drawn):
        return alike_interval(value, min(below(name, counts), n_units) / factor**2, quantile=z_value(chance.level))
    if n_units > 1 and drawn.size and chance.is_by_item and name != "kappa":
        worth = below(name, counts) / factor**2
        return graded_wilson(value, float(np.std(drawn)), worth, level=chance.level)
    return percentile_interval(value, drawn, n_units=n_units, level=chance.level)


def _alike_kappa(value: float, counts: Counts, n: float, level: float) -> Interval:
    """Kappa that no resample moves: Wilson's limits of the observed agreement, at the agreement by chance."""
    flags, errors = (counts.hit + counts.false_alarm) / counts.n, (counts.hit + counts.miss) / counts.n
    room = flags * (1 - errors) + errors * (1 - flags)
    quantile = student_quantile((1 + level) / 2, max(1.0, n - 1))
    observed = alike_interval(1 - (1 - value) * room, n, quantile=quantile)
    low, high = (1 - (1 - limit) / room for limit in (observed.low, observed.high))
    return Interval(value, max(-1.0, min(value, low)), min(1.0, max(value, high)))


def each_rater(cases: Cases, *, chance: Chance, where: Truths | None = None) -> dict[str, list[Scored]]:
    """Every system against each rater by name, on the items that the rater judged, essays drawn or items."""
    require_raters(cases.judgments, "results by rater")
    here = np.ones(len(cases), bool) if where is None else where
    decided = [Decided.of(flags[here]) for flags in cases.flagged.T]
    chance = chance if is_clustered(chance) else replace(chance, cluster="item")
    group = cases.clusters(chance.unit)[0] if is_clustered(chance) else None
    by_unit = _by_rater(cases, here, group)
    with_draws = len(cases.raters) <= MOST_RATERS
    return {
        rater: _against_rater(cases.systems, by_unit[row], chance, decided, with_draws=with_draws)
        for row, rater in enumerate(cases.raters)
    }


def _by_rater(cases: Cases, here: Truths, group: Codes | None) -> list[Numbers]:
    """For each rater units x systems x 4: the counts in each essay, or in all."""
    n_units = 1 if group is None else int(group.max(initial=0)) + 1
    n_cells = len(CELLS)
    shape = (len(cases.raters), n_units, n_cells)
    tables = np.zeros((*shape[:2], len(cases.systems), n_cells))
    kept = here[cases.item]
    item, rater, is_error = cases.item[kept], cases.rater[kept].astype(np.int64), cases.is_error[kept]
    unit = np.zeros(1, np.int64) if group is None else group[item].astype(np.int64)
    for column, flags in enumerate(cases.flagged.T):
        mark = flags[item]
        cell = (rater * n_units + unit) * n_cells + 2 * (mark == 0) + ~is_error
        tables[:, :, column] = np.bincount(cell[mark >= 0], minlength=int(np.prod(shape))).reshape(shape)
    return list(tables)


def _against_rater(
    systems: Sequence[str], by_unit: Numbers, chance: Chance, decided: Sequence[Decided], *, with_draws: bool
) -> list[Scored]:
    rows = by_unit[by_unit.any(axis=(1, 2))].reshape(-1, len(systems) * len(CELLS))
    units = UnitCounts(*np.unique(rows, axis=0, return_counts=True))
    sums = rows.sum(axis=0).reshape(len(systems), len(CELLS))
    n_resamples = chance.n_resamples if with_draws and len(rows) else 0
    rng = generator(chance.seed, "evaluate", "rater")
    if is_clustered(chance):
        shape = (-1, *sums.shape)
        drawn = scores(resample_units(units, n_resamples=n_resamples, rng=rng).reshape(shape))
        worth = effective_number(units, len(systems))
        doubts = [
            Doubt(drawn[:, at], units.n, chance, is_plain=False, decided=own, n_effective=worth)
            for at, own in enumerate(decided)
        ]
    else:
        doubts = [_item_doubt(row, chance, own, n_resamples) for row, own in zip(sums, decided, strict=True)]
    return [_score_system(*of_system) for of_system in zip(systems, sums, doubts, strict=True)]


def _item_doubt(sums: Numbers, chance: Chance, decided: Decided, n_resamples: int) -> Doubt:
    """Resamples of items are draws of their four cells."""
    n = int(sums.sum())
    rng = generator(chance.seed, "evaluate", "rater")
    drawn = scores(rng.multinomial(n, sums / max(1, n), size=n_resamples).astype(np.float64))
    return Doubt(drawn, n, chance, is_plain=True, decided=decided, n_effective=n)


def spread(of_raters: Sequence[Interval]) -> Spread:
    """How far a score moves with the rater; raters for whom it is undefined take no part."""
    values = [score.value for score in of_raters if not isnan(score.value)]
    if not values:
        return Spread(0, nan, nan, nan, nan)
    return Spread(len(values), min(values), max(values), fmean(values), stdev(values) if len(values) > 1 else nan)


def weighted(cases: Cases, truth: Truth, *, chance: Chance, where: Truths | None = None) -> list[Scored]:
    """Every system against the shares (or posteriors) that belong to a truth."""
    values = graded(cases, truth, seed=chance.seed)
    if not values.is_graded:
        raise UsageError(f"the truth {truth.name} has no grades; use share, majority or dawid-skene")
    return against(cases, values, chance=chance, where=where)


EDGES = (0.5, 0.75, 0.9, 1.0)
TIE = 0.5
TWO = 2
NO_MAJORITY = "raters are split evenly on every item here, so there is no majority"
FEW = 30
"""Items in a bin below which its numbers say little."""


@dataclass(frozen=True, slots=True, eq=False)
class Bin:
    """Items whose agreement is in [low, high), or in [low, high] in the last bin; `systems` in their order."""

    low: float
    high: float
    n: int
    systems: tuple[Scored, ...]

    @property
    def title(self) -> str:
        return f"{100 * self.low:g} %" if self.low == self.high else f"{100 * self.low:g}-{100 * self.high:g} %"

    def of_system(self, system: int) -> dict[str, Json]:
        """One system, by its number, in this bin."""
        scored = self.systems[system]
        scores = {name: scored[name].as_json() for name in IN_BIN}
        return {"low": self.low, "high": self.high, "n": scored.n, **scores}


def agreement_of(cases: Cases) -> Numbers:
    """The share of each item's majority; nan without a vote."""
    return _majority_share(cases.equal.n_error, cases.equal.n_votes)


def _majority_share(n_error: Codes | Numbers, n_votes: Codes | Numbers) -> Numbers:
    return share_of(np.maximum(n_error, n_votes - n_error), n_votes)


def binned(
    cases: Cases, truth: Truth, *, chance: Chance, edges: Sequence[float] = EDGES, where: Truths | None = None
) -> list[Bin]:
    """Every system in every bin; items below the lowest edge come first, where there are any."""
    check_edges(edges)
    agreement = agreement_of(cases)
    if tuple(edges) == EDGES and cases.equal.n_votes.max(initial=0) <= TWO:
        edges = (1.0, 1.0)
    allowed = ~np.isnan(agreement) if where is None else where & ~np.isnan(agreement)
    bins = []
    for low, high, is_inside in _bins(agreement, edges):
        inside = is_inside & allowed
        if low < edges[0] and (not inside.any() or edges[0] == 1):
            continue
        systems = against(cases, truth, chance=chance, where=inside)
        if inside.any() and (truth.values[inside] == TIE).all():
            systems = [
                replace(scored, scores=dict.fromkeys(SCORES, Interval(nan, nan, nan, NO_MAJORITY)))
                for scored in systems
            ]
        bins.append(Bin(low, high, int((inside & ~np.isnan(truth.values)).sum()), tuple(systems)))
    return bins


def check_edges(edges: Sequence[float]) -> None:
    if len(edges) < 2 or list(edges) != sorted(set(edges)) or edges[0] < 0 or edges[-1] > 1:
        shown = ",".join(f"{edge:g}" for edge in edges)
        raise UsageError(f"expected edges from low to high within 0 to 1, as in 0.5,0.75,0.9,1, found {shown}")


def _bins(agreement: Numbers, edges: Sequence[float]) -> Iterator[tuple[float, float, Truths]]:
    yield 0.0, edges[0], agreement < edges[0]
    for low, high in pairwise(edges):
        is_below = agreement <= high if high == edges[-1] else agreement < high
        yield low, high, (agreement >= low) & is_below
    if edges[-1] < 1:
        yield edges[-1], 1.0, agreement > edges[-1]


def histogram(cases: Cases, *, n_bars: int = 10, where: Truths | None = None) -> list[tuple[float, float, int]]:
    """Items by their agreement from one half to one (figure 1): low, high, count; the last bar is closed."""
    votes = cases.equal
    places = np.flatnonzero(votes.is_judged if where is None else votes.is_judged & where)
    kinds, times = patterns([votes.n_error, votes.n_votes], places)
    shares = _majority_share(*kinds.T)
    bars, edges = np.histogram(shares, bins=n_bars, range=(0.5, 1.0), weights=times)
    return [(float(low), float(high), int(n)) for low, high, n in zip(edges, edges[1:], bars, strict=False)]


def curve(bins: Sequence[Bin], system: str, score: str = "kappa") -> list[tuple[float, Interval]]:
    """A score against the middle of each bin: the precision-agreement and kappa-agreement plots."""
    return [
        ((within.low + within.high) / 2, scored[score])
        for within in bins
        for scored in within.systems
        if scored.system == system
    ]


def small_bins(bins: Sequence[Bin]) -> list[str]:
    """A warning for every bin that is too small to read."""
    return [
        f"only {within.n} items have an agreement of {within.title}; with fewer than {FEW} the numbers say little"
        for within in bins
        if 0 < within.n < FEW
    ]


def different_rates(first: Sequence[Bin], second: Sequence[Bin]) -> list[str]:
    """Warnings for bins in which the intervals of the error rates do not overlap: read kappa there, not precision."""
    return [
        f"error rates differ between the data sets where agreement is {one.title}: compare kappa, not precision"
        for one, other in zip(first, second, strict=False)
        if _apart(one.systems[0]["error_rate"], other.systems[0]["error_rate"])
    ]


def _apart(one: Interval, other: Interval) -> bool:
    numbers = (one.low, one.high, other.low, other.high)
    return not any(map(isnan, numbers)) and (one.high < other.low or other.high < one.low)
