"""Counts by error type, sentence by sentence, in little room.

ERRANT's types have three tiers: the operation (`M`issing, `U`nnecessary, `R`eplacement), the main type (`NOUN:NUM`)
and both (`R:NOUN:NUM`).  As `errant_compare` does, the operation is a type's first letter and the main type what
follows the second; types of other schemes (`ArtOrDet`) make sense in the full tier only.  `UNK` is itself in all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Tier: TypeAlias = Literal["op", "main", "full"]
TP, FP, FN = range(3)
"""The columns of every array of counts."""


@dataclass(frozen=True, slots=True)
class TypeCounts:
    """An entry for each unit that was matched, made up or missed: its sentence, its type, its column (TP, FP, FN).

    `type_of` counts in `types`, which are sorted and may hold names that no entry has.
    """

    n_sentences: int
    types: tuple[str, ...]
    sentence: Ints
    type_of: Ints
    column: Ints

    def dense(self, tier: Tier = "full") -> dict[str, Ints]:
        """For each type an array (n_sentences, 3) of tp, fp, fn: resample its rows for limits."""
        names, place = self._names(tier)
        shape = (len(names), self.n_sentences, 3)
        cells = (
            np.ravel_multi_index((place[self.type_of], self.sentence, self.column), shape) if names else self.type_of
        )
        counts = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)
        return dict(zip(names, counts, strict=True))

    def totals(self, tier: Tier = "full") -> dict[str, tuple[int, int, int]]:
        """For each type tp, fp, fn of all sentences."""
        names, place = self._names(tier)
        counts = np.bincount(3 * place[self.type_of] + self.column, minlength=3 * len(names)).reshape(-1, 3)
        return {name: (row[0], row[1], row[2]) for name, row in zip(names, counts.tolist(), strict=True)}

    def _names(self, tier: Tier) -> tuple[list[str], Ints]:
        """The names of a tier, and for each type which of them is its own."""
        used = np.bincount(self.type_of, minlength=1).nonzero()[0].tolist()
        names = sorted({tier_of(self.types[place], tier) for place in used})
        places = {name: place for place, name in enumerate(names)}
        return names, np.array([places.get(tier_of(name, tier), -1) for name in self.types], np.int64)


def tier_of(type_name: str, tier: Tier) -> str:
    """The name of a type in a tier."""
    if tier == "full" or type_name == "UNK":
        return type_name
    return type_name[:1] if tier == "op" else type_name[2:]
