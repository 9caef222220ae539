"""Tagging with an averaged perceptron, many sentences at a time.

Collins 2002 (EMNLP), decoded greedily from left to right.  The score of a tag is a sum over the word, its neighbours
(two on each side), pairs of them, and the two tags before.  All that does not depend on tags is summed first, for all
words at once: a word's part for each of its five places is computed once and kept.  Then all sentences go forward
in step, a word each.  Everything is whole numbers, so the order of adding does not matter, nor which sentences share
a batch.  On a tie the first tag in the model's order wins.

A sentence of more than 256 words (a list, a text without stops) forgets its tags after each 256th word, not its
words.

*Features* of a word are seen from its own place and from its neighbours'.  Each is a short string; its first
character names the family, so two families never share a weight.

- The word itself: as written (`w`), in lower case (`l`), its last one to four letters (`1` to `4`), its first one to
  three (`a` to `c`), its shape (`s`), its shape at the start of a sentence (`S`), what follows its last hyphen (`h`).
- A word one or two places away: in lower case, and for the next and the previous one also its last three letters
  and its shape.  The family is the place (`p`, `q` before; `n`, `o` after) and the kind.
- For every place the clusters of the word (`k`): words that are used alike, for words that no treebank has (see
  `training`).

In lower case, digits become 0, so that one year is like another.  The shape writes X for capitals, x for other
letters, 0 for digits, and every other character as it is, a run as one.

*Weights* are small integers.  They add up exactly and in any order, so every machine, batch size and way of computing
gives the same tags.

Four tables of rows, one column a tag: one row a feature of words (`features`); one a pair of neighbouring words that
are both common; one a pair of previous tags; one a common word with the tag before it (the word itself in one half,
the word after it in the other).  The tag before the first word is `len(tags)`.

The tags are those of the Penn Treebank as the English treebanks of Universal Dependencies write them (XPOS).
`load_tagger()` gives the tagger that comes with grater; a path gives a model that was trained.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from pathlib import PurePath
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grater.model import Json
from grater.models import Model, expecting, read_model, require_parts, shipped

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
        if row is None:
            return []
        return [f"k{clustering}.{number}" for clustering, number in enumerate(self.numbers[row].tolist())]


EDGE = "\n"
"""Stands before the first and after the last word; no token can hold it."""

LONGEST = 40
"""Letters of a word that count; a longer one is a URL or noise."""

SMILE = ":)"
PICTURE = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]")
DIGIT = re.compile(r"\d")
UPPER = re.compile(r"[A-ZÀ-ÖØ-Þ]+")
LOWER = re.compile(r"[^\W\d_A-ZÀ-ÖØ-Þ]+")
DIGITS = re.compile(r"\d+")


def lower(word: str) -> str:
    """A word in lower case with its digits made equal: the form in which neighbours and pairs see it."""
    small = word[:LONGEST].lower()
    return small if small.isalpha() else DIGIT.sub("0", small)


def shape(word: str) -> str:
    word = word[:LONGEST]
    if word.isascii() and word.isalpha() and (word.islower() or word[1:].islower()):
        return "x" if word.islower() else "Xx"
    return DIGITS.sub("0", UPPER.sub("X", LOWER.sub("x", word)))[:8]


def all_features(word: str, classes: Clusters, *, is_first: bool) -> tuple[list[str], int, int]:
    """The features of a word, those that count for all neighbours first, then those that count for the nearest.

    The two numbers say how many of the features count two places away, and how many one place away.
    """
    word = SMILE if PICTURE.match(word) else word  # treebanks have smiles, and hardly a picture
    small, form = lower(word), shape(word)
    features = ["l" + small, *classes.features(small)]
    n_far = len(features)
    features += ["3" + small[-3:], "s" + form]
    features += ["w" + word[:LONGEST], ("S" if is_first else "t") + form[:2]]
    features += ["1" + small[-1:], "2" + small[-2:], "4" + small[-4:]]
    features += ["a" + small[:1], "b" + small[:2], "c" + small[:3]]
    if "-" in small[1:]:
        features.append("h" + small.rpartition("-")[2])
    return features, n_far, n_far + 2


KIND = "tagger"

PLACES = "-pqno"
NEAR = "pn"
AWAY = (0, -1, -2, 1, 2)
PAIRS = ((-1, 0), (0, 1), (-1, 1))

Rows: TypeAlias = NDArray[np.int8]
Ids: TypeAlias = NDArray[np.int64]


N_DIMENSIONS = {"rows": 2, "pair_keys": 1, "pair_rows": 2, "history": 3, "common_rows": 4, "clusters": 2}


STRINGS = ("tags", "features", "paired", "common", "clustered")


def _require_fitting(model: Model) -> None:
    strings, arrays = model.strings, model.arrays
    require_parts(model, arrays=N_DIMENSIONS, strings=STRINGS)
    n_tags = len(strings["tags"])
    expected = {
        "rows": (len(strings["features"]), n_tags),
        "pair_rows": (len(arrays["pair_keys"]), n_tags),
        "history": (n_tags + 1, n_tags + 1, n_tags),
        "common_rows": (2, len(strings["common"]) + 1, n_tags + 1, n_tags),
        "clusters": (len(strings["clustered"]), len(SIZES)),
    }
    for name, shape in expected.items():
        if arrays[name].shape != shape:
            raise ValueError(f"array {name!r}: expected shape {shape}, found {arrays[name].shape}")


@dataclass(frozen=True, slots=True)
class Weights:
    """`pair_keys` are sorted; a key is `pair_key` of a kind and the numbers of two words in `paired`, from 1 on."""

    tags: tuple[str, ...]
    features: tuple[str, ...]
    rows: Rows
    paired: tuple[str, ...]
    pair_keys: Ids
    pair_rows: Rows
    history: NDArray[np.int16]
    common: tuple[str, ...]
    common_rows: Rows
    clusters: Clusters
    card: Mapping[str, Json]

    @staticmethod
    def of(model: Model) -> Weights:
        """The parts of a model; raises `ValueError` if they do not fit together."""
        strings, arrays = model.strings, model.arrays
        _require_fitting(model)
        own: dict[str, Any] = {name: strings[name] for name in STRINGS if name != "clustered"}
        own |= {name: arrays[name] for name in N_DIMENSIONS}
        own["clusters"] = Clusters.of(strings["clustered"], arrays["clusters"])
        return Weights(**own, card=model.card)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        own = {name: getattr(self, name) for name in N_DIMENSIONS if name != "clusters"}
        return {**own, "clusters": self.clusters.numbers}

    @property
    def strings(self) -> dict[str, tuple[str, ...]]:
        own = {name: getattr(self, name) for name in STRINGS if name != "clustered"}
        return {**own, "clustered": tuple(self.clusters.rows)}


def pair_keys(kind: int, left: Ids, right: Ids, n_paired: int) -> Ids:
    """One number for each pair of words; 0 where one of them is not among the paired (number 0)."""
    keys = (kind * (n_paired + 1) + left) * (n_paired + 1) + right
    return np.where((left > 0) & (right > 0), keys, 0)


LONGEST_STRETCH = 256
BATCH = 8192
"""Words that are tagged together: their scores fit into the cache of a processor."""

Scores = NDArray[np.int16]


def _by_place(features: Sequence[str]) -> tuple[dict[str, int], Ids]:
    """Numbers for features whatever the place of their word, and their rows for each place, the unknown last."""
    names: dict[str, int] = {}
    places = [place if (place := PLACES.find(feature[0])) > 0 else 0 for feature in features]
    numbers = [
        names.setdefault(feature[place > 0 :], len(names)) for place, feature in zip(places, features, strict=True)
    ]
    rows = np.full((len(PLACES), len(names) + 1), len(features), np.int64)
    rows[places, numbers] = np.arange(len(features))
    return names, rows


class _Word(NamedTuple):
    """What a word adds to the scores of tags: a sum for each place, and its numbers among paired and common words."""

    sums: Scores
    paired: int
    common: int


class PerceptronTagger:
    """A trained tagger; keeps what it has worked out of each word."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.card = weights.card
        self.name = str(weights.card.get("name", "tagger"))
        self._features, self._rows = _by_place(weights.features)
        self._table = np.vstack([weights.rows, np.zeros((1, len(weights.tags)), np.int8)])  # the last for the unknown
        self._paired = {word: number for number, word in enumerate(weights.paired, 1)}
        self._common = {word: number for number, word in enumerate(weights.common, 1)}
        self._word = lru_cache(maxsize=1 << 16)(self._work_out)

    def tag(self, words: Sequence[str]) -> tuple[str, ...]:
        """The tags of one sentence."""
        return self.tag_all([words])[0]

    def tag_all(self, sentences: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
        """The tags of many sentences; the same as one by one, but faster."""
        names = chain.from_iterable(map(self._tag_batch, _batches(sentences)))
        return [tuple(islice(names, len(words))) for words in sentences]

    def _tag_batch(self, batch: Sequence[list[str]]) -> list[str]:
        order = _Order.of(np.array([len(keys) for keys in batch], np.int64) - 4)
        keys = list(chain.from_iterable(batch))
        known = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        numbers = np.array([known[key] for key in keys], np.int64)
        words = [self._word(key) for key in known]
        sums = np.stack([word.sums for word in words], axis=1)
        paired, common = np.array([word[1:] for word in words], np.int64).T
        scores = self._static(sums, paired[numbers], numbers, order.places)
        tags = np.empty(len(scores), np.int64)
        tags[order.tokens] = self._decode(scores, common[numbers], order)
        return [self.weights.tags[tag] for tag in tags.tolist()]

    def _work_out(self, key: str) -> _Word:
        word, is_first = (key[1:], True) if key[:1] == EDGE and key != EDGE else (key, False)
        names, n_far, n_near = all_features(word, self.weights.clusters, is_first=is_first)
        features = np.array([self._features.get(name, len(self._features)) for name in names], np.int64)
        counts = (len(names) if place == "-" else n_near if place in NEAR else n_far for place in PLACES)
        sums = [
            self._table.take(rows[features[:n]], axis=0).sum(axis=0, dtype=np.int16)
            for n, rows in zip(counts, self._rows, strict=True)
        ]
        small = lower(word)
        return _Word(np.stack(sums), self._paired.get(small, 0), self._common.get(small, 0))

    def _static(self, sums: Scores, paired: Ids, numbers: Ids, places: Ids) -> Scores:
        """The scores of each place's tags from words alone."""
        scores: Scores = sums[0].take(numbers[places], axis=0)
        for of_place, away in zip(sums[1:], AWAY[1:], strict=True):
            scores += of_place.take(numbers[places + away], axis=0)
        for kind, (left, right) in enumerate(PAIRS if self.weights.pair_keys.size else ()):
            keys = pair_keys(kind, paired[places + left], paired[places + right], len(self.weights.paired))
            rows = self.weights.pair_keys.searchsorted(keys)
            known = np.flatnonzero(self.weights.pair_keys.take(rows, mode="clip") == keys)
            scores[known] += self.weights.pair_rows.take(rows[known], axis=0)
        return scores

    def _decode(self, scores: Scores, common: Ids, order: _Order) -> Ids:
        """The tags, all sentences going forward in step."""
        weights, n_tags = self.weights, len(self.weights.tags)
        history = weights.history.reshape(-1, n_tags)
        own, after = weights.common_rows.reshape(2, -1, n_tags)
        common = common * (n_tags + 1)
        own_common, next_common = common[order.places], common[order.places + 1]
        tags = np.empty(len(scores), np.int64)
        before = last = np.full(order.n_active[0], n_tags, np.int64)  # the two tags before each first word
        start = 0
        for n_active in order.n_active:
            now = slice(start, start + n_active)
            last, before = last[:n_active], before[:n_active]
            here = scores[now]
            here += history.take(before * (n_tags + 1) + last, axis=0)
            here += own.take(own_common[now] + last, axis=0)
            here += after.take(next_common[now] + last, axis=0)
            before, last = last, here.argmax(axis=1)
            tags[now] = last
            start += n_active
        return tags


@dataclass(frozen=True, slots=True)
class _Order:
    """The words of a batch in the order of tagging: all first words, longest sentence first, all second words, ...

    `tokens` numbers them among the words of the batch, `places` among its keys, which count the edges; `n_active` is
    the number of sentences with a first, second, ... word.
    """

    tokens: Ids
    places: Ids
    n_active: list[int]

    @staticmethod
    def of(lengths: Ids) -> _Order:
        n_before = lengths.cumsum() - lengths
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        position = np.arange(len(sentence)) - n_before[sentence]
        tokens = np.lexsort((-lengths[sentence], position))  # stable: ties stay in the order of the sentences
        places = tokens + 4 * sentence[tokens] + 2
        return _Order(tokens, places, np.bincount(position).tolist())


def _batches(sentences: Sequence[Sequence[str]]) -> Iterator[list[list[str]]]:
    """Stretches of sentences with two neighbours on each side; the first word of a sentence is marked as such."""
    batch: list[list[str]] = []
    n_words = 0
    for words in filter(None, sentences):
        keys = [EDGE, EDGE, EDGE + words[0], *words[1:], EDGE, EDGE]
        for start in range(0, len(words), LONGEST_STRETCH):
            batch.append(keys[start : start + LONGEST_STRETCH + 4])
            n_words += len(batch[-1]) - 4
            if n_words >= BATCH:
                yield batch
                batch, n_words = [], 0
    if batch:
        yield batch


def load_tagger(path: str | PurePath | None = None) -> PerceptronTagger:
    """The tagger of a model file; the shipped one by default.  Loaded once."""
    return _load(str(shipped(KIND) if path is None else path))


@lru_cache(maxsize=4)
def _load(path: str) -> PerceptronTagger:
    model = read_model(path, kind=KIND)
    with expecting("a tagger", path):
        return PerceptronTagger(Weights.of(model))
