"""Decisions and judgments face to face: what is scored, as codes.

A case is an item that at least one system decided on.  Labels must be verdicts (`error`, `ok`, `unknown`, in any
case): `--merge` makes them of anything else.  `unknown` is never a vote; an item where somebody said so is
remembered. Judgments of items that no system decided on are counted in `n_stray` and take no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.agreement.coded import Codes, by_appearance, by_name, coded
from grater.agreement.unknown import UNKNOWN
from grater.errors import BadInput, Problem, UnknownName, UsageError
from grater.evaluate.counts import ABSENT, Flags
from grater.evaluate.resampling import Ints, Numbers
from grater.registry import unknown as unknown_name
from grater.tables import Judgments, Table

Truths: TypeAlias = npt.NDArray[np.bool_]

ERROR, OK = "error", "ok"
VERDICTS = (ERROR, OK, UNKNOWN)
NONE = "(none)"


@dataclass(frozen=True, eq=False)
class Cases:
    """`flagged` is items x systems; `item`, `rater` and `is_error` are aligned, one entry a vote."""

    items: pl.Series
    systems: tuple[str, ...]
    flagged: Flags
    item: Codes
    rater: Codes
    is_error: Truths
    raters: tuple[str, ...]
    has_unknown: Truths
    judgments: Judgments
    columns: pl.DataFrame = field(default_factory=pl.DataFrame)
    n_stray: int = 0
    n_unknown: int = 0

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def n_votes(self) -> Ints:
        """Usable judgments of each item."""
        return np.bincount(self.item, minlength=len(self))

    @cached_property
    def n_error(self) -> Ints:
        """Votes for error."""
        return np.bincount(self.item[self.is_error], minlength=len(self))

    @property
    def is_judged(self) -> Truths:
        judged: Truths = self.n_votes > 0
        return judged

    @cached_property
    def share(self) -> Numbers:
        """The share of votes for error; nan where there is none."""
        votes = self.n_votes.astype(np.float64)
        out: Numbers = np.divide(self.n_error, votes, out=np.full(len(self), np.nan), where=votes > 0)
        return out

    def groups(self, column: str) -> tuple[Codes, tuple[str, ...]]:
        """A code for each item's value in a column of the items or decisions, and the values by code."""
        if column not in self.columns.columns:
            known = [name for name in self.columns.columns if name != "item"]
            raise UnknownName(f"{unknown_name('column', column, known)}; give --items for columns of items")
        values = self.columns[column].cast(pl.String).fill_null(NONE)
        return by_name(values.cast(pl.Categorical))


def cases_of(decisions: Table, judgments: Judgments, *, items: Table | None = None) -> Cases:
    """Every item that was decided on, with the votes that it got."""
    frame = decisions.frame
    if not len(frame):
        raise BadInput(Problem(decisions.name, "expected at least one decision, found none"))
    place, names = by_appearance(_categorical(frame["item"]))
    system, systems = by_name(_categorical(frame["system"]))
    flagged = np.full((len(names), len(systems)), ABSENT, np.int8)
    flagged[place, system] = frame["flagged"].cast(pl.Int8).to_numpy()
    votes = coded(judgments)
    label = _verdict_codes(votes.labels, judgments.name)
    spot = places_of(votes.items, names)
    item, verdict = spot[votes.item], label[votes.label]
    is_here = item >= 0
    is_vote = is_here & (verdict != 2)
    has_unknown = np.zeros(len(names), bool)
    has_unknown[item[is_here & (verdict == 2)]] = True
    return Cases(
        names,
        systems,
        flagged,
        item[is_vote],
        votes.rater[is_vote],
        verdict[is_vote] == 0,
        votes.raters,
        has_unknown,
        judgments,
        _columns(names, place, frame, items),
        n_stray=int((spot < 0).sum()),
        n_unknown=int((is_here & (verdict == 2)).sum()),
    )


def _categorical(column: pl.Series) -> pl.Series:
    return column if isinstance(column.dtype, pl.Categorical | pl.Enum) else column.cast(pl.Categorical)


def _verdict_codes(labels: Sequence[str], name: str) -> Codes:
    """0 for error, 1 for ok, 2 for unknown."""
    strange = [label for label in labels if label.casefold() not in VERDICTS]
    if strange:
        message = f"expected labels error, ok or unknown, found {', '.join(strange[:5])}; map them with --merge"
        raise BadInput(Problem(name, f"{message}, as in --merge 0,1=error --merge 2,e=ok"))
    return np.array([VERDICTS.index(label.casefold()) for label in labels], np.int32)


def places_of(wanted: pl.Series, names: pl.Series) -> Codes:
    """Where each name stands in `names`; -1 where it does not."""
    table = pl.DataFrame({"name": names, "place": np.arange(len(names), dtype=np.int32)})
    found = pl.DataFrame({"name": wanted}).join(table, on="name", how="left", maintain_order="left")
    return found["place"].fill_null(-1).to_numpy()


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
