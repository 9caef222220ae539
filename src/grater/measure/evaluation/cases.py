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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UnknownName, UsageError
from grater.measure.agreement.coded import (
    ROWS_AT_ONCE,
    UNKNOWN,
    Codes,
    Physical,
    Unknown,
    by_name,
    categories,
    codes_by_name,
    codes_of_items,
    looked_up,
    width_for,
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


@dataclass(frozen=True, slots=True, eq=False)
class CodedVotes:
    """Judgments by the codes of their table, one entry each, and what every code stands for.

    `place_of` has the place of an item, -1 where it is not looked at; `rater_of` the number of a rater; `verdict_of`
    that of a label among `VERDICTS`.  A hundred million votes are passed over in pieces, never held as they are.
    """

    item: Codes
    rater: Physical
    label: Physical
    place_of: Codes
    rater_of: Codes
    verdict_of: Codes
    is_first: Truths | None = None

    def pieces(self) -> Iterator[tuple[Codes, Codes, Truths]]:
        """The votes, some at a time: the place of their item, their rater, and whether they call it an error."""
        for rows, place, verdict in self._read():
            is_vote = (place >= 0) & (verdict != UNSAID)
            if self.is_first is not None:
                is_vote &= self.is_first[rows]
            kept = slice(None) if is_vote.all() else is_vote
            rater = self.rater_of.take(self.rater[rows][kept])
            yield place[kept], rater, verdict[kept] == VERDICTS.index(ERROR)

    def unsure(self) -> Iterator[Codes]:
        """The items of judgments that say unknown, some at a time."""
        if UNSAID in self.verdict_of:
            yield from (place[(place >= 0) & (verdict == UNSAID)] for _, place, verdict in self._read())

    def _read(self) -> Iterator[tuple[slice, Codes, Codes]]:
        for start in range(0, len(self.item), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            yield rows, self.place_of.take(self.item[rows]), self.verdict_of.take(self.label[rows])


@dataclass(frozen=True, eq=False)
class Votes:
    """What people say of `items`; counts are by item, as narrow as their numbers allow.

    `first` are the votes that shares are made of, where these are not all.  Judgments of items that are not looked at
    are counted, by item, in `n_stray`.
    """

    items: pl.Series
    coded: CodedVotes
    raters: tuple[str, ...]
    judgments: Judgments
    n_stray: int = 0
    first: CodedVotes | None = None

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def _whole(self) -> tuple[Codes, Codes, Truths]:
        empty = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, bool))
        item, rater, is_error = (np.concatenate(parts) for parts in zip(empty, *self.coded.pieces(), strict=True))
        return item, rater, is_error

    @property
    def item(self) -> Codes:
        """The item of each vote; `rater` and `is_error` are aligned with it."""
        return self._whole[0]

    @property
    def rater(self) -> Codes:
        return self._whole[1]

    @property
    def is_error(self) -> Truths:
        return self._whole[2]

    @cached_property
    def equal(self) -> Self:
        """The votes that shares are made of: those among the first judgments of their item, where that was asked."""
        return self if self.first is None else replace(self, coded=self.first, first=None)

    @cached_property
    def n_votes(self) -> Codes:
        """Usable judgments of each item."""
        return tallied((item for item, _, _ in self.coded.pieces()), len(self))

    @cached_property
    def n_error(self) -> Codes:
        """Votes for error."""
        return tallied((item[is_error] for item, _, is_error in self.coded.pieces()), len(self))

    @cached_property
    def n_unsure(self) -> Codes:
        """Judgments that say unknown."""
        return tallied(self.coded.unsure(), len(self))

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
        return self.n_votes.astype(np.int32) + self.n_unsure if self.n_unknown else self.n_votes

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
    judged = judged.cast(pl.String)
    (rater, rater_of, raters), (label, label_of, labels) = (
        _by_name(categories(judgments, name)) for name in ("rater", "label")
    )
    names = judged.cast(pl.String) if items is None else items
    place_of = places_of(judged, names)
    coded = CodedVotes(
        item=item,
        rater=rater,
        label=label,
        place_of=place_of,
        rater_of=rater_of,
        verdict_of=_verdict_codes(labels, judgments.name).take(label_of),
    )
    return Votes(
        items=names,
        coded=coded,
        raters=raters,
        judgments=judgments,
        n_stray=int((place_of < 0).sum()),
        first=replace(coded, is_first=are_first(judgments, first)) if first else None,
    )


