"""The judgments that count: filtered by status, flags and confidence, then with labels merged.

A filter gives a new value and adds to `dropped` how many judgments it set aside and why; a reason that was asked
for and met nobody is there too, with 0.  A judgment without a status is valid; one without a confidence is below
any.

Where asking stops once raters agree (`grater.annotate.terms`), the share of all votes is nearer to 0 and 1 than it
would be after any fixed number.  The first judgments of an item, as many as every item was to have in any case, came
before anybody could stop: their shares are those of a job with a fixed number (`first_of_each`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UsageError
from grater.model import short_hash
from grater.tables.large import are_categories
from grater.tables.schema import VALID, entries

ANY = "all"
"""The word for judgments of whatever status."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgments:
    """Who said what of which item; `anonymous_raters` where raters are only positions, 1 to n in each item."""

    frame: pl.DataFrame
    name: str
    anonymous_raters: bool = False
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)


def data_hash(*tables: Judgments) -> str:
    """Who said what, for a signature; neither the order of rows nor further columns change it."""
    frames = [table.frame.select(pl.col("item", "rater", "label").cast(pl.String)) for table in tables]
    return short_hash("\f".join(frame.sort(frame.columns).write_csv() for frame in frames))


def require_raters(judgments: Judgments, what: str) -> None:
    """Refuses what needs to know raters (`what`, in the plural) where they are only positions."""
    if judgments.anonymous_raters:
        raise UsageError(
            f"{judgments.name}: {what} need rater ids, and this table has none: raters 1, 2, ... are positions, "
            "not people; name a column with columns rater=COLUMN if there is one"
        )


def with_status(judgments: Judgments, status: Collection[str] = (VALID,)) -> Judgments:
    """Only judgments of these statuses; `all` lets every one pass."""
    if "status" not in judgments.frame.columns or ANY in status:
        return judgments
    given = pl.col("status").fill_null(VALID)
    out = (
        judgments.frame.filter(~given.is_in(list(status))).group_by(given.alias("status"), maintain_order=True).len()
    )
    dropped = {f"status {name}": n_rows for name, n_rows in sorted(out.iter_rows())}
    return _kept(judgments, judgments.frame.filter(given.is_in(list(status))), dropped)


def without_flags(judgments: Judgments, flags: Collection[str]) -> Judgments:
    """Only judgments that bear none of these flags; one that bears several counts under the first."""
    dropped = {}
    frame = judgments.frame
    for flag in flags:
        _require(judgments, "flags", f"drop judgments flagged {flag!r}")
        bears = entries("flags").list.contains(flag).fill_null(False)
        kept = frame.filter(~bears)
        dropped[f"flag {flag}"] = len(frame) - len(kept)
        frame = kept
    return _kept(judgments, frame, dropped)


def with_confidence(judgments: Judgments, least: float) -> Judgments:
    """Only judgments whose rater was at least this confident."""
    _require(judgments, "confidence", f"ask for a confidence of {least:g}")
    confidence = pl.col("confidence")
    n_silent = judgments.frame["confidence"].null_count()
    kept = judgments.frame.filter(confidence >= least)
    dropped = {"no confidence": n_silent} if n_silent else {}
    dropped[f"confidence below {least:g}"] = len(judgments) - len(kept) - n_silent
    return _kept(judgments, kept, dropped)


TYPE_OF_LABEL = {
    "extraneous": "extraneous",
    "choice": "choice",
    "wrong-choice": "choice",
    "wrong choice": "choice",
    "missing": "missing",
}
"""Labels that name a type of error, in any case."""
TYPE_OF_RATING = {"0": "extraneous", "1": "choice"}
"""The ratings of T&C 2008, 5.1, where both of them are merged into error."""


def with_labels(judgments: Judgments, merge: Mapping[str, str]) -> Judgments:
    """Labels under their new names; a label that `merge` does not name stays."""
    if not merge:
        return judgments
    label = renamed(judgments.frame["label"], merge)
    return replace(judgments, frame=judgments.frame.with_columns(label, *_error_types(judgments.frame, merge)))


