"""Which words are used alike: clusters that `clustering` found, for words that no treebank has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIZES = (100, 500)
"""How many clusters, coarse and fine."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """For each word, in the form `lower` gives it, its number in each clustering."""

    rows: Mapping[str, int]
    numbers: NDArray[np.uint16]

    @staticmethod
    def of(words: Iterable[str], numbers: NDArray[np.uint16]) -> Clusters:
        return Clusters({word: row for row, word in enumerate(words)}, numbers)

    @staticmethod
    def none() -> Clusters:
        return Clusters({}, np.zeros((0, len(SIZES)), np.uint16))

    def features(self, small: str) -> list[str]:
        """A feature for each clustering, if the word is in one."""
        row = self.rows.get(small)
        return [] if row is None else [f"k{each}.{number}" for each, number in enumerate(self.numbers[row].tolist())]
