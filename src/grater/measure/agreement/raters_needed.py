"""Reliability as a function of the number of raters, and the smallest number that matches the experts.

Tetreault, Chodorow & Madnani 2013, 5.2, 5.3 and Figures 1 and 2 (docs/raters-needed.md): agreement and kappa of a
crowd of N with each expert and with the writer, for N = 1 ... n. The experts are matched at the smallest N whose
kappa reaches theirs: the mean over experts of the crowd's kappa with each against the mean kappa between experts; or,
if the writer's own word is known (a rater called `writer`), the crowd's kappa with the writer against the experts'
mean kappa with the writer. With gold instead of experts, or with a target share (`reach`), the answer is the smallest
N whose majority agrees on that share of the items; gold items that accept several labels are not used.

Departures: exact expectations instead of random draws unless draws are requested, and intervals
(`grater.uncertainty`). The interval of the smallest N inverts the test of the crowd's kappa against the experts'. It
starts at the first N that may reach them (the upper limit of the difference is at least 0) and ends at the first N
that does (the lower limit is); if none does, it is open.

**Design.** The crowd and the experts are compared on the items that both judged. Only the crowd's label counts and
each expert's label matter, so items with equal counts and labels form one *kind*.

**Wins.** T,C&M 2013, 5.2, draw N of an item's judgments a hundred times; the most frequent label wins, and ties are
broken at random. With k_i of n judgments for label i, a draw is multivariate hypergeometric, so the probabilities are
exact without drawing. Label j has t judgments, tied for the lead with s others, in

    C(k_j, t) [x^(N - t) y^s] prod_(i != j) (sum_(c < t) C(k_i, c) x^c + y C(k_i, t) x^t)

of the C(n, N) draws, and then wins with probability 1 / (s + 1). That is the integral of y^s from 0 to 1, so the
product need not be expanded in y: d // 2 + 1 Gauss-Legendre nodes integrate a polynomial of degree d exactly. Every
term is positive, so nothing cancels, and results are accurate to about 1e-14. An item with ten judgments is one of 42
partitions of ten, with twenty one of 627, however many labels and items there are; each is computed once.

**Sums.** The crowd's label is known only as a probability, so each kind contributes an expectation to the agreement
of a crowd of N with an expert, and kappa is computed from the expected table. It differs slightly from the paper's
mean kappa over draws. Items with fewer than N judgments contribute nothing at N.

**Draws** are the paper's own method: a hundred for each N, majority with a random tie-break, and the mean agreement
and kappa over draws. Here the first N of an item's shuffled judgments are the draw for N; for any single N this is
equivalent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb, inf, isfinite, isnan, nan

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UsageError
from grater.measure.agreement.coefficients import band_words, coefficient_json, pair_scores
from grater.measure.agreement.cohen import NOBODY, label_matrix
from grater.measure.units import NO_ESSAYS, Essays, coded, essays_of, in_order, one_spelling, table_of, with_essays
from grater.model import Interval, Json
from grater.result import OPTIONAL, Data, Estimate, Result, encode, frame_of, key
from grater.sheet import UNDEFINED, Sheet, Signature, count, counted, interval, number, with_notes
from grater.tables import Judgments, Table, data_hash, require_raters
from grater.tables.schema import LIST_SEPARATOR
from grater.uncertainty import (
    BASIS,
    LEVEL,
    Basis,
    Influence,
    Ints,
    Numbers,
    Rare,
    Scope,
    Units,
    coefficient,
    design_effect,
    difference,
    generator,
    grouped_rows,
    influence,
    nan_mean,
    share,
)

WRITER = "writer"


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Kinds of items: the crowd's counts by label, the experts' labels (or `NOBODY`), and how many there are.

    If essays are known, `place` is the kind of each item and `unit_of` its essay.
    """

    counts: Ints
    chosen: Ints
    n_items: Ints
    labels: tuple[str, ...]
    experts: tuple[str, ...]
    n_crowd_only: int
    n_experts_only: int
    place: Ints
    unit_of: Ints | None = None
    unit: str = "item"

    def units(self, rows: Numbers, *, by_item: bool = False) -> Units:
        """The units, from a row of numbers for each kind."""
        if self.unit_of is None or by_item:
            return Units(rows, "item", self.n_items.astype(np.float64))
        n_units = int(self.unit_of.max(initial=-1)) + 1
        return Units(grouped_rows(rows[self.place], self.unit_of, n_units), self.unit)

    @property
    def most(self) -> int:
        return int(self.counts.sum(axis=1).max())

    @property
    def n(self) -> int:
        return int(self.n_items.sum())

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs to match: each expert with the writer if there is one, else every two experts."""
        if WRITER in self.experts:
            writer = self.experts.index(WRITER)
            return [(expert, writer) for expert in range(len(self.experts)) if expert != writer]
        return list(combinations(range(len(self.experts)), 2))


def design(crowd: Judgments, experts: Judgments, *, essays: Essays = NO_ESSAYS) -> Design:
    """Align the two tables; experts must be people, the crowd need not be."""
    require_raters(experts, "experts")
    ours, theirs = with_essays(coded(crowd), essays), coded(experts)
    row_of = {item: row for row, item in enumerate(theirs.items.to_list())}
    rows = np.array([row_of.get(item, NOBODY) for item in ours.items.to_list()], np.int64)
    both = rows != NOBODY
    if not both.any():
        raise BadInput(Problem(experts.name, f"expected items of {crowd.name}, found none of them"))
    listed = sorted({*ours.labels, *theirs.labels})
    labels = tuple(listed[index] for index in in_order(listed))
    counts = table_of(ours.item, _recoded(ours.labels, labels)[ours.label], len(labels))[both]
    chosen = label_matrix(theirs)[rows[both]]
    chosen = np.where(chosen == NOBODY, NOBODY, _recoded(theirs.labels, labels)[chosen])
    kinds, place, n_items = np.unique(np.hstack([counts, chosen]), axis=0, return_inverse=True, return_counts=True)
    return Design(
        counts=kinds[:, : len(labels)],
        chosen=kinds[:, len(labels) :],
        n_items=n_items,
        labels=labels,
        experts=theirs.raters,
        n_crowd_only=int((~both).sum()),
        n_experts_only=len(theirs.items) - int(both.sum()),
        place=place.ravel(),
        unit_of=None if ours.unit_of is None else ours.unit_of[both],
        unit=ours.unit,
    )


def _recoded(old: tuple[str, ...], new: tuple[str, ...]) -> Ints:
    return np.array([new.index(label) for label in old], np.int64)


MOST_JUDGMENTS = 1000
"""C(1000, 500) is still a floating-point number."""


def win_probabilities(counts: npt.ArrayLike) -> Numbers:
    """The probability that label j (row) wins a draw of N = 1, 2, ... n judgments (column)."""
    given = np.asarray(counts, np.int64)
    n = int(given.sum())
    sizes = given[given > 0].tolist()
    by_size = {size: _wins_of(size, sizes[:place] + sizes[place + 1 :], n) for place, size in enumerate(sizes)}
    return np.array([by_size.get(size, np.zeros(n)) for size in given.tolist()]).reshape(len(given), n)


def _wins_of(size: int, others: list[int], n: int) -> Numbers:
    """For each N, the probability that a label with `size` judgments beats the others."""
    nodes, weights = np.polynomial.legendre.leggauss(len(others) // 2 + 1)
    ties, share = (nodes + 1) / 2, weights / 2
    drawn = _against(size, others, ties, n)
    own = np.array([comb(size, t) for t in range(size + 1)], np.float64)
    total = np.zeros(n + 1)
    for t in range(1, size + 1):
        total[t:] += own[t] * (share @ drawn[t])[: n + 1 - t]
    return total[1:] / np.array([comb(n, drawn_n) for drawn_n in range(1, n + 1)], np.float64)


def _against(size: int, others: list[int], ties: Numbers, n: int) -> Numbers:
    """[t, node, m]: the number of ways for the other labels to have m judgments in total and none more than t."""
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
    """[kind, label, N - 1]: the probability that the label wins; 0 for all labels if the kind has fewer judgments."""
    table = np.zeros((len(shared.counts), len(shared.labels), shared.most))
    known: dict[tuple[int, ...], dict[int, Numbers]] = {}  # equal partitions are computed once
    for kind, row in enumerate(shared.counts.tolist()):
        partition = tuple(sorted(size for size in row if size))
        if partition not in known:
            known[partition] = dict(zip(partition, win_probabilities(partition), strict=True))
        for label, size in enumerate(row):
            table[kind, label, : sum(partition)] = known[partition].get(size, 0.0)
    return table


def crowd_rows(shared: Design, wins: Numbers) -> Numbers:
    """[kind, expert, column of `_rows`] for the wins [kind, label] of one N."""
    chosen = _one_hot(shared.chosen, len(shared.labels))
    drawn = (wins.sum(axis=1) > 0)[:, None, None]
    says = chosen * drawn
    ours = wins[:, None, :] * says.any(axis=2, keepdims=True)
    return _rows(ours, says)


def expert_rows(shared: Design) -> Numbers:
    """[kind, pair, column] for the pairs of experts whose agreement is to be matched."""
    chosen = _one_hot(shared.chosen, len(shared.labels))
    first = chosen[:, [one for one, _ in shared.pairs]]
    second = chosen[:, [other for _, other in shared.pairs]]
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
    """Mean `scores[N - 1, expert]` over draws, and how often each label won: `wins[kind, label, N - 1]`."""

    scores: Numbers
    wins: Numbers


def draw(shared: Design, *, n_draws: int, rng: np.random.Generator) -> Drawn:
    """All draws; each item is drawn separately, even if several are of one kind."""
    kind, n_labels = np.repeat(np.arange(len(shared.n_items)), shared.n_items), len(shared.labels)
    size = shared.counts.sum(axis=1)
    table = np.full((len(size), shared.most), NOBODY, np.int64)
    labels = np.tile(np.arange(n_labels), len(size))
    table[np.arange(shared.most) < size[:, None]] = np.repeat(labels, shared.counts.ravel())
    judgments = table[kind]
    scores = np.zeros((n_draws, shared.most, len(shared.experts), 2))
    won = np.zeros((len(shared.n_items), n_labels, shared.most))
    for scores_of_draw in scores:
        for column, winner in enumerate(_winners(judgments, n_labels, rng)):
            has, wins = winner != NOBODY, np.zeros(won.shape[:2])
            np.add.at(wins, (kind[has], winner[has]), 1)
            won[:, :, column] += wins
            rows = crowd_rows(shared, wins / shared.n_items[:, None])
            scores_of_draw[column] = pair_scores(np.tensordot(shared.n_items, rows, axes=1), n_labels)
    won /= n_draws * shared.n_items[:, None, None]
    return Drawn(nan_mean(scores, axis=0), won)


def _winners(
    judgments: npt.NDArray[np.int64], n_labels: int, rng: np.random.Generator
) -> list[npt.NDArray[np.int64]]:
    """The winning label of each item for N = 1, 2, ...; `NOBODY` if an item has fewer judgments."""
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


# The curves


MEAN = "mean of experts"
FUZZ = 1e-9
"""Kappas that differ by less are the same: N = 2m and 2m - 1 agree only up to rounding."""

NO_PAIR = "there are no two experts to compare, and their kappa is what a crowd must reach"
ONE_LABEL = "one label only on these items, so chance alone would agree as often"
ONE_SIDED = "the experts use only one label, so kappa is 0 whatever the crowd says"
SEVERAL = "several labels accepted"

GOLD = "gold"
FEW_ITEMS = 50
FEW_MINOR = 10
"""Items, and items with another label than the experts' most frequent one, below which a warning is given."""

