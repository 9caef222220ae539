"""Words as a language model knows them: in a normal form, and numbered.

The normal form is lower case, with curly apostrophes made straight, every digit a 0 (`1984` and `2026` are one word)
and the variant spellings of prepositions made one (`towards` is `toward`).  Numbers are given by frequency, the most
frequent first and equal ones in code-point order, after the three words that every model has: `<unk>` for all that
it does not know, `<s>` and `</s>` for the rims of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from grater.text.prepositions import VARIANTS

UNKNOWN, START, END = 0, 1, 2
SPECIAL = ("<unk>", "<s>", "</s>")

Ids: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "´": "'", "`": "'", "“": '"', "”": '"'})
_DIGIT = re.compile(r"\d")


def normal(word: str) -> str:
    """The form in which a word is counted and looked up; a word spelt like `<s>` is no rim."""
    plain = _DIGIT.sub("0", word.lower().translate(_STRAIGHT))
    return SPECIAL[UNKNOWN] if plain in SPECIAL else VARIANTS.get(plain, plain)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a model by number, with the way back."""

    words: tuple[str, ...]
    numbers: Mapping[str, int]

    @staticmethod
    def of(words: Sequence[str]) -> Vocabulary:
        """All the words, the three special ones first."""
        return Vocabulary(tuple(words), {word: number for number, word in enumerate(words)})

    def __len__(self) -> int:
        return len(self.words)

    def ids(self, words: Iterable[str]) -> Ids:
        """The numbers of words as people write them."""
        return np.array([self._number(word) for word in words], dtype=np.int64)

    def _number(self, word: str) -> int:
        known = self.numbers.get(word, UNKNOWN)  # most words are in normal form already
        return known if known > END else self.numbers.get(normal(word), UNKNOWN)

    def sentence(self, words: Iterable[str]) -> Ids:
        """The numbers of a sentence's words, with its rims."""
        return np.concatenate([[START], self.ids(words), [END]]).astype(np.int64)
