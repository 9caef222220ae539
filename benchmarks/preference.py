"""How often intervals of preference hold the truth, and equal systems fall into different groups, in simulations.

    python -m benchmarks preference

A sentence has a source, which each system leaves as it is with probability `unchanged`, so that systems share
outputs.  An output is worth its system's quality and what the sentence and, in a document, the document makes of it
(normal, deviations 1 and `document`); a judge sees it with noise of their own size, and ties what falls into one
step.  Up to five outputs of a sentence are ranked, by `judges` judges each.  Truth is the score in 6,000 sentences.
*Family-wise*: some pair of systems in different groups, where all are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from benchmarks.coverage import Random, simulated, table_of
from benchmarks.harness import Size, Table

from grater.measure.preference import preference
from grater.tables.rankings import Rankings

CORPORA = 200
LARGE = 6000
NOISE = (0.3, 0.6, 1.0, 1.5)
"""The judges'."""
STEP = 0.8
MOST_RANKED = 5


@dataclass(frozen=True, slots=True)
class World:
    systems: int
    sentences: int
    judges: int = 2
    unchanged: float = 0.4
    per_document: int = 1
    document: float = 0.0
    spread: float = 0.5

    def draw(self, rng: Random, *, are_equal: bool, sentences: int = 0) -> Rankings:
        """Rankings of the world; equal systems differ in nothing, others by `spread` from the worst to the best."""
        n, s = sentences or self.sentences, self.systems
        quality = np.zeros(s) if are_equal else np.linspace(-self.spread, self.spread, s)
        document = np.arange(n) // self.per_document
        of_document = rng.normal(0, self.document, (int(document.max()) + 1, s))[document]
        worth = quality + of_document + rng.normal(0, 1, (n, s))
        source = rng.normal(0, 1, n)
        is_source = rng.random((n, s)) < self.unchanged
        rows = []
        for sentence in range(n):
            own = np.flatnonzero(~is_source[sentence])
            outputs = [([at], worth[sentence, at]) for at in own]
            if is_source[sentence].any():
                outputs.append((np.flatnonzero(is_source[sentence]).tolist(), source[sentence]))
            for judge in rng.choice(len(NOISE), self.judges, replace=False):
                shown = rng.permutation(len(outputs))[:MOST_RANKED]
                for candidate in shown:
                    systems, value = outputs[candidate]
                    rank = -np.round((value + rng.normal(0, NOISE[judge])) / STEP)
                    rows += [(sentence, int(judge), int(candidate), int(at), float(rank)) for at in systems]
        names = ["item", "rater", "candidate", "system", "rank"]
        frame = pl.DataFrame(rows, schema=names, orient="row").with_columns(
            ranking=pl.col("item") * len(NOISE) + pl.col("rater"),
            system=pl.format("S{}", pl.col("system").cast(pl.String).str.zfill(2)),
            item=pl.col("item").cast(pl.String),
            rater=pl.col("rater").cast(pl.String),
        )
        if self.per_document > 1:
            places = pl.format("d{}", pl.col("item").cast(pl.Int64) // self.per_document)
            frame = frame.with_columns(document=places)
        return Rankings(frame, "simulated")


WORLDS = {
    "3 systems, 100 sentences": World(3, 100),
    "5 systems, 150 sentences": World(5, 150),
    "8 systems, 150 sentences, half unchanged": World(8, 150, unchanged=0.5),
    "13 systems, 200 sentences": World(13, 200),
    "15 systems, 300 sentences, one judge each": World(15, 300, judges=1),
    "5 systems, 30 documents of 8": World(5, 240, judges=1, per_document=8, document=0.7),
    "13 systems, 50 documents of 6": World(13, 300, judges=1, per_document=6, document=0.7),
}


def scores(rankings: Rankings) -> dict[tuple[str, str], tuple[float, float, float]]:
    return {
        (str(of["score"]), str(of["system"])): (each.value, each.low, each.high)
        for of, each in preference(rankings).estimates()
        if not of["other"]
    }


def measured(rng: Random, world: World, truth: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """The shares of systems whose intervals hold the truth; 1 where equal systems are not all in one group."""
    found = scores(world.draw(rng, are_equal=False))
    held = {
        name: float(
            np.nanmean([low <= truth[key] <= high for key, (_, low, high) in found.items() if key[0] == name])
        )
        for name in ("expected wins", "davidson")
    }
    equal = preference(world.draw(rng, are_equal=True))
    return {**held, "family-wise error": float(any(pair.test.is_apart() for pair in equal.pairs))}


def rows(world: World, n: int) -> dict[str, float]:
    large = scores(world.draw(np.random.default_rng(999_999), are_equal=False, sentences=LARGE))
    truth = {key: value for key, (value, _, _) in large.items()}
    return simulated(n, partial(measured, world=world, truth=truth), {}, 70)


def measure(size: Size, n: int = 0) -> Iterator[Table]:
    n = n or (2 if size == "short" else CORPORA)
    found = {name: rows(world, n) for name, world in WORLDS.items()}
    yield table_of("Preference", found, n, "family-wise error")
