"""Two raters of the sample's studies of words: simulated, and said so wherever they are shown.

Cloze (T&C 2008, 4.1): most blanks are clear, and everybody writes the writer's word; in the others raters think of
words that could stand there, often of the same one.  Choice (4.2): where system and writer differ, a rater finds the
system's word as good in a third of the cases; the two mostly see it alike.  Constructions (Lee et al. 2009): the
writer's own is nearly always accepted, those that are easily exchanged with it often, others seldom; context narrows
the choice.  The shares are near those that the papers report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from grater.detect.articles.constructions import CONSTRUCTIONS, is_confusable
from grater.rng import generator

RATERS = ("R1", "R2")
COLUMNS = ("item", "rater", "label", "group")
CLEAR = 0.7
OWN = {"R1": 0.27, "R2": 0.13}
"""The share of clear blanks, and how often each rater writes the writer's word in the others: together .78 and .74
(T&C 2008, Table 2)."""

FIRST_THOUGHT = 0.6
"""How often a rater who does not write the writer's word writes what comes to everybody's mind."""

AS_GOOD = {"system": 0.12, "equally good": 0.22, "equally bad": 0.04, "writer": 0.62}
CHANGES_MIND = 0.2

ACCEPTED = {"no-context": (0.93, 0.62, 0.3), "in-context": (0.88, 0.3, 0.08)}
"""How often a rater accepts the writer's own, one easily exchanged with it, another one."""

FREER = {
    ("R1", "no-context"): 0.05,
    ("R2", "no-context"): -0.06,
    ("R1", "in-context"): -0.04,
    ("R2", "in-context"): 0.05,
}
"""By how much each rater is freer than the mean: R1 without context, R2 in it (Table 4)."""

SAME_VIEW = {"no-context": 0.62, "in-context": 0.68}
"""How often a rater sees an item as the other does; context makes it more."""

STARRED = (0.88, 0.25, 0.15)
"""How often an accepted construction is starred, for the same three."""


@dataclass(frozen=True, slots=True)
class Blank:
    """A hidden word: what was written, what else could stand there (the likeliest first), what a system fills in."""

    item_id: str
    written: str
    others: Sequence[str]
    filled: str


def sample_cloze(blanks: Sequence[Blank], *, system: str, seed: int = 0) -> pl.DataFrame:
    """Two raters and a system, a program that fills blanks, on the same blanks."""
    rng = generator(seed, "sample cloze")
    rows = [(blank.item_id, rater, word, "expert") for blank in blanks for rater, word in _filled(blank, rng)]
    rows += [(blank.item_id, system, blank.filled, "program") for blank in blanks]
    return pl.DataFrame(rows, schema=list(COLUMNS), orient="row")


def with_writer(filled: pl.DataFrame, blanks: Sequence[Blank]) -> pl.DataFrame:
    """What people filled in, with the writer's own words beside it, as `grater cloze` takes them."""
    own = [(blank.item_id, "writer", blank.written, "writer") for blank in blanks]
    people = filled.filter(pl.col("group") != "program")
    return pl.concat([people, pl.DataFrame(own, schema=list(COLUMNS), orient="row")])


def suggested(filled: pl.DataFrame) -> pl.DataFrame:
    """What programs filled in, as the decisions that `grater cloze` takes."""
    programs = filled.filter(pl.col("group") == "program")
    return programs.select("item", system="rater", flagged=pl.lit(0), suggestion="label")


def sample_choice(blanks: Sequence[Blank], *, seed: int = 0) -> pl.DataFrame:
    """Two raters on the blanks where system and writer differ."""
    rng = generator(seed, "sample choice")
    labels, shares = list(AS_GOOD), list(AS_GOOD.values())
    rows = []
    for blank in blanks:
        if blank.filled == blank.written:
            continue
        view = str(rng.choice(labels, p=shares))
        for rater in RATERS:
            label = str(rng.choice(labels, p=shares)) if rng.random() < CHANGES_MIND else view
            rows.append((blank.item_id, rater, label, "expert"))
    return pl.DataFrame(rows, schema=list(COLUMNS), orient="row")


def sample_constructions(items: Sequence[Mapping[str, object]], *, seed: int = 0) -> pl.DataFrame:
    """Two raters on the items of a study of constructions, as `grater nouns select` makes them."""
    rng = generator(seed, "sample constructions")
    rows = []
    for item in items:
        _, stage, name = str(item["kind"]).split("/")
        near = _nearness(name, str(item["original"]))
        leaning = rng.random()
        for rater in RATERS:
            label = _accepted(rater, stage, near, leaning, rng)
            rows.append((str(item["item"]), rater, label, "expert", stage))
    return pl.DataFrame(rows, schema=[*COLUMNS, "stage"], orient="row")


def _filled(blank: Blank, rng: np.random.Generator) -> list[tuple[str, str]]:
    others = [word for word in blank.others if word != blank.written] or [blank.written]
    first_thought = str(rng.choice(others[:2]))
    is_clear = rng.random() < CLEAR
    found = []
    for rater in RATERS:
        if is_clear or rng.random() < OWN[rater]:
            found.append((rater, blank.written))
        else:
            found.append((rater, first_thought if rng.random() < FIRST_THOUGHT else str(rng.choice(others))))
    return found


def _nearness(name: str, original: str) -> int:
    """0 for the writer's own construction, 1 for one easily exchanged with it, 2 for the others."""
    if name == original:
        return 0
    return 1 if is_confusable(CONSTRUCTIONS.index(name), CONSTRUCTIONS.index(original)) else 2


def _accepted(rater: str, stage: str, near: int, leaning: float, rng: np.random.Generator) -> str:
    """A rater sees an item as everybody does, or for oneself."""
    view = leaning if rng.random() < SAME_VIEW[stage] else float(rng.random())
    if view >= ACCEPTED[stage][near] + FREER[rater, stage]:
        return "no"
    is_starred = stage == "in-context" and rng.random() < STARRED[near]
    return "yes*" if is_starred else "yes"