MOST_POINTS = 30
MOST_CURVES = 4


@dataclass(frozen=True, slots=True)
class Point(Data):
    """A crowd of `n_raters` against one expert; `n_left_out` shared items have fewer judgments."""

    n_raters: int
    n_items: float
    n_left_out: int
    agreement: Interval
    kappa: Interval = field(metadata=key(write=coefficient_json))


@dataclass(frozen=True, slots=True)
class Curve(Data):
    """`against` is an expert, the writer, or the mean of all experts."""

    against: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Target(Data):
    """The kappa to match, and the pairs whose mean it is."""

    what: str = field(metadata=key("of"))
    kappa: Interval = field(metadata=key(write=coefficient_json))
    pairs: tuple[tuple[str, str, float], ...] = field(
        metadata=key(write=lambda pairs: [{"raters": [*raters], "kappa": encode(kappa)} for *raters, kappa in pairs])
    )


def _whole_json(estimate: Interval) -> dict[str, Json]:
    """A number of raters in whole numbers; a limit beyond the available judgments is null."""
    numbers = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    whole: dict[str, Json] = {name: int(value) if isfinite(value) else None for name, value in numbers.items()}
    return {**whole, **({"reason": estimate.undefined_because} if estimate.undefined_because else {})}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RatersNeeded(Result):
    """`smallest` is the number of raters; its value is nan if the crowd does not match the experts."""

    n_items: int
    n_crowd_only: int
    n_experts_only: int
    labels: tuple[str, ...]
    experts: tuple[str, ...]
    curves: tuple[Curve, ...]
    target: Target
    smallest: Interval = field(metadata=key(write=_whole_json))
    method: str
    signature: Signature
    scope: Scope = field(metadata=key("interval"))
    reach: float | None = field(default=None, metadata=OPTIONAL)
    warnings: tuple[str, ...] = ()

    def curve(self, against: str) -> Curve:
        return next(curve for curve in self.curves if curve.against == against)

    @property
    def headline(self) -> Curve:
        """The curve that gives the answer: that with the writer, if there is one, unless a target share is given."""
        names = {curve.against for curve in self.curves}
        is_with_writer = WRITER in names and (self.reach is None or MEAN not in names)
        return self.curve(WRITER if is_with_writer else MEAN)

    @property
    def is_target_in_doubt(self) -> bool:
        """Whether the experts' kappa is not significantly above 0, so that matching it means little."""
        return self.reach is None and self.target.kappa.low <= 0

    def estimates(self) -> Iterator[Estimate]:
        for curve in self.curves:
            for point in curve.points:
                counts = {"raters": point.n_raters, "items": point.n_items, "left_out": point.n_left_out}
                yield {"against": curve.against, **counts, "coefficient": "agreement"}, point.agreement
                yield {"against": curve.against, **counts, "coefficient": "kappa"}, point.kappa

    def to_frame(self) -> pl.DataFrame:
        """Columns against, raters, items, left_out, coefficient, value, low, high."""
        return frame_of(self.estimates()).fill_nan(None)

    def sheets(self) -> list[Sheet]:
        notes = [*_answer(self), self.scope.sentence]
        main = self.headline
        is_one = len(self.experts) == 1 and main.against == MEAN
        against = self.experts[0] if is_one else main.against
        others = [] if is_one else [curve for curve in self.curves if curve is not main][:MOST_CURVES]
        rows = []
        for index in shown(len(main.points), MOST_POINTS):
            point = main.points[index]
            kappas = [number(curve.points[index].kappa.value) for curve in others]
            cells = (count(round(point.n_items)), interval(point.agreement), interval(point.kappa))
            rows.append((str(point.n_raters), *cells, *kappas))
        columns = ("raters", "items", "agreement", f"kappa, {against}", *(curve.against for curve in others))
        heading = f"A crowd of N raters, {counted(self.n_items, 'item')}"
        return with_notes([Sheet(heading, columns, tuple(rows), name="raters-needed")], notes, str(self.signature))


