"""The judgments as a method sees them: coded, in order of item, with what gold says.

Gold is held fixed in every method.  It may accept several labels for an item: the posterior is then spread over these
alone, as the model sees fit, and an item with one accepted label has it with certainty.  Raters are judged by gold
items as by any other.

Raters are coded on first use only: a plain vote never needs them, and at a million judgments that is most of its
work.  Sums over items or raters are products with a sparse matrix of ones (scipy), so no method loops over judgments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UsageError
from grater.measure.agreement.coded import (
    Codes,
    Physical,
    categories,
    codes_by_name,
    codes_of_items,
    in_order,
    looked_up,
    physicals,
    width_for,
)
from grater.measure.agreement.counts import Table as Counted
from grater.measure.agreement.counts import label_table, pieces, runs, table_of_items, table_of_runs
from grater.tables import Judgments, Table, exploded

Numbers: TypeAlias = npt.NDArray[np.float64]
Truths: TypeAlias = npt.NDArray[np.bool_]
Sparse: TypeAlias = Any
"""A scipy sparse array; scipy has no types."""

MOST_CODES = 1 << 31
ROWS_AT_ONCE = 1 << 17
JUDGMENTS_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Gold:
    """`item` by code; `is_accepted` has a row for each of them and a column for each label."""

    item: npt.NDArray[np.int64]
    is_accepted: Truths
    labels: tuple[str, ...]
    n_unjudged: int = 0

    def __len__(self) -> int:
        return len(self.item)

    def within(self, items: slice) -> Gold:
        """What it says of some items, by their place among these."""
        first, last = np.searchsorted(self.item, [items.start, items.stop])
        return replace(self, item=self.item[first:last] - items.start, is_accepted=self.is_accepted[first:last])

    def among(self, labels: Sequence[str]) -> Gold:
        """The same with a column for each of these labels, which must hold all of its own."""
        is_accepted = np.zeros((len(self), len(labels)), bool)
        is_accepted[:, [labels.index(label) for label in self.labels]] = self.is_accepted
        return Gold(item=self.item, is_accepted=is_accepted, labels=tuple(labels), n_unjudged=self.n_unjudged)


def gold_of(gold: Table, items: pl.Series, labels: Sequence[str]) -> Gold:
    """Gold of judged items by code; labels that only gold has come after `labels`.  No item in common is an error."""
    codes = pl.DataFrame({"item": items.cast(pl.String), "code": np.arange(len(items))})
    rows = exploded(gold.frame.select("item", "label"), "label").join(codes, on="item", maintain_order="left")
    if rows.is_empty():
        problem = f"expected gold for some of the judged items, found {len(gold)} others; are these the same items?"
        raise BadInput(Problem(gold.name, problem))
    item, row = np.unique(rows["code"].to_numpy(), return_inverse=True)
    new = sorted(set(rows["label"]) - set(labels))
    known = (*labels, *new)
    column = rows["label"].replace_strict(known, np.arange(len(known)), return_dtype=pl.Int64).to_numpy()
    is_accepted = np.zeros((len(item), len(known)), bool)
    is_accepted[row, column] = True
    return Gold(
        item=item, is_accepted=is_accepted, labels=known, n_unjudged=gold.frame["item"].n_unique() - len(item)
    )


def clamped(shares: Numbers, gold: Gold | None) -> Numbers:
    """Shares restricted to what gold accepts; where nothing is left, all accepted labels are equally likely."""
    if gold is None:
        return shares
    kept = np.where(gold.is_accepted, shares[gold.item], 0.0)
    kept = np.where(kept.sum(axis=1, keepdims=True) > 0, kept, gold.is_accepted)
    shares = shares.copy()
    shares[gold.item] = kept / kept.sum(axis=1, keepdims=True)
    return shares


@dataclass(frozen=True, eq=False)
class Ballots:
    """Which rater gave which label to which item, by code; `gold` restricts the truth of some items.

    `votes` counts how often each item was given each label.  `items` may be text or categories; callers convert them
    where they need text.  The codes of single judgments are made when they are first asked for, as a plain vote needs
    none: from `label_names`, where `code_of` has the code of a physical label, and from `starts`, the first judgment
    of each item, or from `item_codes` where those of an item do not stand together.
    """

    judgments: Judgments
    items: pl.Series
    labels: tuple[str, ...]
    votes: Counted
    label_names: pl.Series
    code_of: Codes
    item_codes: Codes
    starts: Codes | None = None
    gold: Gold | None = None

    def __len__(self) -> int:
        return len(self.label_names)

    @cached_property
    def item(self) -> Codes:
        if self.starts is None:
            return self.item_codes
        n_each = np.diff(self.starts, append=self.starts.dtype.type(len(self)))
        return np.repeat(np.arange(self.starts.size, dtype=np.int32), n_each)

    @property
    def starts_in_order(self) -> Codes:
        """Where the judgments of each item start once they are in order of item."""
        if self.starts is not None:
            return self.starts
        return np.append(0, np.cumsum(np.bincount(self.item_codes, minlength=self.n_items))[:-1])

    @cached_property
    def label(self) -> Codes:
        return looked_up(self.code_of, self.label_names.to_physical().to_numpy())

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_labels(self) -> int:
        return len(self.labels)

    @cached_property
    def _raters(self) -> tuple[Physical, Codes, tuple[str, ...]]:
        names = categories(self.judgments, "rater")
        physical = names.to_physical().to_numpy()
        return physical, *codes_by_name(names, physical, n_rows=len(names))

    @cached_property
    def rater(self) -> Codes:
        physical, code_of, _ = self._raters
        return looked_up(code_of, physical)

    @property
    def raters(self) -> tuple[str, ...]:
        return self._raters[2]

    def slot(self) -> Codes:
        """The position of each judgment in the table of items x labels, row by row."""
        return _product(self.item, self.label, self.n_labels)

    def in_order_of_item(self, column: Codes) -> Codes:
        """Numbers of judgments with those of an item together, items in their order."""
        if self.starts is not None:
            return column
        ordered, at = np.empty_like(column), 0
        n_parts = len(self) // JUDGMENTS_AT_ONCE + 1
        for low, high in pairwise(self.n_items * part // n_parts for part in range(n_parts + 1)):
            rows = np.flatnonzero((self.item_codes >= low) & (self.item_codes < high))
            rows = rows[np.argsort(self.item_codes[rows], kind="stable")]
            ordered[at : at + rows.size] = column[rows]
            at += rows.size
        return ordered

    def cell(self) -> Codes:
        """The position of each judgment in the table of raters x labels, row by row; as narrow as can be."""
        physical, code_of, raters = self._raters
        labels = self.label_names.to_physical().to_numpy()
        _require_few(len(raters), self.n_labels)
        cells = np.empty(len(self), width_for(len(raters) * self.n_labels))
        first = code_of.astype(np.int32) * np.int32(self.n_labels)
        for start in range(0, len(self), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            cells[rows] = first.take(physical[rows]) + self.code_of.take(labels[rows])
        return cells


def ballots_of(judgments: Judgments, *, gold: Table | None = None) -> Ballots:
    """Coded judgments; labels that occur only in gold are labels too."""
    ballots = _ballots(judgments)
    return ballots if gold is None else _with_gold(ballots, gold)


def _ballots(judgments: Judgments) -> Ballots:
    item_names, label_names = categories(judgments, "item"), categories(judgments, "label")
    item, label = physicals(item_names, label_names)
    starts = runs(item)
    if starts is not None:
        codes, items = np.zeros(0, np.int32), item_names[starts]
        votes, code_of, labels = label_table(label_names, label, partial(_votes_of_runs, starts))
    else:
        codes, items = codes_of_items(item_names)
        votes, code_of, labels = label_table(label_names, label, partial(table_of_items, codes))
    return Ballots(
        judgments=judgments,
        items=items,
        labels=labels,
        votes=votes,
        label_names=label_names,
        code_of=code_of,
        item_codes=codes,
        starts=starts,
    )


def _votes_of_runs(starts: Codes, label: Physical, code_of: Codes, n_labels: int) -> Counted | None:
    """The table of items whose judgments stand together, as narrow as its numbers allow."""
    most = int(np.diff(starts, append=starts.dtype.type(label.size)).max(initial=0))
    votes: Counted = np.empty((starts.size, n_labels), width_for(most))
    for items, rows in pieces(starts, label.size):
        table = table_of_runs(starts[items] - rows.start, label[rows], code_of, n_labels)
        if table is None:
            return None
        votes[items] = table
    return votes


def _with_gold(ballots: Ballots, gold: Table) -> Ballots:
    known = gold_of(gold, ballots.items, ballots.labels)
    every = tuple(sorted({*ballots.labels, *known.labels}))
    every = tuple(every[codes] for codes in in_order(every))
    codes = np.array([every.index(name) for name in ballots.labels], np.int32)
    votes = np.zeros((ballots.n_items, len(every)), np.int64)
    votes[:, codes] = ballots.votes
    # A physical label without a code does not occur among these judgments.
    code_of = np.where(ballots.code_of < 0, np.int32(-1), codes.take(np.maximum(ballots.code_of, 0)))
    return replace(ballots, labels=every, votes=votes, code_of=code_of, gold=known.among(every))


def incidence(row: Codes, column: Codes, *, shape: tuple[int, int], value: Codes | None = None) -> Sparse:
    """A sparse matrix of ones, or values, at the given pairs, each of which must occur once."""
    from scipy.sparse import coo_array  # a fifth of a second that most commands need not wait for

    values = np.ones(len(row)) if value is None else value.astype(np.float64)
    matrix = coo_array((values, (row, column)), shape=shape)
    # A rater judges an item once, so there is nothing to sum; the check would cost as much as all the rest.
    matrix.has_canonical_format = True
    return matrix.tocsr()


def columns_of_ones(column: Codes, starts: Codes, n_columns: int) -> Iterator[tuple[slice, Sparse]]:
    """Some items and their matrix of ones, sparse: row by row the columns of an item's judgments, which are together.

    Each matrix is made when its turn comes: of a hundred million judgments only the columns stay, narrow as they are.
    """
    from scipy.sparse import csr_array  # a fifth of a second that most commands need not wait for

    for items, rows in pieces(starts, len(column)):
        n_rows = rows.stop - rows.start
        pointers = np.append(starts[items] - rows.start, n_rows).astype(np.int32)
        shape = (items.stop - items.start, n_columns)
        indices = column[rows].astype(np.int32, copy=False)
        yield items, csr_array((np.ones(n_rows), indices, pointers), shape=shape, copy=False)


def summed(numbers: Numbers, code: Codes, n_codes: int) -> Numbers:
    """The sum of the numbers under each code."""
    return np.bincount(code, weights=numbers, minlength=n_codes).astype(np.float64, copy=False)


def _product(outer: Codes, inner: Codes, n_inner: int) -> Codes:
    _require_few(int(outer.max(initial=0)) + 1, n_inner)
    slots = outer * np.int32(n_inner)
    slots += inner
    return slots


def _require_few(n_outer: int, n_labels: int) -> None:
    if n_outer * n_labels >= MOST_CODES:
        raise UsageError(f"expected fewer labels, found {n_labels}: too many for this method; merge some of them")
