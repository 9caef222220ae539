"""The judgments that count, filtered by status, flags and confidence and with labels merged; and samples of items.

A filter gives a new value and adds to `dropped` how many judgments it set aside and why; a reason that was asked
for and met nobody is there too, with 0.  A judgment without a status is valid; one without a confidence is below
any.

Where asking stops once raters agree (`grater.annotate.terms`), the share of all votes is nearer to 0 and 1 than it
would be after any fixed number.  The first judgments of an item, as many as every item was to have in any case, came
before anybody could stop: their shares are those of a job with a fixed number (`first_of_each`).

A sample says which items were drawn, from which stratum, with what probability, and from what corpus.
`NAME.meta.json` beside `NAME.csv` holds the seed, the design, the systems, and the hash of the sorted ids of all
items that could have been drawn.  With it a sample is only ever used with its own corpus; without it every drawn
item must at least be there.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UsageError
from grater.model import Json, short_hash
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
    label = pl.col("label").cast(pl.String)
    # Labels that say of which type an error is get a column `type`, before they are merged into `error`.
    errors = {old for old, new in merge.items() if new == "error"}
    types = {old: TYPE_OF_LABEL[old.casefold()] for old in errors if old.casefold() in TYPE_OF_LABEL}
    if set(TYPE_OF_RATING) <= errors:
        types |= TYPE_OF_RATING
    columns = [label.replace(dict(merge))]
    if types and "type" not in judgments.frame.columns:
        columns.append(label.replace_strict(types, default=None, return_dtype=pl.String).alias("type"))
    return replace(judgments, frame=judgments.frame.with_columns(columns))


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
    n_silent = judgments.frame["at"].null_count() if "at" in judgments.frame.columns else len(judgments)
    if n_silent:
        raise UsageError(
            f"{judgments.name}: the first {n} of each item are unknown: {n_silent} judgments have no time; "
            "name its column with columns at=COLUMN if there is one"
        )
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


# Samples


@dataclass(frozen=True, slots=True)
class SampleMeta:
    """How a sample was drawn; `items` is the hash of the ids it was drawn from, `extra` what else the file says."""

    seed: int | None = None
    design: str = ""
    systems: tuple[str, ...] = ()
    items: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict, hash=False)

    def as_json(self) -> dict[str, Json]:
        return {
            "seed": self.seed,
            "design": self.design,
            "systems": list(self.systems),
            "items": self.items,
            **self.extra,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Drawn items in the columns of the sample table, and how they were drawn where that is known."""

    frame: pl.DataFrame
    name: str
    meta: SampleMeta | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)


def items_hash(item_ids: Iterable[str]) -> str:
    """One short name for a set of items, whatever their order and however often each is named."""
    return short_hash("\n".join(sorted(set(item_ids))))


def require_same_items(sample: Sample, item_ids: Iterable[str]) -> None:
    """Refuses a sample that was drawn from other items than these."""
    known = set(item_ids)
    strangers = [item for item in sample.frame["item"].unique(maintain_order=True) if item not in known]
    if strangers:
        shown = ", ".join(strangers[:3]) + (", ..." if len(strangers) > 3 else "")
        message = f"was drawn from another corpus: {len(strangers)} of its items are not in this one ({shown})"
        raise BadInput(Problem(sample.name, f"{message}; draw a new sample or give the decisions it was drawn from"))
    actual = items_hash(known)
    if sample.meta is not None and sample.meta.items not in ("", actual):
        message = f"was drawn from another corpus: expected items with hash {sample.meta.items}, found {actual}"
        wish = "some items were added or taken away since; draw a new sample"
        raise BadInput(Problem(sample.name, f"{message} ({len(known)} items); {wish}"))


def with_stratum_size(sample: Sample) -> pl.DataFrame:
    """The drawn items with the size of their stratum: as given, else n / probability.

    Where probabilities differ within a stratum that is the sum of 1 / probability (Horvitz and Thompson 1952),
    which is the same thing where they do not.
    """
    estimate = (1 / pl.col("probability")).sum().over("stratum")
    if "stratum_size" not in sample.frame.columns:
        return sample.frame.with_columns(stratum_size=estimate)
    return sample.frame.with_columns(pl.col("stratum_size").fill_null(estimate))


def parsed_meta(text: str, *, name: str) -> SampleMeta:
    try:
        meta = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(Problem(name, f"expected JSON, found {error}")) from error
    if not isinstance(meta, dict):
        raise BadInput(Problem(name, f"expected a JSON object, found {type(meta).__name__}"))
    fields: dict[str, Any] = {"seed": None, "design": "", "systems": [], "items": ""} | meta
    shapes = {"seed": int | None, "design": str, "systems": list, "items": str}
    for key, shape in shapes.items():
        if not isinstance(fields[key], shape):
            wanted = {"seed": "a whole number", "systems": "a list of names"}.get(key, "text")
            raise BadInput(Problem(name, f"expected {key!r} to be {wanted}, found {fields[key]!r}"))
    extra = {key: value for key, value in meta.items() if key not in shapes}
    systems = tuple(str(system) for system in fields["systems"])
    return SampleMeta(fields["seed"], fields["design"], systems, fields["items"], extra)
