"""How far the raters of each item are of one mind.

Three measures: the share of the majority label; the share of pairs of judgments that agree, which does not change
with the number of judgments; and the entropy of the labels in bits.  `unknown` is left out of all three and has a
share of its own, as many raters use it on garbled sentences (T,C&M 2013, 5.5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from grater.agreement.coded import Coded, coded
from grater.agreement.coefficient import Numbers
from grater.agreement.counts import Whole, table_of
from grater.agreement.unknown import UNKNOWN
from grater.tables import Judgments


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """One row for each item, in the order of `items`; nan where an item has no judgment, or for pairs no two."""

    items: pl.Series
    labels: tuple[str, ...]
    counts: Whole
    n_unknown: Whole

    @property
    def n(self) -> Whole:
        """Judgments that are not unknown."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def majority_share(self) -> Numbers:
        return _divided(self.counts.max(axis=1, initial=0), self.n)

    @property
    def pair_agreement(self) -> Numbers:
        return _divided((self.counts * (self.counts - 1)).sum(axis=1), self.n * (self.n - 1))

    @property
    def entropy(self) -> Numbers:
        shares = _divided(self.counts, self.n[:, None])
        logarithms = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
        return np.asarray(-(shares * logarithms).sum(axis=1)) + 0.0

    @property
    def unknown_share(self) -> Numbers:
        return _divided(self.n_unknown, self.n + self.n_unknown)

    def majority(self, row: int) -> str:
        """The most frequent label; several, with a stroke between, where they are as frequent."""
        most = self.counts[row].max(initial=0)
        return " / ".join(label for label, n in zip(self.labels, self.counts[row], strict=True) if n == most > 0)


def spreads(judgments: Judgments) -> Spread:
    """The spread of every item of a table."""
    codes: Coded = coded(judgments)
    table = table_of(codes.item, codes.label, len(codes.labels))
    known = [place for place, label in enumerate(codes.labels) if label != UNKNOWN]
    unknown = [place for place, label in enumerate(codes.labels) if label == UNKNOWN]
    labels = tuple(codes.labels[place] for place in known)
    return Spread(codes.items, labels, table[:, known], np.asarray(table[:, unknown].sum(axis=1)))


def _divided(top: Whole, bottom: Whole) -> Numbers:
    top, bottom = np.broadcast_arrays(top, bottom)
    out = np.full(top.shape, np.nan)
    return np.asarray(np.divide(top, bottom, out=out, where=bottom > 0), np.float64)