def as_expert(gold: Table) -> Judgments:
    """Known answers as the judgments of one expert; items that accept several labels are left out and counted."""
    label = pl.col("label").cast(pl.String)
    is_one = ~label.str.contains(LIST_SEPARATOR, literal=True)
    frame = gold.frame.filter(is_one).select(pl.col("item").cast(pl.String), label=label, rater=pl.lit(GOLD))
    n_several = len(gold.frame) - len(frame)
    return Judgments(frame, gold.name, dropped={SEVERAL: n_several} if n_several else {})


def raters_needed(
    crowd: Judgments,
    experts: Judgments,
    *,
    essays: Essays | None = None,
    n_draws: int = 0,
    reach: float | None = None,
    basis: Basis = BASIS,
) -> RatersNeeded:
    """The curves of a crowd against experts on the items that both judged.

    `n_draws` of 0 gives the exact expectation; `reach` is a target share of agreement, used instead of experts.
    """
    if reach is not None and not 0 < reach <= 1:
        raise UsageError(f"expected a share to reach above 0 and at most 1, found {reach:g}")
    crowd, experts = one_spelling(crowd), one_spelling(experts)
    essays = essays_of(crowd, units=basis.units) if essays is None else essays
    shared = design(crowd, experts, essays=essays)
    if not n_draws and shared.most > MOST_JUDGMENTS:
        raise UsageError(f"more than {MOST_JUDGMENTS:,} judgments of an item: pass `draws` 100")
    drawn = draw(shared, n_draws=n_draws, rng=generator(basis.seed, "raters-needed")) if n_draws else None
    crowds = _Crowds(shared, drawn.wins if drawn else exact_wins(shared), drawn, basis)
    method = {"draws": str(n_draws), "seed": str(basis.seed)} if n_draws else {"method": "exact"}
    method |= {"reach": f"{reach:g}"} if reach is not None else {}
    options = {**method, "ties": "random", **basis.signature(essays.unit), "data": data_hash(crowd, experts)}
    result = RatersNeeded(
        n_items=shared.n,
        n_crowd_only=shared.n_crowd_only,
        n_experts_only=shared.n_experts_only,
        labels=shared.labels,
        experts=shared.experts,
        curves=tuple(crowds.curves()),
        target=crowds.target(),
        smallest=_smallest(crowds, reach),
        method="draws" if n_draws else "exact",
        signature=Signature("raters-needed", options),
        scope=crowds.scope(essays),
        reach=reach,
    )
    return replace(result, warnings=tuple(_warnings(result, shared, experts)))


