"""What all engines have in common: a score for every preposition, and for none, at every candidate.

The columns are the 34 prepositions in house order (`text.prepositions`), then none at all.  Scores are log-
probabilities where an engine has probabilities; only differences within a row count, so any constant may be added to
a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from grater.detect.learning.scores import Scores
from grater.detect.prepositions.candidates import Candidate
from grater.model import DELETE
from grater.text.prepositions import PREPOSITIONS, canonical

ANSWERS: tuple[str, ...] = (*PREPOSITIONS, DELETE)
"""What the columns of scores mean."""

NONE = len(PREPOSITIONS)
"""The column of no preposition."""

COLUMN_OF = {answer: column for column, answer in enumerate(ANSWERS)}


class Engine(Protocol):
    """Anything that can say which preposition fits a place."""

    def scores(self, candidates: Sequence[Candidate]) -> Scores:
        """(candidates, 35): log-probabilities or scores; a row depends on its own candidate only."""
        ...


def answer_of(candidate: Candidate) -> int:
    """The column of what the writer wrote."""
    if candidate.is_gap:
        return NONE
    written = canonical(candidate.sentence.words[candidate.index])
    return NONE if written is None else COLUMN_OF[written]
