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
from pathlib import Path, PurePath
from threading import Lock
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

MOST_KEPT = 1 << 16
"""Words whose sums are kept; then all are dropped, and come again as they are needed."""

MOST_AT_ONCE = 4096

Scores = NDArray[np.int16]


class Part(NamedTuple):
    """The words [start, end) of a sentence, to be tagged; `before` are the tags of the words before them."""

    words: Sequence[str]
    start: int
    end: int
    before: tuple[str, ...] = ()


_Stretch: TypeAlias = tuple[list[str], tuple[str, ...]]
"""Words with two neighbours on each side, and the tags before them."""


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
        self._tags = {tag: number for number, tag in enumerate(weights.tags)}
        self._lock = Lock()  # what is kept is shared by all threads
        self._kept: dict[str, int] = {}
        self._sums: Scores = np.zeros((len(PLACES), 0, len(weights.tags)), np.int16)
        self._pair_numbers: Ids = np.zeros(0, np.int64)
        self._common_numbers: Ids = np.zeros(0, np.int64)

    def tag(self, words: Sequence[str]) -> tuple[str, ...]:
        """The tags of one sentence."""
        return self.tag_all([words])[0]

    def tag_all(self, sentences: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
        """The tags of many sentences; the same as one by one, but faster."""
        return self.tag_parts([Part(words, 0, len(words)) for words in sentences])

    def tag_parts(self, parts: Sequence[Part]) -> list[tuple[str, ...]]:
        """The tags of parts of sentences, as they are in the whole."""
        names = chain.from_iterable(map(self._tag_batch, _batches(parts)))
        return [tuple(islice(names, part.end - part.start)) for part in parts]

    def _tag_batch(self, batch: Sequence[_Stretch]) -> list[str]:
        keys = [keys for keys, _ in batch]
        order = _Order.of(np.array([len(words) for words in keys], np.int64) - 4)
        history = np.full((len(batch), 2), len(self.weights.tags), np.int64)  # the two tags before each stretch
        for row, (_, before) in enumerate(batch):
            if before:
                history[row, 2 - len(before) :] = [self._tags[tag] for tag in before]
        history = history[order.stretches]
        with self._lock:
            numbers = self._numbers(list(chain.from_iterable(keys)))
            tags = self._decode(self._static(numbers, order.places), numbers, order, history)
        in_order = np.empty_like(tags)
        in_order[order.tokens] = tags
        return [self.weights.tags[tag] for tag in in_order.tolist()]

    def _numbers(self, keys: list[str]) -> Ids:
        """The numbers under which the words are kept; new words are computed first."""
        kept = self._kept
        try:
            return np.array([kept[key] for key in keys], np.int64)
        except KeyError:
            self._learn(sorted({key for key in keys if key not in kept}), keys)
        return np.array([self._kept[key] for key in keys], np.int64)

    def _learn(self, new: Sequence[str], keys: Sequence[str]) -> None:
        if len(self._kept) + len(new) > MOST_KEPT:
            self._kept.clear()
            new = sorted(set(keys))
        first = len(self._kept)
        self._grow(first + len(new))
        for start in range(0, len(new), MOST_AT_ONCE):
            self._work_out(first + start, new[start : start + MOST_AT_ONCE])

    def _work_out(self, first: int, keys: Sequence[str]) -> None:
        """Sum the weights of words for each of their places, under numbers from `first` on."""
        now = slice(first, first + len(keys))
        self._kept |= zip(keys, range(now.start, now.stop), strict=True)
        classes = self.weights.clusters
        marked = [(key[1:], True) if key[:1] == EDGE and key != EDGE else (key, False) for key in keys]
        names, n_far, n_near = zip(
            *(all_features(word, classes, is_first=first) for word, first in marked), strict=True
        )
        lengths = [len(features) for features in names]
        find, unknown = self._features.get, len(self._features)
        features = np.array([find(name, unknown) for name in chain.from_iterable(names)], np.int64)
        positions = np.arange(len(features)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        for number, (place, rows) in enumerate(zip(PLACES, self._rows, strict=True)):
            counts = np.array(lengths if place == "-" else n_near if place in NEAR else n_far, np.int64)
            counted = features[positions < np.repeat(counts, lengths)]
            weights = self._table.take(rows[counted], axis=0)
            self._sums[number, now] = np.add.reduceat(weights, counts.cumsum() - counts, axis=0, dtype=np.int16)
        small = [lower(word) for word, _ in marked]
        self._pair_numbers[now] = [self._paired.get(word, 0) for word in small]
        self._common_numbers[now] = [self._common.get(word, 0) for word in small]

    def _grow(self, size: int) -> None:
        room = self._sums.shape[1]
        if size > room:
            more = max(size - room, room)
            self._sums = np.concatenate(
                [self._sums, np.zeros((len(PLACES), more, len(self.weights.tags)), np.int16)], 1
            )
            self._pair_numbers = np.concatenate([self._pair_numbers, np.zeros(more, np.int64)])
            self._common_numbers = np.concatenate([self._common_numbers, np.zeros(more, np.int64)])

    def _static(self, numbers: Ids, places: Ids) -> Scores:
        """The scores of each place's tags from words alone."""
        scores: Scores = self._sums[0].take(numbers[places], axis=0)
        for sums, away in zip(self._sums[1:], AWAY[1:], strict=True):
            scores += sums.take(numbers[places + away], axis=0)
        paired = self._pair_numbers[numbers]
        for kind, (left, right) in enumerate(PAIRS if self.weights.pair_keys.size else ()):
            keys = pair_keys(kind, paired[places + left], paired[places + right], len(self.weights.paired))
            rows = self.weights.pair_keys.searchsorted(keys)
            known = np.flatnonzero(self.weights.pair_keys.take(rows, mode="clip") == keys)
            scores[known] += self.weights.pair_rows.take(rows[known], axis=0)
        return scores

    def _decode(self, scores: Scores, numbers: Ids, order: _Order, starts: Ids) -> Ids:
        """The tags, all sentences going forward in step."""
        weights, n_tags = self.weights, len(self.weights.tags)
        history = weights.history.reshape(-1, n_tags)
        own, after = weights.common_rows.reshape(2, -1, n_tags)
        common = self._common_numbers[numbers] * (n_tags + 1)
        own_common, next_common = common[order.places], common[order.places + 1]
        tags = np.empty(len(scores), np.int64)
        before, last = starts.T
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
    the number of sentences with a first, second, ... word, and `stretches` the order of these.
    """

    tokens: Ids
    places: Ids
    n_active: list[int]
    stretches: Ids

    @staticmethod
    def of(lengths: Ids) -> _Order:
        n_before = lengths.cumsum() - lengths
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        position = np.arange(len(sentence)) - n_before[sentence]
        tokens = np.lexsort((-lengths[sentence], position))  # stable: ties stay in the order of the sentences
        places = tokens + 4 * sentence[tokens] + 2
        return _Order(tokens, places, np.bincount(position).tolist(), sentence[tokens[: len(lengths)]])


def _batches(parts: Sequence[Part]) -> Iterator[list[_Stretch]]:
    batch: list[_Stretch] = []
    n_words = 0
    for part in parts:
        for stretch in _stretches(part):
            batch.append(stretch)
            n_words += len(stretch[0]) - 4
            if n_words >= BATCH:
                yield batch
                batch, n_words = [], 0
    if batch:
        yield batch


def _stretches(part: Part) -> Iterator[_Stretch]:
    """The words with two neighbours on each side, in stretches; the first word of a sentence is marked as such."""
    words, start, end, before = part
    if start < end:
        keys = [EDGE, EDGE, EDGE + words[0], *words[1 : end + 2], EDGE, EDGE]
    while start < end:
        stop = min(end, start - start % LONGEST_STRETCH + LONGEST_STRETCH)
        n_known = min(2, start % LONGEST_STRETCH)
        yield keys[start : stop + 4], before[-n_known:] if n_known else ()
        start, before = stop, ()


def load_tagger(path: str | PurePath | None = None) -> PerceptronTagger:
    """The tagger of a model file; the shipped one by default.  Loaded once."""
    return _load(shipped(KIND) if path is None else Path(path))


@lru_cache(maxsize=4)
def _load(path: Path) -> PerceptronTagger:
    model = read_model(path, kind=KIND)
    with expecting("a tagger", path):
        return PerceptronTagger(Weights.of(model))
