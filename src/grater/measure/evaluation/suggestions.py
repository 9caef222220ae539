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

from dataclasses import dataclass
from math import nan

import numpy as np
import polars as pl

from grater.errors import UsageError
from grater.measure.evaluation.cases import ERROR, REASONS
from grater.measure.units import Essays
from grater.model import Interval
from grater.result import Data
from grater.tables import Judgments, Table, exploded

NO_WORDS = Interval(nan, nan, nan, "raters gave no alternatives")


@dataclass(frozen=True, slots=True)
class Suggested(Data):
    system: str
    n: int
    n_blank: int
    n_unjudged: int
    any_rater: Interval
    graded: Interval
    recall: Interval
    adjudicated: Interval
    adjudicated_recall: Interval


def suggestions(
    decisions: Table, judgments: Judgments, *, essays: Essays | None = None, corrections: Table | None = None
) -> list[Suggested]:
    _require(decisions.frame, "suggestion", decisions.name)
    if corrections is None:
        _require(judgments.frame, "alternatives", judgments.name)
    label = pl.col("label").cast(pl.String).str.to_lowercase()
    usable = judgments.frame.filter(label.is_in([ERROR, "ok"]))
    n_each = {"n_votes": pl.len().cast(pl.Int64), "n_error": (label == ERROR).sum().cast(pl.Int64)}
    votes, given = usable.group_by(pl.col("item").cast(pl.String)).agg(**n_each), _given(judgments)
    wanted = None if corrections is None else _accepted(corrections)
    flagged = decisions.frame.filter(pl.col("flagged").cast(pl.Boolean)).select(
        pl.col("item").cast(pl.String), pl.col("system").cast(pl.String), word=_plain("suggestion")
    )
    flagged = flagged.join(votes, on="item", how="left")
    if given is not None:
        flagged = flagged.join(given, on=["item", "word"], how="left").with_columns(pl.col("n_given").fill_null(0))
    errors = votes.filter(pl.col("n_error") * 2 > pl.col("n_votes")).select("item")
    systems = sorted(decisions.frame["system"].cast(pl.String).unique().to_list())
    own = {system: flagged.filter(pl.col("system") == system) for system in systems}
    return [_suggested(system, own[system], errors, wanted, essays or Essays()) for system in systems]


def _require(frame: pl.DataFrame, column: str, name: str) -> None:
    if column not in frame.columns:
        raise UsageError(f"{name}: expected a column {column!r}, found none")


def _suggested(
    system: str, rows: pl.DataFrame, errors: pl.DataFrame, wanted: pl.DataFrame | None, essays: Essays
) -> Suggested:
    filled = rows.filter(pl.col("word").is_not_null())
    judged = filled.filter(pl.col("n_votes").is_not_null())
    counts = (len(judged), len(rows) - len(filled), len(filled) - len(judged))
    if "n_given" not in rows.columns:
        return Suggested(system, *counts, NO_WORDS, NO_WORDS, NO_WORDS, *_against(filled, wanted, essays))
    given = judged.filter(pl.col("n_given") > 0).select("item")
    return Suggested(
        system,
        *counts,
        _share(judged, judged["n_given"] > 0, essays, "no suggestion was judged"),
        _share(judged, judged["n_given"] / judged["n_votes"], essays, "no suggestion was judged"),
        _share(errors, _is_in(errors, given), essays, REASONS["recall"]),
        *_against(filled, wanted, essays),
    )


def _share(rows: pl.DataFrame, hits: pl.Series, essays: Essays, undefined: str) -> Interval:
    """The mean of hits, one per item, by essay if essays are known."""
    if not len(rows):
        return Interval(nan, nan, nan, undefined)
    return essays.mean(hits.cast(pl.Float64).to_numpy(), np.ones(len(rows)), rows["item"])


def _is_in(rows: pl.DataFrame, items: pl.DataFrame) -> pl.Series:
    return rows["item"].is_in(items["item"].implode())


def _against(filled: pl.DataFrame, wanted: pl.DataFrame | None, essays: Essays) -> tuple[Interval, Interval]:
    if wanted is None:
        none = Interval(nan, nan, nan, "no adjudicated corrections were given")
        return none, none
    answers = wanted.select("item").unique(maintain_order=True)
    known = filled.join(answers, on="item", how="semi")
    right = known.join(wanted, on=["item", "word"], how="semi")
    undefined = "no suggestion has an adjudicated answer"
    found, recalled = (_share(rows, _is_in(rows, right), essays, undefined) for rows in (known, answers))
    return found, recalled


def _plain(column: str) -> pl.Expr:
    text = pl.col(column).cast(pl.String).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    return pl.when(text == "").then(None).otherwise(text)


def _given(judgments: Judgments) -> pl.DataFrame | None:
    """The number of raters who gave each correction of an item; None if the table has no alternatives."""
    if "alternatives" not in judgments.frame.columns:
        return None
    label = pl.col("label").cast(pl.String).str.to_lowercase()
    rows = exploded(judgments.frame.filter(label == ERROR), "alternatives")
    rows = rows.select(pl.col("item").cast(pl.String), "rater", word=_plain("alternatives")).unique()
    return rows.group_by("item", "word").agg(n_given=pl.len().cast(pl.Int64))


def _accepted(corrections: Table) -> pl.DataFrame:
    rows = exploded(corrections.frame, "label")
    return rows.select(pl.col("item").cast(pl.String), word=_plain("label")).unique()
