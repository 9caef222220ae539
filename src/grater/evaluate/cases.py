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

from grater.agreement.coded import (
    ROWS_AT_ONCE,
    UNKNOWN,
    Codes,
    Unknown,
    by_appearance,
    by_name,
    coded,
    looked_up,
    with_unknown,
)
from grater.errors import BadInput, Problem, UnknownName, UsageError
from grater.evaluate.counts import ABSENT, Flags
from grater.registry import unknown as unknown_name
from grater.statistics.intervals import Ints, Numbers
from grater.tables import Judgments, Table, are_first, exploded
from grater.tables.check import may_repeat

Truths: TypeAlias = npt.NDArray[np.bool_]

ERROR, OK = "error", "ok"
VERDICTS = (ERROR, OK, UNKNOWN)


@dataclass(frozen=True, eq=False)
class Votes:
    """`item`, `rater` and `is_error` are aligned, one entry per vote; `has_unknown` by item.

    Judgments of items that are not looked at are counted, by item, in `n_stray`.  `n_judgments` counts the votes of
    each item and those who say unknown; it is None where nobody says so: then all are votes.
    """

    items: pl.Series
    item: Codes
    rater: Codes
    is_error: Truths
    raters: tuple[str, ...]
    has_unknown: Truths
    judgments: Judgments
    n_stray: int = 0
    n_unknown: int = 0
    is_first: Truths | None = None
    n_judgments: Ints | None = None

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def equal(self) -> Self:
        """The votes that shares are made of: those among the first judgments of their item, where that was asked."""
        if self.is_first is None:
            return self
        kept = self.is_first
        item, rater, is_error = self.item[kept], self.rater[kept], self.is_error[kept]
        return replace(self, item=item, rater=rater, is_error=is_error, is_first=None)

    @cached_property
    def n_votes(self) -> Ints:
        """Usable judgments of each item."""
        return tallied_codes(self.item, len(self))

    @cached_property
    def n_error(self) -> Ints:
        """Votes for error."""
        return tallied_codes(self.item, len(self), where=self.is_error)

    @property
    def is_judged(self) -> Truths:
        judged: Truths = self.n_votes > 0
        return judged

    @cached_property
    def share(self) -> Numbers:
        """The share of votes for error; nan where there is none."""
        return share_of(self.n_error, self.n_votes)


def share_of(n_error: Ints | Numbers, n_votes: Ints | Numbers) -> Numbers:
    """Votes for error by votes; nan where there is none."""
    votes = np.asarray(n_votes, np.float64)
    share: Numbers = np.divide(n_error, votes, out=np.full(votes.shape, np.nan), where=votes > 0)
    return share


def votes_of(
    judgments: Judgments, *, items: pl.Series | None = None, unknown: Unknown = "drop", first: int = 0
) -> Votes:
    """The votes on these items, or on all that were judged; shares are of the `first` N judgments of each item."""
    judgments = with_unknown(judgments, "ok") if unknown == "ok" else judgments
    votes = coded(judgments)
    names = votes.items.cast(pl.String) if items is None else items
    verdict = looked_up(_verdict_codes(votes.labels, judgments.name), votes.label)
    spot = places_of(votes.items, names)
    item = looked_up(spot, votes.item)
    is_here, is_unknown = item >= 0, verdict == VERDICTS.index(UNKNOWN)
    is_vote, says_unknown = is_here & ~is_unknown, is_here & is_unknown
    n_unknown = tallied_codes(item, len(names), where=says_unknown)
    # Nearly always all judgments are votes, and a copy of a hundred million costs half a gigabyte.
    kept = slice(None) if is_vote.all() else is_vote
    return Votes(
        items=names,
        item=item[kept],
        rater=votes.rater[kept],
        is_error=(verdict == VERDICTS.index(ERROR))[kept],
        raters=votes.raters,
        has_unknown=n_unknown > 0,
        judgments=judgments,
        n_stray=int((spot < 0).sum()),
        n_unknown=int(n_unknown.sum()),
        is_first=are_first(judgments, first)[kept] if first else None,
        n_judgments=tallied_codes(item, len(names), where=is_here) if says_unknown.any() else None,
    )


