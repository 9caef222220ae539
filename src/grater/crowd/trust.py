"""When a rater is trusted: the rules of gold, as CrowdFlower had them and better (docs/crowd.md, T,C&M 2013, 5.4).

A rater meets gold in an entry quiz, then hidden among the work.  Below the minimum accuracy they are put out; the
quiz is passed or failed as a whole, and may be tried again as often as the job allows.  Gold missed by more than half
of the raters who saw it, five at the least, is suspected to be wrong itself and is suspended.

Ours: `sure` gives the benefit of the doubt.  A few questions say little, and of good raters some always fall short by
bad luck; with `sure` .9 one is put out only where somebody who is just good enough would have done so badly in less
than a tenth of cases (the binomial tail at the minimum).  `odds` says what a rule does to raters, good and bad.

What a rule of gold does to raters, good and bad: exact, over every count of right answers.

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
from scipy.special import bdtr

from grater.errors import UsageError

SUSPECT_AFTER = 5
WIDE_PAGE = 20
FUZZ = 1e-9
"""14 of 25 is .56, though 25 times .56 is a little over 14 in binary."""


@dataclass(frozen=True, slots=True)
class TrustRule:
    """`minimum` accuracy on gold, from `least_seen` on; a `quiz` of so many gold, tried `attempts` times.

    `sure`, from 0 to 1, is how sure the rule must be that a rater is below the minimum; at 0 the bare share decides.
    """

    minimum: float = 0.7
    least_seen: int = 4
    quiz: int = 0
    attempts: int = 1
    sure: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.minimum <= 1:
            raise UsageError(f"expected a minimum accuracy from 0 to 1, found {self.minimum}")
        if self.least_seen < 1 or self.quiz < 0 or self.attempts < 1:
            raise UsageError("expected at least 1 gold before a verdict, a quiz of 0 or more, and 1 attempt or more")
        if not 0 <= self.sure < 1:
            raise UsageError(f"expected to be sure from 0 to below 1, found {self.sure}")


def is_below(rule: TrustRule, *, seen: int, right: int) -> bool:
    """Whether a rater with so much gold right is to be put out."""
    return seen >= rule.least_seen and _falls_short(rule, seen, right)


def passes_quiz(rule: TrustRule, *, right: int) -> bool:
    """Whether a whole quiz with so many right is passed."""
    return not _falls_short(rule, rule.quiz, right)


def quiz_needed(rule: TrustRule) -> int:
    """How many questions of the quiz must be right."""
    return next(right for right in range(rule.quiz + 1) if passes_quiz(rule, right=right))


def _falls_short(rule: TrustRule, seen: int, right: int) -> bool:
    is_below_share = right < rule.minimum * seen - FUZZ
    return is_below_share and (not rule.sure or float(bdtr(right, seen, rule.minimum)) <= 1 - rule.sure)


def is_suspect(*, seen: int, missed: int) -> bool:
    """Whether gold was missed so often that the gold, not the raters, is doubted."""
    return seen >= SUSPECT_AFTER and 2 * missed > seen


def gold_on_page(page_size: int) -> int:
    """How much hidden gold a page holds: 1 up to 19 units, 2 from 20 to 29, and one more for every further ten."""
    if page_size < 2:
        raise UsageError(f"expected pages of at least 2 units, one of them gold, found {page_size}")
    return max(1, page_size // (WIDE_PAGE // 2))


def gold_turns(page_size: int, *, rng: np.random.Generator) -> tuple[int, ...]:
    """The turns of a page, from 0, that are gold; any turn is as likely as another."""
    chosen: Sequence[int] = rng.choice(page_size, gold_on_page(page_size), replace=False).tolist()
    return tuple(sorted(chosen))


Chances = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GoldRuleOdds:
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


def odds(rule: TrustRule, chances: Sequence[float]) -> GoldRuleOdds:
    """What becomes of a rater with these chances to be right on each gold, those of the quiz first."""
    by_right = _answered(np.ones(1), chances[: rule.quiz])
    is_in = np.array([passes_quiz(rule, right=right) for right in range(len(by_right))])
    passes = float(by_right[is_in].sum())
    fails = (1.0 - passes) ** rule.attempts
    if not passes:
        return GoldRuleOdds(1.0, 1.0, 0.0)
    still, met = np.where(is_in, by_right, 0.0) / passes, 0.0
    for seen, chance in enumerate(chances[rule.quiz :], rule.quiz + 1):
        met += float(still.sum())
        still = _answered(still, [chance])
        still[[is_below(rule, seen=seen, right=right) for right in range(len(still))]] = 0.0
    return GoldRuleOdds(fails, 1.0 - (1.0 - fails) * float(still.sum()), met)


def _answered(by_right: Chances, chances: Sequence[float]) -> Chances:
    """The chances of every count of right answers after so many more gold."""
    for chance in chances:
        by_right = np.convolve(by_right, [1.0 - chance, chance])
    return by_right
