"""What raters said of each construction of each noun, in one frame.

A *place* is a noun in its essay.  Its five constructions in each of two stages are ten items, whose kinds are
`construction/STAGE/NAME`.  The table of items says what stood in the original (`original`), and, where known, whether
the noun was mentioned before (`anaphoric`), whether it is of `high` or `low` entropy (`entropy`) and which of its
constructions is the most frequent (`dominant`).  Labels are `yes`, `no`, `yes*` and `grey`;
grey counts as yes (note 1).

How often several constructions are right, and how near raters come to the original (Lee et al. 2009, section 4).

All of it is about the stage with context.  Shares count places, so a place's five answers are one case.  The share of
places whose original is called yes is the ceiling of a system scored against the original alone; the share whose
yes* hold the original is the stricter one.

What agreement depends on: the stage, a previous mention, the frequency of the construction (Lee et al. 2009, 5).

Every comparison has the paper's z (Cohen's simple standard error, the two kappas taken as independent, notes 5 to 7)
and ours: stages are the same nouns twice, so they are compared by resampling places for both at once; the other parts
are of different places or constructions, compared by the standard errors of Fleiss, Cohen & Everitt.

The whole analysis of a study of constructions in one value, with its signature.

The study of article-number constructions analysed (Lee, Tetreault & Chodorow 2009, sections 4 and 5).

Raters say of each of five constructions of a noun whether it would do: without context, then with it.  What comes
out: how freely each rater says yes (Table 4), where two raters part (Table 5), how often several constructions are
right, how near the raters come to the original (the ceilings of section 4), and what agreement depends on: the stage,
a previous mention of the noun, the frequency of the construction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl

from grater.agreement.cohen import cohen, cohen_kappa
from grater.agreement.compare import KappaTest, dependent_test, independent_test
from grater.agreement.confusion import Confusion, confusion
from grater.agreement.weights import weight_matrix
from grater.errors import BadInput, Problem
from grater.model import Interval
from grater.rng import generator
from grater.signature import Signature, digest
from grater.statistics.intervals import Ints
from grater.statistics.proportions import wilson
from grater.tables import Judgments, Table, require_raters

CONSTRUCTIONS = ("null-singular", "the-singular", "null-plural", "a-singular", "the-plural")
"""In the order of Table 1."""

NO_CONTEXT, IN_CONTEXT = "no-context", "in-context"
STAGES = (NO_CONTEXT, IN_CONTEXT)
YES, NO, STARRED, GREY = "yes", "no", "yes*", "grey"
LABELS = (YES, NO, STARRED, GREY)
KIND = "construction"
OPTIONAL = ("original", "anaphoric", "entropy", "dominant")


@dataclass(frozen=True, slots=True, eq=False)
class ConstructionMarks:
    """One row a judgment: place, stage, construction, rater, `is_yes`, `is_starred`, and what the items say."""

    frame: pl.DataFrame
    name: str

    def stage(self, stage: str) -> pl.DataFrame:
        return self.frame.filter(pl.col("stage") == stage)

    @property
    def raters(self) -> list[str]:
        return sorted(self.frame["rater"].unique().to_list())

    @property
    def n_places(self) -> int:
        return self.frame["place"].n_unique()


def construction_marks(judgments: Judgments, items: Table) -> ConstructionMarks:
    """The judgments of construction items; other items are left alone."""
    known = _items(items)
    said = judgments.frame.select(
        pl.col("item").cast(pl.String), pl.col("rater").cast(pl.String), pl.col("label").cast(pl.String)
    )
    frame = said.join(known, on="item", how="inner")
    if not len(frame):
        raise BadInput(Problem(judgments.name, f"expected judgments of items of kind {KIND}/STAGE/NAME, found none"))
    _require_labels(frame, judgments.name)
    is_starred = pl.col("label") == STARRED
    return ConstructionMarks(frame.with_columns(is_starred=is_starred, is_yes=pl.col("label") != NO), judgments.name)


def _items(items: Table) -> pl.DataFrame:
    parts = pl.col("kind").cast(pl.String).str.split("/")
    place = pl.concat_str(pl.col("essay"), pl.lit("|"), pl.col("start"), pl.lit("|"), pl.col("end"))
    found = [
        pl.col(name).cast(pl.String) if name in items.frame.columns else pl.lit(None, pl.String).alias(name)
        for name in OPTIONAL
    ]
    frame = items.frame.filter(parts.list.first() == KIND)
    return frame.select(
        pl.col("item").cast(pl.String),
        place.alias("place"),
        parts.list.get(1).alias("stage"),
        parts.list.get(2).alias("construction"),
        *found,
    )


def _require_labels(frame: pl.DataFrame, name: str) -> None:
    strange = sorted(set(frame["label"].unique().to_list()) - set(LABELS))
    if strange:
        raise BadInput(
            Problem(name, f"expected labels {', '.join(LABELS)}, found {strange[0]!r}; map them with --merge")
        )


MOST_SETS = 6


@dataclass(frozen=True, slots=True)
class SeveralRight:
    """One rater, or `all` for the answers of every rater together; `sets` are the commonest sets of several yes*."""

    rater: str
    n_places: int
    several_starred: Interval
    several_yes: Interval
    original_yes: Interval
    original_starred: Interval
    mean_starred: float
    sets: tuple[tuple[tuple[str, ...], int], ...]


def several_right(marks: ConstructionMarks) -> list[SeveralRight]:
    """Each rater, and all of them together."""
    seen = marks.stage(IN_CONTEXT)
    parts = [(rater, seen.filter(pl.col("rater") == rater)) for rater in marks.raters]
    parts = [(rater, part) for rater, part in parts if len(part)]
    return [_several(rater, part) for rater, part in [*parts, ("all", seen)] if len(part)]


def _several(rater: str, frame: pl.DataFrame) -> SeveralRight:
    is_original = pl.col("construction") == pl.col("original")
    by_place = frame.group_by("place", "rater").agg(
        n_starred=pl.col("is_starred").sum(),
        n_yes=pl.col("is_yes").sum(),
        original_yes=(is_original & pl.col("is_yes")).any(),
        original_starred=(is_original & pl.col("is_starred")).any(),
        has_original=pl.col("original").is_not_null().any(),
        starred=pl.col("construction").filter(pl.col("is_starred")).sort(),
    )
    known = by_place.filter("has_original")
    n = len(by_place)
    return SeveralRight(
        rater,
        n,
        wilson(int((by_place["n_starred"] > 1).sum()), n),
        wilson(int((by_place["n_yes"] > 1).sum()), n),
        wilson(int(known["original_yes"].sum()), len(known)),
        wilson(int(known["original_starred"].sum()), len(known)),
        float(by_place["n_starred"].sum()) / n,
        _sets(by_place["starred"].to_list()),
    )


def _sets(starred: list[list[str]]) -> tuple[tuple[tuple[str, ...], int], ...]:
    counted = Counter(tuple(names) for names in starred if len(names) > 1)
    ranked = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(ranked[:MOST_SETS])


Pair: TypeAlias = tuple[str, str]
YES_NO = (YES, NO)


@dataclass(frozen=True, slots=True, eq=False)
class PartAgreement:
    """Two raters on some of the answers: their table (Table 5), agreement and kappa."""

    name: str
    table: Confusion
    observed: Interval
    kappa: Interval


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """Two parts compared: `paper` is the z of the notes, `ours` the test that we trust."""

    name: str
    first: PartAgreement
    second: PartAgreement
    paper: KappaTest
    ours: KappaTest


def stage_agreement(marks: ConstructionMarks, pair: Pair, stage: str, *, rng: np.random.Generator) -> PartAgreement:
    return _part(stage, marks.stage(stage), pair, rng)


def contrasts(marks: ConstructionMarks, pair: Pair, *, rng: np.random.Generator) -> list[Contrast]:
    """Every comparison that the study has the answers for."""
    found = []
    if all(len(marks.stage(stage)) for stage in (NO_CONTEXT, IN_CONTEXT)):
        found.append(_stages(marks, pair, rng))
    seen = marks.stage(IN_CONTEXT)
    definite = seen.filter(pl.col("original").str.starts_with("the-"))
    is_before = pl.col("anaphoric").str.to_lowercase().is_in(["true", "1", "yes"])
    found += _two_parts("mention", definite, pair, rng, {"mentioned before": is_before, "not mentioned": ~is_before})
    low = seen.filter(pl.col("entropy") == "low")
    is_frequent = pl.col("construction") == pl.col("dominant")
    found += _two_parts(
        "frequency", low, pair, rng, {"most frequent construction": is_frequent, "the others": ~is_frequent}
    )
    return found


def _stages(marks: ConstructionMarks, pair: Pair, rng: np.random.Generator) -> Contrast:
    first, second = (stage_agreement(marks, pair, stage, rng=rng) for stage in (IN_CONTEXT, NO_CONTEXT))
    kappa = cohen(weight_matrix("identity", len(YES_NO)))
    rows = _common_rows(marks, pair)
    ours = dependent_test(kappa, kappa, rows, rng=rng)
    return Contrast("stage", first, second, independent_test(first.table, second.table, error="simple"), ours)


def _two_parts(
    name: str, frame: pl.DataFrame, pair: Pair, rng: np.random.Generator, parts: Mapping[str, pl.Expr]
) -> list[Contrast]:
    first, second = (_part(part, frame.filter(where), pair, rng) for part, where in parts.items())
    if not first.table.n or not second.table.n:
        return []
    tests = [independent_test(first.table, second.table, error=error) for error in ("simple", "fce")]
    return [Contrast(name, first, second, tests[0], tests[1])]


def _part(name: str, frame: pl.DataFrame, pair: Pair, rng: np.random.Generator) -> PartAgreement:
    both = _both(frame, pair)
    first, second = (both[rater].to_numpy() for rater in pair)
    cells = [
        [int((first & second).sum()), int((first & ~second).sum())],
        [int((~first & second).sum()), int((~first & ~second).sum())],
    ]
    table = confusion(cells, YES_NO, pair)
    same = int(table.cells.diagonal().sum())
    return PartAgreement(name, table, wilson(same, table.n), cohen_kappa(table, rng=rng))


def _both(frame: pl.DataFrame, pair: Pair) -> pl.DataFrame:
    """Whether each of the two said yes, where both answered."""
    keys = ["place", "stage", "construction"]
    sides = [frame.filter(pl.col("rater") == rater).select(*keys, pl.col("is_yes").alias(rater)) for rater in pair]
    return sides[0].join(sides[1], on=keys, how="inner").sort(keys)


def _common_rows(marks: ConstructionMarks, pair: Pair) -> tuple[Ints, Ints]:
    """For each place that both judged in both stages, its two tables, one of each stage."""
    both = _both(marks.frame, pair)
    cell = 2 * (~pl.col(pair[0])).cast(pl.Int64) + (~pl.col(pair[1])).cast(pl.Int64)
    counted = (
        both.with_columns(cell=cell)
        .group_by("place", "stage")
        .agg(*[(pl.col("cell") == n).sum().alias(str(n)) for n in range(4)])
    )
    sides = [counted.filter(pl.col("stage") == stage).drop("stage") for stage in (IN_CONTEXT, NO_CONTEXT)]
    joined = sides[0].join(sides[1], on="place", how="inner", suffix=" then").sort("place")
    columns = [str(n) for n in range(4)]
    first = joined.select(columns).to_numpy().astype(np.int64)
    second = joined.select([f"{name} then" for name in columns]).to_numpy().astype(np.int64)
    return first, second


@dataclass(frozen=True, slots=True)
class Freedom:
    """How freely one rater says yes in one stage (Table 4)."""

    rater: str
    stage: str
    n: int
    yes: Interval


@dataclass(frozen=True, slots=True, eq=False)
class ConstructionStudy:
    """Tables 4 and 5 and the findings of sections 4 and 5; `stages` and `contrasts` are of the first two raters."""

    raters: tuple[str, ...]
    n_places: int
    freedom: tuple[Freedom, ...]
    stages: tuple[PartAgreement, ...]
    several: tuple[SeveralRight, ...]
    contrasts: tuple[Contrast, ...]
    signature: Signature


def construction_study(judgments: Judgments, items: Table, *, seed: int = 0) -> ConstructionStudy:
    """Everything the paper reports, from judgments and the table of their items."""
    require_raters(judgments, "studies of constructions")
    marks = construction_marks(judgments, items)
    raters = tuple(marks.raters)
    pair = (raters[0], raters[1]) if len(raters) > 1 else None
    rng = generator(seed, "constructions")
    stages = [stage for stage in STAGES if len(marks.stage(stage))]
    rows = marks.frame.select("item", "rater", "label").sort("item", "rater").iter_rows()
    data = digest("|".join(row) for row in rows)
    return ConstructionStudy(
        raters,
        marks.n_places,
        tuple(_freedom(marks, stage, rater) for stage in stages for rater in raters),
        tuple(stage_agreement(marks, pair, stage, rng=rng) for stage in stages) if pair else (),
        tuple(several_right(marks)),
        tuple(contrasts(marks, pair, rng=rng)) if pair else (),
        Signature("constructions", {"grey": "yes", "seed": str(seed), "data": data}),
    )


def _freedom(marks: ConstructionMarks, stage: str, rater: str) -> Freedom:
    said = marks.stage(stage).filter(pl.col("rater") == rater)["is_yes"]
    return Freedom(rater, stage, len(said), wilson(int(said.sum()), len(said)))
