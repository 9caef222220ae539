"""Whose turn it was: the judgments of each item in the order in which they came.

Where asking stops once raters agree (`grater.crowd.redundancy`), the share of all votes is nearer to 0 and 1 than it
would be after any fixed number.  The first judgments, as many as every item was to have in any case, came before
anybody could stop: their shares are those of a job with a fixed number.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UsageError
from grater.tables.judgments import Judgments

TURN, N_OF_ITEM = "turn", "n_of_item"


def first_of_each(judgments: Judgments, n: int) -> Judgments:
    """The first `n` judgments of every item that has so many."""
    is_first, n_short = _first(judgments, n)
    dropped = {f"after the first {n} of an item": len(judgments) - int(is_first.sum()) - n_short}
    if n_short:
        dropped[f"of items with fewer than {n}"] = n_short
    return replace(judgments, frame=judgments.frame.filter(is_first), dropped={**judgments.dropped, **dropped})


def equal_in_number(judgments: Judgments, least: int) -> Judgments:
    """The first `least` judgments of each item, 0 for all; all where no item has so many: nobody has stopped yet."""
    kept = first_of_each(judgments, least) if least else judgments
    return kept if len(kept) else judgments


def are_first(judgments: Judgments, n: int) -> npt.NDArray[np.bool_]:
    """For every row, whether it is one of the first `n` of an item that has so many."""
    return _first(judgments, n)[0]


def _first(judgments: Judgments, n: int) -> tuple[npt.NDArray[np.bool_], int]:
    if n < 1:
        raise UsageError(f"expected at least the first 1 judgment of each item, found {n}")
    _require_times(judgments, n)
    n = min(n, len(judgments) + 1)  # as good as any larger number, which polars might not hold
    turns = judgments.frame.with_columns(_moments(judgments)).select(
        pl.struct("at", "rater").rank("ordinal").over("item").alias(TURN), pl.len().over("item").alias(N_OF_ITEM)
    )
    is_short = (turns[N_OF_ITEM] < n).to_numpy()
    return (turns[TURN] <= n).to_numpy() & ~is_short, int(is_short.sum())


def _moments(judgments: Judgments) -> pl.Series:
    """The times as numbers: as text, 10 would come before 9, and noon in Oslo before noon in London."""
    said = judgments.frame["at"].cast(pl.String)
    numbers = said.cast(pl.Float64, strict=False)
    if not numbers.null_count() and numbers.is_finite().all():
        return numbers
    return pl.Series("at", [_moment(text, judgments.name) for text in said.to_list()], dtype=pl.Float64)


def _moment(text: str, name: str) -> float:
    """Seconds since 1970; a time without a zone is in UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{name}: expected times such as 2026-01-31T12:00:00Z, found {text[:40]!r}") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _require_times(judgments: Judgments, n: int) -> None:
    frame = judgments.frame
    n_silent = frame["at"].null_count() if "at" in frame.columns else len(frame)
    if n_silent:
        raise UsageError(
            f"{judgments.name}: the first {n} of each item cannot be told: {n_silent} judgments have no time; "
            "name its column with --columns at=COLUMN if there is one"
        )
