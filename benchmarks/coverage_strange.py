"""Intervals and tests in worlds for which no method was chosen: `python -m benchmarks.coverage_strange [N [WORLD]]`.

*flags*: 24 essays of 25 items.  Three raters see what two systems flag; in some essays they follow them (each has a
pull of its own towards flags, exponential with mean 1.2 on the scale of the logit), and each rater has a mood of
his or her own in every essay (standard deviation .7).
*lengths*: 30 essays whose lengths are Pareto (exponent 1.3, from 5 to 300 items); longer essays have fewer errors.
*uneven*: 26 essays of log-normal lengths (median 14, standard deviation 1.2 on the log scale, at most 500 items);
longer ones have more errors, and the system finds fewer of them; three raters.
*giants*: two of 25 essays have 220 items, the others 14; five raters.  This world and *uneven* are younger than the
intervals that *lengths* made better, and were used for nothing but the table.
*strata*: 40 essays of 60 items; the system flags 2 % of them, essays differ in how often (log-normal, .8), and a
sample of 180 items beside the flagged ones is judged once.  Of the items not flagged a hundredth to a thirtieth are
errors, by essay.

Printed: how often 95 % intervals hold the truth for precision, recall and F0.5 (the truth is that of 12,000 essays),
alpha and Conger's kappa of the raters, and how often a paired test of F0.5 rejects at 5 % between two systems that
are alike in law.  World n has numpy's default_rng((seed, n)); 200 resamples.

`means`: the mean kappa of pairs in *lengths*, *uneven* and *giants* by the ways to its interval: the bootstrap,
the jackknife (which stands in for it where tables are large), and, with each item judged by two of eight raters, so
that pairs share few items, the jackknife and the interval that is printed, which holds Conger's too.

`shares`: the share of items on which a system and a rater agree, in five times as many of the same worlds, with
our interval (the jackknife, `statistics/proportions.py`) and the earlier one (essays counted as what they are worth,
or as their number where that is more than half of them); and in three worlds of shares that are younger than ours:
*falling*: 40 essays of log-normal lengths (standard deviation .8), the share of hits falls with length; *gamma*: 15
of gamma lengths; *many*: 60 log-normal (1.0), falling.

`graded`: the precision of few flags weighted by shares of raters, by item: ours, and percentiles of the resamples.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeAlias
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import polars as pl
from benchmarks.coverage_agreement import estimates as agreement_estimates
from benchmarks.coverage_agreement import of_matrix
from scipy.special import expit

import grater
from grater.agreement import cohen
from grater.agreement.coded import Coded
from grater.agreement.cohen import compared_rows, jackknife, kappa, mean_kappa, mean_pairwise, row_units
from grater.agreement.confusion import NOBODY, confusions
from grater.evaluate.cases import cases_of
from grater.evaluate.comparison import compare_systems
from grater.evaluate.scope import settled
from grater.evaluate.standard import against
from grater.evaluate.truth import truth_of
from grater.model import Interval
from grater.statistics.bootstrap import Chance
from grater.statistics.intervals import Numbers, percentile_interval, student_quantile, z_value
from grater.statistics.population import effective_units
from grater.statistics.proportions import cluster_wilson, graded_wilson, wilson
from grater.tables import as_decisions, as_judgments, read_items

RESAMPLES = 200
N_WIDE = 12_000
SHOWN = ("precision", "recall", "f0.5")
Array: TypeAlias = npt.NDArray[Any]
Drawn: TypeAlias = tuple[Array, Array, Array]
"""The essay of each item, flags (items x systems), what raters call errors (items x raters)."""


def flags_world(rng: np.random.Generator, n_essays: int = 24) -> Drawn:
    essay = np.repeat(np.arange(n_essays), 25)
    is_error = rng.random(essay.size) < expit(rng.normal(-1.3, 0.8, n_essays))[essay]
    flags = rng.random((essay.size, 2)) < np.where(is_error, 0.55, 0.08)[:, None]
    pull = rng.exponential(1.2, n_essays)[essay] * (1.3 * flags.mean(axis=1) - 0.3)
    mood = rng.normal(0, 0.7, (n_essays, 3))[essay]
    said = rng.random((essay.size, 3)) < expit(np.where(is_error, 1.5, -2.2) + pull)[:, None] * expit(mood + 2) / 0.88
    return essay, flags, said


def lengths_world(rng: np.random.Generator, n_essays: int = 30) -> Drawn:
    lengths = np.minimum(5 * rng.random(n_essays) ** (-1 / 1.3), 300).astype(int)
    essay = np.repeat(np.arange(n_essays), lengths)
    rate = expit(-0.3 - 0.5 * np.log(lengths / 5) + rng.normal(0, 0.7, n_essays))
    is_error = rng.random(essay.size) < rate[essay]
    skill = expit(rng.normal(1.8, 0.6, n_essays))[essay]
    flags = rng.random((essay.size, 2)) < np.where(is_error, skill, 1 - skill)[:, None]
    said = (rng.random((essay.size, 3)) < 0.88) == is_error[:, None]
    return essay, flags, said


def uneven_world(rng: np.random.Generator, n_essays: int = 26) -> Drawn:
    lengths = np.clip(14 * np.exp(rng.normal(0, 1.2, n_essays)), 2, 500).astype(int)
    essay = np.repeat(np.arange(n_essays), lengths)
    longer = np.log(lengths / 14)
    is_error = rng.random(essay.size) < expit(-1.6 + 0.3 * longer + rng.normal(0, 0.6, n_essays))[essay]
    skill = (0.6 - 0.4 * longer + rng.normal(0, 0.5, n_essays))[essay]
    flags = rng.random((essay.size, 2)) < expit(np.where(is_error, skill, -2.6))[:, None]
    said = (rng.random((essay.size, 3)) < 0.9) == is_error[:, None]
    return essay, flags, said


def giants_world(rng: np.random.Generator, n_essays: int = 25) -> Drawn:
    lengths = np.where(np.arange(n_essays) % 25 < 2, 220, 14)
    essay = np.repeat(np.arange(n_essays), lengths)
    is_error = rng.random(essay.size) < expit(rng.normal(-1.2, 0.7, n_essays))[essay]
    skill = rng.normal(0.5, 0.7, n_essays)[essay]
    flags = rng.random((essay.size, 2)) < expit(np.where(is_error, skill, -2.4))[:, None]
    said = (rng.random((essay.size, 5)) < 0.85) == is_error[:, None]
    return essay, flags, said


def majority(said: Array) -> Array:
    """Whether most raters call an item an error, one half where as many do as do not."""
    return np.asarray(np.sign(2 * said.sum(axis=1) - said.shape[1]) / 2 + 0.5, np.float64)


def true_scores(flags: Array, truth: Array) -> Numbers:
    hit, flagged, errors = (flags * truth).sum(), flags.sum(), truth.sum()
    return np.array([hit / flagged, hit / errors, 1.25 * hit / (flagged + 0.25 * errors)])


def frames(essay: Array, flags: Array, said: Array) -> tuple[pl.DataFrame, ...]:
    item = [f"i{place}" for place in range(essay.size)]
    systems = [
        pl.DataFrame({"item": item, "system": f"S{at}", "flagged": column.astype(np.int8)})
        for at, column in enumerate(flags.T)
    ]
    raters = [
        pl.DataFrame({"item": item, "rater": f"r{at}", "label": np.where(column, "error", "ok")})
        for at, column in enumerate(said.T)
    ]
    places = pl.DataFrame({"item": item, "essay": [f"e{number}" for number in essay], "kind": "prep"})
    starts = pl.Series("start", np.arange(essay.size))
    return pl.concat(systems), pl.concat(raters), places.with_columns(starts, end=starts + 1)


def holds(interval: Interval, truth: float) -> bool:
    return bool(interval.low - 1e-9 <= truth <= interval.high + 1e-9)


def judged_row(draw: Callable[..., Drawn], seed: int, n_worlds: int) -> str:
    essay, flags, said = draw(np.random.default_rng((seed, 999_999)), N_WIDE)
    truth = true_scores(flags[:, 0], majority(said))
    wide = agreement_estimates(
        of_matrix(np.where(said, 0, 1).astype(np.int32)), np.random.default_rng(0), n_resamples=2
    )
    rows = []
    for number in range(n_worlds):
        rng = np.random.default_rng((seed, number))
        essay, flags, said = draw(rng)
        decisions, judgments, items = frames(essay, flags, said)
        cases = cases_of(as_decisions(decisions), as_judgments(judgments), items=read_items(items))
        chance = settled(Chance("auto", RESAMPLES, number), cases.columns)[0]
        believed = truth_of(cases)
        scored = against(cases, believed, chance=chance)[0]
        [pair] = compare_systems(cases, believed, chance=chance, score="f0.5").pairs
        codes = of_matrix(np.where(said, 0, 1).astype(np.int32), essay.astype(np.int64))
        agreed = agreement_estimates(codes, rng, n_resamples=RESAMPLES)
        held = [holds(scored[name], value) for name, value in zip(SHOWN, truth, strict=True)]
        held += [holds(agreed[name], wide[name].value) for name in ("alpha", "conger")]
        rows.append([*held, *(pair.test.p[way] < 0.05 for way in ("bootstrap", "randomisation"))])
    return " | ".join(f"{share:.3f}".lstrip("0") for share in np.mean(rows, axis=0))


WAYS = ("bootstrap", "jackknife", "jackknife, 2 of 8 raters", "printed, 2 of 8 raters")


def means_row(draw: Callable[..., Drawn], seed: int, n_worlds: int) -> str:
    """How often the intervals of a mean kappa hold that of many essays."""
    _, _, said = draw(np.random.default_rng((seed, 999_999)), N_WIDE)
    truth = float(np.mean([kappa(table) for table in confusions(coded_answers(said))]))
    rows = []
    for number in range(n_worlds):
        rng = np.random.default_rng((seed, number))
        essay, _, said = draw(rng)
        codes = coded_answers(said, essay)
        few = coded_answers(eight_raters(said, rng), essay)
        statistic = mean_kappa(8, np.eye(2))
        printed = mean_pairwise(few, list(confusions(few)), rng=rng, n_resamples=RESAMPLES).kappa
        ways = [
            mean_pairwise(codes, list(confusions(codes)), rng=rng, n_resamples=RESAMPLES).kappa,
            large_interval(codes),
            jackknife(statistic, printed.value, row_units(compared_rows(few), 2)),
            printed,
        ]
        rows.append([holds(interval, truth) for interval in ways])
    return " | ".join(f"{share:.3f}".lstrip("0") for share in np.mean(rows, axis=0))


def coded_answers(said: Array, essay: Array | None = None) -> Coded:
    matrix = np.where(said, 0, 1).astype(np.int32)
    matrix[said < 0] = NOBODY
    return of_matrix(matrix, None if essay is None else essay.astype(np.int64))


def eight_raters(said: Array, rng: np.random.Generator) -> Array:
    """The first two raters' answers to each item as those of two of eight, -1 where a rater was not asked."""
    spread = np.full((len(said), 8), -1)
    asked = rng.random(spread.shape).argsort(axis=1)[:, :2]
    np.put_along_axis(spread, asked, said[:, :2].astype(int), axis=1)
    return spread


