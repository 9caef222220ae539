"""When a rater is trusted: rules over gold items, as CrowdFlower had them, and what a rule does to raters
(docs/crowd.md).

T,C&M 2013, section 5.4.  A rater meets gold in an entry quiz, then hidden among the work.  A rater whose accuracy
falls below the minimum is ejected; the quiz is passed or failed as a whole, and may be repeated as often as the job
allows.  Gold that more than half of the raters missed, of at least five who saw it, is suspected of being wrong
itself and is suspended.

Departures: each turn is drawn by itself (`gold_rate`).  CrowdFlower hid a fixed number on every page, so that whoever
was told of a miss, and of how many were right so far, knew that the rest of a page was free, or its last unit gold.

`sure` gives the benefit of the doubt.  A few gold items say little, and some good raters always fall short
by bad luck; with `sure` .9 a rater is ejected only where somebody exactly at the minimum would do as badly in less
than a tenth of cases (the binomial tail at the minimum).

`odds` computes what a rule does, exactly.  A rater is a sequence of chances to be right, one per gold item, the quiz
first (`steady`, `turning`).  The distribution of the count of right answers is carried along, gold item by gold item,
and the counts at which the rule ejects are set aside.  So a requester sees before the job how many good raters a rule
costs and how long a guesser stays; T,C&M chose theirs by feel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grater.errors import UsageError

Chances = npt.NDArray[np.float64]

SUSPECT_AFTER = 5
WIDE_PAGE = 20
FUZZ = 1e-9
"""In binary, 25 times .56 is a little over 14, but 14 of 25 must pass a minimum of .56."""


@dataclass(frozen=True, slots=True)
class TrustRule:
    """`minimum` accuracy on gold once `least_seen` were seen; a `quiz` of that many gold items, with `attempts`.

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
            raise UsageError(f"expected a certainty from 0 to below 1, found {self.sure}")


def is_below(rule: TrustRule, *, seen: int, right: int) -> bool:
    """Whether a rater with this record on gold is to be ejected."""
    return seen >= rule.least_seen and _falls_short(rule, seen, right)


def passes_quiz(rule: TrustRule, *, right: int) -> bool:
    """Whether a quiz with this many right answers is passed."""
    return not _falls_short(rule, rule.quiz, right)


def quiz_needed(rule: TrustRule) -> int:
    """The number of right answers that passes the quiz."""
    return next(right for right in range(rule.quiz + 1) if passes_quiz(rule, right=right))


def _falls_short(rule: TrustRule, seen: int, right: int) -> bool:
    from scipy.special import bdtr  # a fifth of a second that most commands need not wait for

    is_below_share = right < rule.minimum * seen - FUZZ
    return is_below_share and (not rule.sure or float(bdtr(right, seen, rule.minimum)) <= 1 - rule.sure)


def is_suspect(*, seen: int, missed: int) -> bool:
    """Whether gold was missed so often that the gold itself is in doubt."""
    return seen >= SUSPECT_AFTER and 2 * missed > seen


def gold_on_page(page_size: int) -> int:
    """Hidden gold items on an average page: 1 up to 19 units, 2 from 20 to 29, one more for each further ten."""
    if page_size < 2:
        raise UsageError(f"expected pages of at least 2 units, one of them gold, found {page_size}")
    return max(1, page_size // (WIDE_PAGE // 2))


def gold_rate(page_size: int) -> float:
    """The chance that a turn is gold, whatever came before: on average as many as a page holds."""
    return gold_on_page(page_size) / page_size


@dataclass(frozen=True, slots=True)
class GoldRuleOdds:
    """The chances that a rater fails the quiz in every attempt, and is ejected (`out`) by the end of all gold.

    `met` is the mean number of hidden gold items that a rater who passed the quiz meets.
    """

    fails_quiz: float
    out: float
    met: float


def steady(skill: float, n_gold: int) -> list[float]:
    """A rater who is always equally good."""
    return [skill] * n_gold


def turning(skill: float, n_good: int, n_gold: int) -> list[float]:
    """A rater who is good on the first `n_good` gold items, then guesses between two answers."""
    return [skill] * n_good + [0.5] * (n_gold - n_good)


def odds(rule: TrustRule, chances: Sequence[float]) -> GoldRuleOdds:
    """What becomes of a rater with these chances to be right on each gold, those of the quiz first."""
    by_right = _answered(np.ones(1), chances[: rule.quiz])
    is_in = np.array([passes_quiz(rule, right=right) for right in range(len(by_right))])
    passes = float(by_right[is_in].sum())
    fails = (1.0 - passes) ** rule.attempts
    if not passes:
        return GoldRuleOdds(fails_quiz=1.0, out=1.0, met=0.0)
    still, met = np.where(is_in, by_right, 0.0) / passes, 0.0
    for seen, chance in enumerate(chances[rule.quiz :], rule.quiz + 1):
        met += float(still.sum())
        still = _answered(still, [chance])
        still[[is_below(rule, seen=seen, right=right) for right in range(len(still))]] = 0.0
    return GoldRuleOdds(fails_quiz=fails, out=1.0 - (1.0 - fails) * float(still.sum()), met=met)


def _answered(by_right: Chances, chances: Sequence[float]) -> Chances:
    """The distribution of the count of right answers after more gold items."""
    for chance in chances:
        by_right = np.convolve(by_right, [1.0 - chance, chance])
    return by_right
