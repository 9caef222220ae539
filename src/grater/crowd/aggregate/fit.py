"""What a method takes and what it gives: `fit(ballots, options) -> Fit`.

Sums and maxima of short rows.

numpy goes along an axis of two or three numbers at a fraction of its speed, and tables of items x labels are just
that: many rows, few columns.  Column by column it is five times as fast.  (So is a product with a vector of ones, but
BLAS starts threads for it, and on a busy machine they wait for each other.)

The two things every iterative method does: make posteriors of scores, and climb until nothing is gained.

From posteriors to answers: the likeliest label, ties broken by chance.

Chance is the item's own number (`rng.permanent_number`), so neither the order of rows nor the other items have a say
in it.  Two labels are tied if their posteriors differ by less than what sums of floating-point numbers may lose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.agreement.coded import Codes
from grater.crowd.aggregate.ballots import Ballots, Gold, Numbers, Truths, clamped
from grater.errors import UsageError
from grater.rng import permanent_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """When to stop, and where chance comes from.

    A run stops once an iteration gains less than `tolerance` in log-likelihood per judgment, as crowd-kit does.
    `restarts` is for methods that start at random.
    """

    iterations: int = 100
    tolerance: float = 1e-6
    restarts: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("iterations", "restarts"):
            if getattr(self, name) < 1:
                raise UsageError(f"expected --{name} of at least 1, found {getattr(self, name)}")
        if self.tolerance != self.tolerance:
            raise UsageError("expected a number for --tolerance, found nan")


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """`posteriors` has a row for each item and a column for each label.

    `skill`, a number for each rater, is what the method's paper calls so; None where the method has no such thing.
    `history` is the log-likelihood after each iteration; `of_items` is what else was learnt of each item.
    """

    posteriors: Numbers
    skill: Numbers | None = None
    history: tuple[float, ...] = ()
    has_converged: bool = True
    of_items: Mapping[str, Numbers] = field(default_factory=dict)
    details: object = None


Method: TypeAlias = Callable[[Ballots, Options], Fit]


Rows: TypeAlias = npt.NDArray[np.float64]


def row_max(table: Rows) -> Rows:
    highest: Rows = reduce(np.maximum, table.T)
    return highest


def row_sum(table: Rows) -> Rows:
    total: Rows = reduce(np.add, table.T)
    return total


T = TypeVar("T")

LEAST = 1e-10
"""Nothing is impossible, as in crowd-kit: chances and expected counts are at least this."""


@dataclass(frozen=True, slots=True, eq=False)
class Climb(Generic[T]):
    state: T
    history: tuple[float, ...]
    has_converged: bool


def climb(step: Callable[[T], tuple[T, float]], state: T, *, n_judgments: int, options: Options) -> Climb[T]:
    """Repeat a step that gives a new state and its log-likelihood, until the gain per judgment is small."""
    history: list[float] = []
    for _ in range(options.iterations):
        state, likelihood = step(state)
        history.append(float(likelihood))
        if len(history) > 1 and history[-1] - history[-2] < options.tolerance * n_judgments:
            return Climb(state, tuple(history), True)
    return Climb(state, tuple(history), False)


def shares(ballots: Ballots) -> Numbers:
    """The share of each label among an item's judgments, within what gold accepts: where EM starts."""
    votes = ballots.votes.astype(np.float64)
    votes /= row_sum(votes)[:, None]
    return clamped(votes, ballots.gold)


def posteriors(scores: Numbers, gold: Gold | None) -> tuple[Numbers, float]:
    """Chances in proportion to exp(scores), and the log-likelihood: the sum over items of log sum exp.

    `scores` is used up: the result takes its place in memory.
    """
    if gold is not None:
        scores[gold.item] = np.where(gold.is_accepted, scores[gold.item], -np.inf)
    top = row_max(scores)
    scores -= top[:, None]
    np.exp(scores, out=scores)
    total = row_sum(scores)
    scores /= total[:, None]
    return scores, float(top.sum() + np.log(total).sum())


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