AGREEMENT, KAPPA = 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class _Crowds:
    """The crowd of every N against the experts: scores and the influence of each unit."""

    shared: Design
    wins: Numbers
    drawn: Drawn | None
    basis: Basis

    def against(self, index: int, lines: Sequence[int], score: int) -> Influence:
        """A crowd of index + 1 against some experts, on average; with draws, the value is their mean."""
        it = self._mean(crowd_rows(self.shared, self.wins[:, :, index])[:, lines], score)
        if self.drawn is None:
            return it
        return replace(it, value=float(nan_mean(self.drawn.scores[index, lines, score], axis=0)))

    def agreement(self, index: int, lines: Sequence[int]) -> Interval:
        """The same as a proportion: its cases are the crowd's judgments, from that many items."""
        it, size = self.against(index, lines, AGREEMENT), self.shared.counts.sum(axis=1)
        is_case = (size > index) & (self.shared.chosen[:, lines] >= 0).any(axis=1)
        n, n_items = (float(self.shared.n_items @ (of * is_case)) for of in (size, np.ones_like(size)))
        return share(it, n=n, n_design=n_items, undefined=ONE_LABEL)

    def experts(self) -> Influence:
        return self._mean(expert_rows(self.shared), KAPPA)

    def _mean(self, rows: Numbers, score: int, *, by_item: bool = False) -> Influence:
        """The mean over lines [kind, line, column]."""
        n_labels, shape = len(self.shared.labels), rows.shape[1:]
        units = self.shared.units(rows.reshape(len(rows), -1), by_item=by_item)

        def scored(sums: Numbers) -> Numbers:
            lines = pair_scores(sums.reshape(*sums.shape[:-1], *shape), n_labels)
            return nan_mean(lines[..., score], axis=-1)

        by_unit = units.rows.reshape(len(units.rows), *shape)
        den = by_unit[:, :, 0].sum(axis=1)
        if score == KAPPA:
            chosen = by_unit[:, :, 2 : 2 + n_labels] + by_unit[:, :, 2 + n_labels :]
            margins = np.tensordot(units.counts, chosen, axes=1)
            apart = 1 - margins / np.maximum(margins.sum(axis=1, keepdims=True), 1e-300)
            den = (chosen * apart).sum(axis=(1, 2))
        return influence(units, scored, den, self.basis)

    def rare(self, rows: Numbers) -> Rare:
        """The rarer margin of the middle line of [kind, line, column]."""
        n_labels = len(self.shared.labels)
        units = self.shared.units(rows.reshape(len(rows), -1))
        by_unit, found = units.rows.reshape(len(units.rows), *rows.shape[1:]), []
        for line in range(rows.shape[1]):
            sides = by_unit[:, line, 2 : 2 + n_labels], by_unit[:, line, 2 + n_labels :]
            modal = int((units.counts @ (sides[0] + sides[1])).argmax())
            others = min((side.sum(axis=1) - side[:, modal] for side in sides), key=lambda side: units.counts @ side)
            found.append((float(units.counts @ others), float(units.counts @ (others > 1e-9))))
        return Rare(*np.median(found, axis=0)) if found else Rare(0, 0)

    def curves(self) -> Iterator[Curve]:
        experts = _experts(self.shared)
        lines = {name: [line] for line, name in enumerate(self.shared.experts)}
        for name, columns in (lines | ({MEAN: experts} if experts else {})).items():
            points = (self._point(index, columns) for index in range(self.wins.shape[2]))
            yield Curve(name, tuple(points))

    def _point(self, index: int, lines: Sequence[int]) -> Point:
        shared = self.shared
        is_enough, chosen = shared.counts.sum(axis=1) > index, shared.chosen[:, lines]
        n_items = float((shared.n_items[:, None] * (is_enough[:, None] & (chosen >= 0))).sum(axis=0).mean())
        kappa = self.against(index, lines, KAPPA)
        rare = self.rare(crowd_rows(shared, self.wins[:, :, index])[:, lines])
        interval = coefficient(kappa, rare=rare, undefined=ONE_LABEL)
        if all(np.unique(column[column >= 0]).size == 1 for column in chosen.T):
            interval = replace(interval, low=nan, high=nan, undefined_because=ONE_SIDED)
        return Point(
            n_raters=index + 1,
            n_items=n_items,
            n_left_out=int(shared.n_items[~is_enough].sum()),
            agreement=self.agreement(index, lines),
            kappa=interval,
        )

    def target(self) -> Target:
        shared = self.shared
        what = "experts with the writer" if WRITER in shared.experts else "experts with each other"
        if not shared.pairs:
            return Target(what, Interval(nan, nan, nan, NO_PAIR), ())
        rows = expert_rows(shared)
        kappas = pair_scores(np.tensordot(shared.n_items, rows, axes=1), len(shared.labels))[:, KAPPA]
        names = [(shared.experts[first], shared.experts[second]) for first, second in shared.pairs]
        mean = coefficient(self.experts(), rare=self.rare(rows), undefined=ONE_LABEL)
        return Target(what, mean, tuple((*pair, float(value)) for pair, value in zip(names, kappas, strict=True)))

    def scope(self, essays: Essays) -> Scope:
        """What intervals generalise to; the design effect is that of one rater's agreement with the experts."""
        shared, effect = self.shared, nan
        rows = crowd_rows(shared, self.wins[:, :, 0])
        if shared.unit_of is not None:
            effect = design_effect(*(self._mean(rows, AGREEMENT, by_item=by_item) for by_item in (False, True)))
        return Scope(
            unit=essays.unit,
            n_units=shared.n if shared.unit_of is None else len(np.unique(shared.unit_of)),
            design_effect=effect,
            note=essays.note,
            is_agreement=True,
        )


