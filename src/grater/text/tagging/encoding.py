"""Sentences as numbers for training: one row a word, one number a feature.

The vocabulary (features, pairs of common words, tags) is taken from the training sentences; what is rarer than it
takes is left out.  A treebank is held as some 120 bytes a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from grater.text.tagging.clusters import SIZES, Clusters
from grater.text.tagging.conllu import Tagged
from grater.text.tagging.features import EDGE, lower, near_features, own_features
from grater.text.tagging.perceptron import AWAY, PAIRS, PLACES

PAIR = "P"
"""The family of features that are pairs of words."""

FEWEST, FEWEST_PAIRS = 2, 3
"""How often a feature must be seen to be learnt."""

N_COMMON, N_PAIRED = 500, 4000
MOST_FEATURES = 12 + 3 + 3 + 1 + 1 + len(PAIRS) + len(PLACES) * len(SIZES)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`features` holds those of words and of pairs; a pair is `P`, its kind and its two words."""

    tags: dict[str, int]
    features: dict[str, int]
    paired: dict[str, int]
    common: dict[str, int]
    clusters: Clusters

    @staticmethod
    def of(sentences: Sequence[Tagged], clusters: Clusters) -> Vocabulary:
        words = Counter(lower(word) for sentence in sentences for word in sentence.words)
        ranked = [word for word, _ in sorted(words.items(), key=lambda each: (-each[1], each[0]))]
        paired = {word: number for number, word in enumerate([EDGE, *ranked[:N_PAIRED]], 1)}
        common = {word: number for number, word in enumerate(ranked[:N_COMMON], 1)}
        featurer = Featurer(paired, clusters)
        counts: Counter[str] = Counter()
        for sentence in sentences:
            for features in featurer(sentence.words):
                counts.update(features)
        kept = sorted(each for each, n in counts.items() if n >= (FEWEST_PAIRS if each[0] == PAIR else FEWEST))
        tags = sorted({tag for sentence in sentences for tag in sentence.tags})
        return Vocabulary(_numbered(tags), _numbered(kept), paired, common, clusters)


@dataclass(frozen=True, slots=True)
class Encoded:
    """`features` has -1 where a word has fewer; `starts` has one more number than there are sentences."""

    features: NDArray[np.int32]
    own_common: NDArray[np.int64]
    next_common: NDArray[np.int64]
    tags: NDArray[np.int64]
    starts: NDArray[np.int64]


def encode(sentences: Sequence[Tagged], vocabulary: Vocabulary) -> Encoded:
    """Sentences by the numbers of a vocabulary; a tag that it does not have is -1."""
    n_words = sum(len(sentence.words) for sentence in sentences)
    features = np.full((n_words, MOST_FEATURES), -1, np.int32)
    featurer = Featurer(vocabulary.paired, vocabulary.clusters)
    row = 0
    for sentence in sentences:
        for each in featurer(sentence.words):
            known = [number for feature in each if (number := vocabulary.features.get(feature)) is not None]
            features[row, : len(known)] = known
            row += 1
    common = [[vocabulary.common.get(lower(word), 0) for word in sentence.words] for sentence in sentences]
    return Encoded(
        features,
        _flat(common),
        _flat([*numbers[1:], 0] for numbers in common),
        _flat([vocabulary.tags.get(tag, -1) for tag in sentence.tags] for sentence in sentences),
        np.cumsum([0, *(len(sentence.words) for sentence in sentences)], dtype=np.int64),
    )


class Featurer:
    """Gives the features of each word of a sentence; remembers those of words it has seen."""

    def __init__(self, paired: Mapping[str, int], clusters: Clusters) -> None:
        self.paired = paired
        self._own = cache(lambda word, is_first: own_features(word, clusters, is_first=is_first))
        self._near = cache(lambda word, place: near_features(word, clusters, place))

    def __call__(self, words: Sequence[str]) -> Iterator[list[str]]:
        padded = [EDGE, EDGE, *words, EDGE, EDGE]
        pairable = [small if (small := lower(word)) in self.paired else "" for word in padded]
        for index, word in enumerate(words):
            found = [*self._own(word, index == 0)]
            for place, away in zip(PLACES[1:], AWAY[1:], strict=True):
                found += self._near(padded[index + 2 + away], place)
            for kind, (left, right) in enumerate(PAIRS):
                first, second = pairable[index + 2 + left], pairable[index + 2 + right]
                if first and second:
                    found.append(f"{PAIR}{kind}{first}\t{second}")
            yield found


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _flat(rows: Iterable[Sequence[int]]) -> NDArray[np.int64]:
    return np.fromiter((number for row in rows for number in row), np.int64)