def renamed(labels: pl.Series, names: Mapping[str, str]) -> pl.Series:
    """Labels under new names; categories stay categories, of their own."""
    if not are_categories(labels):
        return labels.replace(dict(names))
    codes = labels.to_physical().cast(pl.UInt32)
    known = labels.unique().drop_nulls()
    new = known.cast(pl.String).replace(dict(names)).cast(pl.Categorical(pl.Categories.random()))
    rows = pl.DataFrame({"code": known.to_physical().cast(pl.UInt32), "new": new})
    n_codes = int(rows["code"].to_numpy().max(initial=0)) + 1
    by_code = pl.DataFrame({"code": pl.int_range(n_codes, dtype=pl.UInt32, eager=True)})
    return by_code.join(rows, on="code", how="left", maintain_order="left")["new"].gather(codes).alias(labels.name)


def _error_types(frame: pl.DataFrame, merge: Mapping[str, str]) -> list[pl.Expr]:
    """A column `type` for labels that say of which type an error is, before they are merged into `error`."""
    errors = {label for label, new in merge.items() if new == "error"}
    named = {label: TYPE_OF_LABEL[label.casefold()] for label in errors if label.casefold() in TYPE_OF_LABEL}
    if set(TYPE_OF_RATING) <= errors:
        named |= TYPE_OF_RATING
    if not named or "type" in frame.columns:
        return []
    return [pl.col("label").cast(pl.String).replace_strict(named, default=None, return_dtype=pl.String).alias("type")]


def parse_merge(settings: Iterable[str]) -> dict[str, str]:
    """`["0,1=error", "2,e=ok"]` as a map from each old label to its new one."""
    merge: dict[str, str] = {}
    for setting in settings:
        old, equals, new = setting.rpartition("=")
        labels = [label.strip() for label in old.split(",")]
        if not equals or not new.strip() or not all(labels):
            raise UsageError(f"expected OLD,OLD=NEW, found {setting!r}; as in 0,1=error")
        for label in labels:
            if merge.setdefault(label, new.strip()) != new.strip():
                raise UsageError(
                    f"expected one new name for label {label!r}, found {merge[label]!r} and {new.strip()!r}"
                )
    return merge


def _require(judgments: Judgments, column: str, what: str) -> None:
    if column not in judgments.frame.columns:
        raise UsageError(
            f"{judgments.name}: cannot {what}: expected a column {column!r}, found none; name it with columns"
        )


def _kept(judgments: Judgments, frame: pl.DataFrame, dropped: Mapping[str, int]) -> Judgments:
    return replace(judgments, frame=frame, dropped={**judgments.dropped, **dropped})


TURN, N_OF_ITEM = "turn", "n_of_item"


def first_of_each(judgments: Judgments, n: int) -> Judgments:
    """The first `n` judgments of every item that has at least `n`."""
    is_first, n_short = _first(judgments, n)
    dropped = {f"after the first {n} of an item": len(judgments) - int(is_first.sum()) - n_short}
    if n_short:
        dropped[f"of items with fewer than {n}"] = n_short
    return replace(judgments, frame=judgments.frame.filter(is_first), dropped={**judgments.dropped, **dropped})


def equal_in_number(judgments: Judgments, least: int) -> Judgments:
    """The first `least` judgments of each item, 0 for all; all where no item has that number."""
    kept = first_of_each(judgments, least) if least else judgments
    return kept if len(kept) else judgments


def are_first(judgments: Judgments, n: int) -> npt.NDArray[np.bool_]:
    """For every row, whether it is one of the first `n` of an item that has at least `n`."""
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
    times = judgments.frame["at"].cast(pl.String)
    numbers = times.cast(pl.Float64, strict=False)
    if not numbers.null_count() and numbers.is_finite().all():
        return numbers
    return pl.Series("at", [_moment(text, judgments.name) for text in times.to_list()], dtype=pl.Float64)


def _moment(text: str, name: str) -> float:
    """Seconds since 1970; a time without a zone is in UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{name}: expected times such as 2026-01-31T12:00:00Z, found {text[:40]!r}") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _require_times(judgments: Judgments, n: int) -> None:
    frame = judgments.frame
    n_silent = frame["at"].null_count() if "at" in frame.columns else len(frame)
    if n_silent:
        raise UsageError(
            f"{judgments.name}: the first {n} of each item are unknown: {n_silent} judgments have no time; "
            "name its column with columns at=COLUMN if there is one"
        )
