"""How often 95 % intervals hold the truth, in simulated worlds whose truth is known.

The worlds are made with numpy and scipy alone and share nothing with the methods; what is measured is what the
public functions return.  Essays differ in their errors and in how systems and raters take to them, more in *sharp*
worlds than in *mild* ones. Sample n of a world has numpy's `default_rng((seed, n))`.

    python -m benchmarks.coverage [SAMPLES [TABLE ...]]
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf, isnan
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
from benchmarks.harness import Size, Table
from scipy.special import expit, logit
from scipy.stats import binom

import grater
from grater.measure.evaluation.sampled.results import correct
from grater.model import Interval
from grater.tables import as_decisions, as_judgments, read_gold

Array: TypeAlias = npt.NDArray[Any]
Held: TypeAlias = Mapping[str, float]
"""By name of an interval, 1 where it holds the truth, 0 where not."""
RESAMPLES = 300
SHAPES = ((12, 40), (20, 25), (50, 20))
SCORES = ("precision", "recall", "f0.5")
NOBODY = -1


def holds(interval: Interval, truth: float) -> float:
    """An interval without a bound says "more than there are"; one without a value counts for neither."""
    if isnan(interval.value) and isnan(interval.low):
        return np.nan
    low, high = (inf if isnan(bound) else bound for bound in (interval.low, interval.high))
    return float(low - 1e-9 <= truth <= high + 1e-9)


def shares(samples: Iterable[Held]) -> dict[str, float]:
    """The share of samples by name."""
    columns: dict[str, list[float]] = defaultdict(list)
    for sample in samples:
        for name, value in sample.items():
            columns[name].append(value)
    return {name: round(float(np.nanmean(values)), 3) for name, values in columns.items()}


def table_of(title: str, rows: Mapping[str, Held], note: str, **summary: Callable[[str], bool]) -> Table:
    """Rows by design; `summary` says which columns the page sums up under which name."""
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    groups = {
        group.replace("_", " "): [name for name in columns if chosen(name)] for group, chosen in summary.items()
    }
    cells = [[design, *(row.get(name) for name in columns)] for design, row in rows.items()]
    return Table(title, ["design", *columns], cells, note, groups)


def judgments_of(said: Array, prefix: str = "i", rater: str = "r") -> pl.DataFrame:
    """Items by raters; 1 is an error, 0 is none, `NOBODY` was not asked."""
    item, who = np.nonzero(said != NOBODY)
    labels = np.where(said[item, who] == 1, "error", "ok")
    names = pl.Series(item).cast(pl.String), pl.Series(who).cast(pl.String)
    return pl.DataFrame({"item": prefix + names[0], "rater": rater + names[1], "label": labels})


def decisions_of(flags: Array, prefix: str = "i", systems: str = "ST") -> pl.DataFrame:
    """Items by systems."""
    items = [f"{prefix}{at}" for at in range(len(flags))]
    return pl.concat(
        pl.DataFrame({"item": items, "system": system, "flagged": column.astype(bool)})
        for system, column in zip(systems, flags.T, strict=False)
    )


def items_of(essay: Array, prefix: str = "i", essays: str = "e") -> pl.DataFrame:
    start = pl.Series("start", np.arange(len(essay)))
    names = {"item": [f"{prefix}{at}" for at in range(len(essay))], "essay": [f"{essays}{code}" for code in essay]}
    return pl.DataFrame(names).with_columns(start, end=start + 1, kind=pl.lit("prep"))


def true_scores(flagged: Array, is_error: Array) -> dict[str, float]:
    hit, flags, errors = (flagged * is_error).sum(), flagged.sum(), is_error.sum()
    return {"precision": hit / flags, "recall": hit / errors, "f0.5": 1.25 * hit / (flags + 0.25 * errors)}


# Agreement


def essay_matrix(
    effect: tuple[float, float], n_essays: int, n_items: int, n_raters: int, rng: np.random.Generator
) -> Array:
    """Essays with their own share of errors and difficulty, in which each rater has a skill of their own."""
    of_errors, of_skill = effect
    is_error = rng.random((n_essays, n_items, 1)) < expit(logit(0.2) + of_errors * rng.normal(size=(n_essays, 1, 1)))
    apart = rng.normal(size=(n_essays, 1, 1)) + rng.normal(size=(n_essays, 1, n_raters))
    skill = expit(logit(0.88) + of_skill * apart / np.sqrt(2))
    is_right = rng.random((n_essays, n_items, n_raters)) < skill
    return np.where(is_right, is_error, ~is_error).astype(int).reshape(-1, n_raters)


def coefficients(said: Array, essay: Array | None, n: int = RESAMPLES, **options: Any) -> dict[str, Interval]:
    places = None if essay is None else items_of(essay)
    found = grater.agreement(judgments_of(said), items=places, resamples=n, **options)
    named = {name: found.coefficients[name] for name in ("observed", "fleiss", "alpha", "ac1")}
    named |= {f"specific {label}": value for label, value in found.specific.items()}
    named["kappa" if len(found.pairs) == 1 else "mean kappa"] = found.kappa
    return named | ({"conger": found.conger} if found.conger else {})


def agreement(n: int) -> Iterator[Table]:
    rows = {}
    for world, effect in {"mild": (0.5, 0.4), "sharp": (1.2, 1.2)}.items():
        for n_raters in (2, 3):
            wide = essay_matrix(effect, 10_000, 20, n_raters, np.random.default_rng(17))
            truth = {name: each.value for name, each in coefficients(wide, None, 2).items()}
            for n_essays, n_items in SHAPES:
                essay, samples = np.repeat(np.arange(n_essays), n_items), []
                for number in range(n):
                    rng = np.random.default_rng((17, n_essays, n_raters, number))
                    said = essay_matrix(effect, n_essays, n_items, n_raters, rng)
                    held = {name: holds(each, truth[name]) for name, each in coefficients(said, essay).items()}
                    by_item = coefficients(said, None)["alpha"]
                    samples.append(held | {"alpha, by item": holds(by_item, truth["alpha"])})
                rows[f"{world}, {n_essays} x {n_items}, {n_raters} raters"] = shares(samples)
    of_item = "alpha, by item"
    yield table_of("Agreement", rows, f"{n} samples", by_essay=lambda c: c != of_item, by_item=lambda c: c == of_item)


@dataclass(frozen=True, slots=True)
class Rare:
    """Pairs that share few items, or errors that are few; of each rater how often OK and error are seen as such."""

    n_items: int
    errors: float
    skills: tuple[tuple[float, float], ...]
    missing: float = 0.0
    n_each: int = 0

    def draw(self, rng: np.random.Generator, n_items: int = 0) -> Array:
        shape = (n_items or self.n_items, len(self.skills))
        is_error = rng.random((shape[0], 1)) < self.errors
        on_ok, on_error = np.array(self.skills).T
        said = np.where(rng.random(shape) < np.where(is_error, on_error, on_ok), is_error, ~is_error).astype(int)
        if not n_items:
            order = rng.random(shape)
            absent = order.argsort(axis=1).argsort(axis=1) >= self.n_each if self.n_each else order < self.missing
            said[absent] = NOBODY
        return said


UNLIKE = ((0.99, 0.6), (0.8, 0.95), (0.95, 0.8), (0.9, 0.5), (0.97, 0.9))
PAIRS = {
    "10 raters, 2 per item, 200 items": Rare(200, 0.3, ((0.85, 0.85),) * 10, n_each=2),
    "10 raters, 2 per item, 450 items": Rare(450, 0.3, ((0.85, 0.85),) * 10, n_each=2),
    "8 % errors, 6 raters, 50 % missing": Rare(60, 0.08, ((0.95, 0.75),) * 6, missing=0.5),
    "10 % errors, 10 raters, 3 per item": Rare(150, 0.1, ((0.95, 0.8),) * 10, n_each=3),
    "6 % errors, 4 raters": Rare(45, 0.06, ((0.97, 0.85),) * 4),
    "no errors, 5 raters who guess": Rare(60, 0.0, ((0.85, 0.85),) * 5, missing=0.3),
    "12 % errors, 5 unlike raters": Rare(50, 0.12, UNLIKE, missing=0.4),
    "25 % errors, 10 unlike raters, 2 per item": Rare(200, 0.25, UNLIKE * 2, n_each=2),
}


def pairs(n: int) -> Iterator[Table]:
    rows = {}
    for place, (name, world) in enumerate(PAIRS.items()):
        wide = coefficients(world.draw(np.random.default_rng(17), 50_000), None, 2)
        drawn = (coefficients(world.draw(np.random.default_rng((17, place, number))), None) for number in range(n))
        rows[name] = shares(
            {key: holds(each[key], wide[key].value) for key in ("mean kappa", "alpha") if key in each}
            for each in drawn
        )
    yield table_of("Pairs that share few items", rows, f"{n} samples", mean_kappa=lambda c: c == "mean kappa")


def other_raters(n: int) -> Iterator[Table]:
    """Some of 400 raters, whose skills are logit-normal; the truth is alpha of all of them."""
    skills = expit(logit(0.85) + 0.8 * np.random.default_rng(17).normal(size=400))

    def draw(who: Array, n_essays: int, n_items: int, effect: tuple[float, float], rng: np.random.Generator) -> Array:
        share = expit(logit(0.3) + effect[0] * rng.normal(size=(n_essays, 1, 1)))
        is_error = rng.random((n_essays, n_items, 1)) < share
        skill = expit(logit(who) + effect[1] * rng.normal(size=(n_essays, 1, 1)))
        is_right = rng.random((n_essays, n_items, len(who))) < skill
        return np.where(is_right, is_error, ~is_error).astype(int).reshape(-1, len(who))

    rows = {}
    shapes = {
        "independent items": (300, 1, (0, 0)),
        "20 x 25, mild": (20, 25, (0.5, 0.4)),
        "50 x 20, sharp": (50, 20, (1.2, 1.2)),
    }
    for title, (n_essays, n_items, effect) in shapes.items():
        wide = draw(skills, 2000 // n_items, n_items, effect, np.random.default_rng(17))
        truth = grater.agreement(judgments_of(wide), resamples=2).alpha.value
        essay = np.repeat(np.arange(n_essays), n_items) if n_items > 1 else None
        for n_raters in (3, 5, 10):
            samples = []
            for number in range(n):
                rng = np.random.default_rng((17, n_raters, number))
                said = draw(rng.choice(skills, n_raters, replace=False), n_essays, n_items, effect, rng)
                ways = {"these raters": "these", "random raters": "random"}
                samples.append(
                    {name: holds(coefficients(said, essay, raters=way)["alpha"], truth) for name, way in ways.items()}
                )
            rows[f"{title}, {n_raters} raters"] = shares(samples)
    columns = {name.replace(" ", "_"): lambda c, name=name: c == name for name in ("random raters", "these raters")}
    yield table_of("Alpha for other raters", rows, f"{n} samples", **columns)


NEEDED = {
    "plain": (91, 0.25, 1.5, 2.0, 0.85),
    "good": (92, 0.25, 3.4, 3.0, 0.97),
    "rare": (93, 1 / 12, 2.1, 2.3, 0.9),
}
"""Seed, share of errors, skills of crowd and experts (logits, .9), agreement with gold to be reached."""


def raters_needed(n: int) -> Iterator[Table]:
    """Nine raters an item; the truth comes from binomial majorities on 200,000 items."""

    def agreed(first: Array, second: Array, is_error: Array) -> tuple[float, float]:
        """Agreement and kappa of two who are right with these chances, independently given the item."""
        share = float(np.mean(first * second + (1 - first) * (1 - second)))
        one, two = (float(np.mean(np.where(is_error, chance, 1 - chance))) for chance in (first, second))
        chance = one * two + (1 - one) * (1 - two)
        return share, (share - chance) / (1 - chance)

    def drawn(n_items: int, rng: np.random.Generator, errors: float, *skills: float) -> list[Array]:
        return [rng.random(n_items) < errors, *(expit(rng.normal(skill, 0.9, n_items)) for skill in skills)]

    rows = {}
    for name, (seed, errors, crowd, experts, reach) in NEEDED.items():
        is_error, right, expert = drawn(200_000, np.random.default_rng((seed, 999_999)), errors, crowd, experts)
        majority = [
            binom.sf(k // 2, k, right) + (binom.pmf(k // 2, k, right) / 2 if k % 2 == 0 else 0) for k in range(1, 10)
        ]
        with_gold = [agreed(chance, np.ones(len(is_error)), is_error) for chance in majority]
        between = agreed(expert, expert, is_error)[1]
        reaching = next((k for k, (share, _) in enumerate(with_gold, 1) if share >= reach), inf)
        matching = next(
            (k for k, each in enumerate(majority, 1) if agreed(each, expert, is_error)[1] >= between), inf
        )
        for n_items in (20, 50, 100):
            samples = []
            for number in range(n):
                rng = np.random.default_rng((seed, n_items, number))
                error, *chances = drawn(n_items, rng, errors, crowd, experts)
                chances.append(np.ones(n_items))
                said, by_experts, gold = (
                    judgments_of(
                        ((rng.random((n_items, k)) < chance[:, None]) == error[:, None]).astype(int), rater=rater
                    )
                    for chance, k, rater in zip(chances, (9, 2, 1), "ceg", strict=True)
                )
                one = grater.raters_needed(said, gold, reach=reach, resamples=RESAMPLES, seed=number)
                two = grater.raters_needed(said, by_experts, resamples=RESAMPLES, seed=number)
                points = {k: one.headline.points[k - 1] for k in (1, 3, 7)}
                held = {f"agreement {k}": holds(each.agreement, with_gold[k - 1][0]) for k, each in points.items()}
                held |= {f"kappa {k}": holds(each.kappa, with_gold[k - 1][1]) for k, each in points.items()}
                held |= {"N to reach": holds(one.smallest, reaching), "N to match": holds(two.smallest, matching)}
                samples.append(held)
            rows[f"{name}, {n_items} items"] = shares(samples)
    yield table_of(
        "Raters needed", rows, f"{n} samples", smallest_N=lambda c: c[0] == "N", curve=lambda c: c[0] != "N"
    )


# Precision, recall and F


@dataclass(frozen=True, slots=True)
class Graded:
    """Items with a gravity; raters call it an error, and systems flag it, the graver the more often."""

    n_essays: int
    n_items: int
    n_raters: int
    effect: float
    mean: float = -2.0
    thresholds: tuple[float, ...] = (0.3, 0.3)

    def draw(self, rng: np.random.Generator, n_essays: int = 0) -> tuple[Array, Array, Array]:
        """The essay of each item, flags (items x systems), what raters call errors (items x raters)."""
        n = n_essays or self.n_essays
        gravity = rng.normal(self.mean, 1.8, (n, self.n_items)) + rng.normal(0, self.effect, (n, 1))
        said = rng.random((*gravity.shape, self.n_raters)) < expit(2 * gravity)[:, :, None]
        flags = [
            gravity + rng.normal(0, 0.6 * self.effect, (n, 1)) + rng.normal(0, 1.5, gravity.shape) > threshold
            for threshold in self.thresholds
        ]
        essay = np.repeat(np.arange(n), self.n_items)
        return essay, np.stack([flag.ravel() for flag in flags], axis=1), said.reshape(-1, self.n_raters).astype(int)


def majority(said: Array) -> Array:
    return np.asarray((np.sign(2 * said.sum(axis=1) - said.shape[1]) + 1) / 2)


def scored(
    draw: Callable[..., tuple[Array, Array, Array]], seed: int, n: int, *, by_item: bool = True
) -> dict[str, float]:
    """Intervals of the first system, and how often tests reject two systems that are alike in law."""
    _, flags, said = draw(np.random.default_rng((seed, 999_999)), 20_000)
    truth, samples = true_scores(flags[:, 0], majority(said)), []
    for number in range(n):
        essay, flags, said = draw(np.random.default_rng((seed, number)))
        tables = decisions_of(flags), judgments_of(said)
        options: dict[str, Any] = {"items": items_of(essay), "resamples": RESAMPLES, "seed": number}
        own = grater.evaluate(*tables, **options).systems[0]
        held = {name: holds(own[name], truth[name]) for name in SCORES}
        if by_item:
            own = grater.evaluate(*tables, **options, cluster="item").systems[0]
            held |= {f"{name}, by item": holds(own[name], truth[name]) for name in SCORES}
        [pair] = grater.compare(*tables, **options).pairs
        held |= {f"{test} rejects": float(pair.test.p[test] <= 0.05) for test in ("bootstrap", "randomisation")}
        samples.append(held | {"McNemar rejects": float(pair.mcnemar.mid_p <= 0.05)})
    return shares(samples)


def is_by_essay(column: str) -> bool:
    return not column.endswith(("rejects", "by item"))


def scores(n: int) -> Iterator[Table]:
    rows = {}
    for at, (n_essays, n_items) in enumerate(SHAPES):
        for n_raters in (2, 3):
            for name, effect in {"sharp": 1.0, "mild": 0.4}.items():
                seed = 100 * at + 10 * n_raters + (name == "mild")
                world = Graded(n_essays, n_items, n_raters, effect)
                rows[f"{n_essays} x {n_items}, {n_raters} raters, {name}"] = scored(world.draw, seed, n)
    groups = {
        "by_essay": is_by_essay,
        "by_item": lambda c: c.endswith("by item"),
        "tests_reject": lambda c: c.endswith("s"),
    }
    yield table_of("Scores", rows, f"{n} samples", **groups)


def flags_world(rng: np.random.Generator, n_essays: int = 24) -> tuple[Array, Array, Array]:
    """Raters see what systems flag, and follow them in some essays more than in others."""
    essay = np.repeat(np.arange(n_essays), 25)
    is_error = rng.random(essay.size) < expit(rng.normal(-1.3, 0.8, n_essays))[essay]
    flags = rng.random((essay.size, 2)) < np.where(is_error, 0.55, 0.08)[:, None]
    pull = rng.exponential(1.2, n_essays)[essay] * (1.3 * flags.mean(axis=1) - 0.3)
    mood = rng.normal(0, 0.7, (n_essays, 3))[essay]
    said = rng.random((essay.size, 3)) < expit(np.where(is_error, 1.5, -2.2) + pull)[:, None] * expit(mood + 2) / 0.88
    return essay, flags, said.astype(int)


def of_lengths(
    lengths: Array, errors: Array, skill: Array, right: float, n_raters: int, rng: np.random.Generator
) -> Any:
    """Essays of these lengths, with logits of their errors and of the system's hits, and raters right so often."""
    essay = np.repeat(np.arange(len(lengths)), lengths)
    is_error = rng.random(essay.size) < expit(errors)[essay]
    flags = rng.random((essay.size, 2)) < expit(np.where(is_error, skill[essay], -2.5))[:, None]
    said = (rng.random((essay.size, n_raters)) < right) == is_error[:, None]
    return essay, flags, said.astype(int)