def large_interval(codes: Coded) -> Interval:
    """What a table too large for the bootstrap would get."""
    with patch.object(cohen, "MOST_SUMS", 0):
        return mean_pairwise(codes, list(confusions(codes)), rng=np.random.default_rng(0)).kappa


Counted: TypeAlias = tuple[Numbers, Numbers]
"""Hits and cases of each essay."""


def agreed(draw: Callable[..., Drawn]) -> Callable[..., Counted]:
    """On how many items of each essay the first system and the first rater agree."""

    def counted(rng: np.random.Generator, n_essays: int = 0) -> Counted:
        essay, flags, said = draw(rng, n_essays) if n_essays else draw(rng)
        _, unit = np.unique(essay, return_inverse=True)
        agreeing = (flags[:, 0] == said[:, 0]).astype(np.float64)
        return np.bincount(unit, agreeing), np.bincount(unit).astype(np.float64)

    return counted


def falling_world(rng: np.random.Generator, n_essays: int = 40) -> Counted:
    lengths = np.clip(14 * np.exp(rng.normal(0, 0.8, n_essays)), 2, 500).astype(int)
    return _hits(rng, lengths, 1.5 - 0.3 * np.log(lengths / 14) + rng.normal(0, 0.6, n_essays))


def gamma_world(rng: np.random.Generator, n_essays: int = 15) -> Counted:
    lengths = np.maximum(2, rng.gamma(2, 12, n_essays)).astype(int)
    return _hits(rng, lengths, 0.8 + rng.normal(0, 0.7, n_essays))


