"""Judgments by models of their own corrections, which are excluded from the evaluation and reported separately.

A rater and a system are the same model if the column `model` of judgments and decisions says so; without this column,
their names are compared. Rows whose `group` marks them as people's never count as a model's.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from grater.measure.units import VERDICT_WORDS
from grater.model import PROGRAM
from grater.tables import Judgments, Table

OWN = "by a model on its own corrections"


def own_work_sentence(program: str, system: str, own: pl.Series, people: pl.Series) -> str:
    """The share of its own corrections that a model calls right and, for the same items, people's share; from both
    sets of labels.
    """
    is_right = [labels.cast(pl.String) == VERDICT_WORDS[0] for labels in (own, people)]
    shares = [f"{each.sum():,} of {len(each):,}" for each in is_right]
    return (
        f"{program} is the model behind {system} and judged its own corrections: it calls {shares[0]} right, "
        f"people {shares[1]}; its judgments of them do not count"
    )


def without_own_work(decisions: Table, judgments: Judgments) -> tuple[Judgments, tuple[str, ...]]:
    """The judgments without those of models on their own flags, and a sentence about each such model."""
    if judgments.anonymous_raters:
        return judgments, ()
    flags = decisions.frame.filter(pl.col("flagged").cast(pl.Boolean)).select(
        pl.col("item", "system").cast(pl.String), _model(decisions.frame, "system")
    )
    frame = judgments.frame.with_row_index("row")
    given = frame.select("row", pl.col("item", "rater", "label").cast(pl.String), _model(frame, "rater"))
    if "group" in frame.columns:
        is_program = pl.col("group").cast(pl.String).str.to_lowercase().fill_null(PROGRAM) == PROGRAM
        given = given.join(frame.filter(is_program).select("row"), on="row", how="semi")
    own = given.join(flags, on=["item", "model"])
    if not len(own):
        return judgments, ()
    by_people = frame.join(own, on="row", how="anti").select(pl.col("item").cast(pl.String), "label")
    said = []
    for (rater, system), rows in own.group_by("rater", "system", maintain_order=True):
        people = by_people.join(rows, on="item", how="semi")
        said.append(own_work_sentence(str(rater), str(system), rows["label"], people["label"]))
    kept = frame.join(own, on="row", how="anti", maintain_order="left").drop("row")
    n_left = len(frame) - len(kept)
    return replace(judgments, frame=kept, dropped={**judgments.dropped, OWN: n_left}), tuple(said)


def _model(frame: pl.DataFrame, name: str) -> pl.Expr:
    own = pl.col(name).cast(pl.String)
    return (pl.coalesce(pl.col("model").cast(pl.String), own) if "model" in frame.columns else own).alias("model")
