"""How many judgments an item needs: fewer where raters agree early, more where they do not.

A rule says `least` and `most`, and the `lead` at which to stop: once the first label is so many votes ahead of the
second.  With least = most every item gets the same number.  The rule is stored with the job and stands in its
protocol sheet, since shares of votes depend on when asking stopped: an item that was stopped early has a share
nearer to 0 or 1 than it would have had.  So shares and agreement are of the first `least` judgments of each item,
which came before anybody could stop (`grater.tables.turns`), unless the reader says otherwise; majorities are of
all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from grater.errors import UsageError


@dataclass(frozen=True, slots=True)
class Redundancy:
    """From `least` to `most` judgments; stop at a `lead` of so many votes."""

    least: int
    most: int
    lead: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most or self.lead < 1:
            raise UsageError(f"expected 1 <= least <= most and a lead of at least 1, found {self}")

    @property
    def is_fixed(self) -> bool:
        return self.least == self.most

    def __str__(self) -> str:
        return str(self.most) if self.is_fixed else f"{self.least}-{self.most}:lead={self.lead}"


def lead_of(labels: Iterable[str]) -> int:
    """How far the first label is ahead of the second."""
    counts = [n for _, n in Counter(labels).most_common(2)]
    return counts[0] - (counts[1] if len(counts) > 1 else 0) if counts else 0


def still_wanted(rule: Redundancy, labels: Iterable[str]) -> int:
    """How many more judgments to ask for at once, given the valid ones so far; asking stops at 0."""
    said = list(labels)
    if len(said) < rule.least:
        return rule.least - len(said)
    if lead_of(said) >= rule.lead or len(said) >= rule.most:
        return 0
    return min(rule.lead - lead_of(said), rule.most - len(said))