def lengths_world(rng: np.random.Generator, n: int = 30) -> Any:
    """Pareto lengths; longer essays have fewer errors."""
    lengths = np.minimum(5 * rng.random(n) ** (-1 / 1.3), 300).astype(int)
    errors = -0.3 - 0.5 * np.log(lengths / 5) + rng.normal(0, 0.7, n)
    return of_lengths(lengths, errors, rng.normal(1.8, 0.6, n), 0.88, 3, rng)


def uneven_world(rng: np.random.Generator, n: int = 26) -> Any:
    """Log-normal lengths; longer essays have more errors, of which the system finds fewer."""
    lengths = np.clip(14 * np.exp(rng.normal(0, 1.2, n)), 2, 500).astype(int)
    longer = np.log(lengths / 14)
    errors, skill = -1.6 + 0.3 * longer + rng.normal(0, 0.6, n), 0.6 - 0.4 * longer + rng.normal(0, 0.5, n)
    return of_lengths(lengths, errors, skill, 0.9, 3, rng)


def giants_world(rng: np.random.Generator, n: int = 25) -> Any:
    """Two of 25 essays have half of all items."""
    lengths = np.where(np.arange(n) % 25 < 2, 220, 14)
    return of_lengths(lengths, rng.normal(-1.2, 0.7, n), rng.normal(0.5, 0.7, n), 0.85, 5, rng)


