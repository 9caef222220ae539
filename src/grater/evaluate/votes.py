"""Judgments as votes: who calls which item an error.

Labels must be verdicts (`error`, `ok`, `unknown`, in any case): `--merge` makes them of anything else.  `unknown` is
never a vote, unless it is taken for `ok` (`--unknown ok`); an item where somebody said so is remembered.

Items need not have the same number of votes.  Shares do not mind, unless the number depends on the votes: where
asking stopped once raters agreed, shares are too near to 0 and 1.  With `first` N, shares are those of the first N
judgments of each item, `equal` in number; majorities are of all votes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.agreement.coded import Codes, coded
from grater.agreement.unknown import UNKNOWN, Unknown, with_unknown
from grater.errors import BadInput, Problem
from grater.evaluate.resampling import Ints, Numbers
from grater.tables import Judgments, are_first

Truths: TypeAlias = npt.NDArray[np.bool_]

ERROR, OK = "error", "ok"
VERDICTS = (ERROR, OK, UNKNOWN)


@dataclass(frozen=True, eq=False)
class Votes:
    """`item`, `rater` and `is_error` are aligned, one entry a vote; `has_unknown` by item.

    Judgments of items that are not looked at are counted, by item, in `n_stray`.
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
        return share_of(self.n_error, self.n_votes)


def share_of(n_error: Ints | Numbers, n_votes: Ints | Numbers) -> Numbers:
    """Votes for error by votes; nan where there is none."""
    votes = np.asarray(n_votes, np.float64)
    share: Numbers = np.divide(n_error, votes, out=np.full(votes.shape, np.nan), where=votes > 0)
    return share


def votes_of(
    judgments: Judgments, *, items: pl.Series | None = None, unknown: Unknown = "drop", first: int = 0
) -> Votes:
    """The votes on these items, or on all that were judged; shares of the `first` so many judgments of each item."""
    judgments = with_unknown(judgments, "ok") if unknown == "ok" else judgments
    votes = coded(judgments)
    names = votes.items if items is None else items
    label = _verdict_codes(votes.labels, judgments.name)
    spot = places_of(votes.items, names)
    item, verdict = spot[votes.item], label[votes.label]
    is_here, is_unknown = item >= 0, verdict == VERDICTS.index(UNKNOWN)
    is_vote = is_here & ~is_unknown
    has_unknown = np.zeros(len(names), bool)
    has_unknown[item[is_here & is_unknown]] = True
    return Votes(
        names,
        item[is_vote],
        votes.rater[is_vote],
        verdict[is_vote] == VERDICTS.index(ERROR),
        votes.raters,
        has_unknown,
        judgments,
        n_stray=int((spot < 0).sum()),
        n_unknown=int((is_here & is_unknown).sum()),
        is_first=are_first(judgments, first)[is_vote] if first else None,
    )


def _verdict_codes(labels: Sequence[str], name: str) -> Codes:
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
