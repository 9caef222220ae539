"""Which annotator a sentence is scored against, as the official scorer chooses.

Sentences are taken in order, and each is scored against the annotator who gives the best F so far, all sentences
before included.  At equal F more correct edits win, then the smaller sum of proposed edits and beta² times gold
edits, then the annotator who comes first.  F is 1 where nothing is proposed and nothing is gold.  So the order of
sentences matters, a little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Chosen:
    """For each sentence the annotator and a row of true positives, false positives and false negatives."""

    annotators: tuple[str, ...]
    counts: npt.NDArray[np.int64]


def choose_references(
    counts_per_sentence: Iterable[Mapping[str, tuple[int, int, int]]], *, beta: float = 0.5
) -> Chosen:
    """The official choice, from each sentence's (correct, proposed, gold) by annotator."""
    correct, proposed, gold = 0, 0, 0
    annotators: list[str] = []
    rows: list[tuple[int, int, int]] = []
    for counts in counts_per_sentence:
        best: tuple[float, float, float] | None = None
        chosen, chosen_counts = "", (0, 0, 0)
        for annotator, (more_correct, more_proposed, more_gold) in counts.items():
            c, p, g = correct + more_correct, proposed + more_proposed, gold + more_gold
            key = running_f(c, p, g, beta), float(c), -(p + beta * beta * g)
            if best is None or key > best:
                best, chosen, chosen_counts = key, annotator, counts[annotator]
        c, p, g = chosen_counts
        correct, proposed, gold = correct + c, proposed + p, gold + g
        annotators.append(chosen)
        rows.append((c, p - c, g - c))
    return Chosen(tuple(annotators), np.array(rows, np.int64).reshape(-1, 3))


def running_f(correct: int, proposed: int, gold: int, beta: float) -> float:
    """The official scorer's F, in its order of operations, for sums may tie."""
    below = beta * beta * gold + proposed
    if below == 0:
        return 1.0 if correct == 0 else 0.0
    return (1 + beta * beta) * float(correct) / below