def unequal(n: int) -> Iterator[Table]:
    worlds = {"flags": flags_world, "lengths": lengths_world, "uneven": uneven_world, "giants": giants_world}
    rows = {name: scored(draw, 71 + at, n, by_item=False) for at, (name, draw) in enumerate(worlds.items())}
    groups = {"by_essay": is_by_essay, "tests_reject": lambda c: c.endswith("s")}
    yield table_of("Raters who follow flags, essays of unequal lengths", rows, f"{n} samples", **groups)


# Estimates from a sample


def placed(n_essays: int, n_each: int, spread: float, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """The essay of each item, its place on a line (an error above 0), and whether the system flags it."""
    essay = np.repeat(np.arange(n_essays), n_each)
    hard, eager = rng.normal(0, spread, (2, n_essays))
    place = -1.2 + hard[essay] + rng.logistic(0, 1, essay.size)
    return essay, place, 0.9 * place + 0.7 * eager[essay] + rng.normal(0, 1.5, essay.size) > 1.2


def estimate(n: int) -> Iterator[Table]:
    """Two of three judged items are not flagged; a cheap judge is good, weak, useless, or says the opposite."""
    judges = {"none": None, "good": 0.7, "weak": 4.0, "useless": np.inf, "opposite": -1.0}
    rows: dict[str, Held] = {}
    for name, spread in {"mild": 0.8, "sharp": 1.6}.items():
        _, place, flagged = placed(40_000, 50, spread, np.random.default_rng((0, 999_999)))
        truth = true_scores(flagged, place > 0)
        for n_essays, n_each, with_judges in ((12, 40, False), (20, 25, False), (50, 20, False), (60, 50, True)):
            samples: dict[str, list[Held]] = defaultdict(list)
            for number in range(n):
                rng = np.random.default_rng((n_essays, number))
                essay, place, flagged = placed(n_essays, n_each, spread, rng)
                decisions, items = decisions_of(flagged[:, None]), items_of(essay)
                size = 300 if with_judges else min(essay.size, 3 * int(flagged.sum()))
                sample = grater.sample(decisions, system="S", n=size, seed=number)
                judged = judgments_of((place > 0).astype(int)[:, None]).join(sample.frame, on="item", how="semi")
                for judge, noise in judges.items() if with_judges else [("none", None)]:
                    options: dict[str, Any] = {"items": items, "resamples": RESAMPLES, "seed": number}
                    if noise is not None:
                        seen = rng.random(essay.size)
                        if np.isfinite(noise):
                            seen = np.sign(noise) * expit(place + rng.normal(0, abs(noise), essay.size)) + (noise < 0)
                        options |= {"assist": "judge", "items": items.with_columns(judge=pl.Series(seen))}
                    found = grater.estimate(decisions, sample, judged, **options).systems[0].scores
                    values = found.precision, found.recall, found.f[0.5]
                    held = {score: holds(each, truth[score]) for score, each in zip(SCORES, values, strict=True)}
                    if judge == "none" and not with_judges:
                        plain = grater.estimate(decisions, sample, judged, resamples=RESAMPLES, seed=number)
                        held["recall, by item"] = holds(plain.systems[0].scores.recall, truth["recall"])
                    samples[judge].append(held)
            for judge, several in samples.items():
                rows[f"{n_essays} x {n_each}, {name}, judge: {judge}"] = shares(several)
    groups = {"by_essay": is_by_essay, "by_item": lambda c: c.endswith("by item")}
    yield table_of("Estimates", rows, f"{n} samples", **groups)


@dataclass(frozen=True, slots=True)
class Erring:
    """Essays, items of each, the middle rate of errors (logit), gold items, errors among them, belief in flags."""

    seed: int
    n_essays: int
    n_items: int
    errors: float
    n_gold: int
    gold_errors: float = 0.5
    belief: float = 0.0

    def corpus(self, rng: np.random.Generator, n_essays: int) -> pl.DataFrame:
        essay = np.repeat(np.arange(n_essays), self.n_items)
        is_error = rng.random(essay.size) < expit(rng.normal(self.errors, 0.9, n_essays))[essay]
        skill = rng.normal(0, 0.8, n_essays)[essay]
        flagged = rng.random(essay.size) < expit(np.where(is_error, 0.4 + skill, -3.0 - skill / 2))
        mood = rng.normal(0, 0.6, n_essays)[essay]
        return pl.DataFrame({"essay": essay, "is_error": is_error, "flagged": flagged, "mood": mood})

    def gold(self, rng: np.random.Generator) -> pl.DataFrame:
        """Gold items of many other essays; half of each kind are flagged where raters follow flags."""
        wide, n_errors = self.corpus(rng, 40 * self.n_gold), round(self.gold_errors * self.n_gold)
        parts = []
        for is_error, n in ((True, n_errors), (False, self.n_gold - n_errors)):
            own = wide.filter(pl.col("is_error") == is_error)
            sides = [
                (own.filter(pl.col("flagged") == side), part) for side, part in ((True, n // 2), (False, n - n // 2))
            ]
            for rows, part in sides if self.belief else [(own, n)]:
                parts.append(rows[rng.choice(rows.height, part, replace=False)])
        return pl.concat(parts)

    def said(self, corpus: pl.DataFrame, skills: Array, rng: np.random.Generator) -> Array:
        """Three of nine raters on every item."""
        is_error, flagged, mood = (corpus[name].to_numpy() for name in ("is_error", "flagged", "mood"))
        lean = np.where(is_error, 1.3, -2.6) + mood + self.belief * np.where(flagged, 1.0, -0.25)
        sure = np.where(is_error, 1.0, -1.0)[:, None] * skills
        said = (rng.random((len(mood), len(skills))) < expit(lean[:, None] + sure)).astype(int)
        said[rng.random(said.shape).argsort(axis=1).argsort(axis=1) >= 3] = NOBODY
        return said

    def truth(self) -> dict[str, float]:
        wide = self.corpus(np.random.default_rng((self.seed, 999_999)), 6_000)
        return true_scores(wide["flagged"].to_numpy(), wide["is_error"].to_numpy())

    def intervals(self, number: int) -> dict[str, dict[str, Interval]]:
        """As judged, corrected by all gold items, and by those of a flag's side; from a sample and from all items."""
        rng = np.random.default_rng((self.seed, number))
        corpus, gold = self.corpus(rng, self.n_essays), self.gold(rng)
        skills = rng.normal(0, 0.5, 9)
        judged, on_gold = (
            judgments_of(self.said(part, skills, rng), prefix) for part, prefix in ((corpus, "i"), (gold, "g"))
        )
        flags = [
            decisions_of(part["flagged"].to_numpy()[:, None], prefix) for part, prefix in ((corpus, "i"), (gold, "g"))
        ]
        known = flags[1].select("item", label=pl.Series(np.where(gold["is_error"], "error", "ok")))
        items = pl.concat([items_of(corpus["essay"].to_numpy()), items_of(gold["essay"].to_numpy(), "g", "gold")])
        n_flags = min(150, int(corpus["flagged"].sum()))
        sample = grater.sample(flags[0], system="S", n=n_flags + 300, flagged=n_flags, seed=number)
        here = judged.join(sample.frame, on="item", how="semi")
        options: dict[str, Any] = {"items": items, "resamples": RESAMPLES, "seed": number}
        drawn = grater.estimate(flags[0], sample, here, **options)
        parts: dict[str, Any] = {"as judged": drawn.systems[0].scores}
        tables = as_judgments(on_gold), read_gold(known)
        found: dict[str, dict[str, Interval]] = {}
        for way, by_flag in {"corrected": False, "by side": True}.items():
            # `grater.estimate` cannot be given flags of gold items that the sample was not drawn from
            every = {"decisions": as_decisions(pl.concat(flags)), "by_flag": by_flag, "seed": number}
            parts[way] = correct(drawn, *tables, fpc=False, n_resamples=1000, **every).systems[0]
            both = pl.concat([judged, on_gold])
            whole = grater.evaluate(pl.concat(flags), both, gold=known, errors_by_flag=by_flag, **options)
            for name, own in {"as judged": whole.systems[0], way: whole.corrected[0]}.items():
                found[f"all, {name}"] = {score: own[score] for score in SCORES}
        for name, each in parts.items():
            found[f"sample, {name}"] = {"precision": each.precision, "recall": each.recall, "f0.5": each.f[0.5]}
        return found


ERRING = {
    "plain": Erring(81, 40, 50, -1.4, 100),
    "few": Erring(82, 14, 80, -1.4, 200),
    "rare": Erring(83, 60, 60, -3.2, 300, gold_errors=1 / 3),
    "believers": Erring(84, 40, 50, -1.4, 240, belief=1.3),
}


def corrected(n: int) -> Iterator[Table]:
    rows: dict[str, Held] = {}
    for name, world in ERRING.items():
        truth, several = world.truth(), [world.intervals(number) for number in range(n)]
        for way in several[0]:
            held = ({score: holds(each[way][score], truth[score]) for score in SCORES} for each in several)
            rows[f"{name}: {way}"] = shares(held)
    for ending in ("as judged", "corrected", "by side"):
        own = {name: row for name, row in rows.items() if name.endswith(ending)}
        yield table_of(f"Raters who err, {ending}", own, f"{n} samples", by_essay=is_by_essay)


TABLES = (agreement, pairs, other_raters, raters_needed, scores, unequal, estimate, corrected)


def measure(size: Size, n: int = 0, names: Iterable[str] = ()) -> Iterator[Table]:
    global SHAPES, ERRING, NEEDED
    if size == "short":
        SHAPES, NEEDED = SHAPES[:1], {"plain": NEEDED["plain"]}
        ERRING = {"few": replace(ERRING["few"], n_gold=60)}
    for table in TABLES:
        if not names or table.__name__ in names:
            yield from table(n or (2 if size == "short" else 400))


if __name__ == "__main__":
    from benchmarks.results import shown

    for found in measure("usual", int(sys.argv[1]) if sys.argv[1:] else 400, sys.argv[2:]):
        print(shown(found), flush=True)
