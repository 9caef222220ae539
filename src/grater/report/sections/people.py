"""People in the place of systems: what experts reach where systems are measured, the human ceiling.

Each expert's verdicts are taken for the flags of a system and held against the same raters.  No system can be
expected to agree with the raters better than a careful person does.
"""

from __future__ import annotations

import polars as pl

from grater.evaluate.detectors import Evaluation, Options, evaluate
from grater.evaluate.draws import Chance
from grater.evaluate.standard import Scored
from grater.tables import Judgments, read_decisions

ERROR, OK = "error", "ok"


def people_as_systems(found: Evaluation, experts: Judgments, *, chance: Chance) -> tuple[Scored, ...]:
    """The scores of every expert against the majority of the raters who judged the systems, the best first."""
    label = pl.col("label").cast(pl.String)
    said = experts.frame.filter(label.is_in([ERROR, OK])).select(
        pl.col("item").cast(pl.String), system=pl.col("rater").cast(pl.String), flagged=label == ERROR
    )
    judged = pl.DataFrame({"item": [str(item) for item in found.cases.items]}, schema={"item": pl.String})
    said = said.join(judged, on="item", how="semi")
    if said.is_empty() or experts.anonymous_raters:
        return ()
    decisions = read_decisions(said, name=experts.name)
    scores = evaluate(decisions, found.cases.judgments, options=Options(chance=chance)).whole.standard
    return tuple(sorted(scores, key=lambda scored: -scored["f0.5"].value))
