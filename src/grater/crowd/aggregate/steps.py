"""The two things every iterative method does: make posteriors of scores, and climb until nothing is gained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from grater.crowd.aggregate.ballots import Ballots
from grater.crowd.aggregate.fit import Numbers, Options
from grater.crowd.aggregate.gold import Gold, clamped
from grater.crowd.aggregate.rows import row_max, row_sum

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
