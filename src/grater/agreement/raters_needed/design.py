"""The crowd and the experts on the items that both judged, with equal items taken together.

An item matters only through how often the crowd gave each label and what each expert said; items that agree in both
are one *kind*, and a resample of items is a draw of kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from grater.agreement.coded import coded, in_order
from grater.agreement.confusion import NOBODY, label_matrix
from grater.agreement.counts import Whole, table_of
from grater.errors import BadInput, Problem
from grater.tables import Judgments, require_raters

WRITER = "writer"


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Kinds of items: the crowd's counts by label, the experts' labels (`NOBODY` where one has none), and how many
    items are of each kind."""

    counts: Whole
    said: Whole
    n_items: Whole
    labels: tuple[str, ...]
    experts: tuple[str, ...]
    n_crowd_only: int
    n_experts_only: int

    @property
    def most(self) -> int:
        """The most judgments that an item has."""
        return int(self.counts.sum(axis=1).max())

    @property
    def n(self) -> int:
        return int(self.n_items.sum())

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The experts whose agreement is to be matched: each with the writer where there is one, else each two."""
        if WRITER in self.experts:
            writer = self.experts.index(WRITER)
            return [(place, writer) for place in range(len(self.experts)) if place != writer]
        return list(combinations(range(len(self.experts)), 2))


def design(crowd: Judgments, experts: Judgments) -> Design:
    """The two tables side by side; experts must be people, the crowd need not."""
    require_raters(experts, "experts")
    ours, theirs = coded(crowd), coded(experts)
    place = {item: row for row, item in enumerate(theirs.items.to_list())}
    rows = np.array([place.get(item, NOBODY) for item in ours.items.to_list()], np.int64)
    both = rows != NOBODY
    if not both.any():
        raise BadInput(Problem(experts.name, f"expected items of {crowd.name}, found none of them"))
    labels = _in_order({*ours.labels, *theirs.labels})
    counts = table_of(ours.item, _recoded(ours.labels, labels)[ours.label], len(labels))[both]
    said = label_matrix(theirs)[rows[both]]
    said = np.where(said == NOBODY, NOBODY, _recoded(theirs.labels, labels)[said])
    kinds, n_items = np.unique(np.hstack([counts, said]), axis=0, return_counts=True)
    return Design(
        kinds[:, : len(labels)],
        kinds[:, len(labels) :],
        n_items,
        labels,
        theirs.raters,
        int((~both).sum()),
        len(theirs.items) - int(both.sum()),
    )


def _in_order(names: set[str]) -> tuple[str, ...]:
    listed = sorted(names)
    return tuple(listed[place] for place in in_order(listed))


def _recoded(old: tuple[str, ...], new: tuple[str, ...]) -> Whole:
    return np.array([new.index(label) for label in old], np.int64)
