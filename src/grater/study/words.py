"""The studies of words in a study: blanks filled, words chosen between, constructions judged.

In the cloze test the writer's own word is what stands in the essay, and a program among the raters is a system.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from grater.agreement.constructions.marks import KIND as CONSTRUCTION
from grater.evaluate.selection import WRITER
from grater.store import Tx
from grater.store.columns import kinds_of, place_columns
from grater.study.tables import EXPERT, PEOPLE, PROGRAM, labels_of
from grater.tables import Judgments, Table, read_decisions, read_items, read_judgments
from grater.text.prepositions import canonical


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Judgments in the labels of their tasks; what a study does not have is None."""

    constructions: Judgments | None = None
    construction_items: Table | None = None
    cloze: Judgments | None = None
    cloze_words: Table | None = None
    choice: Judgments | None = None


def words_of(tx: Tx) -> Words:
    """Everything of the three studies that the study has."""
    constructions, items = _constructions(tx)
    blanks = labels_of(tx, "cloze")
    return Words(
        constructions,
        items,
        None if blanks is None else _with_writer(tx, blanks),
        _of_programs(tx) if blanks is not None else None,
        labels_of(tx, "choice", groups=(EXPERT,)) or labels_of(tx, "choice", groups=PEOPLE),
    )


def _constructions(tx: Tx) -> tuple[Judgments | None, Table | None]:
    found = labels_of(tx, "construction")
    if found is None:
        return None, None
    kinds = kinds_of(tx, found.frame["item"].cast(pl.String).unique().to_list())
    return found, read_items(place_columns(tx, {kind for kind in kinds if kind.startswith(CONSTRUCTION)}))


def _with_writer(tx: Tx, blanks: Judgments) -> Judgments:
    """The filled blanks with the writer's own words beside them."""
    said = blanks.frame.select(pl.col("item", "rater", "label").cast(pl.String))
    places = place_columns(tx, kinds_of(tx, said["item"].unique().to_list()))
    own = places.join(said, on="item", how="semi").select(
        "item",
        rater=pl.lit(WRITER),
        label=pl.col("target").map_elements(lambda word: canonical(word) or word, return_dtype=pl.String),
    )
    return read_judgments(pl.concat([said, own]), name=blanks.name)


def _of_programs(tx: Tx) -> Table | None:
    filled = labels_of(tx, "cloze", groups=(PROGRAM,))
    if filled is None:
        return None
    frame = filled.frame.select("item", system="rater", flagged=pl.lit(value=False), suggestion="label")
    return read_decisions(frame, name="cloze")
