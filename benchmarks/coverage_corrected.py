"""Scores corrected for raters' errors, in worlds for which no method was chosen.

`python -m benchmarks.coverage_corrected [N [WORLD]]` prints how often 95 % intervals hold the truth for precision,
recall and F0.5: as judged, corrected by all gold items together, and corrected on each side of the system's decision
by the gold items of that side.  *sample*: 150 of the flags are judged, and 300 of the rest; *all*: every item
is judged.  The truth is whether an item is an error, in 6,000 essays, not what raters say.  World n has numpy's
default_rng((seed, n)); 300 resamples of essays.

Essays differ in their rate of errors (logit, standard deviation .9), in how well the system finds them (.8) and in
how raters see them (a mood, .6).  Nine raters differ in skill (.5); each item is judged by three of them, and the
majority is believed.  Gold stands in other essays; its answers are majorities of three, too.

*plain*: 40 essays of 50 items; raters err alike everywhere; 100 gold items.
*few*: 14 essays of 80 items; 200 gold items.
*rare*: 60 essays of 60 items, a twentieth of them errors; 300 gold items, two thirds of them good.
*believers*: 40 essays of 50 items; raters follow a flag (1.3 on the scale of the logit); 240 gold items, half of
each kind flagged.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import expit

import grater
from grater.measure.evaluation.evaluation import EvaluationOptions, evaluate
from grater.measure.evaluation.sampled import chance_of, sampled
from grater.measure.evaluation.sampled.correction import correct
from grater.measure.evaluation.sampled.results import CorrectedEstimate
from grater.model import Interval
from grater.uncertainty.bootstrap import Chance
from grater.uncertainty.stratified import Scores
from grater.tables import Judgments, Table, as_decisions, as_judgments, read_gold, read_items

RESAMPLES = 300
N_WIDE = 6_000
N_RATERS = 9
SHOWN = ("precision", "recall", "f0.5")
WAYS = {"corrected": False, "by side": True}
Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class World:
    """A corpus: essays and items of each, the middle rate of errors (logit), gold items and the share of errors."""

    seed: int
    n_essays: int
    n_items: int
    errors: float
    n_gold: int
    gold_errors: float = 0.5
    belief: float = 0.0


WORLDS = {
    "plain": World(81, 40, 50, -1.4, 100),
    "few": World(82, 14, 80, -1.4, 200),
    "rare": World(83, 60, 60, -3.2, 300, gold_errors=1 / 3),
    "believers": World(84, 40, 50, -1.4, 240, belief=1.3),
}


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """The essay of each item, whether it is an error, whether the system flags it, and the moods of essays."""

    essay: Array
    is_error: Array
    flagged: Array
    mood: Array


def corpus_of(world: World, rng: np.random.Generator, n_essays: int) -> Corpus:
    essay = np.repeat(np.arange(n_essays), world.n_items)
    is_error = rng.random(essay.size) < expit(rng.normal(world.errors, 0.9, n_essays))[essay]
    skill = rng.normal(0, 0.8, n_essays)[essay]
    flagged = rng.random(essay.size) < expit(np.where(is_error, 0.4 + skill, -3.0 - skill / 2))
    return Corpus(essay, is_error, flagged, rng.normal(0, 0.6, n_essays)[essay])


def gold_of(world: World, rng: np.random.Generator) -> Corpus:
    """Gold items of many essays; half of each kind are flagged where raters follow flags."""
    wide = corpus_of(world, rng, 40 * world.n_gold)
    kept: list[int] = []
    n_errors = round(world.gold_errors * world.n_gold)
    for is_error, n in ((True, n_errors), (False, world.n_gold - n_errors)):
        sides = ((True, n // 2), (False, n - n // 2)) if world.belief else ((None, n),)
        for side, n_side in sides:
            right = (wide.is_error == is_error) & (True if side is None else wide.flagged == side)
            kept += list(rng.choice(np.flatnonzero(right), n_side, replace=False))
    rows = np.array(sorted(kept))
    return Corpus(*(getattr(wide, name)[rows] for name in ("essay", "is_error", "flagged", "mood")))


def said_of(world: World, corpus: Corpus, skills: Array, rng: np.random.Generator, prefix: str) -> pl.DataFrame:
    """Three of nine raters on every item."""
    raters = rng.random((corpus.essay.size, N_RATERS)).argsort(axis=1)[:, :3]
    belief = world.belief * np.where(corpus.flagged, 1.0, -0.25)
    lean = np.where(corpus.is_error, 1.3, -2.6) + corpus.mood + belief
    sure = np.where(corpus.is_error, 1.0, -1.0)[:, None] * skills[raters]
    calls = rng.random(raters.shape) < expit(lean[:, None] + sure)
    items = np.repeat([f"{prefix}{place}" for place in range(corpus.essay.size)], 3)
    labels = np.where(calls.ravel(), "error", "ok")
    return pl.DataFrame({"item": items, "rater": [f"r{rater}" for rater in raters.ravel()], "label": labels})


def decided(corpus: Corpus, prefix: str) -> pl.DataFrame:
    items = [f"{prefix}{place}" for place in range(corpus.essay.size)]
    return pl.DataFrame({"item": items, "system": "S", "flagged": corpus.flagged.astype(np.int8)})


def truths(world: World) -> dict[str, float]:
    wide = corpus_of(world, np.random.default_rng((world.seed, 999_999)), N_WIDE)
    hit, flags, errors = (wide.is_error & wide.flagged).sum(), wide.flagged.sum(), wide.is_error.sum()
    return {"precision": hit / flags, "recall": hit / errors, "f0.5": 1.25 * hit / (flags + 0.25 * errors)}


def intervals_of(world: World, number: int) -> dict[str, dict[str, Interval]]:
    """Every way of scoring one corpus: as judged, corrected, and corrected by side; from a sample and from all."""
    rng = np.random.default_rng((world.seed, number))
    corpus, gold = corpus_of(world, rng, world.n_essays), gold_of(world, rng)
    skills = rng.normal(0, 0.5, N_RATERS)
    judged, on_gold = (said_of(world, part, skills, rng, name) for part, name in ((corpus, "i"), (gold, "g")))
    decisions = pl.concat([decided(corpus, "i"), decided(gold, "g")])
    known = pl.DataFrame(
        {
            "item": [f"g{place}" for place in range(gold.essay.size)],
            "label": np.where(gold.is_error, "error", "ok"),
        }
    )
    places = [(f"i{place}", f"e{essay}") for place, essay in enumerate(corpus.essay)]
    places += [(f"g{place}", f"gold{essay}") for place, essay in enumerate(gold.essay)]
    start = pl.Series("start", np.arange(len(places)))
    items = pl.DataFrame(places, ["item", "essay"], orient="row").with_columns(start, kind=pl.lit("prep"))
    return _scored(
        corpus,
        as_decisions(decisions),
        as_judgments(judged),
        as_judgments(on_gold),
        read_gold(known),
        read_items(items.with_columns(end=start + 1)),
        number,
    )


def _scored(
    corpus: Corpus, decisions: Table, judged: Judgments, on_gold: Judgments, gold: Table, items: Table, seed: int
) -> dict[str, dict[str, Interval]]:
    own = replace(decisions, frame=decisions.frame.filter(pl.col("item").str.starts_with("i")))
    n_flags = min(150, int(corpus.flagged.sum()))
    sample = grater.sample(own.frame, system="S", n=n_flags + 300, flagged=n_flags, seed=seed)
    here = replace(judged, frame=judged.frame.join(sample.frame, on="item", how="semi"))
    chance = chance_of(own, sample, items=items, n_resamples=RESAMPLES, seed=seed)
    estimates = sampled(own, sample, here, items=items, chance=chance)
    rows = {"sample, as judged": _of_sample(estimates.systems[0].scores)}
    for way, by_flag in WAYS.items():
        fixed = correct(
            estimates, on_gold, gold, fpc=False, n_resamples=1000, seed=seed, decisions=decisions, by_flag=by_flag
        )
        rows[f"sample, {way}"] = _of_sample(fixed.systems[0])
    for way, by_flag in WAYS.items():
        options = EvaluationOptions(chance=Chance("auto", RESAMPLES, seed), errors_by_flag=by_flag, is_brief=True)
        whole = evaluate(decisions, judged, items=items, gold=gold, on_gold=on_gold, options=options)
        rows["all, as judged"] = {score: whole.whole.standard[0][score] for score in SHOWN}
        rows[f"all, {way}"] = {score: whole.corrected[0][score] for score in SHOWN}
    return rows


def _of_sample(scores: Scores | CorrectedEstimate) -> dict[str, Interval]:
    return {"precision": scores.precision, "recall": scores.recall, "f0.5": scores.f[0.5]}


def main(n_worlds: int = 400, which: str = "all") -> None:
    print("| world | way | precision | recall | F0.5 | width of recall |\n|---|---|---|---|---|---|", flush=True)
    for name, world in WORLDS.items():
        if which not in ("all", name):
            continue
        truth = truths(world)
        scored = [intervals_of(world, number) for number in range(n_worlds)]
        for way in scored[0]:
            held = [
                np.mean([row[way][score].low <= truth[score] <= row[way][score].high for row in scored])
                for score in SHOWN
            ]
            width = np.mean([row[way]["recall"].high - row[way]["recall"].low for row in scored])
            numbers = " | ".join(f"{share:.3f}".lstrip("0") for share in (*held, width))
            print(f"| {name} | {way} | {numbers} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 400, *sys.argv[2:])