def many_world(rng: np.random.Generator, n_essays: int = 60) -> Counted:
    lengths = np.clip(14 * np.exp(rng.normal(0, 1.0, n_essays)), 2, 500).astype(int)
    return _hits(rng, lengths, 2 - 0.2 * np.log(lengths / 14) + rng.normal(0, 0.5, n_essays))


def _hits(rng: np.random.Generator, lengths: Array, logit: Numbers) -> Counted:
    return rng.binomial(lengths, expit(logit)).astype(np.float64), lengths.astype(np.float64)


def shares_row(draw: Callable[..., Counted], seed: int, n_worlds: int) -> str:
    """How often the interval of a share holds, ours and the earlier one, and the mean width of both."""
    hits, n = draw(np.random.default_rng((seed, 999_999)), N_WIDE)
    truth, rows = float(hits.sum() / n.sum()), []
    for number in range(n_worlds):
        hits, n = draw(np.random.default_rng((seed, number)))
        ways = (cluster_wilson(hits, n), by_worth(hits, n))
        rows.append([*(holds(way, truth) for way in ways), *(way.high - way.low for way in ways)])
    return " | ".join(f"{share:.3f}".lstrip("0") for share in np.mean(rows, axis=0))


def by_worth(hits: Numbers, n: Numbers) -> Interval:
    """Wilson's form, with essays counted as what they are worth."""
    total, share, n_essays = float(n.sum()), float(hits.sum() / n.sum()), effective_units(n)
    away = hits - share * n
    variance = float(away @ away) * n_essays / (n_essays - 1) / total**2
    worth = min(total, share * (1 - share) / variance * (z_value() / student_quantile(0.975, n_essays - 1)) ** 2)
    return wilson(share * worth, worth)


