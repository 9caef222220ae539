"""What a rule of gold does to raters, good and bad: exact, over every count of right answers.

A rater is a chance to be right on each gold in turn, the quiz first; `steady` and `turning` make such chances.  Going
through the gold one by one, the chances of all counts of right answers are carried along, and those that the rule
(`grater.crowd.trust`) puts out are set aside.  So a requester sees before the job how many good raters a rule costs
and how long a guesser stays; T,C&M 2013, 5.4, chose theirs by feel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grater.crowd.trust import TrustRule, is_below, passes_quiz

Chances = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Odds:
    """`fails_quiz` in every attempt; `out` at the end of all gold, quiz included; `met` is the hidden gold that
    somebody who passed the quiz meets on average before they are out, or the gold is."""

    fails_quiz: float
    out: float
    met: float


def steady(skill: float, n_gold: int) -> list[float]:
    """Always as good."""
    return [skill] * n_gold


def turning(skill: float, n_good: int, n_gold: int) -> list[float]:
    """As good for so many gold, then guessing between two answers."""
    return [skill] * n_good + [0.5] * (n_gold - n_good)


def odds(rule: TrustRule, chances: Sequence[float]) -> Odds:
    """What becomes of a rater with these chances to be right on each gold, those of the quiz first."""
    by_right = _answered(np.ones(1), chances[: rule.quiz])
    is_in = np.array([passes_quiz(rule, right=right) for right in range(len(by_right))])
    passes = float(by_right[is_in].sum())
    fails = (1.0 - passes) ** rule.attempts
    if not passes:
        return Odds(1.0, 1.0, 0.0)
    still, met = np.where(is_in, by_right, 0.0) / passes, 0.0
    for seen, chance in enumerate(chances[rule.quiz :], rule.quiz + 1):
        met += float(still.sum())
        still = _answered(still, [chance])
        still[[is_below(rule, seen=seen, right=right) for right in range(len(still))]] = 0.0
    return Odds(fails, 1.0 - (1.0 - fails) * float(still.sum()), met)


def _answered(by_right: Chances, chances: Sequence[float]) -> Chances:
    """The chances of every count of right answers after so many more gold."""
    for chance in chances:
        by_right = np.convolve(by_right, [1.0 - chance, chance])
    return by_right
