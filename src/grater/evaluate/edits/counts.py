"""What a system did, sentence by sentence: the sufficient statistics of every score of corrections.

Counts add up; scores do not.  A sentence has one row of counts, or, where the metric draws a reference at random
(GLEU), one row for each of its references.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.evaluate.resampling import Numbers

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class SentenceCounts:
    """`cells` has the shape (sentences, rows, columns); sentence i has `n_rows[i]` rows, zeros stand beyond them.

    `references` are the annotators that the sentences were held against, where the metric chooses one.  `by_type` has
    an array (sentences, columns) for each type of error, where the metric knows types.
    """

    system: str
    cells: Ints
    n_rows: Ints
    references: tuple[str, ...] = ()
    by_type: Mapping[str, Ints] = field(default_factory=dict)

    @property
    def n_sentences(self) -> int:
        return len(self.cells)

    @property
    def expected(self) -> Numbers:
        """The mean row of each sentence."""
        rows: Numbers = self.cells.sum(axis=1) / np.maximum(self.n_rows, 1)[:, None]
        return rows

    @property
    def shares(self) -> Numbers | None:
        """The chance of each row, where there is a choice."""
        if self.cells.shape[1] < 2:
            return None
        is_there = np.arange(self.cells.shape[1]) < self.n_rows[:, None]
        return is_there / self.n_rows[:, None]


def of_rows(
    system: str, rows: Ints, *, references: Sequence[str] = (), by_type: Mapping[str, Ints] | None = None
) -> SentenceCounts:
    """Counts of one row a sentence."""
    return SentenceCounts(system, rows[:, None, :], np.ones(len(rows), np.int64), tuple(references), by_type or {})


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatorCounts:
    """One hypothesis against every annotator: `cells` (sentences, annotators, columns), before any is chosen."""

    annotators: tuple[str, ...]
    cells: Ints
