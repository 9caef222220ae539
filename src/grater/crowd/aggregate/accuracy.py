"""How often the joint answer is right, where the truth is known.

Limits are Wilson's over items.  Items that were given as gold are left out: a method that is told an answer has not
found it.  A tie counts as what chance made of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grater.crowd.aggregate.aggregation import Aggregation
from grater.crowd.aggregate.ballots import gold_of
from grater.model import Interval
from grater.statistics.proportions import wilson
from grater.tables import Table


@dataclass(frozen=True, slots=True)
class Accuracy:
    """`n_items` were judged, have a truth and were not gold; `n_unjudged` have a truth and no judgment."""

    share: Interval
    n_items: int
    n_unjudged: int


def accuracy(found: Aggregation, truth: Table) -> Accuracy:
    """The share of items whose answer is among the labels that `truth` accepts."""
    known = gold_of(truth, found.items, found.labels)
    is_right = known.is_accepted[np.arange(len(known)), found.answer[known.item]]
    gold = found.ballots.gold
    is_new = np.ones(len(known), bool) if gold is None else ~np.isin(known.item, gold.item)
    n_items = int(is_new.sum())
    return Accuracy(wilson(int(is_right[is_new].sum()), n_items), n_items, known.n_unjudged)