def _experts(shared: Design) -> list[int]:
    return [line for line, name in enumerate(shared.experts) if name != WRITER]


def _smallest(crowds: _Crowds, reach: float | None) -> Interval:
    """The first N that matches the experts, or reaches the share; its limits invert the test of each N."""
    shared = crowds.shared
    writer = [line for line, name in enumerate(shared.experts) if name == WRITER]
    lines = _experts(shared) or writer if reach is not None else writer or _experts(shared)
    if reach is None and not shared.pairs:
        return Interval(nan, nan, nan, NO_PAIR)
    target = None if reach is not None else crowds.experts()
    if target is not None and isnan(target.value):
        return Interval(nan, nan, nan, ONE_LABEL)
    apart = []
    for index in range(shared.most):
        if target is not None:
            apart.append(difference(crowds.against(index, lines, KAPPA) - target).difference)
        else:
            agreed = crowds.agreement(index, lines)
            least = reach or 0.0
            apart.append(Interval(agreed.value - least, agreed.low - least, agreed.high - least))
    value, low, high = (
        next((n for n, of in enumerate(apart, start=1) if getattr(of, end) >= -FUZZ), inf)
        for end in ("value", "high", "low")
    )
    if all(isnan(of.low) for of in apart):
        low = high = nan
    low, high = min(low, value), max(high, value)
    goal = "the experts" if reach is None else number(reach, digits=2)
    if value == inf:
        short = "kappa stays below the experts'" if reach is None else f"agreement stays below {goal}"
        why = f"the crowd's {short} up to N = {shared.most}"
        return Interval(nan, nan if low == inf else low, inf, why)
    why = f"{shared.most} judgments are not enough to be sure of {goal}" if high == inf else ""
    return Interval(value, low, high, why)


