"""What every aggregation method takes and returns, `fit(ballots, options) -> Fit`, and the steps that methods share.

Iterative methods turn scores into posteriors (`posteriors`) and repeat a step until the log-likelihood stops rising
(`climb`).  The answer is the likeliest label (`answers`).  A tie is broken by the item's permanent random number
(`rng.permanent_number`), so neither the order of rows nor the other items can change it; two labels are tied if
their posteriors differ by less than the rounding error of a sum of floating-point numbers.

Tables of items x labels have many rows and few columns, and numpy is slow along such a short axis.  `row_sum` and
`row_max` go column by column, which is five times as fast.  (A product with a vector of ones is as fast, but BLAS
starts threads for it, which wait for each other on a busy machine.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Generic, TypeAlias, TypeVar

import numpy as np
import polars as pl

from grater.errors import UsageError
from grater.measure.agreement.coded import Codes, texts
from grater.measure.crowd.aggregate.ballots import Ballots, Gold, Numbers, Truths, clamped
from grater.uncertainty.rng import permanent_number

T = TypeVar("T")

LEAST = 1e-10
"""Nothing is impossible, as in crowd-kit: chances and expected counts are at least this."""
TIE = 1e-12
ITEMS_AT_ONCE = 1 << 18
"""Items whose answers are found together, so that what passes by takes little room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """When to stop, and the seed of randomness.

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
                raise UsageError(f"expected {name} of at least 1, found {getattr(self, name)}")
        if self.tolerance != self.tolerance:
            raise UsageError("expected a number as tolerance, found nan")


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """`posteriors` has a row for each item and a column for each label.

    `skill`, one number per rater, is defined by the method's paper; None where the method has no such thing.
    `history` is the log-likelihood after each iteration; `of_items` holds other estimates, one number per item.
    """

    posteriors: Numbers
    skill: Numbers | None = None
    history: tuple[float, ...] = ()
    has_converged: bool = True
    of_items: Mapping[str, Numbers] = field(default_factory=dict)
    details: object = None


Method: TypeAlias = Callable[[Ballots, Options], Fit]


def row_max(table: Numbers) -> Numbers:
    highest: Numbers = reduce(np.maximum, table.T)
    return highest


def row_sum(table: Numbers) -> Numbers:
    total: Numbers = reduce(np.add, table.T)
    return total


@dataclass(frozen=True, slots=True, eq=False)
class Climb(Generic[T]):
    """The last state of a run and the log-likelihood after each of its iterations."""

    state: T
    history: tuple[float, ...]
    has_converged: bool


def climb(step: Callable[[T], tuple[T, float]], state: T, *, n_judgments: int, options: Options) -> Climb[T]:
    """Repeat a step, which returns a new state and its log-likelihood, until the gain per judgment is small."""
    history: list[float] = []
    for _ in range(options.iterations):
        state, likelihood = step(state)
        history.append(float(likelihood))
        if len(history) > 1 and history[-1] - history[-2] < options.tolerance * n_judgments:
            return Climb(state, tuple(history), has_converged=True)
    return Climb(state, tuple(history), has_converged=False)


def shares(ballots: Ballots) -> Numbers:
    """The share of each label among an item's judgments, restricted to what gold accepts: the start of EM."""
    votes = ballots.votes.astype(np.float64)
    for start in range(0, len(votes), ITEMS_AT_ONCE):
        some = votes[start : start + ITEMS_AT_ONCE]
        some /= row_sum(some)[:, None]
    return clamped(votes, ballots.gold)


def posteriors(scores: Numbers, gold: Gold | None) -> tuple[Numbers, float]:
    """Chances in proportion to exp(scores), and the log-likelihood: the sum over items of log sum exp.

    `scores` is overwritten: the result is the same array.
    """
    if gold is not None:
        scores[gold.item] = np.where(gold.is_accepted, scores[gold.item], -np.inf)
    top = row_max(scores)
    scores -= top[:, None]
    np.exp(scores, out=scores)
    total = row_sum(scores)
    scores /= total[:, None]
    return scores, float(top.sum() + np.log(total).sum())


def answers(posteriors: Numbers, items: pl.Series, *, seed: int) -> tuple[Codes, Truths]:
    """The code of each item's answer, and whether it was a tie."""
    answer, is_tied = np.empty(len(posteriors), np.int32), np.empty(len(posteriors), bool)
    for start in range(0, len(posteriors), ITEMS_AT_ONCE):
        rows = slice(start, start + ITEMS_AT_ONCE)
        answer[rows], is_tied[rows] = _answers(posteriors[rows], items[rows], seed=seed)
    return answer, is_tied


def _answers(posteriors: Numbers, items: pl.Series, *, seed: int) -> tuple[Codes, Truths]:
    is_top = posteriors >= row_max(posteriors)[:, None] - TIE
    n_top = row_sum(is_top.astype(np.float64))
    answer = _first(is_top)
    tied = np.flatnonzero(n_top > 1)
    if tied.size:
        numbers = np.array([permanent_number(seed, name) for name in texts(items, tied)])
        wanted = (numbers * n_top[tied]).astype(np.int64) + 1
        answer[tied] = (is_top[tied].cumsum(axis=1) == wanted[:, None]).argmax(axis=1)
    return answer, n_top > 1


def _first(is_top: Truths) -> Codes:
    """The first label that is at the top: column by column, as rows are short."""
    answer = np.zeros(len(is_top), np.int32)
    for code in reversed(range(is_top.shape[1])):
        answer[is_top[:, code]] = code
    return answer


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