def strata_world(rng: np.random.Generator, n_essays: int = 40) -> Drawn:
    essay = np.repeat(np.arange(n_essays), 60)
    often = np.minimum(0.02 * np.exp(rng.normal(-0.32, 0.8, n_essays)), 0.5)
    flags = rng.random((essay.size, 1)) < often[essay][:, None]
    precise = expit(rng.normal(1.2, 0.8, n_essays))[essay]
    missed = rng.uniform(0.01, 1 / 30, n_essays)[essay]
    said = rng.random((essay.size, 1)) < np.where(flags[:, 0], precise, missed)[:, None]
    return essay, flags, said


def strata_row(seed: int, n_worlds: int) -> str:
    _, flags, said = strata_world(np.random.default_rng((seed, 999_999)), N_WIDE)
    truth = true_scores(flags[:, 0], majority(said))
    rows = []
    for number in range(n_worlds):
        decisions, judgments, items = frames(*strata_world(np.random.default_rng((seed, number))))
        n_flagged = int(decisions["flagged"].sum())
        sample = grater.sample(decisions, system="S0", n=min(n_flagged, 120) + 180, seed=number)
        judged = judgments.join(sample.frame.select("item"), on="item", how="semi")
        estimates = grater.estimate(decisions, sample, judged, items=items, resamples=RESAMPLES, seed=number)
        scores = estimates.systems[0].scores
        held = [scores.precision, scores.recall, scores.f[0.5]]
        rows.append([holds(interval, value) for interval, value in zip(held, truth, strict=True)])
    return " | ".join(f"{share:.3f}".lstrip("0") for share in np.mean(rows, axis=0)) + " | | | |"