def tallied_codes(codes: Codes, n: int, *, where: Truths | None = None) -> Ints:
    """How often each code from 0 to `n` - 1 occurs; a piece at a time, for numpy counts with copies of 64 bits."""
    counts, n_at_once = np.zeros(n, np.int64), max(ROWS_AT_ONCE, n)
    for start in range(0, len(codes), n_at_once):
        rows = slice(start, start + n_at_once)
        counts += np.bincount(codes[rows] if where is None else codes[rows][where[rows]], minlength=n)
    return counts


def _verdict_codes(labels: Sequence[str], name: str) -> Codes:
    strange = [label for label in labels if label.casefold() not in VERDICTS]
    if strange:
        message = f"expected labels error, ok or unknown, found {', '.join(strange[:5])}; merge them into these"
        raise BadInput(Problem(name, f"{message}, as in 0,1=error and 2,e=ok"))
    return np.array([VERDICTS.index(label.casefold()) for label in labels], np.int8)


def places_of(wanted: pl.Series, names: pl.Series) -> Codes:
    """Where each name stands in `names`; -1 where it does not."""
    if isinstance(wanted.dtype, pl.Categorical):
        return _places_by_category(wanted, names)
    table = pl.DataFrame({"name": names, "place": np.arange(len(names), dtype=np.int32)})
    rows = pl.DataFrame({"name": wanted}).join(table, on="name", how="left", maintain_order="left")
    return rows["place"].fill_null(-1).to_numpy()


def _places_by_category(wanted: pl.Series, names: pl.Series) -> Codes:
    """The same for the items of a large table: by the numbers of their names, without a join of texts."""
    number_of, wanted_number = (series.to_physical().to_numpy() for series in (names.cast(wanted.dtype), wanted))
    n_numbers = 1 + max(int(number_of.max(initial=0)), int(wanted_number.max(initial=0)))
    place_of = np.full(n_numbers, -1, np.int32)
    place_of[number_of] = np.arange(len(names), dtype=np.int32)
    return looked_up(place_of, wanted_number)


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
    place, names = _items_of(frame)
    system, systems = by_name(_categorical(frame["system"]))
    flagged = np.full((len(names), len(systems)), ABSENT, np.int8)
    flagged[place, system] = frame["flagged"].cast(pl.Int8).to_numpy()
    votes = votes_of(judgments, items=names, unknown=unknown, first=first)
    return Cases(**vars(votes), systems=systems, flagged=flagged, columns=_columns(names, place, frame, items))


def _items_of(frame: pl.DataFrame) -> tuple[Codes, pl.Series]:
    """The place of each decision's item, and the items in order; those of one system stand once each."""
    if not may_repeat(frame.select("item")):
        return np.arange(len(frame), dtype=np.int32), frame["item"].cast(pl.String)
    return by_appearance(_categorical(frame["item"]))


def _categorical(column: pl.Series) -> pl.Series:
    return column if isinstance(column.dtype, pl.Categorical | pl.Enum) else column.cast(pl.Categorical)


def _columns(names: pl.Series, place: Codes, frame: pl.DataFrame, items: Table | None) -> pl.DataFrame:
    """What is known of each item: columns of the items table, else those of the decisions."""
    wanted = pl.DataFrame({"item": names})
    if items is not None:
        known = items.frame.with_columns(pl.col("item").cast(pl.String))
        return wanted.join(known, on="item", how="left", maintain_order="left")
    first = np.zeros(len(names), np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]
    return frame.drop("system", "flagged", "item", "score", "suggestion", strict=False)[first]


def only(where: Truths) -> Ints:
    """The places of the wanted items; an error if there is none."""
    places = np.flatnonzero(where)
    if not places.size:
        raise UsageError("no item is left: check that decisions and judgments name the same items")
    return places


def unset_flags(judgments: Judgments, flags: Sequence[str]) -> Iterator[str]:
    """A warning about flags that no judgment bears: items with them cannot be shown apart."""
    if not flags or "flags" not in judgments.frame.columns:
        return
    known = sorted(exploded(judgments.frame, "flags")["flags"].unique().to_list())
    missing = [flag for flag in flags if flag not in known]
    if missing:
        yield f"no judgment has the flag {', '.join(missing)}; flags that raters set: {', '.join(known) or 'none'}"
