"""An n-gram language model that can be asked: what is the logarithm of this word's probability after these?

The table of an order is its n-grams' keys in order (`counts.Packing`), each with the logarithm of its probability and
of its back-off weight.  A question is answered as in any back-off model: by the longest n-gram that is there, with
the back-off weights of the longer contexts that it was not found after.  Short n-grams are looked up first: the end
of every n-gram is an n-gram itself, so where a short one is missing no longer one is there.  Logarithms are natural.

Questions come in bulk, as rows of word numbers, the word asked about last.  Rows have `order` columns; NOTHING stands
where a row is shorter, as at the start of a sentence.  Each row is answered for itself: the answer does not depend on
what else is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from typing import Any, TypeAlias

import numpy as np

from grater.detect.ngrams.counts import Packing
from grater.detect.ngrams.kneser_ney import Smoothed, find
from grater.detect.ngrams.quantised import LEAST, Column, quantised
from grater.detect.ngrams.runs import Keys
from grater.detect.ngrams.words import UNKNOWN, Vocabulary
from grater.model import Json

NOTHING = -1

Rows: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Table:
    """The n-grams of one order."""

    keys: Keys
    log_p: Column
    log_backoff: Column

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """Tables for the orders 1, 2, ... of one vocabulary; `card` says where they come from."""

    vocabulary: Vocabulary
    packing: Packing
    tables: tuple[Table, ...]
    card: Mapping[str, Json] = field(default_factory=dict)

    @staticmethod
    def of(smoothed: Smoothed, vocabulary: Vocabulary, *, is_exact: bool = False) -> LanguageModel:
        """The model as it is stored: 8 bits for each number above the single words, unless it must be exact."""
        low, *high = smoothed.levels
        pack = Column if is_exact else quantised
        words = Table(low.keys, Column(np.maximum(low.log_p, LEAST)), Column(low.log_backoff))
        tables = [Table(level.keys, pack(level.log_p), pack(level.log_backoff)) for level in high]
        return LanguageModel(vocabulary, smoothed.packing, (words, *tables))

    @property
    def order(self) -> int:
        return self.packing.order

    def log_p(self, rows: Rows) -> Floats:
        """The log-probability of each row's last word after the words before it."""
        answers, weights = self.tables[0].log_p.at(rows[:, -1]), np.zeros(len(rows))
        matched = with_context = np.arange(len(rows))
        for length in range(2, self.order + 1):
            places, with_context = self._matches(rows[:, :-1], with_context, length - 1)
            weights[with_context] += self.tables[length - 2].log_backoff.at(places)
            places, matched = self._matches(rows, matched, length)
            answers[matched], weights[matched] = self.tables[length - 1].log_p.at(places), 0.0
        return answers + weights

    def _matches(self, rows: Rows, among: Rows, length: int) -> tuple[Rows, Rows]:
        """Which of some rows end in an n-gram of this length that the model has, and where it stands."""
        among = among[rows[among, -length] != NOTHING]
        if length == 1:
            return rows[among, -1], among
        keys = Packing(length, self.packing.bits).keys(rows[among, -length:])
        places, is_there = find(self.tables[length - 1].keys, keys)
        return places[is_there], among[is_there]

    def rows(self, ids: Rows) -> Rows:
        """The questions for a whole sentence with its rims: each word but the first, after those before it."""
        padded = np.concatenate([np.full(self.order - 1, NOTHING), ids])
        return np.lib.stride_tricks.sliding_window_view(padded, self.order)[1:]

    def sentence_log_p(self, words: Sequence[str]) -> float:
        """The log-probability of a sentence, its end included."""
        return float(self.log_p(self.rows(self.vocabulary.sentence(words))).sum())


@dataclass(frozen=True, slots=True)
class Perplexity:
    """How surprised a model is by a text; `known` leaves out the words that it does not know."""

    n_sentences: int
    n_words: int
    n_unknown: int
    log_p: float
    log_p_known: float

    @property
    def value(self) -> float:
        return exp(-self.log_p / self.n_words)

    @property
    def known(self) -> float:
        return exp(-self.log_p_known / (self.n_words - self.n_unknown))


def perplexity(model: LanguageModel, sentences: Iterable[Sequence[str]], *, n_at_once: int = 10_000) -> Perplexity:
    """Over all words and sentence ends of a text."""
    n_sentences = n_words = n_unknown = 0
    log_p = log_p_unknown = 0.0
    for batch in _batches(sentences, n_at_once):
        rows = np.concatenate([model.rows(model.vocabulary.sentence(words)) for words in batch])
        answers, is_unknown = model.log_p(rows), rows[:, -1] == UNKNOWN
        n_sentences, n_words, n_unknown = (
            n_sentences + len(batch),
            n_words + len(rows),
            n_unknown + int(is_unknown.sum()),
        )
        log_p, log_p_unknown = log_p + float(answers.sum()), log_p_unknown + float(answers[is_unknown].sum())
    return Perplexity(n_sentences, n_words, n_unknown, log_p, log_p - log_p_unknown)


def _batches(sentences: Iterable[Sequence[str]], n_at_once: int) -> Iterable[list[Sequence[str]]]:
    batch: list[Sequence[str]] = []
    for words in sentences:
        batch.append(words)
        if len(batch) == n_at_once:
            yield batch
            batch = []
    if batch:
        yield batch
