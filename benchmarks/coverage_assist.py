"""How often intervals of `grater estimate` hold: `python benchmarks/coverage_assist.py [--worlds N]`.

Prints two tables of docs/coverage.md.  The first is of clustered corpora: essays differ in how many errors they have
and in how readily the system flags there, sharply or mildly.  The second has a cheap judge of every item: good, weak,
useless, one that says the opposite, and a good one with two labels.

An item has a place on a line: its essay's, and a logistic part of its own; it is an error where the place is above 0.
The system sees the place through noise, and so does the judge.  Nothing here is fitted, weighted or clustered by the
methods under test.  The truth is that of two million items of the same kind, in as many essays as that takes.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.evaluate.sampled import Sampled, chance_of, sampled
from grater.evaluate.sampled.assist import CheapJudge
from grater.rng import generator
from grater.sampling.draw import draw_sample
from grater.statistics.bootstrap import Chance
from grater.tables import Judgments, Sample, Table, read_decisions, read_items, read_judgments

Numbers = npt.NDArray[np.float64]
SCORES = ("precision", "recall", "f0.5")
MEAN, NOISE, THRESHOLD = -1.2, 1.5, 1.2
MILD, SHARP = 0.8, 1.6
WORDS = {MILD: "mild", SHARP: "sharp"}
JUDGES = {"good": 0.7, "good, two labels": 0.7, "weak": 4.0, "useless": np.inf, "opposite": -1.0}


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A corpus: by item its essay, whether it is an error, whether it is flagged, and where it stands."""

    essay: npt.NDArray[np.int64]
    error: npt.NDArray[np.bool_]
    flagged: npt.NDArray[np.bool_]
    place: Numbers


def world(n_essays: int, n_each: int, spread: float, rng: np.random.Generator) -> World:
    essay = np.repeat(np.arange(n_essays), n_each)
    hard, eager = rng.normal(0, spread, (2, n_essays))
    place = MEAN + hard[essay] + rng.logistic(0, 1, essay.size)
    seen = 0.9 * place + 0.7 * eager[essay] + rng.normal(0, NOISE, essay.size)
    return World(essay, place > 0, seen > THRESHOLD, place)


def true_scores(spread: float) -> Numbers:
    wide = world(40_000, 50, spread, generator(0, "truth", str(spread)))
    hits, flags, errors = (int(part.sum()) for part in (wide.error & wide.flagged, wide.flagged, wide.error))
    return np.array([hits / flags, hits / errors, 1.25 * hits / (flags + 0.25 * errors)])


def says(drawn: World, name: str, rng: np.random.Generator) -> CheapJudge:
    """What the judge thinks of every item."""
    noise = JUDGES[name]
    if np.isinf(noise):
        value = rng.random(drawn.place.size)
    else:
        value = np.sign(noise) / (1 + np.exp(-drawn.place - rng.normal(0, abs(noise), drawn.place.size)))
    if "two labels" in name:
        value = (value > 0.5).astype(np.float64)
    return CheapJudge(name, pl.DataFrame({"item": names_of(drawn), "value": value}))


