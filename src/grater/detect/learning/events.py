"""Training events: contexts as rows of numbers, what stood there, and the fold of the line that each comes from.

Text is analysed batch by batch, by several processes if need be, and each batch numbers its words as they come.
`gathered` puts batches together and numbers the words anew, the most frequent first; rare ones fall into classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.detect.learning.hashing import Rows
from grater.detect.learning.vocabulary import GrowingVocabulary, Vocabulary, renumbering

Labels: TypeAlias = npt.NDArray[np.int8]

MIN_COUNT = 3
"""Words that stand in fewer contexts are not in the vocabulary."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The events of some lines: word numbers point into `words`, counted from 1."""

    rows: Rows
    labels: Labels
    folds: Labels
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """All events of a text, numbered by one vocabulary."""

    rows: Rows
    labels: Labels
    folds: Labels
    vocabulary: Vocabulary

    def __len__(self) -> int:
        return len(self.labels)

    def part(self, chosen: npt.NDArray[np.bool_]) -> Events:
        """Some of the events."""
        return Events(self.rows[chosen], self.labels[chosen], self.folds[chosen], self.vocabulary)


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a row: words come first; a word's frequency is counted in the columns `counted`."""

    n_fields: int
    n_words: int
    counted: Sequence[int]


def gathered(
    batches: Iterable[Batch],
    layout: Layout,
    *,
    min_count: int = MIN_COUNT,
    tell: Callable[[int], None] = lambda _: None,
) -> Events:
    """All batches as one, with a vocabulary of the words that stand in enough contexts."""
    growing = GrowingVocabulary()
    rows = [np.zeros((0, layout.n_fields), np.int32)]
    labels, folds = [np.zeros(0, np.int8)], [np.zeros(0, np.int8)]
    for batch in batches:
        rows.append(renumbered(batch.rows, [0, *growing.numbers(batch.words)], layout))
        labels.append(batch.labels)
        folds.append(batch.folds)
        tell(len(batch.labels))
    whole = np.concatenate(rows)
    rows.clear()
    vocabulary = _frequent(whole, tuple(growing.places), layout, min_count)
    numbers = np.array(renumbering(tuple(growing.places), vocabulary), np.int32)
    whole[:, : layout.n_words] = numbers[whole[:, : layout.n_words]]
    return Events(whole, np.concatenate(labels), np.concatenate(folds), vocabulary)


def renumbered(rows: Rows, numbers: Sequence[int], layout: Layout) -> Rows:
    """The rows with other numbers for their words."""
    found = rows.copy()
    found[:, : layout.n_words] = np.array(numbers, np.int32)[rows[:, : layout.n_words]]
    return found


def _frequent(rows: Rows, words: tuple[str, ...], layout: Layout, min_count: int) -> Vocabulary:
    """The words that are frequent enough, most frequent first."""
    counts = np.zeros(len(words) + 1, np.int64)
    for column in layout.counted:
        counts += np.bincount(rows[:, column], minlength=len(counts))
    order = np.argsort(-counts[1:], kind="stable")
    kept = order[counts[1:][order] >= min_count]
    return Vocabulary(tuple(words[place] for place in kept.tolist()))
