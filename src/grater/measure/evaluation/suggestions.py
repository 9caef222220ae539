"""Are the system's corrections right?  Its suggestions against those of raters, or against adjudicated ones.

A suggestion is held against the `alternatives` of everyone who calls the item an error.  `any_rater` is the share of
suggestions that at least one rater gave, `graded` the mean share of the item's raters who gave it (the spirit of
Madnani et al. 2011: a rater who calls the item right gives nobody's suggestion), `recall` the share of items that
most raters call an error whose suggestion at least one rater gave.  `adjudicated` holds it against a table of gold
whose labels are the accepted corrections, `adjudicated_recall` is the share of that table's items that the system
corrects so.  `-NONE-` is deletion; case and runs of blanks do not count.  Flags
without a suggestion are counted, and so are suggestions for items that nobody judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import polars as pl

from grater.errors import UsageError
from grater.model import Interval
from grater.result import Data
from grater.tables import Judgments, Table, exploded
from grater.uncertainty.bootstrap import UnitCounts, resample_units
from grater.uncertainty.intervals import RESAMPLES, percentile_interval
from grater.uncertainty.proportions import wilson
from grater.uncertainty.rng import generator

ERROR = "error"
SCORES = ("any_rater", "graded", "recall", "adjudicated", "adjudicated_recall")
NO_WORDS = Interval(nan, nan, nan, "raters gave no alternatives")


@dataclass(frozen=True, slots=True)
class Suggested(Data):
    """One system's suggestions: how many were scored, and how many are right by each rule."""

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
    decisions: Table,
    judgments: Judgments,
    *,
    corrections: Table | None = None,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Suggested]:
    """The suggestions of every system."""
    _require(decisions.frame, "suggestion", decisions.name)
    if corrections is None:
        _require(judgments.frame, "alternatives", judgments.name)
    votes, given = _votes(judgments), _given(judgments)
    wanted = None if corrections is None else _accepted(corrections)
    flagged = decisions.frame.filter(pl.col("flagged").cast(pl.Boolean)).select(
        pl.col("item").cast(pl.String), pl.col("system").cast(pl.String), word=_plain("suggestion")
    )
    flagged = flagged.join(votes, on="item", how="left")
    if given is not None:
        flagged = flagged.join(given, on=["item", "word"], how="left").with_columns(pl.col("n_given").fill_null(0))
    n_errors = int((votes["n_error"] * 2 > votes["n_votes"]).sum())
    systems = sorted(decisions.frame["system"].cast(pl.String).unique().to_list())
    own = {system: flagged.filter(pl.col("system") == system) for system in systems}
    return [_suggested(system, own[system], n_errors, wanted, n_resamples, seed) for system in systems]


def _require(frame: pl.DataFrame, column: str, name: str) -> None:
    if column not in frame.columns:
        raise UsageError(f"{name}: expected a column {column!r}, found none")


def _suggested(
    system: str, rows: pl.DataFrame, n_errors: int, wanted: pl.DataFrame | None, n_resamples: int, seed: int
) -> Suggested:
    filled = rows.filter(pl.col("word").is_not_null())
    judged = filled.filter(pl.col("n_votes").is_not_null())
    counts = (len(judged), len(rows) - len(filled), len(filled) - len(judged))
    if "n_given" not in rows.columns:
        return Suggested(system, *counts, NO_WORDS, NO_WORDS, NO_WORDS, *_against(filled, wanted))
    is_given = judged["n_given"] > 0
    is_error = judged["n_error"] * 2 > judged["n_votes"]
    return Suggested(
        system,
        *counts,
        wilson(int(is_given.sum()), len(judged)),
        _mean(judged["n_given"] / judged["n_votes"], n_resamples=n_resamples, seed=seed),
        wilson(int((is_given & is_error).sum()), n_errors),
        *_against(filled, wanted),
    )


def _mean(shares: pl.Series, *, n_resamples: int, seed: int) -> Interval:
    if not len(shares):
        return Interval(nan, nan, nan, "no suggestion was judged")
    values = shares.value_counts().sort(shares.name)
    units = UnitCounts(values[[shares.name]].to_numpy(), values["count"].cast(pl.Int64).to_numpy())
    drawn = resample_units(units, n_resamples=n_resamples, rng=generator(seed, "suggestions"))
    return percentile_interval(
        float(units.sums[0]) / units.n, drawn[:, 0] / units.n, n_units=units.n, ends=(0.0, 1.0)
    )


def _against(filled: pl.DataFrame, wanted: pl.DataFrame | None) -> tuple[Interval, Interval]:
    """Of suggestions with a known answer, the share that is right; of known answers, the share suggested."""
    if wanted is None:
        none = Interval(nan, nan, nan, "no adjudicated corrections were given")
        return none, none
    known = filled.join(wanted.select("item").unique(), on="item", how="semi")
    n_right = len(known.join(wanted, on=["item", "word"], how="semi"))
    return wilson(n_right, len(known)), wilson(n_right, wanted["item"].n_unique())


def _plain(column: str) -> pl.Expr:
    text = pl.col(column).cast(pl.String).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    return pl.when(text == "").then(None).otherwise(text)


def _votes(judgments: Judgments) -> pl.DataFrame:
    label = pl.col("label").cast(pl.String).str.to_lowercase()
    usable = judgments.frame.filter(label.is_in([ERROR, "ok"]))
    return usable.group_by(pl.col("item").cast(pl.String)).agg(
        n_votes=pl.len().cast(pl.Int64), n_error=(label == ERROR).sum().cast(pl.Int64)
    )


def _given(judgments: Judgments) -> pl.DataFrame | None:
    """How many raters gave each correction of an item; none where the table has no alternatives."""
    if "alternatives" not in judgments.frame.columns:
        return None
    label = pl.col("label").cast(pl.String).str.to_lowercase()
    rows = exploded(judgments.frame.filter(label == ERROR), "alternatives")
    rows = rows.select(pl.col("item").cast(pl.String), "rater", word=_plain("alternatives")).unique()
    return rows.group_by("item", "word").agg(n_given=pl.len().cast(pl.Int64))


def _accepted(corrections: Table) -> pl.DataFrame:
    rows = exploded(corrections.frame, "label")
    return rows.select(pl.col("item").cast(pl.String), word=_plain("label")).unique()
