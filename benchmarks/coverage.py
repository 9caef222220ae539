"""How often 95 % intervals hold the truth, and tests reject equal systems, in simulated worlds whose truth is known.

    python -m benchmarks.coverage [--corpora N] [--keep | TABLE ...]

Worlds are made with numpy alone; what is measured are the intervals that the public functions print by default
(`cases_of` skips their reading of tables, which takes most of their time on so small a corpus).
Corpus n of a world is drawn by `default_rng((seed, n))`.  The truth is the value in one large corpus of the world.
`--keep` writes what was measured to benchmarks/results.json and the page.

Worlds of `essays` (design: "One engine of uncertainty"): five raters; the error rate of an essay is Beta(.9, 4), or
Beta(.5, 9.5) where errors are rare; in a quarter of the essays raters are right with .70, else with .93; a system
finds Beta(2, 2) of an essay's errors and flags Beta(.7, 22.6) of what is right.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isnan, nan, sqrt
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
from benchmarks.harness import Size, Table
from scipy.special import expit, logit
from scipy.stats import binom

import grater
from grater import tables
from grater.measure.agreement.coefficients import (
    COEFFICIENTS,
    alpha,
    specific,
    with_interval,
    without_each_rater,
)
from grater.measure.agreement.cohen import confusions, mean_pairwise
from grater.measure.evaluation.cases import Cases, Truth, graded, truth_of
from grater.measure.evaluation.comparison import compare_systems
from grater.measure.evaluation.design import CellsOf, Design
from grater.measure.evaluation.evaluation import EvaluationOptions, evaluate
from grater.measure.evaluation.standard import against
from grater.measure.sampling.plan import Allocation, Stratification, allocate
from grater.measure.units import NO_ESSAYS, Coded, tally
from grater.measure.units import Essays as UnitsOfItems
from grater.model import Edit, Essay, Interval, Span
from grater.result import Result
from grater.tables import Judgments
from grater.uncertainty import Basis

Array: TypeAlias = npt.NDArray[Any]
Random: TypeAlias = np.random.Generator
Found: TypeAlias = Mapping[str, Interval | float]
"""By name: an interval, or a number whose mean is shown, such as 1 where a test rejects."""
CORPORA = 1000
LARGE = 8_000
"""Essays of the corpus that gives the truth."""
NOBODY = -1
INTERVALS = "95 % intervals"
INDEPENDENT = "alpha, items taken as independent"
AGREEMENTS = {
    f"{INTERVALS} of alpha and kappas": ["kappa", "alpha", "mean kappa"],
    f"{INTERVALS} of agreement on a label": ["agreement on error", "agreement on ok"],
    f"{INTERVALS} of AC1 and observed agreement": ["ac1", "observed"],
}
SCORES = ("precision", "recall", "f0.5", "f1")


# What public functions return


def intervals(result: Result, *names: str, **labels: str) -> dict[str, Interval]:
    """The numbers with these labels, by the name of the score or coefficient; all of them where none is named."""
    found = {
        str(own.get("score") or own["coefficient"]): value
        for own, value in result.estimates()
        if all(own.get(name) == label for name, label in labels.items())
    }
    return {name: found[name] for name in names or found}


def rejects(difference: Interval) -> float:
    """1 where the interval of a difference leaves 0 out, which is p < .05; nan where there is none."""
    return nan if isnan(difference.low) else float(not difference.low <= 0 <= difference.high)


def values(found: Found) -> dict[str, float]:
    return {name: each.value for name, each in found.items() if isinstance(each, Interval)}


def cell(found: Iterable[Found], truth: Mapping[str, float]) -> dict[str, float]:
    """For each interval the share that hold the truth, of those that are not withheld; the mean of each number.

    An interval that nine corpora of ten withhold has no share: the rest are too few.
    """
    columns: dict[str, list[float]] = defaultdict(list)
    n = 0
    for n, corpus in enumerate(found, start=1):  # noqa: B007
        for name, each in corpus.items():
            if not isinstance(each, Interval):
                columns[name].append(each)
            elif not isnan(each.low):
                columns[name].append(float(each.low - 1e-9 <= truth[name] <= each.high + 1e-9))
    return {name: round(float(np.nanmean(column)), 3) for name, column in columns.items() if 10 * len(column) >= n}


def simulated(n: int, measured: Callable[[Random], Found], truth: Mapping[str, float], seed: int) -> dict[str, float]:
    return cell((measured(np.random.default_rng((seed, number))) for number in range(n)), truth)


def table_of(
    title: str,
    rows: Mapping[str, Mapping[str, float]],
    n: int,
    *others: str,
    groups: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Table:
    """A row for each design; `groups` of intervals, and `others` that are none, have their own lines on the page."""
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    apart = {**groups, **{name: [name] for name in others}}
    rest = [name for name in columns if not any(name in names for names in apart.values())]
    cells = [[design, *(row.get(name) for name in columns)] for design, row in rows.items()]
    note = f"{n:,} corpora, ± {sqrt(0.95 * 0.05 / n):.3f}".replace("± 0", "± ")
    return Table(title, ["design", *columns], cells, note, {**({INTERVALS: rest} if rest else {}), **apart})


# Corpora as tables


@dataclass(frozen=True, slots=True)
class Corpus:
    """Items by raters: 1 is an error, 0 is none, `NOBODY` was not asked; items by systems; -1 is no essay."""

    essay: Array
    given: Array
    flags: Array
    prefix: str = "i"

    def names(self) -> pl.Series:
        return self.prefix + pl.Series(np.arange(len(self.essay))).cast(pl.String)

    def judgments(self) -> Judgments:
        item, rater = np.nonzero(self.given != NOBODY)
        raters = pl.Series([f"r{number}" for number in range(self.given.shape[1])])
        label = pl.Series(["ok", "error"])[self.given[item, rater]]
        return Judgments(pl.DataFrame({"item": self.names()[item], "rater": raters[rater], "label": label}), "judged")

    def decisions(self) -> tables.Table:
        names, (n, k) = self.names(), self.flags.shape
        systems = pl.Series([f"S{number}" for number in range(k)])[np.repeat(np.arange(k), n)]
        frame = {"item": pl.concat([names] * k), "system": systems, "flagged": self.flags.T.ravel().astype(bool)}
        return tables.Table("decisions", pl.DataFrame(frame), "decided")

    def items(self) -> tables.Table | None:
        if self.essay[0] < 0:
            return None
        essay = pl.Series([f"{self.prefix}e{number}" for number in range(int(self.essay.max()) + 1)])[self.essay]
        start = np.arange(len(self.essay))
        columns = {"item": self.names(), "essay": essay, "start": start, "end": start + 1}
        return tables.Table("items", pl.DataFrame(columns).with_columns(kind=pl.lit("prep")), "items")


def cases_of(corpus: Corpus, design: Design | None = None) -> tuple[Cases, Truth]:
    """What `grater.evaluate` and `grater.compare` make of the tables, without the tables; truth is the majority."""
    item, rater = np.nonzero(corpus.given != NOBODY)
    k, is_apart = corpus.flags.shape[1], corpus.essay[0] < 0
    cases = Cases(
        items=pl.Series(np.arange(len(corpus.given))),
        item=item,
        rater=rater,
        is_error=corpus.given[item, rater] == 1,
        unsure=np.zeros(0, np.int64),
        raters=tuple(f"r{number}" for number in range(corpus.given.shape[1])),
        judgments=Judgments(pl.DataFrame(), "judged"),
        systems=tuple(f"S{number}" for number in range(k)),
        flagged=corpus.flags.astype(np.int8),
        columns=pl.DataFrame(),
        essays=NO_ESSAYS if is_apart else UnitsOfItems("essay"),
        unit_of=np.arange(len(corpus.given)) if is_apart else corpus.essay,
        scores=np.full(corpus.flags.shape, nan),
        design=design,
    )
    return cases, truth_of(cases, "majority")


def codes_of(corpus: Corpus) -> Coded:
    """The same for `grater.agreement`."""
    is_judged = (corpus.given != NOBODY).any(axis=1)
    given, essay = corpus.given[is_judged], np.unique(corpus.essay[is_judged], return_inverse=True)[1]
    item, rater = np.nonzero(given != NOBODY)
    raters = tuple(f"r{number}" for number in range(given.shape[1]))
    items, label = pl.Series(np.arange(len(given))), 1 - given[item, rater]
    codes = Coded(item, rater, label, items, raters, ("error", "ok"), "judged")
    return codes if corpus.essay[0] < 0 else replace(codes, unit_of=essay, unit="essay")


def true_scores(flagged: Array, is_error: Array) -> dict[str, float]:
    hit, flags, errors = (flagged * is_error).sum(), flagged.sum(), is_error.sum()
    f = {f"f{beta:g}": (1 + beta**2) * hit / (flags + beta**2 * errors) for beta in (0.5, 1)}
    return {"precision": hit / flags, "recall": hit / errors, **f}


# Every item judged: scores, agreement, differences


@dataclass(frozen=True, slots=True)
class Essays:
    """Essays of these lengths, drawn where there are none; with `is_apart` as many items with nothing in common."""

    lengths: Sequence[int] = ()
    is_rare: bool = False
    fewest: int = 5
    missing: float = 0.0
    is_apart: bool = False

    def draw(self, rng: Random, lengths: Sequence[int] = (), n_systems: int = 2) -> Corpus:
        lengths = lengths or self.lengths or skewed(rng)
        essay = np.repeat(np.arange(len(lengths)), lengths)
        unit = np.arange(essay.size) if self.is_apart else essay
        n = int(unit[-1]) + 1
        rate = rng.beta(0.5, 9.5, n) if self.is_rare else rng.beta(0.9, 4, n)
        right = np.where(rng.random(n) < 0.25, 0.70, 0.93)
        finds, flags = rng.beta(2, 2, (n, n_systems)), rng.beta(0.7, 22.6, (n, n_systems))
        is_error = rng.random(unit.size) < rate[unit]
        given = ((rng.random((unit.size, 5)) < right[unit, None]) == is_error[:, None]).astype(int)
        chance = np.where(is_error[:, None], finds[unit], flags[unit])
        given[rng.random(given.shape) < self.missing] = NOBODY
        given[rng.random(given.shape).argsort(axis=1) >= rng.integers(self.fewest, 6, (unit.size, 1))] = NOBODY
        return Corpus(np.full(unit.size, -1) if self.is_apart else essay, given, rng.random(chance.shape) < chance)


def skewed(rng: Random) -> list[int]:
    return [max(1, round(length)) for length in np.exp(rng.normal(2.8, 1, 30))]


ESSAYS = {
    "20 x 25": Essays([25] * 20),
    "12 x 40": Essays([40] * 12),
    "log-normal lengths": Essays(),
    "one essay has half": Essays([290] + [10] * 29),
    "50 x 20, rare": Essays([20] * 50, is_rare=True),
    "12 x 40, rare": Essays([40] * 12, is_rare=True),
    "6 x 60": Essays([60] * 6),
    "20 x 25, half of the labels missing": Essays([25] * 20, missing=0.5),
    "20 x 25, two to five raters an item": Essays([25] * 20, fewest=2),
    "400 independent items": Essays([20] * 20, is_apart=True),
}


def judged(world: Essays, rng: Random, lengths: Sequence[int] = ()) -> dict[str, Interval | float]:
    corpus = world.draw(rng, lengths)
    (cases, truth), codes, basis = cases_of(corpus), codes_of(corpus), Basis()
    compared = compare_systems(cases, truth, basis=basis)
    [weighted] = against(cases.of_systems([0]), graded(cases, truth), basis=basis)
    found: dict[str, Interval | float] = dict(intervals(compared, *SCORES, "kappa", system="S0", other=""))
    found |= {f"weighted {name}": weighted[name] for name in SCORES[:3]}
    counts, plain = tally(codes), np.eye(2)
    chosen = {each.name: each.of_table(plain, "nominal", codes.labels) for each in COEFFICIENTS}
    found |= {name: with_interval(chosen[name], counts, basis) for name in ("alpha", "ac1", "observed")}
    found["mean kappa"] = mean_pairwise(codes, tuple(confusions(codes)), weights=plain, basis=basis).kappa
    for code, label in enumerate(codes.labels):
        found[f"agreement on {label}"] = with_interval(specific(code), counts, basis)
    if codes.unit_of is not None:
        found[INDEPENDENT] = with_interval(chosen["alpha"], tally(replace(codes, unit_of=None, unit="item")), basis)
    return found | {"F0.5 of equal systems differs": rejects(compared.pairs[0].test.difference)}


def essays(n: int) -> Iterator[Table]:
    rows, truths = {}, {}
    for seed, (name, world) in enumerate(ESSAYS.items()):
        like = world.is_rare, world.fewest, world.missing, world.is_apart
        if like not in truths:
            truths[like] = values(judged(world, np.random.default_rng(999_999), [20] * min(LARGE, 100 * n)))
        rows[name] = simulated(n, partial(judged, world), truths[like], seed)
    others = INDEPENDENT, "F0.5 of equal systems differs"
    yield table_of("Every item judged by five raters", rows, n, *others, groups=AGREEMENTS)


def several(n: int) -> Iterator[Table]:
    """Equal systems that do not share a letter: the family-wise error after Holm."""

    def differ(rng: Random, world: Essays, n_systems: int) -> Found:
        corpus = world.draw(rng, n_systems=n_systems)
        groups = compare_systems(*cases_of(corpus), basis=Basis()).groups.values()
        return {"some of equal systems differ": float(not set.intersection(*map(set, groups)))}

    rows = {
        f"{name}, {n_systems} systems": simulated(n, partial(differ, world=ESSAYS[name], n_systems=n_systems), {}, 20)
        for name in ("20 x 25", "12 x 40", "log-normal lengths", "50 x 20, rare")
        for n_systems in (5, 10)
    }
    yield table_of("Several systems", rows, n, "some of equal systems differ")


def other_raters(n: int) -> Iterator[Table]:
    """Some of 400 raters, whose skills are logit-normal; the truth is alpha of all of them."""
    skills = expit(logit(0.85) + 0.8 * np.random.default_rng(17).normal(size=400))

    def draw(rng: Random, who: Array, n_essays: int, n_items: int, effect: float) -> Array:
        is_error = rng.random((n_essays, n_items, 1)) < expit(logit(0.3) + effect * rng.normal(size=(n_essays, 1, 1)))
        skill = expit(logit(who) + effect * rng.normal(size=(n_essays, 1, 1)))
        is_right = rng.random((n_essays, n_items, len(who))) < skill
        given: Array = np.where(is_right, is_error, ~is_error).astype(int).reshape(-1, len(who))
        return given

    def measured(rng: Random, n_raters: int, n_essays: int, n_items: int, effect: float) -> Found:
        given = draw(rng, rng.choice(skills, n_raters, replace=False), n_essays, n_items, effect)
        essay = np.repeat(np.arange(n_essays), n_items) if n_items > 1 else np.full(n_essays, -1)
        codes = codes_of(Corpus(essay, given, np.zeros((len(given), 0))))
        of_all = alpha("nominal", codes.labels)
        [without] = without_each_rater([of_all], codes)
        return {"alpha": with_interval(of_all, tally(codes), Basis(raters="random"), without=without)}

    rows = {}
    for shape in ((300, 1, 0.0), (20, 25, 0.5), (50, 20, 1.2)):
        errors = draw(np.random.default_rng(17), skills, LARGE // 4 * 20 // shape[1], *shape[1:]).sum(axis=1)
        share = errors.sum() / (400 * len(errors))
        truth = 1 - float((errors * (400 - errors)).mean()) / (400 * 399 * share * (1 - share))
        for n_raters in (3, 5, 10):
            one = partial(measured, n_raters=n_raters, n_essays=shape[0], n_items=shape[1], effect=shape[2])
            rows[f"{shape[0]} x {shape[1]}, {n_raters} raters"] = simulated(n, one, {"alpha": truth}, 30)
    yield table_of("Alpha for other raters", rows, n)


NEEDED = {"plain": (0.25, 1.5, 2.0, 0.85), "good": (0.25, 3.4, 3.0, 0.97), "rare": (1 / 12, 2.1, 2.3, 0.9)}
"""Errors, the mean skills of crowd and experts (logits, standard deviation .9), agreement with gold to be reached."""


def raters_needed(n: int) -> Iterator[Table]:
    """Nine raters an item; the truth comes from binomial majorities on 200,000 items."""

    def agreed(first: Array, second: Array | float, is_error: Array) -> tuple[float, float]:
        """Agreement and kappa of two who are right with these chances, independently given the item."""
        share = float(np.mean(first * second + (1 - first) * (1 - second)))
        one, two = (float(np.mean(np.where(is_error, chance, 1 - chance))) for chance in (first, second))
        chance = one * two + (1 - one) * (1 - two)
        return share, (share - chance) / (1 - chance)

    def drawn(rng: Random, n_items: int, errors: float, *skills: float) -> list[Array]:
        return [rng.random(n_items) < errors, *(expit(rng.normal(skill, 0.9, n_items)) for skill in skills)]

    def measured(rng: Random, world: tuple[float, float, float, float], n_items: int) -> Found:
        is_error, crowd, expert = drawn(rng, n_items, *world[:3])
        people = []
        for chance, k in ((crowd, 9), (expert, 2), (np.ones(n_items), 1)):
            given = ((rng.random((n_items, k)) < chance[:, None]) == is_error[:, None]).astype(int)
            people.append(Corpus(np.full(n_items, -1), given, np.zeros((n_items, 0))).judgments())
        to_reach = grater.raters_needed(people[0], people[2], reach=world[3])
        found: dict[str, Interval | float] = {}
        for k in (1, 3, 7):
            point = to_reach.headline.points[k - 1]
            found |= {f"agreement {k}": point.agreement, f"kappa {k}": point.kappa}
        least = {"N to reach": to_reach.smallest, "N to match": grater.raters_needed(*people[:2]).smallest}
        # No bound means more raters than there are.
        at_most = {name: inf if isnan(each.high) else each.high for name, each in least.items()}
        return found | {name: Interval(each.value, each.low, at_most[name]) for name, each in least.items()}

    rows = {}
    for name, world in NEEDED.items():
        is_error, right, expert = drawn(np.random.default_rng(999_999), 200_000, *world[:3])
        by_k = {k: binom.sf(k // 2, k, right) + (k % 2 == 0) * binom.pmf(k // 2, k, right) / 2 for k in range(1, 10)}
        truth = {}
        for k, majority in by_k.items():
            truth[f"agreement {k}"], truth[f"kappa {k}"] = agreed(majority, np.ones(is_error.size), is_error)
        between = agreed(expert, expert, is_error)[1]
        truth["N to reach"] = min((k for k in by_k if truth[f"agreement {k}"] >= world[3]), default=inf)
        truth["N to match"] = min((k for k in by_k if agreed(by_k[k], expert, is_error)[1] >= between), default=inf)
        for n_items in (20, 50, 100):
            one = partial(measured, world=world, n_items=n_items)
            rows[f"{name}, {n_items} items"] = simulated(n, one, truth, 35)
    yield table_of("Raters needed", rows, n)


# Samples


def drawn_from(rng: Random, n_essays: int, n_items: int, errors: float) -> tuple[Corpus, Array]:
    """A corpus judged by one who knows, and how the system scores each item; essays of one item have no effects."""
    is_apart, essay = n_items == 1, np.repeat(np.arange(n_essays), n_items)
    rate = np.full(n_essays, errors) if is_apart else rng.beta(1, 1 / errors - 1, n_essays)
    finds, flags = rng.beta(2, 2, (n_essays, 2)), rng.beta(0.7, 22.6, (n_essays, 2))
    is_error = rng.random(essay.size) < rate[essay]
    flagged = rng.random((essay.size, 2)) < np.where(is_error[:, None], finds[essay], flags[essay])
    score = (flagged[:, 0] + rng.random(essay.size) ** np.where(is_error, 0.5, 1)) / 2
    return Corpus(np.full(essay.size, -1) if is_apart else essay, is_error.astype(int)[:, None], flagged), score


JUDGES: dict[str, Callable[[Array, Random], Array] | None] = {
    "": None,
    "good judge": lambda given, rng: np.where(given, 0.9, 0.04) > rng.random(given.size),
    "weak judge": lambda given, rng: np.where(given, 0.5, 0.2) > rng.random(given.size),
    "useless judge": lambda given, rng: rng.random(given.size),
    "opposite judge": lambda given, rng: np.where(given, 0.1, 0.96) > rng.random(given.size),
}


def designed(corpus: Corpus, stratum: Array, n_labels: int, method: Allocation, rng: Random) -> Design:
    """A sample of these strata, of which the first half is what the first system flags."""
    sizes, k = np.bincount(stratum, minlength=int(stratum.max()) + 1), int(stratum.max()) + 1
    names = tuple(map(str, range(k)))
    strata = Stratification(names, 2 * np.arange(k) < k, sizes.astype(float), np.full(k, nan))
    wanted = np.array(list(allocate(strata, n_labels, method=method).values()))
    place = np.zeros(stratum.size, int)
    order = np.lexsort((rng.random(stratum.size), stratum))
    place[order] = np.arange(stratum.size) - (np.cumsum(sizes) - sizes)[stratum[order]]
    cells = []
    for flags in corpus.flags.T:
        keys, cell = np.unique(2 * stratum + flags, return_inverse=True)
        cells.append(CellsOf(cell, tuple(map(str, keys)), keys % 2 == 1))
    return Design(tables.Sample(pl.DataFrame(), "drawn"), place < wanted[stratum], tuple(cells))


def of_sample(
    rng: Random, shape: tuple[int, int], errors: float, n_labels: int, judge: str = "", n_strata: int = 2
) -> Found:
    corpus, score = drawn_from(rng, *shape, errors)
    is_flagged, half = corpus.flags[:, 0], n_strata // 2
    stratum = np.where(is_flagged, 0, half)
    for side in (is_flagged, ~is_flagged):
        rank = score[side].argsort().argsort() / max(1, side.sum())
        stratum[side] += (half * rank).astype(int)
    design = designed(corpus, stratum, n_labels, "paper" if n_strata == 2 else "equal", rng)
    known = replace(corpus, given=np.where(design.is_drawn[:, None], corpus.given, NOBODY))
    cases, truth = cases_of(known, design)
    answers = JUDGES[judge]
    if answers is None:
        compared = compare_systems(cases, truth, basis=Basis(), score="recall")
        scores = intervals(compared, *SCORES, system="S0", other="")
        return {**scores, "recall of equal systems differs": rejects(compared.pairs[0].test.difference)}
    first = cases.of_systems([0])
    [plain] = against(first, truth, basis=Basis())
    helped = replace(design.of_systems([0]), judge=answers(corpus.given[:, 0], rng).astype(float))
    [assisted] = against(replace(first, design=helped), truth, basis=Basis())
    widths = [each["recall"].high - each["recall"].low for each in (assisted, plain)]
    return {
        **{name: assisted[name] for name in SCORES},
        "width of recall over that without": widths[0] / widths[1],
    }


def sample_truth(shape: tuple[int, int], errors: float) -> dict[str, float]:
    corpus, _ = drawn_from(np.random.default_rng(999_999), 2_000_000 // shape[1], shape[1], errors)
    return true_scores(corpus.flags[:, 0], corpus.given[:, 0])


def samples(n: int) -> Iterator[Table]:
    rows, assisted = {}, {}
    for shape in ((50, 40), (2000, 1)):
        for errors in (0.01, 0.02, 0.05, 0.1):
            truth, name = sample_truth(shape, errors), f"{shape[0]} x {shape[1]}, {errors:.0%} errors"
            one = partial(of_sample, shape=shape, errors=errors)
            for n_labels in (80, 300):
                rows[f"{name}, {n_labels} labels"] = simulated(n, partial(one, n_labels=n_labels), truth, 40)
        rows[f"{name}, ten strata"] = simulated(n, partial(one, n_labels=300, n_strata=10), truth, 41)
        for judge in [*JUDGES][1:]:
            assisted[f"{name}, {judge}"] = simulated(n, partial(one, n_labels=300, judge=judge), truth, 42)
    yield table_of("Samples", rows, n, "recall of equal systems differs")
    yield table_of("Samples with a cheap judge", assisted, n, "width of recall over that without")


# Raters who err


@dataclass(frozen=True, slots=True)
class Erring:
    """Three of nine raters judge each item, and gold items of other essays, half of them errors."""

    n_essays: int
    n_items: int
    n_gold: int
    errors: float = -1.4
    """The logit of the middle rate of errors."""

    def draw(self, rng: Random, n_essays: int, skills: Array) -> tuple[Array, Corpus]:
        """Whether each item is an error, and what raters say."""
        essay = np.repeat(np.arange(n_essays), self.n_items)
        is_error = rng.random(essay.size) < expit(rng.normal(self.errors, 0.9, n_essays))[essay]
        skill = rng.normal(0, 0.8, n_essays)[essay]
        flagged = rng.random(essay.size) < expit(np.where(is_error, 0.4 + skill, -3.0 - skill / 2))
        lean = np.where(is_error, 1.3, -2.6) + rng.normal(0, 0.6, n_essays)[essay]
        chance = expit(lean[:, None] + np.where(is_error, 1, -1)[:, None] * skills)
        given = (rng.random(chance.shape) < chance).astype(int)
        given[rng.random(given.shape).argsort(axis=1) >= 3] = NOBODY
        return is_error, Corpus(essay, given, flagged[:, None])

    def measured(self, rng: Random) -> Found:
        skills = rng.normal(0, 0.5, 9)
        _, corpus = self.draw(rng, self.n_essays, skills)
        is_error, wide = replace(self, n_items=1).draw(rng, 40 * self.n_gold, skills)
        halves = (np.flatnonzero(is_error), np.flatnonzero(~is_error))
        chosen = np.concatenate([rng.choice(half, self.n_gold // 2, replace=False) for half in halves])
        gold = Corpus(wide.essay[chosen], wide.given[chosen], wide.flags[chosen], "g")
        labels = np.where(is_error[chosen], "error", "ok")
        known = tables.as_gold(pl.DataFrame({"item": gold.names(), "label": labels}))
        own, on_gold = corpus.judgments(), gold.judgments()
        judgments = replace(own, frame=pl.concat([own.frame, on_gold.frame]))
        options = EvaluationOptions(is_brief=True)
        found = evaluate(corpus.decisions(), judgments, items=corpus.items(), gold=known, options=options)
        return intervals(found, *SCORES[:3], kind="corrected", system="S0")


ERRING = {
    "40 x 50, 100 gold items": Erring(40, 50, 100),
    "14 x 80, 200 gold items": Erring(14, 80, 200),
    "60 x 60, rare, 300 gold items": Erring(60, 60, 300, errors=-3.2),
}


def corrected(n: int) -> Iterator[Table]:
    rows = {}
    for name, world in ERRING.items():
        is_error, wide = world.draw(np.random.default_rng(999_999), LARGE, np.zeros(9))
        rows[name] = simulated(n, world.measured, true_scores(wide.flags[:, 0], is_error), 50)
    yield table_of("Corrected for the errors of raters", rows, n)


# Documents


def texts(rng: Random, n: int) -> tuple[list[Essay], dict[str, list[str]], list[Essay]]:
    """Sentences of twelve words with the edits of A, two systems' corrections, and documents marked by A and B."""
    references, documents = [], []
    outputs: dict[str, list[str]] = {"S0": [], "S1": []}
    for number in range(n):
        length = max(3, round(np.exp(rng.normal(2, 0.5))))
        share, finds = 0.08 * rng.gamma(3, 1 / 3), {name: rng.beta(3, 4) for name in outputs}
        words = rng.integers(100, 1000, (length, 12))
        is_error = rng.random(words.shape) < share
        marked = {"A": is_error, "B": rng.random(words.shape) < np.where(is_error, rng.beta(6, 3), 0.005)}
        changed = {
            name: rng.random(words.shape) < np.where(is_error, find, 0.1 * share) for name, find in finds.items()
        }
        for row, sentence in enumerate(words):
            text = " ".join(f"w{word}" for word in sentence)
            edits = _edits(sentence, np.flatnonzero(is_error[row]), "A")
            references.append(
                Essay(f"{number}-{row}", text, edits, ("A",), _spans(12), metadata={"document": str(number)})
            )
            for name, change in changed.items():
                letters = np.where(change[row], np.where(is_error[row], "c", "x"), "w")
                outputs[name].append(" ".join(f"{a}{b}" for a, b in zip(letters, sentence, strict=True)))
        flat = words.ravel()
        text = " ".join(f"w{word}" for word in flat)
        edits = tuple(each for rater, own in marked.items() for each in _edits(flat, np.flatnonzero(own), rater))
        documents.append(Essay(str(number), text, edits, ("A", "B"), _spans(flat.size)))
    return references, outputs, documents


