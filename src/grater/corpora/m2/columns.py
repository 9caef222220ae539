"""A stretch of an M2 file as arrays: a row for every sentence, a row for every A line.

All bounds are half-open and count bytes of `data`.  The A lines stand in the order of the file, so those of
sentence `i` are one slice: `edits_of`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


Found = list[tuple[int, str]]
"""Problems, each with its line."""


@dataclass(frozen=True, slots=True)
class Columns:
    """`bars` holds where the five `|||` of the A lines begin, an array each; `annotator` counts in `annotators`.

    What has a problem has no row; `found` says why.
    """

    data: bytes
    n_lines: int
    sentence_start: Ints
    sentence_end: Ints
    sentence_line: Ints
    sentence: Ints
    line: Ints
    start: Ints
    end: Ints
    annotator: Ints
    annotators: tuple[str, ...]
    is_noop: Flags
    bars: Ints
    found: Found

    @property
    def tag(self) -> tuple[Ints, Ints]:
        return self._between(0)

    @property
    def correction(self) -> tuple[Ints, Ints]:
        return self._between(1)

    @property
    def required(self) -> tuple[Ints, Ints]:
        return self._between(2)

    @property
    def comment(self) -> tuple[Ints, Ints]:
        return self._between(3)

    def edits_of(self) -> Ints:
        """Where the A lines of each sentence begin; one number more than there are sentences."""
        return np.searchsorted(self.sentence, np.arange(len(self.sentence_start) + 1))

    def _between(self, bar: int) -> tuple[Ints, Ints]:
        return self.bars[bar] + 3, self.bars[bar + 1]
