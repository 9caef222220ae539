"""Whether a system's corrections are right, by raters' suggestions or adjudicated corrections.

A suggestion is compared with the `alternatives` of everyone who calls the item an error. `any_rater` is the share of
suggestions that at least one rater gave. `graded` is the mean share of the item's raters who gave it (in the spirit
of Madnani et al. 2011; raters who call the item right count in the denominator). `recall` is, of the items that most
raters call an error, the share with a suggestion that at least one rater gave. `adjudicated` compares suggestions
with a gold table of accepted corrections, and `adjudicated_recall` is the share of its items that the system corrects
accordingly. `-NONE-` is deletion; case and repeated blanks are ignored. Flags without a suggestion and suggestions
for unjudged items are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan

import numpy as np
import polars as pl

from grater.errors import UsageError
from grater.measure.evaluation.cases import ERROR, OK, REASONS
from grater.measure.units import Essays
from grater.model import Interval
from grater.result import FLAT, Data
from grater.tables import Judgments, Table, exploded

BY_RATERS = {"any_rater": "some rater's", "graded": "mean share of raters", "recall": "recall"}
BY_GOLD = {"adjudicated": "adjudicated", "adjudicated_recall": "recall of adjudicated"}
"""The scores with their titles."""


@dataclass(frozen=True, slots=True)
class Suggested(Data):
    system: str
    n: int
    n_blank: int
    n_unjudged: int
    scores: dict[str, Interval] = field(metadata=FLAT)


def suggestions(
    decisions: Table, judgments: Judgments, *, essays: Essays | None = None, corrections: Table | None = None
) -> list[Suggested]:
    """The suggestions of every system against those of raters, and against adjudicated `corrections` if given."""
    _require(decisions.frame, "suggestion", decisions.name)
    has_words = "alternatives" in judgments.frame.columns
    if corrections is None:
        _require(judgments.frame, "alternatives", judgments.name)
    label, item = pl.col("label").cast(pl.String).str.to_lowercase(), pl.col("item").cast(pl.String)
    usable = judgments.frame.filter(label.is_in([ERROR, OK]))
    votes = usable.group_by(item).agg(n_votes=pl.len(), n_error=(label == ERROR).sum())
    flags = decisions.frame.filter(pl.col("flagged").cast(pl.Boolean)).select(
        item, pl.col("system").cast(pl.String), word=_plain("suggestion")
    )
    flags = flags.join(votes, on="item", how="left")
    if has_words:  # and by how many raters they were given
        rows = exploded(usable.filter(label == ERROR), "alternatives")
        given = (
            rows.select(item, "rater", word=_plain("alternatives")).unique().group_by("item", "word").len("n_given")
        )
        flags = flags.join(given, on=["item", "word"], how="left").with_columns(pl.col("n_given").fill_null(0))
    wanted = None
    if corrections is not None:
        wanted = exploded(corrections.frame, "label").select(item, word=_plain("label")).unique()
    errors, found = votes.filter(2 * pl.col("n_error") > pl.col("n_votes")), []
    for system in sorted(decisions.frame["system"].cast(pl.String).unique().to_list()):
        own = flags.filter(system=system)
        filled = own.filter(pl.col("word").is_not_null())
        judged = filled.filter(pl.col("n_votes").is_not_null())
        scores = dict.fromkeys(BY_RATERS, Interval(nan, nan, nan, "raters gave no alternatives"))
        scores |= dict.fromkeys(BY_GOLD, Interval(nan, nan, nan, "no adjudicated corrections were given"))
        if has_words:
            right, none = judged.filter(pl.col("n_given") > 0), "no suggestion was judged"
            shares = (_is_in(judged, right), judged["n_given"] / judged["n_votes"])
            scores["any_rater"], scores["graded"] = (_mean(judged, each, essays, none) for each in shares)
            scores["recall"] = _mean(errors, _is_in(errors, right), essays, REASONS["recall"])
        if wanted is not None:
            answers, none = (
                wanted.select("item").unique(maintain_order=True),
                "no suggestion has an adjudicated answer",
            )
            known = filled.join(answers, on="item", how="semi")
            right = known.join(wanted, on=["item", "word"], how="semi")
            for name, rows in zip(BY_GOLD, (known, answers), strict=True):
                scores[name] = _mean(rows, _is_in(rows, right), essays, none)
        found.append(Suggested(system, len(judged), len(own) - len(filled), len(filled) - len(judged), scores))
    return found


def _require(frame: pl.DataFrame, column: str, name: str) -> None:
    if column not in frame.columns:
        raise UsageError(f"{name}: expected a column {column!r}, found none")


def _plain(column: str) -> pl.Expr:
    text = pl.col(column).cast(pl.String).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    return pl.when(text == "").then(None).otherwise(text)


def _is_in(rows: pl.DataFrame, items: pl.DataFrame) -> pl.Series:
    return rows["item"].is_in(items["item"].implode())


def _mean(rows: pl.DataFrame, hits: pl.Series, essays: Essays | None, undefined: str) -> Interval:
    """The mean of hits, one per item, by essay if essays are known."""
    if not len(rows):
        return Interval(nan, nan, nan, undefined)
    return (essays or Essays()).mean(hits.cast(pl.Float64).to_numpy(), np.ones(len(rows)), rows["item"])