def _spans(n: int) -> tuple[Span, ...]:
    return tuple(Span(5 * place, 5 * place + 4) for place in range(n))


def _edits(words: Array, places: Array, rater: str) -> tuple[Edit, ...]:
    return tuple(Edit(Span(5 * at, 5 * at + 4), (f"c{words[at]}",), "R", rater) for at in map(int, places))


def written(rng: Random, n: int) -> dict[str, Interval | float]:
    references, outputs, documents = texts(rng, n)
    m2, gleu = (grater.score(references, outputs, metric=metric) for metric in ("m2", "gleu"))
    identified = grater.edit_agreement(documents).criteria["identification"]
    return {
        "M2 F0.5": intervals(m2, "f0.5", system="S0")["f0.5"],
        "GLEU": intervals(gleu, "gleu", system="S0")["gleu"],
        "edits per 100 words": grater.corpus_statistics(documents).whole.summary.measures()["edits per 100 tokens"],
        "identification kappa": identified.pairs[0].kappa,
        "M2 F0.5 of equal systems differs": rejects(m2.pairs[0].difference),
    }


def documents(n: int) -> Iterator[Table]:
    truth = values(written(np.random.default_rng(999_999), min(LARGE // 4, 20 * n)))
    rows = {f"{m} documents": simulated(n, partial(written, n=m), truth, 60) for m in (6, 10, 20, 50)}
    yield table_of("Corpus scores", rows, n, "M2 F0.5 of equal systems differs")


TABLES = (essays, several, other_raters, raters_needed, samples, corrected, documents)


def measure(size: Size, n: int = 0, names: Iterable[str] = ()) -> Iterator[Table]:
    for table in TABLES:
        if not names or table.__name__ in names:
            yield from table(n or (2 if size == "short" else CORPORA))


if __name__ == "__main__":
    from benchmarks import results

    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(table.__name__ for table in TABLES))
    parser.add_argument("--corpora", type=int, default=CORPORA, metavar="N")
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    if asked.keep and asked.tables:
        parser.error("--keep records all tables: leave out their names")
    found = []
    for each in measure("usual", asked.corpora, asked.tables):
        print(results.shown(each), flush=True)
        found.append(each)
    if asked.keep:
        results.keep("coverage", found)
        results.write_page()