def _warnings(result: RatersNeeded, shared: Design, experts: Judgments) -> Iterator[str]:
    yield from result.scope.warnings
    if shared.n < FEW_ITEMS:
        yield f"only {counted(shared.n, 'item')} in common: below {FEW_ITEMS} the number of raters is rough"
    chosen = np.bincount(
        shared.chosen[shared.chosen >= 0], np.repeat(shared.n_items, (shared.chosen >= 0).sum(axis=1))
    )
    n_minor = float(chosen.sum() - chosen.max(initial=0)) / max(1, len(shared.experts))
    if n_minor < FEW_MINOR:
        yield (
            f"the experts give another label than the most frequent one to {n_minor:.1f} items: with fewer than "
            f"{FEW_MINOR} kappa, and the number of raters, is rough"
        )
    if result.is_target_in_doubt:
        yield "the experts' own kappa may be 0: matching it shows nothing"
    if SEVERAL in experts.dropped:
        yield f"{counted(experts.dropped[SEVERAL], 'item')} of {experts.name} accept several labels and are left out"
    if shared.n_crowd_only or shared.n_experts_only:
        alone = f"{shared.n_crowd_only:,} items have no expert and {shared.n_experts_only:,} no crowd"
        yield f"{alone}; they are left out"
    n = 0 if isnan(result.smallest.value) else int(result.smallest.value)
    if n and (n_left_out := result.curves[0].points[n - 1].n_left_out):
        yield f"{n_left_out:,} items have fewer than {n} judgments and are left out there"


