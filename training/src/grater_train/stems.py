"""The stems of the words of a vocabulary: *depended* and *depends* are forms of *depend*.

Stems are found by rule among the words of the vocabulary, irregular forms by a short list. A word whose stem is not
in the vocabulary is its own stem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from grater.detect.linear import CLASSES, Rows, Vocabulary

_IRREGULAR = (
    "am is are was were been being be|went gone go|had has have|did done do|said say|made make|took taken take|"
    "came come|saw seen see|gave given give|found find|thought think|told tell|felt feel|kept keep|held hold|"
    "brought bring|began begun begin|wrote written write|stood stand|sat sit|spoke spoken speak|led lead|"
    "grew grown grow|fell fallen fall|sent send|built build|spent spend|lost lose|met meet|paid pay|ran run|"
    "knew known know|drew drawn draw|drove driven drive|children child|men man|women woman|feet foot"
)
IRREGULAR: Mapping[str, str] = {
    form: group.split()[-1] for group in _IRREGULAR.split("|") for form in group.split()[:-1]
}


def stem_numbers(vocabulary: Vocabulary) -> Rows:
    """The number of each word's stem, by the number of the word."""
    first = len(CLASSES)
    numbers = {word: number for number, word in enumerate(vocabulary.words, first)}
    stems = np.arange(len(vocabulary), dtype=np.int32)
    for number, word in enumerate(vocabulary.words, first):
        stems[number] = next((numbers[stem] for stem in stems_of(word) if stem in numbers), number)
    return stems


def stems_of(word: str) -> Iterator[str]:
    """The words of which a word may be a form, likeliest first."""
    if word in IRREGULAR:
        yield IRREGULAR[word]
    elif word.endswith(("ies", "ied")):
        yield word[:-3] + "y"
    elif word.endswith("es") and word[-3:-2] in "sxzho":
        yield from (word[:-2], word[:-1])
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        yield word[:-1]
    for ending in ("ed", "ing"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            yield from _verbs(word[: -len(ending)])


def _verbs(start: str) -> Iterator[str]:
    """*plann* is *plan*, *mak* is *make*, *walk* is *walk*."""
    if start[-1] == start[-2] and start[-1] not in "sl":
        yield start[:-1]
    yield from (start, start + "e")