GRADED = ((9, 1, 0, 3, 12), (9, 1, 0, 3, 30), (30, 1, 0.08, 5, 12), (30, 1, 0.08, 5, 25), (3, 2, 0, 5, 60))
"""The beta distribution of shares, flags that nobody accepts, raters, and flags expected in 400 items."""


def graded_row(world: tuple[float, float, float, int, int], n_worlds: int, *, seed: int = 7, n: int = 400) -> str:
    """Weighted precision of few flags: how often ours and percentiles hold, and the mean width of both."""
    first, second, rejected, n_raters, n_flags = world
    truth, rows = (1 - rejected) * first / (first + second), []
    for number in range(n_worlds):
        rng = np.random.default_rng((seed, number))
        flags = max(2, rng.binomial(n, n_flags / n))
        believed = np.where(rng.random(flags) < rejected, 0, rng.beta(first, second, flags))
        shares = rng.binomial(n_raters, believed) / n_raters
        times = rng.multinomial(n, [*np.full(flags, 1 / n), 1 - flags / n], 2 * RESAMPLES)[:, :flags]
        drawn = (times @ shares)[times.any(axis=1)] / times.sum(axis=1)[times.any(axis=1)]
        value = float(shares.mean())
        ways = (graded_wilson(value, float(drawn.std()), flags), percentile_interval(value, drawn, n_units=n))
        rows.append([each for way in ways for each in (holds(way, truth), way.high - way.low)])
    return " | ".join(f"{share:.3f}".lstrip("0") for share in np.mean(rows, axis=0))


SHARES: tuple[tuple[str, Callable[..., Counted], int], ...] = (
    ("lengths", agreed(lengths_world), 172),
    ("uneven", agreed(uneven_world), 174),
    ("giants", agreed(giants_world), 175),
    ("falling", falling_world, 176),
    ("gamma", gamma_world, 177),
    ("many", many_world, 178),
)


def main(n_worlds: int, which: str = "all") -> None:
    print("| world | precision | recall | F0.5 | alpha | conger | bootstrap rejects | randomisation rejects |")
    print("|" + "---|" * 8, flush=True)
    if which in ("all", "flags"):
        print(f"| flags | {judged_row(flags_world, 71, n_worlds)} |", flush=True)
    if which in ("all", "lengths"):
        print(f"| lengths | {judged_row(lengths_world, 72, n_worlds)} |", flush=True)
    if which in ("all", "uneven"):
        print(f"| uneven | {judged_row(uneven_world, 74, n_worlds)} |", flush=True)
    if which in ("all", "giants"):
        print(f"| giants | {judged_row(giants_world, 75, n_worlds)} |", flush=True)
    if which in ("all", "strata"):
        print(f"| strata | {strata_row(73, n_worlds)}", flush=True)
    if which in ("all", "means"):
        print(f"\n| mean kappa | {' | '.join(WAYS)} |\n|" + "---|" * 5, flush=True)
        for name, draw, seed in (
            ("lengths", lengths_world, 72),
            ("uneven", uneven_world, 74),
            ("giants", giants_world, 75),
        ):
            print(f"| {name} | {means_row(draw, seed, n_worlds)} |", flush=True)
    if which in ("all", "shares"):
        print("\n| share | ours | by worth | width, ours | by worth |\n|---|---|---|---|---|", flush=True)
        for name, share, seed in SHARES:
            print(f"| {name} | {shares_row(share, seed, 5 * n_worlds)} |", flush=True)
    if which in ("all", "graded"):
        for world in GRADED:
            shares = f"{world[4]} | {world[3]} | beta({world[0]}, {world[1]})" + ", some wrong" * (world[2] > 0)
            print(f"| {shares} | {graded_row(world, n_worlds)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 400, *sys.argv[2:])
