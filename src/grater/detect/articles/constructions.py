"""The five article-number constructions of a noun, and how nouns use them.

Lee, Tetreault & Chodorow 2009, section 2 and Table 1. Constructions are numbered in the order of the table, which is
that of their frequency in the paper's corpus. *a* with a plural is not a construction: a writer who has it wrote none
of the five.

A noun's entropy is that of the distribution of its constructions, in bits; at most log2 5 = 2.32. A noun counts as
non-count if hardly any of its uses are plural or have *a*. A model keeps the shares of each noun that training saw
often enough (`Habits`) and turns them into two classes for its features.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.corpora.text.inflect import is_mass

Article: TypeAlias = Literal["null", "a", "the"]
Number: TypeAlias = Literal["singular", "plural"]

CONSTRUCTIONS = ("null-singular", "the-singular", "null-plural", "a-singular", "the-plural")
NONE_OF_THEM = len(CONSTRUCTIONS)
"""The code of *a* with a plural."""

ARTICLE_OF: tuple[Article, ...] = ("null", "the", "null", "a", "the")
NUMBER_OF: tuple[Number, ...] = ("singular", "singular", "plural", "singular", "plural")
CODE_OF = {(article, number): code for code, (article, number) in enumerate(zip(ARTICLE_OF, NUMBER_OF, strict=True))}

CONFUSABLE = frozenset(
    frozenset(map(CONSTRUCTIONS.index, pair))
    for pair in (
        ("null-plural", "the-plural"),
        ("a-singular", "the-singular"),
        ("a-singular", "null-plural"),
        ("the-singular", "the-plural"),
    )
)
"""The pairs that raters most often accept together (section 4)."""

Table = npt.NDArray[np.int32]

N_CONSTRUCTIONS = len(CONSTRUCTIONS)
HIGHEST = log2(N_CONSTRUCTIONS)
EDGES = (0.5, 1.0, 1.5, 2.0)
"""Bounds between the classes of entropy, in bits."""

COUNTED = (2, 3)
"""The constructions that a non-count noun does not have: plural without article, and *a*."""

NON_COUNT = 0.03
LEVELS = (0.03, 0.15, 0.4)
"""Bounds between the classes of a share."""


def construction(article: Article, number: Number) -> int:
    """The code of a construction; `NONE_OF_THEM` for *a* with a plural."""
    return CODE_OF.get((article, number), NONE_OF_THEM)


def is_confusable(one: int, other: int) -> bool:
    """Whether raters often accept both if they accept one."""
    return frozenset((one, other)) in CONFUSABLE


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun with its counts in the order of `CONSTRUCTIONS`."""

    noun: str
    counts: tuple[int, ...]

    @property
    def n(self) -> int:
        return sum(self.counts)

    @property
    def dominant(self) -> int:
        """The most frequent construction; in a tie, the first in the table."""
        return max(range(N_CONSTRUCTIONS), key=lambda code: (self.counts[code], -code))

    @property
    def entropy(self) -> float:
        return entropy(self.counts)

    @property
    def is_count(self) -> bool:
        counted = sum(self.counts[code] for code in (*COUNTED, 4))
        return not is_mass(self.noun) and counted >= NON_COUNT * self.n


def entropy(counts: Sequence[float]) -> float:
    n = sum(counts) or 1.0
    return max(0.0, -sum(count / n * log2(count / n) for count in counts if count))


def nouns_of(constructions: Iterable[tuple[str, int]]) -> list[Noun]:
    """The nouns of (noun, construction) pairs, most frequent first; other constructions are not counted."""
    counts: dict[str, list[int]] = {}
    for noun, construction in constructions:
        if construction < N_CONSTRUCTIONS:
            counts.setdefault(noun, [0] * N_CONSTRUCTIONS)[construction] += 1
    nouns = [Noun(noun, tuple(of)) for noun, of in counts.items()]
    return sorted(nouns, key=lambda noun_counts: (-noun_counts.n, noun_counts.noun))


@dataclass(frozen=True, slots=True, eq=False)
class Habits:
    """The shares of the constructions of nouns by their numbers in a vocabulary; other nouns have none."""

    by_number: Mapping[int, tuple[float, ...]]
    _classes: Table = field(init=False, repr=False)

    def __post_init__(self) -> None:
        classes = np.zeros((max(self.by_number, default=0) + 2, 2), np.int32)
        for number, shares in self.by_number.items():
            classes[number] = habit_classes(shares)
        object.__setattr__(self, "_classes", classes)

    def classes(self, numbers: npt.NDArray[np.int32]) -> Table:
        """(nouns, 2): the classes of the shares and of the entropy; 0 for nouns without habits."""
        classes: Table = self._classes[np.minimum(numbers, len(self._classes) - 1)]
        return classes

    def of(self, number: int) -> tuple[float, ...] | None:
        return self.by_number.get(number)


def habit_classes(shares: Sequence[float]) -> tuple[int, int]:
    """One class for the whole distribution, and one for the dominant construction with the entropy; both above 0."""
    whole = 0
    for share in shares:
        whole = whole * (len(LEVELS) + 1) + sum(share >= level for level in LEVELS)
    dominant = max(range(N_CONSTRUCTIONS), key=lambda code: (shares[code], -code))
    level = sum(entropy(shares) >= edge for edge in EDGES)
    return whole + 1, 1 + dominant * (len(EDGES) + 1) + level
