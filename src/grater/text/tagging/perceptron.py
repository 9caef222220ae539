"""Tagging with an averaged perceptron, many sentences at a time.

Collins 2002 (EMNLP), decoded greedily from left to right.  The score of a tag is a sum over the word, its neighbours
(two on each side), pairs of them, and the two tags before.  All that does not depend on tags is summed first, for all
words at once: a word's part for each of its five places is worked out once and kept.  Then all sentences go forward
in step, a word each.  Everything is whole numbers, so the order of adding does not matter, nor which sentences share
a batch.  On a tie the first tag in the model's order wins.

A sentence of more than 256 words (a list, a text without stops) forgets its tags after each 256th word, not its
words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from grater.text.tagging.features import EDGE, lower, near_features, own_features
from grater.text.tagging.weights import Ids, Weights, pair_keys

LONGEST_STRETCH = 256
BATCH = 8192
"""Words that are tagged together: their scores fit into the cache of a processor."""

MOST_KEPT = 1 << 16
"""Words whose sums are kept; then all are dropped, and come again as they are needed."""

MOST_AT_ONCE = 4096

PLACES = "-pqno"
AWAY = (0, -1, -2, 1, 2)
PAIRS = ((-1, 0), (0, 1), (-1, 1))

Scores = NDArray[np.int16]


class PerceptronTagger:
    """A trained tagger; keeps what it has worked out of each word."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.card = weights.card
        self.name = str(weights.card.get("name", "tagger"))
        self._rows = {feature: row for row, feature in enumerate(weights.features)}
        self._table = np.vstack([weights.rows, np.zeros((1, len(weights.tags)), np.int8)])  # the last for the unknown
        self._paired = {word: number for number, word in enumerate(weights.paired, 1)}
        self._common = {word: number for number, word in enumerate(weights.common, 1)}
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
        names = chain.from_iterable(map(self._tag_batch, _batches(sentences)))
        return [tuple(islice(names, len(words))) for words in sentences]

    def _tag_batch(self, batch: Sequence[list[str]]) -> list[str]:
        order = _Order.of(np.array([len(keys) for keys in batch], np.int64) - 4)
        with self._lock:
            numbers = self._numbers(list(chain.from_iterable(batch)))
            tags = self._decode(self._static(numbers, order.places), numbers, order)
        in_order = np.empty_like(tags)
        in_order[order.tokens] = tags
        return [self.weights.tags[tag] for tag in in_order.tolist()]

    def _numbers(self, keys: list[str]) -> Ids:
        """The numbers under which the words are kept; new words are worked out first."""
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
        self._sums[0, now] = self._sum([own_features(word, classes, is_first=is_first) for word, is_first in marked])
        for number, place in enumerate(PLACES[1:], 1):
            self._sums[number, now] = self._sum([near_features(word, classes, place) for word, _ in marked])
        small = [lower(word) for word, _ in marked]
        self._pair_numbers[now] = [self._paired.get(word, 0) for word in small]
        self._common_numbers[now] = [self._common.get(word, 0) for word in small]

    def _sum(self, features: Sequence[Sequence[str]]) -> Scores:
        """The weights of each list of features, added up."""
        find, nothing = self._rows.get, len(self._rows)
        rows = np.array([find(feature, nothing) for each in features for feature in each], np.int64)
        lengths = np.array([len(each) for each in features], np.int64)
        return np.add.reduceat(self._table.take(rows, axis=0), lengths.cumsum() - lengths, axis=0, dtype=np.int16)

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
        """What words alone give to the tags of each place."""
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

    def _decode(self, scores: Scores, numbers: Ids, order: _Order) -> Ids:
        """The tags, all sentences going forward in step."""
        weights, n_tags = self.weights, len(self.weights.tags)
        history = weights.history.reshape(-1, n_tags)
        own, after = weights.common_rows.reshape(2, -1, n_tags)
        common = self._common_numbers[numbers] * (n_tags + 1)
        own_common, next_common = common[order.places], common[order.places + 1]
        tags = np.empty(len(scores), np.int64)
        last = before = np.full(order.n_active[0], n_tags, np.int64)
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

    `tokens` numbers them among the words of the batch, `places` among its keys, which count the edges; `n_active`
    says how many sentences have a first, second, ... word.
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
    batch: list[list[str]] = []
    n_words = 0
    for words in sentences:
        for stretch in _stretches(words):
            batch.append(stretch)
            n_words += len(stretch) - 4
            if n_words >= BATCH:
                yield batch
                batch, n_words = [], 0
    if batch:
        yield batch


def _stretches(words: Sequence[str]) -> Iterator[list[str]]:
    """The words with two neighbours on each side, in stretches; the first word of a sentence is marked as such."""
    if words:
        keys = [EDGE, EDGE, EDGE + words[0], *words[1:], EDGE, EDGE]
        for start in range(0, len(words), LONGEST_STRETCH):
            yield keys[start : start + LONGEST_STRETCH + 4]
