"""Words as numbers: the words that training saw often enough, and classes for all others.

A word counts in lower case with every digit as 0 (*1990* and *2012* are one word, `0000`).  A word that training did
not see falls into a class by its ending, so that a new gerund is still a gerund.  0 stands for no word at all: the
edge of a sentence, a head that is not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

NO_WORD = "<none>"
ENDINGS = (
    "ing",
    "ed",
    "ly",
    "tion",
    "sion",
    "ness",
    "ment",
    "ity",
    "ism",
    "ous",
    "ful",
    "able",
    "al",
    "ic",
    "er",
    "s",
)
CLASSES = (NO_WORD, "<number>", "<joined>", "<mark>", *(f"<-{ending}>" for ending in ENDINGS), "<other>")
PLACE_OF_CLASS: Mapping[str, int] = {name: place for place, name in enumerate(CLASSES)}
OTHER = PLACE_OF_CLASS["<other>"]
DIGIT = re.compile(r"\d")


class Numbering(Protocol):
    """Gives words their numbers."""

    def numbers(self, words: Iterable[str]) -> Iterator[int]: ...


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words in order; the number of a word is its place behind the classes."""

    words: tuple[str, ...]
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        first = len(CLASSES)
        places = {word: place for place, word in enumerate(self.words, first)}
        object.__setattr__(self, "_places", places)

    def __len__(self) -> int:
        return len(CLASSES) + len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self._places or form(word) in self._places

    def numbers(self, words: Iterable[str]) -> Iterator[int]:
        """The number of each word."""
        known = self._places.get
        for word in words:
            number = known(word)
            yield self._slowly(word) if number is None else number

    def _slowly(self, word: str) -> int:
        plain = form(word)
        number = self._places.get(plain)
        return class_of(plain) if number is None else number


@dataclass(slots=True)
class GrowingVocabulary:
    """Takes in every word that it meets; for training, before anybody knows which are frequent."""

    places: dict[str, int] = field(default_factory=dict)
    _raw: dict[str, int] = field(default_factory=dict)

    def numbers(self, words: Iterable[str]) -> Iterator[int]:
        known = self._raw.get
        for word in words:
            number = known(word)
            yield self._new(word) if number is None else number

    def _new(self, word: str) -> int:
        number = self.places.setdefault(form(word), len(self.places) + 1)  # 0 is no word
        self._raw[word] = number
        return number


def form(word: str) -> str:
    """How a word is looked up."""
    plain = word.lower().replace("’", "'")
    return plain if plain.isalpha() else DIGIT.sub("0", plain)


def class_of(plain: str) -> int:
    """The class of a word that is not in the vocabulary."""
    if "0" in plain:
        return PLACE_OF_CLASS["<number>"]
    if "-" in plain[1:-1]:
        return PLACE_OF_CLASS["<joined>"]
    if not any(map(str.isalpha, plain)):
        return PLACE_OF_CLASS["<mark>"]
    return next((PLACE_OF_CLASS[f"<-{ending}>"] for ending in ENDINGS if plain.endswith(ending)), OTHER)


def renumbering(words: Sequence[str], vocabulary: Vocabulary) -> list[int]:
    """For words numbered from 1 in order: their numbers in the vocabulary, with 0 for 0 in front."""
    return [0, *vocabulary.numbers(words)]