def names_of(drawn: World) -> list[str]:
    return [f"i{place:05}" for place in range(drawn.place.size)]


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The tables of a world as a user has them, its sample judged."""

    decisions: Table
    sample: Sample
    judgments: Judgments
    places: Table | None
    chance: Chance

    def estimate(self, judge: CheapJudge | None = None) -> Sampled:
        return sampled(
            self.decisions, self.sample, self.judgments, items=self.places, chance=self.chance, assist=judge
        )


def judged(drawn: World, n: int, seed: int, *, by_essay: bool) -> Judged:
    items = names_of(drawn)
    decisions = read_decisions(pl.DataFrame({"item": items, "system": ["S"] * len(items), "flagged": drawn.flagged}))
    sample = draw_sample(decisions, "S", n, seed=seed)
    labels = np.where(drawn.error, "error", "ok")
    everything = pl.DataFrame({"item": items, "rater": ["r"] * len(items), "label": labels})
    told = everything.join(sample.frame.select("item"), on="item", how="semi")
    places = _places(items, drawn) if by_essay else None
    chance = chance_of(decisions, sample, items=places, n_resamples=300, seed=seed)
    return Judged(decisions, sample, read_judgments(told), places, chance)


def _places(items: list[str], drawn: World) -> Table:
    columns = {"item": items, "essay": [f"e{code}" for code in drawn.essay]}
    rest = {"start": [0] * len(items), "end": [1] * len(items), "kind": ["prep"] * len(items)}
    return read_items(pl.DataFrame({**columns, **rest}))


@dataclass(slots=True)
class Tally:
    """How often intervals held, how wide they were, and what a judge saved, over worlds."""

    held: Numbers
    width: Numbers
    saved: float = 0.0
    n: int = 0

    def add(self, found: Sampled, truth: Numbers) -> None:
        (system,) = found.systems
        scores = (system.scores.precision, system.scores.recall, system.scores.f[0.5])
        self.held += [score.low <= true <= score.high for score, true in zip(scores, truth, strict=True)]
        self.width += [score.high - score.low for score in scores]
        self.saved += sum(found.assist.saved.values()) if found.assist else 0.0
        self.n += 1

    @property
    def shares(self) -> str:
        return " | ".join(f"{share:.3f}".lstrip("0") for share in self.held / self.n)


def clustered(n_worlds: int) -> None:
    for spread, word in WORDS.items():
        truth = true_scores(spread)
        for n_essays, n_each in ((12, 40), (20, 25), (50, 20)):
            by_item, by_essay = (Tally(np.zeros(3), np.zeros(3)) for _ in range(2))
            rng = generator(0, "clustered", f"{n_essays} {spread}")
            for seed in range(n_worlds):
                drawn = world(n_essays, n_each, spread, rng)
                n = min(drawn.place.size, 3 * int(drawn.flagged.sum()))
                for tally, essays in ((by_item, False), (by_essay, True)):
                    tally.add(judged(drawn, n, seed, by_essay=essays).estimate(), truth)
            say(f"| {n_essays} x {n_each}, {word} | {by_item.shares} | {by_essay.shares} |")


@dataclass(frozen=True, slots=True)
class Design:
    """A corpus with a judge of every item; without `spread` items are independent, and no essay is named."""

    n_essays: int
    n_each: int
    spread: float
    n_judged: int

    @property
    def title(self) -> str:
        if not self.spread:
            return f"independent items, {self.n_judged} judged"
        return f"{self.n_essays} x {self.n_each}, {WORDS[self.spread]}, {self.n_judged} judged"


DESIGNS = (
    Design(3000, 1, 0.0, 300),
    Design(3000, 1, 0.0, 90),
    Design(60, 50, MILD, 300),
    Design(20, 150, MILD, 300),
    Design(60, 50, SHARP, 300),
)


def with_judges(n_worlds: int, design: Design) -> None:
    truth = true_scores(design.spread)
    tallies = {name: Tally(np.zeros(3), np.zeros(3)) for name in ("none", *JUDGES)}
    rng = generator(0, "assist", f"{design.n_essays} {design.spread}")
    for seed in range(n_worlds):
        drawn = world(design.n_essays, design.n_each, design.spread, rng)
        tables = judged(drawn, design.n_judged, seed, by_essay=design.spread > 0)
        for name, tally in tallies.items():
            tally.add(tables.estimate(says(drawn, name, rng) if name in JUDGES else None), truth)
    for name, tally in tallies.items():
        width = f"{tally.width[1] / tally.n:.3f}".lstrip("0")
        say(f"| {design.title} | {name} | {tally.shares} | {width} | {tally.saved / tally.n:.0f} |")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    n_worlds = int(sys.argv[sys.argv.index("--worlds") + 1]) if "--worlds" in sys.argv else 400
    which = sys.argv[1] if len(sys.argv) > 1 and not sys.argv[1].startswith("--") else "all"
    if which in ("all", "clustered"):
        clustered(n_worlds)
    if which in ("all", "judges"):
        for design in DESIGNS:
            with_judges(n_worlds, design)


if __name__ == "__main__":
    main()
