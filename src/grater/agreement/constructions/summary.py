"""The whole analysis of a study of constructions in one value, with its signature."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from grater.agreement.constructions.marks import STAGES, Marks, marks_of
from grater.agreement.constructions.several import Several, several
from grater.agreement.constructions.sources import Contrast, PartAgreement, contrasts, stage_agreement
from grater.intervals.wilson import wilson
from grater.model import Interval
from grater.rng import generator
from grater.signature import Signature, digest
from grater.tables import Judgments, Table, require_raters


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
    several: tuple[Several, ...]
    contrasts: tuple[Contrast, ...]
    signature: Signature


def construction_study(judgments: Judgments, items: Table, *, seed: int = 0) -> ConstructionStudy:
    """Everything the paper reports, from judgments and the table of their items."""
    require_raters(judgments, "studies of constructions")
    marks = marks_of(judgments, items)
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
        tuple(several(marks)),
        tuple(contrasts(marks, pair, rng=rng)) if pair else (),
        Signature("constructions", {"grey": "yes", "seed": str(seed), "data": data}),
    )


def _freedom(marks: Marks, stage: str, rater: str) -> Freedom:
    said = marks.stage(stage).filter(pl.col("rater") == rater)["is_yes"]
    return Freedom(rater, stage, len(said), wilson(int(said.sum()), len(said)))
