"""Decisions matched with judgments: the cases that are scored, as codes.

**Votes** say who calls which item an error.  Labels must be verdicts (`error`, `ok`, `unknown`, in any case); others
are merged into these when the table is read.  `unknown` is never a vote, unless it is taken for `ok`; an item where
somebody said so is remembered.  Items need not have the same number of votes.  Shares do not mind, unless the number
depends on the votes: where asking stopped once raters agreed, shares are too near to 0 and 1.  With `first` N, shares
are those of the first N judgments of each item, `equal` in number; majorities are of all votes.

**Cases** are items that at least one system decided on, with the votes that they got.  Judgments of items that no
system decided on are counted in `n_stray` and take no part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UnknownName, UsageError
from grater.measure.agreement.coded import (
    UNKNOWN,
    Codes,
    Unknown,
    by_name,
    categories,
    codes_of_items,
    with_unknown,
)
from grater.measure.evaluation.counts import ABSENT, Flags
from grater.registry import unknown as unknown_name
from grater.tables import Judgments, Table, are_first, exploded
from grater.tables.check import may_repeat
from grater.uncertainty.intervals import Ints, Numbers

Truths: TypeAlias = npt.NDArray[np.bool_]

ERROR, OK = "error", "ok"
VERDICTS = (ERROR, OK, UNKNOWN)
UNSAID = VERDICTS.index(UNKNOWN)


@dataclass(frozen=True, eq=False)
class Votes:
    """What people say of `items`: the item of each vote by its place, its rater, and whether it is for error.

    `unsure` has the places of judgments that say unknown.  `is_first` are the votes that shares are made of, where
    these are not all.  Judgments of items that are not looked at are counted, by item, in `n_stray`.
    """

    items: pl.Series
    item: Codes
    rater: Codes
    is_error: Truths
    unsure: Codes
    raters: tuple[str, ...]
    judgments: Judgments
    n_stray: int = 0
    is_first: Truths | None = None

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def equal(self) -> Self:
        """The votes that shares are made of: those among the first judgments of their item, where that was asked."""
        if self.is_first is None:
            return self
        first = self.is_first
        return replace(
            self, item=self.item[first], rater=self.rater[first], is_error=self.is_error[first], is_first=None
        )

    @cached_property
    def n_votes(self) -> Codes:
        """Usable judgments of each item."""
        return np.bincount(self.item, minlength=len(self))

    @cached_property
    def n_error(self) -> Codes:
        """Votes for error."""
        return np.bincount(self.item[self.is_error], minlength=len(self))

    @cached_property
    def n_unsure(self) -> Codes:
        """Judgments that say unknown."""
        return np.bincount(self.unsure, minlength=len(self))

    @property
    def n_unknown(self) -> int:
        return int(self.n_unsure.sum())

    @property
    def has_unknown(self) -> Truths:
        has_unknown: Truths = self.n_unsure > 0
        return has_unknown

    @property
    def n_judgments(self) -> Codes:
        """Votes, and those who say unknown."""
        return self.n_votes + self.n_unsure

    @property
    def is_judged(self) -> Truths:
        judged: Truths = self.n_votes > 0
        return judged

    @property
    def share(self) -> Numbers:
        """The share of votes for error; nan where there is none."""
        return share_of(self.n_error, self.n_votes)


def share_of(n_error: Codes | Numbers, n_votes: Codes | Numbers) -> Numbers:
    """Votes for error by votes; nan where there is none."""
    out = np.full(np.shape(n_votes), np.nan)
    share: Numbers = np.divide(n_error, n_votes, out=out, where=n_votes > 0, dtype=np.float64)
    return share


def votes_of(
    judgments: Judgments, *, items: pl.Series | None = None, unknown: Unknown = "drop", first: int = 0
) -> Votes:
    """The votes on these items, or on all that were judged; shares are of the `first` N judgments of each item."""
    judgments = with_unknown(judgments, "ok") if unknown == "ok" else judgments
    item, judged = codes_of_items(categories(judgments, "item"))
    rater, raters = by_name(categories(judgments, "rater"))
    label, labels = by_name(categories(judgments, "label"))
    judged = judged.cast(pl.String)
    names = judged if items is None else items
    place_of = places_of(judged, names)
    place, verdict = place_of[item], _verdict_codes(labels, judgments.name)[label]
    is_vote = (place >= 0) & (verdict != UNSAID)
    return Votes(
        items=names,
        item=place[is_vote],
        rater=rater[is_vote],
        is_error=verdict[is_vote] == VERDICTS.index(ERROR),
        unsure=place[(place >= 0) & (verdict == UNSAID)],
        raters=raters,
        judgments=judgments,
        n_stray=int((place_of < 0).sum()),
        is_first=are_first(judgments, first)[is_vote] if first else None,
    )


def _verdict_codes(labels: Sequence[str], name: str) -> Codes:
    strange = [label for label in labels if label.casefold() not in VERDICTS]
    if strange:
        message = f"expected labels error, ok or unknown, found {', '.join(strange[:5])}; merge them into these"
        raise BadInput(Problem(name, f"{message}, as in 0,1=error and 2,e=ok"))
    return np.array([VERDICTS.index(label.casefold()) for label in labels], np.int8)


def places_of(wanted: pl.Series, names: pl.Series) -> Codes:
    """Where each name stands in `names`; -1 where it does not."""
    table = pl.DataFrame({"name": names, "place": np.arange(len(names), dtype=np.int32)})
    rows = pl.DataFrame({"name": wanted}).join(table, on="name", how="left", maintain_order="left")
    return rows["place"].fill_null(-1).to_numpy()


NONE = "(none)"


@dataclass(frozen=True, eq=False, kw_only=True)
class Cases(Votes):
    """Votes on what systems decided; `flagged` is items x systems."""

    systems: tuple[str, ...]
    flagged: Flags
    columns: pl.DataFrame = field(default_factory=lambda: pl.DataFrame())

    def groups(self, column: str) -> tuple[Codes, tuple[str, ...]]:
        """A code for each item's value in a column of the items or decisions, and the values by code."""
        if column not in self.columns.columns:
            known = [name for name in self.columns.columns if name != "item"]
            raise UnknownName(f"{unknown_name('column', column, known)}; columns of items come from a table of items")
        values = self.columns[column].cast(pl.String).fill_null(NONE)
        return by_name(values.cast(pl.Categorical))

    def clusters(self, column: str) -> tuple[Codes, tuple[str, ...]]:
        """The same where a column says what is drawn together: then every judged item must have a value in it."""
        groups = self.groups(column)
        n_missing = int((self.columns[column].is_null().to_numpy() & self.is_judged).sum())
        if n_missing:
            raise UsageError(f"expected the {column} of every judged item, found none for {n_missing}")
        return groups