# As people see it


def shown(n_points: int, most: int) -> list[int]:
    """All indices, or at most `most` of them, evenly spread and including the first and the last."""
    if n_points <= most:
        return list(range(n_points))
    return sorted({round(step * (n_points - 1) / (most - 1)) for step in range(most)})


def _answer(result: RatersNeeded) -> Iterator[str]:
    kappa, smallest = result.target.kappa, result.smallest
    pairs = counted(len(result.target.pairs), "pair")
    if result.reach is not None:
        share = number(result.reach, digits=2)
        if isnan(smallest.value):
            yield f"No number of raters can be named for an agreement of {share}: {smallest.undefined_because}."
            return
        who = "1 rater" if smallest.value == 1 else f"The majority of {smallest.value:.0f} raters"
        yield f"{who} agrees on {share} of the items ({100 * LEVEL:g} % interval {whole_words(smallest)})."
        return
    if not isnan(kappa.value):
        words = (f"mean of {pairs}", band_words(kappa))
        yield f"Kappa of {result.target.what}: {interval(kappa)} ({'; '.join(filter(None, words))})."
    if isnan(smallest.value):
        yield f"No number of raters can be named: {smallest.undefined_because}."
    else:
        enough = "1 rater matches" if smallest.value == 1 else f"{smallest.value:.0f} raters match"
        yield f"{enough} the experts ({100 * LEVEL:g} % interval {whole_words(smallest)})."
        if smallest.undefined_because:
            yield f"Above the upper bound: {smallest.undefined_because}."


def whole_words(estimate: Interval) -> str:
    if isnan(estimate.low):
        return UNDEFINED
    return f"{estimate.low:.0f} or more" if estimate.high == inf else f"{estimate.low:.0f} to {estimate.high:.0f}"