def _by_name(names: pl.Series) -> tuple[Physical, Codes, tuple[str, ...]]:
    """The physical codes of a column, the number of each by name, and the names."""
    physical = names.to_physical().to_numpy()
    return physical, *codes_by_name(names, physical, n_rows=len(names))


def tallied(pieces: Iterable[Codes], n: int) -> Codes:
    """How often each code from 0 to `n` - 1 occurs in all pieces together."""
    counts = np.zeros(n, np.int32)
    for codes in pieces:
        low, high = (int(codes.min()), int(codes.max()) + 1) if codes.size else (0, 0)
        if high - low <= 4 * codes.size:
            counts[low:high] += np.bincount(codes - low, minlength=high - low).astype(np.int32)
        else:  # items in any order: then numpy would count all of them anew for every piece
            np.add.at(counts, codes, 1)
    return counts.astype(width_for(int(counts.max(initial=0))))


def _verdict_codes(labels: Sequence[str], name: str) -> Codes:
    strange = [label for label in labels if label.casefold() not in VERDICTS]
    if strange:
        message = f"expected labels error, ok or unknown, found {', '.join(strange[:5])}; merge them into these"
        raise BadInput(Problem(name, f"{message}, as in 0,1=error and 2,e=ok"))
    return np.array([VERDICTS.index(label.casefold()) for label in labels], np.int8)


def places_of(wanted: pl.Series, names: pl.Series) -> Codes:
    """Where each name stands in `names`; -1 where it does not."""
    categories_of = next((each.dtype for each in (wanted, names) if isinstance(each.dtype, pl.Categorical)), None)
    if categories_of is not None:
        return _places_by_category(wanted.cast(categories_of), names.cast(categories_of))
    table = pl.DataFrame({"name": names, "place": np.arange(len(names), dtype=np.int32)})
    rows = pl.DataFrame({"name": wanted}).join(table, on="name", how="left", maintain_order="left")
    return rows["place"].fill_null(-1).to_numpy()


def _places_by_category(wanted: pl.Series, names: pl.Series) -> Codes:
    """The same for the items of a large table: by the numbers of their names, without a join of texts."""
    number_of, wanted_number = (series.to_physical().to_numpy() for series in (names, wanted))
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
    for start in range(0, len(frame), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        flagged[place[rows], system[rows]] = frame["flagged"][rows].cast(pl.Int8).to_numpy()
    columns = _columns(names, place, frame, items)
    del place, system  # as long as the decisions
    votes = votes_of(judgments, items=names, unknown=unknown, first=first)
    return Cases(**vars(votes), systems=systems, flagged=flagged, columns=columns)


def _items_of(frame: pl.DataFrame) -> tuple[Codes, pl.Series]:
    """The place of each decision's item, and the items in order: categories where they are many, else text."""
    if isinstance(frame["item"].dtype, pl.Categorical):
        place, names = codes_of_items(frame["item"])
        return place, names.cast(pl.String)
    if not may_repeat(frame.select("item")):  # as the items of one system
        return np.arange(len(frame), dtype=np.int32), frame["item"].cast(pl.String)
    place, names = codes_of_items(_categorical(frame["item"]))
    return place, names.cast(pl.String)


def _categorical(column: pl.Series) -> pl.Series:
    return column if isinstance(column.dtype, pl.Categorical | pl.Enum) else column.cast(pl.Categorical)


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


def places_in(where: Truths) -> Codes:
    """The places of the wanted items, in 32 bits."""
    starts = range(0, len(where), ROWS_AT_ONCE)
    parts = [
        np.flatnonzero(where[start : start + ROWS_AT_ONCE]).astype(np.int32) + np.int32(start) for start in starts
    ]
    return np.concatenate([np.zeros(0, np.int32), *parts])


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