def cases_of(
    decisions: Table, judgments: Judgments, *, items: Table | None = None, unknown: Unknown = "drop", first: int = 0
) -> Cases:
    """Every item that was decided on, with the votes that it got; shares are of the `first` N of each."""
    frame = decisions.frame
    if not len(frame):
        raise BadInput(Problem(decisions.name, "expected at least one decision, found none"))
    if may_repeat(frame.select("item")):
        place, names = codes_of_items(frame["item"].cast(pl.String).cast(pl.Categorical))
    else:  # as the items of one system
        place, names = np.arange(len(frame), dtype=np.int32), frame["item"]
    names = names.cast(pl.String)
    system, systems = by_name(frame["system"].cast(pl.String).cast(pl.Categorical))
    flagged = np.full((len(names), len(systems)), ABSENT, np.int8)
    flagged[place, system] = frame["flagged"].cast(pl.Int8).to_numpy()
    columns = _columns(names, place, frame, items)
    votes = votes_of(judgments, items=names, unknown=unknown, first=first)
    return Cases(**vars(votes), systems=systems, flagged=flagged, columns=columns)


def _columns(names: pl.Series, place: Codes, frame: pl.DataFrame, items: Table | None) -> pl.DataFrame:
    """What is known of each item: columns of the items table, else those of the decisions."""
    if items is not None:
        known = items.frame.with_columns(pl.col("item").cast(pl.String))
        return pl.DataFrame({"item": names.cast(pl.String)}).join(known, on="item", how="left", maintain_order="left")
    known = frame.drop("system", "flagged", "item", "score", "suggestion", strict=False)
    if len(known) == len(names):
        return known
    first = np.zeros(len(names), np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]
    return known[first]


def only(where: Truths) -> Ints:
    """The places of the wanted items; an error if there is none."""
    places = np.flatnonzero(where)
    if not places.size:
        raise UsageError("no item is left; do decisions and judgments name the same items?")
    return places


def unset_flags(judgments: Judgments, flags: Sequence[str]) -> Iterator[str]:
    """A warning about flags that no judgment bears: items with them cannot be shown apart."""
    if not flags or "flags" not in judgments.frame.columns:
        return
    known = sorted(exploded(judgments.frame, "flags")["flags"].unique().to_list())
    missing = [flag for flag in flags if flag not in known]
    if missing:
        yield f"no judgment has the flag {', '.join(missing)}; flags that raters set: {', '.join(known) or 'none'}"
