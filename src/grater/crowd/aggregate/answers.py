"""From posteriors to answers: the likeliest label, ties broken by chance.

Chance is the item's own number (`rng.permanent_number`), so neither the order of rows nor the other items have a say
in it.  Two labels are tied if their posteriors differ by less than what sums of floating-point numbers may lose.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from grater.agreement.coded import Codes
from grater.crowd.aggregate.ballots import Ballots
from grater.crowd.aggregate.fit import Numbers
from grater.crowd.aggregate.gold import Gold, Truths
from grater.crowd.aggregate.rows import row_max, row_sum
from grater.rng import permanent_number

TIE = 1e-12


def answers(posteriors: Numbers, items: pl.Series, *, seed: int) -> tuple[Codes, Truths]:
    """The code of each item's answer, and whether it was a tie."""
    is_top = posteriors >= row_max(posteriors)[:, None] - TIE
    n_top = row_sum(is_top.astype(np.float64))
    answer = is_top.argmax(axis=1).astype(np.int32)
    tied = np.flatnonzero(n_top > 1)
    if tied.size:
        numbers = np.array([permanent_number(seed, name) for name in items.gather(tied)])
        wanted = (numbers * n_top[tied]).astype(np.int64) + 1
        answer[tied] = (is_top[tied].cumsum(axis=1) == wanted[:, None]).argmax(axis=1)
    return answer, n_top > 1


def agreement_with(answer: Codes, ballots: Ballots) -> Numbers:
    """For each rater the share of judgments that equal the answer, or that gold accepts."""
    is_right = right(answer, ballots.n_labels, ballots.gold)
    hits = is_right.ravel().take(ballots.slot())
    n_raters = len(ballots.raters)
    n_hits = np.bincount(ballots.rater[hits], minlength=n_raters)
    return n_hits / np.bincount(ballots.rater, minlength=n_raters)


def right(answer: Codes, n_labels: int, gold: Gold | None) -> Truths:
    """Which labels are right for each item."""
    is_right: Truths = answer[:, None] == np.arange(n_labels)
    if gold is not None:
        is_right[gold.item] = gold.is_accepted
    return is_right
