"""Gold items: what is known to be true of them, held fast in every method.

Gold may accept several labels for an item.  A posterior is then spread over these alone, as the model sees fit; an
item with one accepted label has it with certainty.  Raters are judged by it like by any other item.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem
from grater.tables import Table, exploded

Numbers: TypeAlias = npt.NDArray[np.float64]
Truths: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Gold:
    """`item` by code; `is_accepted` has a row for each of them and a column for each label."""

    item: npt.NDArray[np.int64]
    is_accepted: Truths
    labels: tuple[str, ...]
    n_unjudged: int = 0

    def __len__(self) -> int:
        return len(self.item)

    def among(self, labels: Sequence[str]) -> Gold:
        """The same with a column for each of these labels, which must hold all of its own."""
        is_accepted = np.zeros((len(self), len(labels)), bool)
        is_accepted[:, [labels.index(label) for label in self.labels]] = self.is_accepted
        return Gold(self.item, is_accepted, tuple(labels), self.n_unjudged)


def gold_of(gold: Table, items: pl.Series, labels: Sequence[str]) -> Gold:
    """Gold of judged items by code; labels that only gold has come after `labels`.  No item in common is an error."""
    codes = pl.DataFrame({"item": items.cast(pl.String), "code": np.arange(len(items))})
    found = exploded(gold.frame.select("item", "label"), "label").join(codes, on="item", maintain_order="left")
    if found.is_empty():
        problem = f"expected gold for some of the judged items, found {len(gold)} others; are these the same items?"
        raise BadInput(Problem(gold.name, problem))
    item, row = np.unique(found["code"].to_numpy(), return_inverse=True)
    new = sorted(set(found["label"]) - set(labels))
    known = (*labels, *new)
    column = found["label"].replace_strict(known, np.arange(len(known)), return_dtype=pl.Int64).to_numpy()
    is_accepted = np.zeros((len(item), len(known)), bool)
    is_accepted[row, column] = True
    return Gold(item, is_accepted, known, gold.frame["item"].n_unique() - len(item))


def clamped(shares: Numbers, gold: Gold | None) -> Numbers:
    """Shares with nothing on what gold refuses; where nothing is left, all that it accepts is equally likely."""
    if gold is None:
        return shares
    kept = np.where(gold.is_accepted, shares[gold.item], 0.0)
    kept = np.where(kept.sum(axis=1, keepdims=True) > 0, kept, gold.is_accepted)
    shares = shares.copy()
    shares[gold.item] = kept / kept.sum(axis=1, keepdims=True)
    return shares
