"""A corpus cut into strata: by the system's decision, by its score, or by its decision and a cheap rater's label.

T&C 2008, 6.1 has two strata, the "Error" and the "OK" sub-corpus.  Strata never cross a decision, so a system is
right or wrong about whole strata.

`score:10` makes ten, five on each side of the decision.  Flagged items are cut into parts of equal size; the others
into halves, quarters, eighths, with the small parts nearest to the flags, where most of the missed errors are.  Only
the order of scores counts; items of one score share a stratum.  Where flagged items have the lower scores, scores are
read downwards.  `label` crosses the decision with a cheap rater's label (an LLM, a crowd of one).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UnknownName, UsageError
from grater.registry import unknown
from grater.sampling.scores import Stratum
from grater.signature import digest
from grater.tables import Judgments, Table

FLAGGED, UNFLAGGED = "flagged", "unflagged"


def decided(decisions: Table, system: str) -> pl.DataFrame:
    """The rows of one system, sorted by item: item, flagged and what else it said."""
    rows = decisions.frame.filter(pl.col("system") == system).sort("item")
    if rows.is_empty():
        raise UnknownName(f"{decisions.name}: {unknown('system', system, system_names(decisions))}")
    return rows


def system_names(decisions: Table) -> list[str]:
    return decisions.frame["system"].unique().sort().to_list()


def decisions_hash(decisions: Table, system: str) -> str:
    """One short name for all that strata are made from, whatever the order of rows."""
    rows = decided(decisions, system)
    scores = rows["score"] if "score" in rows.columns else [None] * len(rows)
    return digest(
        f"{item}|{flag:d}|{score}" for item, flag, score in zip(rows["item"], rows["flagged"], scores, strict=True)
    )


def stratified(
    decisions: Table, system: str, *, strata: str = "decision", labels: Judgments | None = None
) -> pl.DataFrame:
    """Every item of the corpus with the stratum it belongs to: item, flagged, stratum."""
    rows = decided(decisions, system)
    side = pl.when("flagged").then(pl.lit(FLAGGED)).otherwise(pl.lit(UNFLAGGED))
    match strata.partition(":"):
        case ("decision", "", ""):
            named = rows.with_columns(stratum=side)
        case ("score", _, number):
            named = rows.with_columns(_score_strata(rows, _n_strata(number or "10"), decisions.name))
        case ("label", "", ""):
            named = _labelled(rows, labels).with_columns(stratum=side + " " + pl.col("label"))
        case _:
            raise UsageError(f"expected --strata decision, score:N or label, found {strata!r}")
    return named.select("item", "flagged", "stratum")


def strata_of(frame: pl.DataFrame) -> list[Stratum]:
    """The strata of a stratified corpus by name, nothing judged yet."""
    sizes = frame.group_by("stratum", "flagged").len().sort("stratum")
    return [Stratum(name, is_flagged, size) for name, is_flagged, size in sizes.iter_rows()]


def _n_strata(number: str) -> int:
    if not number.isdecimal() or not 2 <= int(number) <= 100:
        raise UsageError(f"expected --strata score:N with N from 2 to 100, found {number!r}")
    return int(number)


def _score_strata(rows: pl.DataFrame, n_strata: int, name: str) -> pl.Series:
    n_missing = rows["score"].null_count() if "score" in rows.columns else len(rows)
    if n_missing:
        message = f"expected a score for every item, found {n_missing} without; use --strata decision"
        raise BadInput(Problem(name, message))
    flagged, score = rows["flagged"].to_numpy(), rows["score"].to_numpy()
    if 0 < flagged.sum() < flagged.size and score[flagged].mean() < score[~flagged].mean():
        score = -score
    part = np.zeros(flagged.size, int)
    part[flagged] = _equal_parts(_places(score[flagged]), n_strata // 2)
    part[~flagged] = _halves(_places(score[~flagged]), n_strata - n_strata // 2)
    n_digits = len(str(n_strata))
    sides = (FLAGGED if flag else UNFLAGGED for flag in flagged)
    return pl.Series(
        "stratum", [f"{side} {number + 1:0{n_digits}}" for side, number in zip(sides, part, strict=True)]
    )


def _places(score: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Where each score stands among all, from 0 to 1; equal scores stand together, at the middle of their places."""
    ordered = np.sort(score)
    first, last = np.searchsorted(ordered, score), np.searchsorted(ordered, score, side="right")
    return (first + last) / (2 * max(1, score.size))


def _equal_parts(places: npt.NDArray[np.float64], n_parts: int) -> npt.NDArray[np.int64]:
    return np.minimum(places * n_parts, n_parts - 1).astype(np.int64)


def _halves(places: npt.NDArray[np.float64], n_parts: int) -> npt.NDArray[np.int64]:
    # Half of all items below 1/2, half of the rest below 3/4 ...; the last two parts are equal.
    return np.minimum(-np.log2(1 - places), n_parts - 1).astype(np.int64)


def _labelled(rows: pl.DataFrame, labels: Judgments | None) -> pl.DataFrame:
    """The rows with the cheap rater's label; an item that it did not judge has the label `none`."""
    if labels is None:
        raise UsageError("expected the labels of a cheap rater with --strata label; give a table with --labels")
    one = labels.frame.select("item", pl.col("label").cast(pl.String))
    twice = one.filter(pl.col("item").is_duplicated())
    if not twice.is_empty():
        message = f"expected one label for each item, found several for {twice['item'][0]}; aggregate them first"
        raise BadInput(Problem(labels.name, message))
    return (
        rows.select("item", "flagged")
        .join(one, on="item", how="left")
        .with_columns(pl.col("label").fill_null("none"))
    )
