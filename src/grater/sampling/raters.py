"""How many raters an item needs, so that their majority is right often enough.

Each rater sees an error for one with chance se (sensitivity) and calls a good item good with chance sp (specificity);
raters err independently, so the majority of n is right with a binomial chance.  An even number is no better than the
odd one below it (statistics.md, "How many raters match an expert"), so n is odd.  Real raters err together on hard
items: read the answer as the least that is needed.  With judgments at hand, `grater raters-needed` counts.

Where only the kappa of two raters is known, they are taken to be right equally often, with chance a on either kind
of item: then observed agreement is a² + (1 - a)², and a is the number above one half that gives this kappa.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from grater.errors import UsageError

MOST = 99


@dataclass(frozen=True, slots=True)
class Skill:
    """How often a rater, or a majority, is right: on errors, and on good items."""

    sensitivity: float
    specificity: float

    @property
    def least(self) -> float:
        return min(self.sensitivity, self.specificity)

    def judged(self, rate: float) -> float:
        """The rate of errors that is found where the true one is `rate`."""
        return self.sensitivity * rate + (1 - self.specificity) * (1 - rate)


@dataclass(frozen=True, slots=True)
class Panel:
    """So many raters for each item, what one of them is like, and what their majority is."""

    n: int
    one: Skill
    majority: Skill


def majority_of(n: int, skill: Skill) -> Skill:
    """What the majority of n raters is like; half of all ties are right."""
    return Skill(_right(n, skill.sensitivity), _right(n, skill.specificity))


def _right(n: int, accuracy: float) -> float:
    def exactly(k: int) -> float:
        return comb(n, k) * accuracy**k * (1 - accuracy) ** (n - k)

    return sum(exactly(k) for k in range(n // 2 + 1, n + 1)) + (exactly(n // 2) / 2 if n % 2 == 0 else 0.0)


def panel(skill: Skill, wanted: float) -> Panel:
    """The smallest odd number of raters whose majority is right so often, on errors and on good items alike."""
    if not 0.5 < wanted < 1:
        raise UsageError(f"expected --right between 0.5 and 1, found {wanted:g}")
    if skill.least <= 0.5:
        raise UsageError(f"expected raters who are right more often than not, found {skill.least:.2f} on one kind")
    for n in range(1, MOST + 1, 2):
        majority = majority_of(n, skill)
        if majority.least >= wanted:
            return Panel(n, skill, majority)
    raise UsageError(f"expected at most {MOST} raters an item to be right {wanted:g} of the time, found more needed")


def skill_of_kappa(kappa: float, error_rate: float) -> Skill:
    """Two raters who agree so far beyond chance, right equally often on errors and on good items."""
    if not 0 < kappa <= 1:
        raise UsageError(f"expected --kappa above 0 and at most 1, found {kappa:g}")
    low, high = 0.5, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _kappa(middle, error_rate) < kappa else (low, middle)
    return Skill(high, high)


def _kappa(accuracy: float, error_rate: float) -> float:
    called = Skill(accuracy, accuracy).judged(error_rate)
    observed, expected = accuracy**2 + (1 - accuracy) ** 2, called**2 + (1 - called) ** 2
    return (observed - expected) / (1 - expected)
