"""How often 95 % intervals of agreement hold the truth where items stand in essays, pairs are sparse, raters random.

    python benchmarks/coverage_agreement.py [REPETITIONS [essays|sparse|rare|random]]

prints four tables of docs/coverage.md (seed 17), or one of them.  The worlds are made with numpy alone.

*Essays*: an essay has its own share of errors and its own difficulty, logit-normal; each rater sees each essay with a
skill of their own.  Mild: standard deviations .5 (errors) and .4 (skill); sharp: 1.2 and 1.2.  The truth is the
coefficient of 50,000 essays of 20 items.

*Sparse pairs*: raters of equal skill, so that every pair has the same kappa, known in closed form; each item is
judged by a few of them.

*Rare*: pairs that share few items, and errors that are few; raters of one skill, or of five (two that miss errors,
one that sees them everywhere).  The truth is the mean kappa of the same raters on 100,000 items that all of them
judge.

*Random raters*: raters' skills are logit-normal (.8), the world has 400 raters, and a sample draws some of them with
300 independent items, or with essays of the mild and sharp worlds.  The truth is alpha of all 400 on many items.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import expit, logit

from grater.agreement.coded import Coded
from grater.agreement.coefficients import (
    alpha,
    bootstrap_intervals,
    fleiss,
    gwet,
    observed,
    random_interval,
    specific,
    without_each_rater,
)
from grater.agreement.cohen import (
    cohen_kappa,
    compared_rows,
    conger_kappa,
    jackknife,
    kappa,
    mean_kappa,
    mean_pairwise,
    row_units,
)
from grater.agreement.confusion import NOBODY, confusions
from grater.agreement.counts import tally
from grater.model import Interval

SEED = 17
N_RESAMPLES = 300
LABELS = ("error", "ok")
NAMES = ("observed", "fleiss", "alpha", "ac1", "specific error", "specific ok", "kappa", "mean kappa", "conger")
SHAPES = ((12, 40), (20, 25), (50, 20))
Labels = npt.NDArray[np.int32]


def of_matrix(matrix: Labels, essay: npt.NDArray[np.int64] | None = None) -> Coded:
    """Items by raters, as judgments."""
    item, rater = np.nonzero(matrix != NOBODY)
    return Coded(
        item=item.astype(np.int32),
        rater=rater.astype(np.int32),
        label=matrix[item, rater],
        items=pl.Series(np.arange(len(matrix))).cast(pl.String),
        raters=tuple(f"R{number}" for number in range(matrix.shape[1])),
        labels=LABELS,
        name="world",
        unit=essay,
    )


@dataclass(frozen=True, slots=True)
class EssayWorld:
    """Essays that differ in errors and in difficulty."""

    name: str
    of_errors: float
    of_skill: float
    prevalence: float = 0.2
    skill: float = 0.88

    def draw(self, n_essays: int, n_items: int, n_raters: int, rng: np.random.Generator) -> Coded:
        share = expit(logit(self.prevalence) + self.of_errors * rng.normal(size=(n_essays, 1)))
        is_error = rng.random((n_essays, n_items)) < share
        apart = rng.normal(size=(n_essays, 1, 1)) + rng.normal(size=(n_essays, 1, n_raters))
        skill = expit(logit(self.skill) + self.of_skill * apart / np.sqrt(2))
        is_right = rng.random((n_essays, n_items, n_raters)) < skill
        says_error = np.where(is_right, is_error[:, :, None], ~is_error[:, :, None])
        matrix = np.where(says_error, 0, 1).astype(np.int32).reshape(-1, n_raters)
        return of_matrix(matrix, np.repeat(np.arange(n_essays), n_items))


WORLDS = (EssayWorld("mild", 0.5, 0.4), EssayWorld("sharp", 1.2, 1.2))


def estimates(codes: Coded, rng: np.random.Generator, *, n_resamples: int = N_RESAMPLES) -> dict[str, Interval]:
    """Every coefficient with its interval, and alpha with items taken as independent."""
    same = np.eye(2)
    chosen = [observed(same), fleiss(same), alpha("nominal", LABELS), gwet(same), specific(0), specific(1)]
    counts = tally(codes)
    intervals = dict(zip(NAMES, bootstrap_intervals(chosen, counts, rng=rng, n_resamples=n_resamples), strict=False))
    by_item = replace(counts, groups=None)
    [intervals["alpha, by item"]] = bootstrap_intervals([chosen[2]], by_item, rng=rng, n_resamples=n_resamples)
    tables = list(confusions(codes))
    if len(tables) == 1:
        intervals["kappa"] = cohen_kappa(tables[0], rng=rng, n_resamples=n_resamples)
    else:
        intervals["mean kappa"] = mean_pairwise(codes, tables, rng=rng, n_resamples=n_resamples).kappa
        intervals["conger"] = conger_kappa(codes, rng=rng, n_resamples=n_resamples)
    return intervals


def coverage(draw: Callable[[], Coded], truth: dict[str, float], n_repetitions: int, rng: np.random.Generator) -> str:
    """The cells of a row: the share of samples whose interval holds the truth."""
    held: dict[str, list[bool]] = defaultdict(list)
    for _ in range(n_repetitions):
        for name, estimate in estimates(draw(), rng).items():
            if estimate.value == estimate.value:
                held[name].append(bool(estimate.low - 1e-9 <= truth[name] <= estimate.high + 1e-9))
    columns = (*NAMES, "alpha, by item")
    return " | ".join(f"{np.mean(held[name]):.3f}".lstrip("0") if name in held else "" for name in columns)


def essay_rows(n_repetitions: int) -> Iterator[str]:
    yield f"| world | essays x items | raters | {' | '.join((*NAMES, 'alpha, by item'))} |"
    yield "|" + "---|" * (4 + len(NAMES))
    for world in WORLDS:
        for n_raters in (2, 3):
            large = world.draw(50_000, 20, n_raters, np.random.default_rng(SEED))
            values = estimates(replace(large, unit=None), np.random.default_rng(0), n_resamples=2)
            truth = {name: estimate.value for name, estimate in values.items()}
            for n_essays, n_items in SHAPES:
                rng = np.random.default_rng([SEED, n_essays, n_raters, int(10 * world.of_skill)])
                draw = _drawn(world, n_essays, n_items, n_raters, rng)
                cells = coverage(draw, truth, n_repetitions, rng)
                yield f"| {world.name} | {n_essays} x {n_items} | {n_raters} | {cells} |"


def _drawn(
    world: EssayWorld, n_essays: int, n_items: int, n_raters: int, rng: np.random.Generator
) -> Callable[[], Coded]:
    return lambda: world.draw(n_essays, n_items, n_raters, rng)


def sparse_rows(n_repetitions: int) -> Iterator[str]:
    """Mean kappa and alpha where each item has a few of many raters."""
    yield "| raters | per item | items | shared by a pair | truth | mean value | mean kappa | alpha |"
    yield "|" + "---|" * 8
    prevalence, skill = 0.3, 0.85
    share = prevalence * skill + (1 - prevalence) * (1 - skill)
    chance = share**2 + (1 - share) ** 2
    truth = (skill**2 + (1 - skill) ** 2 - chance) / (1 - chance)
    for n_raters, n_each, n_items in ((10, 2, 200), (10, 2, 450), (10, 2, 1000), (10, 3, 400), (5, 3, 200)):
        rng = np.random.default_rng([SEED, n_raters, n_each, n_items])
        values, means, alphas = [], [], []
        for _ in range(n_repetitions):
            codes = _sparse(n_items, n_raters, n_each, prevalence, skill, rng)
            mean = mean_pairwise(codes, list(confusions(codes)), rng=rng, n_resamples=N_RESAMPLES).kappa
            [whole] = bootstrap_intervals([alpha("nominal", LABELS)], tally(codes), rng=rng, n_resamples=N_RESAMPLES)
            values.append(mean.value)
            means.append(mean.low <= truth <= mean.high)
            alphas.append(whole.low <= truth <= whole.high)
        shared = n_items * n_each * (n_each - 1) / (n_raters * (n_raters - 1))
        cells = " | ".join(f"{cell:.3f}" for cell in (truth, np.mean(values), np.mean(means), np.mean(alphas)))
        yield f"| {n_raters} | {n_each} | {n_items} | {shared:.0f} | {cells} |"


def _sparse(
    n_items: int, n_raters: int, n_each: int, prevalence: float, skill: float, rng: np.random.Generator
) -> Coded:
    is_error = rng.random((n_items, 1)) < prevalence
    says_error = np.where(rng.random((n_items, n_raters)) < skill, is_error, ~is_error)
    matrix = np.where(says_error, 0, 1).astype(np.int32)
    is_absent = rng.random((n_items, n_raters)).argsort(axis=1).argsort(axis=1) >= n_each
    matrix[is_absent] = NOBODY
    return of_matrix(matrix)


OF_FIVE = ((0.99, 0.6), (0.8, 0.95), (0.95, 0.8), (0.9, 0.5), (0.97, 0.9))
"""Of each rater, how often an item that is OK, and an error, is seen as such."""


@dataclass(frozen=True, slots=True)
class RareWorld:
    """Each judgment is missing with a chance, or each item has `n_each` raters."""

    name: str
    n_items: int
    prevalence: float
    skills: tuple[tuple[float, float], ...]
    missing: float = 0.0
    n_each: int = 0

    def draw(self, rng: np.random.Generator) -> Coded:
        matrix = self.judged(self.n_items, rng)
        size = matrix.shape
        is_absent = rng.random(size) < self.missing
        if self.n_each:
            is_absent = rng.random(size).argsort(axis=1).argsort(axis=1) >= self.n_each
        matrix[is_absent] = NOBODY
        return of_matrix(matrix)

    def judged(self, n_items: int, rng: np.random.Generator) -> Labels:
        is_error = rng.random((n_items, 1)) < self.prevalence
        on_ok, on_error = np.array(self.skills).T
        is_right = rng.random((n_items, len(self.skills))) < np.where(is_error, on_error, on_ok)
        matrix: Labels = np.where(is_right == is_error, 0, 1).astype(np.int32)
        return matrix

    def truth(self) -> float:
        codes = of_matrix(self.judged(100_000, np.random.default_rng(SEED)))
        return float(np.mean([kappa(table) for table in confusions(codes)]))


RARE_WORLDS = (
    RareWorld("8 % errors, 6 raters, 50 % missing", 60, 0.08, ((0.95, 0.75),) * 6, missing=0.5),
    RareWorld("15 % errors, 4 raters, 30 % missing", 50, 0.15, ((0.9, 0.8),) * 4, missing=0.3),
    RareWorld("10 % errors, 10 raters, 3 per item", 150, 0.1, ((0.95, 0.8),) * 10, n_each=3),
    RareWorld("6 % errors, 4 raters", 45, 0.06, ((0.97, 0.85),) * 4),
    RareWorld("20 % errors, 4 good raters, 50 % missing", 80, 0.2, ((0.98, 0.95),) * 4, missing=0.5),
    RareWorld("no errors, 5 raters who guess, 30 % missing", 60, 0.0, ((0.85, 0.85),) * 5, missing=0.3),
    RareWorld("12 % errors, 5 unlike raters, 40 % missing", 50, 0.12, OF_FIVE, missing=0.4),
    RareWorld("25 % errors, 10 unlike raters, 2 per item", 200, 0.25, OF_FIVE * 2, n_each=2),
    RareWorld("30 % errors, 5 unlike raters, 3 per item", 60, 0.3, OF_FIVE, n_each=3),
)


def rare_rows(n_repetitions: int) -> Iterator[str]:
    """Mean kappa where pairs share few items and errors are few; beside it the jackknife alone."""
    yield "| world | items | truth | mean value | mean kappa | width | jackknife alone |"
    yield "|" + "---|" * 7
    for place, world in enumerate(RARE_WORLDS):
        truth, rng = world.truth(), np.random.default_rng([SEED, 4, place])
        rows = []
        for _ in range(n_repetitions):
            codes = world.draw(rng)
            mean = mean_pairwise(codes, list(confusions(codes)), rng=rng, n_resamples=N_RESAMPLES).kappa
            if mean.value != mean.value:
                continue
            alone = jackknife(
                mean_kappa(len(codes.raters), np.eye(2)), mean.value, row_units(compared_rows(codes), 2)
            )
            held = [one.low <= truth <= one.high for one in (mean, alone)]
            rows.append((mean.value, held[0], mean.high - mean.low, held[1]))
        cells = " | ".join(f"{cell:.3f}".replace("0.", ".", 1) for cell in (truth, *np.mean(rows, axis=0)))
        yield f"| {world.name} | {world.n_items} | {cells} |"


RATER_SKILLS = expit(logit(0.85) + 0.8 * np.random.default_rng(SEED).normal(size=400))


@dataclass(frozen=True, slots=True)
class RaterWorld:
    """Items that some of 400 raters judge: essays of `n_items`, with effects of the essay on errors and on skill."""

    name: str
    n_essays: int
    n_items: int
    of_errors: float = 0.0
    of_skill: float = 0.0

    def draw(self, skills: npt.NDArray[np.float64], rng: np.random.Generator, *, n_essays: int = 0) -> Coded:
        n = n_essays or self.n_essays
        share = expit(logit(0.3) + self.of_errors * rng.normal(size=(n, 1)))
        is_error = (rng.random((n, self.n_items)) < share)[:, :, None]
        skill = expit(logit(skills) + self.of_skill * rng.normal(size=(n, 1, 1)))
        says_error = np.where(rng.random((n, self.n_items, len(skills))) < skill, is_error, ~is_error)
        matrix = np.where(says_error, 0, 1).astype(np.int32).reshape(-1, len(skills))
        is_clustered = self.n_items > 1
        return of_matrix(matrix, np.repeat(np.arange(n), self.n_items) if is_clustered else None)


RATER_WORLDS = (
    RaterWorld("independent items", 300, 1),
    RaterWorld("20 x 25, mild", 20, 25, 0.5, 0.4),
    RaterWorld("20 x 25, sharp", 20, 25, 1.2, 1.2),
    RaterWorld("50 x 20, mild", 50, 20, 0.5, 0.4),
    RaterWorld("50 x 20, sharp", 50, 20, 1.2, 1.2),
)


def random_rows(n_repetitions: int) -> Iterator[str]:
    """Alpha for other raters, with items or essays drawn beside them."""
    yield "| essays x items | raters | alpha, these raters | alpha, random raters |"
    yield "|---|---|---|---|"
    for place, world in enumerate(RATER_WORLDS):
        truth = _true_alpha(world)
        for n_raters in (3, 5, 10):
            rng = np.random.default_rng([SEED, place, n_raters])
            held = np.array([_random_held(world, n_raters, truth, rng) for _ in range(n_repetitions)])
            fixed, other = held.mean(axis=0)
            yield f"| {world.name} | {n_raters} | {fixed:.3f} | {other:.3f} |"


def _true_alpha(world: RaterWorld) -> float:
    large = world.draw(RATER_SKILLS, np.random.default_rng(SEED), n_essays=20_000 // world.n_items)
    by_item = tally(replace(large, unit=None))
    [whole] = bootstrap_intervals([alpha("nominal", LABELS)], by_item, rng=np.random.default_rng(0), n_resamples=2)
    return whole.value


def _random_held(world: RaterWorld, n_raters: int, truth: float, rng: np.random.Generator) -> tuple[bool, bool]:
    coefficient = alpha("nominal", LABELS)
    codes = world.draw(rng.choice(RATER_SKILLS, n_raters, replace=False), rng)
    [fixed] = bootstrap_intervals([coefficient], tally(codes), rng=rng, n_resamples=N_RESAMPLES)
    [without] = without_each_rater([coefficient], codes)
    other = random_interval(fixed, without, n_units=world.n_essays, level=0.95)
    return fixed.low <= truth <= fixed.high, other.low <= truth <= other.high


TABLES = {"essays": essay_rows, "sparse": sparse_rows, "rare": rare_rows, "random": random_rows}


def main(n_repetitions: int, which: str = "all") -> None:
    for name, rows in TABLES.items():
        if which not in ("all", name):
            continue
        for row in rows(n_repetitions):
            sys.stdout.write(row + "\n")
            sys.stdout.flush()
        sys.stdout.write("\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 500, *sys.argv[2:])
