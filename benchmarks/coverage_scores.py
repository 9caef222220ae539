"""How often intervals of scores hold and tests reject: `python benchmarks/coverage_scores.py [N]` prints the tables.

The worlds know nothing of the methods.  An essay has two effects of its own, on its writer's errors (u) and on how
the system takes to it (v), both normal; an item's gravity is theta = normal(mean, spread) + u; each rater calls it
an error with chance 1 / (1 + exp(-slope theta)); a system flags it where theta + v + noise passes its threshold.
`sharp` worlds have essay effects of standard deviation 1, `mild` ones of .4.  True scores are those of 60,000
essays of the same world.  What is measured is what `grater.evaluate` and `grater.compare` return by default, with
400 resamples.

Null worlds of the second table have two systems that are alike in law, with effects of their own.  In the third, two
systems with different thresholds decide on different essays whose error rates differ (means -2 and -1); the truth is
computed at the standard that grater chose, from each system's true rates in each bin of a large world.

The fourth table (`high`) has systems whose precision is near .9 and whose flags are few (threshold 3.2: one item in
forty): intervals by essay as grater has them, and expanded percentiles of the same cluster bootstrap.

The fifth (`bins`) is kappa by bin of agreement of two systems on different data, the worlds of the third with three
and with five raters; the truth is that of a very large world.

Seeds: world n of a design is numpy's default_rng((seed of the design, n)); `main` has the seeds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from math import isnan, nan

import numpy as np
import polars as pl

import grater
from grater.evaluate.cases import ERROR, OK, VERDICTS, Cases, cases_of
from grater.evaluate.comparison import compare_systems
from grater.evaluate.counts import ABSENT
from grater.evaluate.different import Stratum, standardised, unpaired
from grater.evaluate.scope import settled
from grater.evaluate.standard import Bin, against, binned
from grater.evaluate.truth import truth_of
from grater.model import Interval
from grater.statistics.bootstrap import Chance
from grater.statistics.intervals import Numbers, percentile_interval
from grater.tables import as_decisions, as_judgments, read_items

RESAMPLES = 400
SHAPES = ((12, 40), (20, 25), (50, 20))
EFFECTS = {"sharp": 1.0, "mild": 0.4}
SHOWN = ("precision", "recall", "f0.5")
N_WIDE, PORTION = 60_000, 6_000
SPREAD, SLOPE, NOISE = 1.8, 2.0, 1.5


@dataclass(frozen=True, slots=True)
class World:
    """A law of essays; `thresholds` has one entry per system."""

    seed: int
    n_essays: int
    n_items: int
    n_raters: int
    effect: float
    mean: float = -2.0
    thresholds: tuple[float, ...] = (0.3,)

    def draw(self, rng: np.random.Generator, n_essays: int = 0) -> tuple[Numbers, Numbers]:
        """Votes for error (essays x items) and flags (systems x essays x items)."""
        n = n_essays or self.n_essays
        gravity = rng.normal(self.mean, SPREAD, (n, self.n_items)) + rng.normal(0, self.effect, (n, 1))
        chance = 1 / (1 + np.exp(-SLOPE * gravity))
        votes = rng.binomial(self.n_raters, chance).astype(np.float64)
        flags = [
            gravity + rng.normal(0, 0.6 * self.effect, (n, 1)) + rng.normal(0, NOISE, gravity.shape) > threshold
            for threshold in self.thresholds
        ]
        return votes, np.array(flags, np.float64)

    def wide(self) -> Iterator[tuple[Numbers, Numbers]]:
        rng = np.random.default_rng((self.seed, 999_999))
        for _ in range(N_WIDE // PORTION):
            yield self.draw(rng, PORTION)


def majority(votes: Numbers, n_raters: int) -> Numbers:
    """1 above one half, 0 below, a half for a tie."""
    return (np.sign(2 * votes - n_raters) + 1) / 2


def true_scores(world: World) -> Numbers:
    """Precision, recall and F0.5 of the first system in a very large world."""
    hit = flagged = errors = 0.0
    for votes, flags in world.wide():
        truth = majority(votes, world.n_raters)
        hit, flagged, errors = hit + (flags[0] * truth).sum(), flagged + flags[0].sum(), errors + truth.sum()
    return np.array([hit / flagged, hit / errors, 1.25 * hit / (flagged + 0.25 * errors)])


def frames(votes: Numbers, flags: Numbers, n_raters: int, prefix: str = "e") -> tuple[pl.DataFrame, ...]:
    """Decisions, judgments and items as a user has them."""
    n_essays, n_items = votes.shape
    essay = np.repeat([f"{prefix}{at}" for at in range(n_essays)], n_items)
    places = np.tile(np.arange(n_items), n_essays)
    item = np.array([f"{name}-{at}" for name, at in zip(essay, places, strict=True)])
    decisions = pl.concat(
        pl.DataFrame({"item": item, "system": f"S{at}", "flagged": of.ravel().astype(np.int8)})
        for at, of in enumerate(flags)
    )
    labels = np.where(is_error(votes, n_raters), "error", "ok")
    raters = np.tile([f"r{at}" for at in range(n_raters)], item.size)
    judgments = pl.DataFrame({"item": np.repeat(item, n_raters), "rater": raters, "label": labels})
    items = pl.DataFrame({"item": item, "essay": essay, "start": places, "end": places + 1, "kind": "prep"})
    return decisions, judgments, items


def is_error(votes: Numbers, n_raters: int) -> np.ndarray:  # type: ignore[type-arg]
    """One entry per judgment, the raters of an item in turn."""
    return (np.arange(n_raters) < votes.ravel()[:, None]).ravel()


def first_cases(parts: Sequence[tuple[pl.DataFrame, ...]]) -> Cases:
    """The cases of tables; later worlds of a design change only flags and votes, which saves reading them."""
    decisions, judgments, items = (pl.concat([part[at] for part in parts]) for at in range(3))
    return cases_of(as_decisions(decisions), as_judgments(judgments), items=read_items(items))


def cases_with(first: Cases, votes: Numbers, flags: Numbers, n_raters: int) -> Cases:
    """The same items, systems and raters, with the flags (items x systems) and votes of another world."""
    fresh = {each.name: getattr(first, each.name) for each in fields(first)}
    # Judgments stand item by item and rater by rater, as `frames` wrote them.
    assert (np.diff(first.item) >= 0).all()
    verdicts = np.array([VERDICTS.index(OK), VERDICTS.index(ERROR)])
    said = replace(first.coded, label=is_error(votes, n_raters).astype(np.int8), verdict_of=verdicts)
    fresh |= {"coded": said, "flagged": flags.astype(np.int8)}
    return Cases(**fresh)


def drawing(cases: Cases, number: int, *, by_item: bool = False) -> Chance:
    chance = Chance("item" if by_item else "auto", RESAMPLES, number)
    return settled(chance, cases.columns)[0]


def coverage(world: World, n_worlds: int) -> tuple[Numbers, Numbers]:
    """The share of worlds whose intervals of precision, recall and F0.5 hold the truth: by essay, and by item."""
    truth, held, first = true_scores(world), np.zeros((2, len(SHOWN))), None
    for number in range(n_worlds):
        votes, flags = world.draw(np.random.default_rng((world.seed, number)))
        first = first or first_cases([frames(votes, flags, world.n_raters)])
        cases = cases_with(first, votes, flags.reshape(len(flags), -1).T, world.n_raters)
        for row in range(2):
            [scored] = against(cases, truth_of(cases), chance=drawing(cases, number, by_item=row == 1))
            held[row] += [holds(scored[name], true) for name, true in zip(SHOWN, truth, strict=True)]
        if number == 0:
            _same_as_the_command(frames(votes, flags, world.n_raters), cases)
    by_essay, by_item = held / n_worlds
    return by_essay, by_item


def holds(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


def _same_as_the_command(tables: tuple[pl.DataFrame, ...], cases: Cases) -> None:
    """What is measured is what `grater.evaluate` returns by default."""
    decisions, judgments, items = tables
    public = grater.evaluate(decisions, judgments, items=items, resamples=RESAMPLES).whole.standard[0]
    [ours] = against(cases, truth_of(cases), chance=drawing(cases, 0))
    assert public.scores == ours.scores


def rejections(world: World, n_worlds: int) -> Numbers:
    """The share of null worlds in which each test rejects at 5 %: bootstrap, randomisation, McNemar."""
    rejected, first = np.zeros(3), None
    for number in range(n_worlds):
        votes, flags = world.draw(np.random.default_rng((world.seed, number)))
        first = first or first_cases([frames(votes, flags, world.n_raters)])
        cases = cases_with(first, votes, flags.reshape(len(flags), -1).T, world.n_raters)
        [pair] = compare_systems(cases, truth_of(cases), chance=drawing(cases, number)).pairs
        p = (pair.test.p["bootstrap"], pair.test.p["randomisation"], pair.mcnemar.mid_p)
        rejected += np.array(p) <= 0.05
    return rejected / n_worlds


def apart(one: World, other: World, n_worlds: int) -> Numbers:
    """Coverage of standardised scores, and of their unpaired differences, for systems on different data."""
    rates, held = [_rates(one), _rates(other)], np.zeros((2, len(SHOWN)))
    for number, cases in enumerate(on_different_data(one, other, n_worlds)):
        standard, systems = standardised(cases, truth_of(cases), chance=drawing(cases, number))
        truths = [_standardised(rate, standard) for rate in rates]
        for at, name in enumerate(SHOWN):
            scores = [system.scores[name] for system in systems]
            held[0, at] += holds(scores[0], truths[0][at])
            held[1, at] += holds(unpaired(*scores), truths[0][at] - truths[1][at])
    return held / n_worlds


def on_different_data(one: World, other: World, n_worlds: int) -> Iterator[Cases]:
    """Worlds in which system A decides on essays of the one law, and B on those of the other."""
    first = None
    for number in range(n_worlds):
        rng = np.random.default_rng((one.seed, number))
        drawn = [one.draw(rng), other.draw(rng)]
        if first is None:
            parts = [frames(*world, one.n_raters, prefix) for world, prefix in zip(drawn, "ab", strict=True)]
            named = [
                (part[0].with_columns(system=pl.lit(name)), *part[1:]) for part, name in zip(parts, "AB", strict=True)
            ]
            first = first_cases(named)
        votes = np.concatenate([world[0].ravel() for world in drawn])
        flags = np.full((len(votes), 2), ABSENT)
        n_first = drawn[0][0].size
        flags[:n_first, 0], flags[n_first:, 1] = drawn[0][1].ravel(), drawn[1][1].ravel()
        yield cases_with(first, votes, flags, one.n_raters)


def by_bin(one: World, other: World, n_worlds: int) -> list[str]:
    """Kappa in each bin of agreement: the bin, then of both systems how often its intervals hold, and how wide."""
    rates, held, titles = [_rates(one), _rates(other)], [], []
    for number, cases in enumerate(on_different_data(one, other, n_worlds)):
        bins = [within for within in binned(cases, truth_of(cases), chance=drawing(cases, number)) if within.n]
        titles = [within.title for within in bins]
        held.append([[_kappa_held(within, at, rates[at]) for at in range(2)] for within in bins])
    shares = np.nanmean(np.array(held), axis=0)
    return [
        f"{title} | " + " | ".join(f"{share:.3f} {width:.3f}" for share, width in of_bin)
        for title, of_bin in zip(titles, shares, strict=True)
    ]


def _kappa_held(within: Bin, at: int, rates: Numbers) -> tuple[float, float]:
    """Whether the interval of a system in a bin holds its true kappa, and its width; nan where there is none."""
    kappa = within.systems[at]["kappa"]
    if isnan(kappa.low):
        return nan, nan
    n, n_errors, flags, hits = rates[_inside(rates, within.low, within.high)].sum(axis=0)
    expected = (flags * n_errors + (n - flags) * (n - n_errors)) / n**2
    truth = ((n - flags - n_errors + 2 * hits) / n - expected) / (1 - expected)
    return float(holds(kappa, truth)), kappa.high - kappa.low


def high_precision(world: World, n_worlds: int) -> tuple[float, Numbers]:
    """The true precision, and the share of worlds whose intervals hold it: ours, and those of percentiles."""
    truth, held, first = float(true_scores(world)[0]), np.zeros(2), None
    for number in range(n_worlds):
        rng = np.random.default_rng((world.seed, number))
        votes, flags = world.draw(rng)
        first = first or first_cases([frames(votes, flags, world.n_raters)])
        cases = cases_with(first, votes, flags.reshape(len(flags), -1).T, world.n_raters)
        [scored] = against(cases, truth_of(cases), chance=drawing(cases, number))
        hits = (flags[0] * majority(votes, world.n_raters)).sum(axis=1)
        weights = rng.multinomial(world.n_essays, np.full(world.n_essays, 1 / world.n_essays), RESAMPLES)
        drawn = (weights @ hits) / np.maximum(weights @ flags[0].sum(axis=1), 1)
        value = scored["precision"].value
        plain = percentile_interval(value, drawn, n_units=world.n_essays)
        held += [holds(scored["precision"], truth), holds(plain, truth)]
    return truth, held / n_worlds


def _rates(world: World) -> Numbers:
    """By number of votes for error: items, errors and flags, flagged errors, of a very large world."""
    sums = np.zeros((world.n_raters + 1, 4))
    for votes, flags in world.wide():
        truth, code = majority(votes, world.n_raters).ravel(), votes.ravel().astype(int)
        flag = flags[0].ravel()
        for column, values in enumerate((np.ones_like(truth), truth, flag, flag * truth)):
            sums[:, column] += np.bincount(code, weights=values, minlength=world.n_raters + 1)
    return sums


def _standardised(rates: Numbers, standard: Sequence[Stratum]) -> tuple[float, float, float]:
    """The true scores of a system at the standard that grater chose."""
    hit = alarm = errors = 0.0
    for stratum in standard:
        n, n_errors, flags, hits = rates[_inside(rates, stratum.low, stratum.high)].sum(axis=0)
        hit += stratum.n_errors * hits / n_errors
        alarm += (stratum.n - stratum.n_errors) * (flags - hits) / (n - n_errors)
        errors += stratum.n_errors
    return hit / (hit + alarm), hit / errors, 1.25 * hit / (hit + alarm + 0.25 * errors)


def _inside(rates: Numbers, low: float, high: float) -> np.ndarray:  # type: ignore[type-arg]
    """The numbers of votes for error whose agreement is in a bin; the last bin is closed."""
    n_raters = len(rates) - 1
    agreement = np.maximum(np.arange(n_raters + 1), n_raters - np.arange(n_raters + 1)) / n_raters
    return (agreement >= low) & ((agreement <= high) if high == 1 else (agreement < high))


def _shown(values: Numbers) -> str:
    return " ".join(f"{value:.3f}" for value in values)


def bin_rows(one: World, n_worlds: int) -> None:
    for n_raters in (3, 5):
        first = replace(one, n_raters=n_raters)
        other = replace(first, seed=one.seed + 5, mean=-1.0, thresholds=(0.8,))
        for cells in by_bin(first, other, n_worlds):
            print(f"bins | {one.n_essays} x {one.n_items} | {n_raters} | {one.effect} | {cells} |", flush=True)


def main() -> None:
    n_worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    wanted = sys.argv[2] if len(sys.argv) > 2 else "coverage tests apart high bins"
    for at, (n_essays, n_items) in enumerate(SHAPES):
        for n_raters in (2, 3):
            for name, effect in EFFECTS.items():
                seed = 100 * at + 10 * n_raters + (name == "mild")
                one = World(seed, n_essays, n_items, n_raters, effect)
                row = f"| {n_essays} x {n_items} | {n_raters} | {name} | {seed} |"
                if "coverage" in wanted:
                    print("coverage", row, " | ".join(map(_shown, coverage(one, n_worlds))), "|", flush=True)
                if "tests" in wanted:
                    null = World(seed, n_essays, n_items, n_raters, effect, thresholds=(0.3, 0.3))
                    print("tests", row, _shown(rejections(null, n_worlds)), "|", flush=True)
                if "apart" in wanted:
                    other = World(seed + 5, n_essays, n_items, n_raters, effect, mean=-1.0, thresholds=(0.8,))
                    print("apart", row, " | ".join(map(_shown, apart(one, other, n_worlds))), "|", flush=True)
                if "bins" in wanted and n_raters > 2:
                    bin_rows(one, n_worlds)
                if "high" in wanted:
                    high = World(seed, n_essays, n_items, n_raters, effect, thresholds=(3.2,))
                    truth, held = high_precision(high, n_worlds)
                    print(
                        "high", row, f"{truth:.3f} |", " | ".join(f"{share:.3f}" for share in held), "|", flush=True
                    )


if __name__ == "__main__":
    main()
