"""What raters said of each construction of each noun, in one frame.

A *place* is a noun in its essay.  Its five constructions in each of two stages are ten items, whose kinds are
`construction/STAGE/NAME`.  The table of items says what stood in the original (`original`), and, where known, whether
the noun was mentioned before (`anaphoric`), whether it is of `high` or `low` entropy (`entropy`) and which of its
constructions is the most frequent (`dominant`).  Labels are `yes`, `no`, `yes*` and `grey`;
grey counts as yes (note 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from grater.errors import BadInput, Problem
from grater.tables import Judgments, Table

CONSTRUCTIONS = ("null-singular", "the-singular", "null-plural", "a-singular", "the-plural")
"""In the order of Table 1."""

NO_CONTEXT, IN_CONTEXT = "no-context", "in-context"
STAGES = (NO_CONTEXT, IN_CONTEXT)
YES, NO, STARRED, GREY = "yes", "no", "yes*", "grey"
LABELS = (YES, NO, STARRED, GREY)
KIND = "construction"
OPTIONAL = ("original", "anaphoric", "entropy", "dominant")


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
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


def marks_of(judgments: Judgments, items: Table) -> Marks:
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
    return Marks(frame.with_columns(is_starred=is_starred, is_yes=pl.col("label") != NO), judgments.name)


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
