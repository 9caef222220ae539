"""Modified Kneser-Ney smoothing, interpolated.

Chen & Goodman 1998 (TR-10-98, Harvard), section 3; notation and details of Heafield et al. 2013, section 3.3-3.5:

    Y    = n1 / (n1 + 2 n2),    D(i) = i - (i + 1) Y n(i+1) / n(i)    for i = 1, 2 and 3 or more
    u(w|h) = (a(hw) - D(a(hw))) / sum_x a(hx)
    b(h)   = sum_x D(a(hx)) / sum_x a(hx)
    p(w|h) = u(w|h) + b(h) p(w|h')

where a is the adjusted count (`counts`), n(i) the number of n-grams of an order with a = i, and h' is h without its
first word.  Below the unigrams lies the uniform distribution over all words but `<s>`.

Pruning leaves out n-grams whose raw count is at most the threshold of their order; their whole count goes to b(h), so
every distribution still sums to one.  Thresholds may not fall from one order to the next: then what an n-gram relies
on (its prefix, its suffix) is always there.  Departure: where a text is too small for the discounts (an n(i) is 0, or
D(i) falls outside 0 to i), the order takes 0.5, 1, 1.5, as lmplz does on request; lmplz stops otherwise.

Stored numbers take one byte each: the range is cut into 256 bins of equal width, and each number is stored as its
bin's mean.  So no logarithm is off by more than a bin: about 0.05 for probabilities between 1 and e^-13.  Bins of
equal size (Federico & Bertoldi 2006, WMT, 94-101), tried first, moved rare but important numbers far and raised
perplexity by 4 %; these raise it by less than 0.1 %.  Up to 256 different values are kept as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import exp
from typing import Any, TypeAlias

import numpy as np

from grater.detect.ngrams.counts import START, UNKNOWN, Keys, NgramVocabulary, Packing, find
from grater.detect.ngrams.language_model import Column, LanguageModel, NgramTable
from grater.errors import UsageError
from grater_train.counts import Records, Runs, blocks_by_context

Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Codes: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Discounts: TypeAlias = tuple[float, float, float]

FALLBACK: Discounts = (0.5, 1.0, 1.5)

N_CODES = 256
LEAST = -99.0
"""The logarithm of 0, as in ARPA files (there to the base 10)."""


@dataclass(frozen=True, slots=True)
class Level:
    """The n-grams of one order that the model keeps, keys in order, with their natural logarithms."""

    keys: Keys
    log_p: Numbers
    log_backoff: Numbers


@dataclass(frozen=True, slots=True)
class Smoothed:
    """A model before it is quantised: its levels, lowest order first, and the discounts of each order."""

    packing: Packing
    levels: tuple[Level, ...]
    discounts: tuple[Discounts, ...]


def smooth(orders: Sequence[Runs], packing: Packing, n_words: int, *, prune: Sequence[int] = ()) -> Smoothed:
    """Estimate all orders, lowest first; `prune` has a threshold for each order, 0 for those it does not name."""
    thresholds = _thresholds(prune, len(orders))
    levels: list[Level] = []
    all_discounts: list[Discounts] = []
    for order, (runs, threshold) in enumerate(zip(orders, thresholds, strict=True), 1):
        narrow = Packing(order, packing.bits)
        discounts = discounts_of(runs.merged(), narrow)
        blocks = blocks_by_context(_real(runs.merged(), narrow), narrow)
        parts = [_estimate(block, narrow, discounts, threshold) for block in blocks]
        if order == 1:
            levels = [_unigrams(parts, n_words)]
        else:
            levels[-1] = _with_backoffs(levels[-1], parts)
            levels.append(_interpolated(levels[-1], parts, narrow))
        all_discounts.append(discounts)
    return Smoothed(packing, tuple(levels), tuple(all_discounts))


def discounts_of(blocks: Iterable[Records], packing: Packing) -> Discounts:
    """The three discounts of an order, from how many n-grams have a count of 1, 2, 3 and 4."""
    n = np.zeros(5, np.int64)
    for records in blocks:
        adjusted = records.adjusted[packing.is_real(records.keys)]
        n += np.bincount(np.minimum(adjusted, 5), minlength=6)[:5]
    if not n[1:].all():
        return FALLBACK
    y = n[1] / (n[1] + 2 * n[2])
    one, two, three = (i - (i + 1) * y * n[i + 1] / n[i] for i in (1, 2, 3))
    fits = 0 <= one <= 1 and 0 <= two <= 2 and 0 <= three <= 3
    return (float(one), float(two), float(three)) if fits else FALLBACK


@dataclass(frozen=True, slots=True)
class _Part:
    """Some contexts of an order: what is kept below them, and what they leave to the order below."""

    keys: Keys
    own: Numbers
    rest: Numbers
    contexts: Keys
    backoffs: Numbers


def _real(blocks: Iterable[Records], packing: Packing) -> Iterable[Records]:
    for records in blocks:
        is_real = packing.is_real(records.keys)
        if is_real.any():
            yield Records(records.keys[is_real], records.raw[is_real], records.adjusted[is_real])


def _estimate(records: Records, packing: Packing, discounts: Discounts, threshold: int) -> _Part:
    contexts, firsts, n_each = np.unique(packing.prefixes(records.keys), return_index=True, return_counts=True)
    counts = records.adjusted.astype(np.float64)
    is_kept = records.raw > threshold
    discount = np.array([0.0, *discounts])[np.minimum(records.adjusted, 3)]
    totals = np.add.reduceat(counts, firsts)
    backoffs = np.add.reduceat(np.where(is_kept, discount, counts), firsts) / totals
    own = (counts - discount) / np.repeat(totals, n_each)
    rest = np.repeat(backoffs, n_each)
    return _Part(
        keys=records.keys[is_kept], own=own[is_kept], rest=rest[is_kept], contexts=contexts, backoffs=backoffs
    )


def _unigrams(parts: Sequence[_Part], n_words: int) -> Level:
    """Every word has a unigram, so its number is its index; `<s>` is never predicted."""
    p = np.full(n_words, (parts[0].backoffs[0] if parts else 1.0) / (n_words - 1))
    for part in parts:
        p[part.keys] += part.own
    p[START] = 0.0
    with np.errstate(divide="ignore"):
        return Level(np.arange(n_words, dtype=np.uint64), np.log(p), np.zeros(n_words))


def _with_backoffs(level: Level, parts: Sequence[_Part]) -> Level:
    backoffs = level.log_backoff.copy()
    for part in parts:
        indices, is_there = find(level.keys, part.contexts)
        with np.errstate(divide="ignore"):
            backoffs[indices[is_there]] = np.log(part.backoffs[is_there])
    return Level(level.keys, level.log_p, backoffs)


def _interpolated(lower: Level, parts: Sequence[_Part], packing: Packing) -> Level:
    keys = np.concatenate([part.keys for part in parts]) if parts else np.zeros(0, np.uint64)
    log_p = np.zeros(len(keys))
    done = 0
    for part in parts:
        indices, _ = find(lower.keys, packing.suffixes(part.keys))
        log_p[done : done + len(part.keys)] = np.log(part.own + part.rest * np.exp(lower.log_p[indices]))
        done += len(part.keys)
    return Level(keys, log_p, np.zeros(len(keys)))


def _thresholds(prune: Sequence[int], n_orders: int) -> tuple[int, ...]:
    """One for each order; unigrams are always kept, and the last one given holds for the orders above it."""
    given = [*prune, *[prune[-1] if prune else 0] * n_orders][:n_orders]
    if given != sorted(given) or min(given) < 0 or len(prune) > n_orders:
        expected = f"expected up to {n_orders} pruning thresholds that do not fall, as in 0,0,1,1"
        raise UsageError(f"{expected}, found {','.join(map(str, prune))}")
    if given[0]:
        raise UsageError(
            f"expected a threshold of 0 for single words, found {given[0]}; limit the vocabulary instead"
        )
    return tuple(given)


def quantised(numbers: Numbers) -> Column:
    """The numbers with their own code book."""
    numbers = np.maximum(numbers, LEAST)
    values, codes = np.unique(numbers, return_inverse=True)
    if len(values) > N_CODES:
        values, codes = _bins(numbers)
    return Column(values.astype(np.float32), codes.astype(np.uint8))


def _bins(numbers: Numbers) -> tuple[Numbers, Codes]:
    """The means of the bins that are not empty, and the bin of each number."""
    is_sound = numbers > LEAST  # a probability of zero gets a bin of its own, and does not widen the others
    low, high = numbers[is_sound].min(), numbers.max()
    width = (high - low) / (N_CODES - 1)
    bins = np.where(is_sound, 1 + np.minimum((numbers - low) / width, N_CODES - 2), 0).astype(np.int64)
    _, codes, n_each = np.unique(bins, return_inverse=True, return_counts=True)
    return np.bincount(codes, weights=numbers) / n_each, codes


def language_model(smoothed: Smoothed, vocabulary: NgramVocabulary, *, is_exact: bool = False) -> LanguageModel:
    """The model as it is stored: 8 bits for each number above the single words, unless it must be exact."""
    low, *high = smoothed.levels
    pack = Column if is_exact else quantised
    words = NgramTable(low.keys, Column(np.maximum(low.log_p, LEAST)), Column(low.log_backoff))
    tables = [NgramTable(level.keys, pack(level.log_p), pack(level.log_backoff)) for level in high]
    return LanguageModel(vocabulary, smoothed.packing, (words, *tables))


@dataclass(frozen=True, slots=True)
class Perplexity:
    """The perplexity of a text; `known` leaves out unknown words."""

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


def perplexity(model: LanguageModel, sentences: Iterable[Sequence[str]]) -> Perplexity:
    """Over all words and sentence ends of a text."""
    n_sentences = n_words = n_unknown = 0
    log_p = log_p_unknown = 0.0
    remaining = iter(sentences)
    while batch := list(islice(remaining, 10_000)):
        rows = np.concatenate([model.rows(model.vocabulary.sentence(words)) for words in batch])
        answers, is_unknown = model.log_p(rows), rows[:, -1] == UNKNOWN
        n_sentences += len(batch)
        n_words += len(rows)
        n_unknown += int(is_unknown.sum())
        log_p, log_p_unknown = log_p + float(answers.sum()), log_p_unknown + float(answers[is_unknown].sum())
    return Perplexity(
        n_sentences=n_sentences, n_words=n_words, n_unknown=n_unknown, log_p=log_p, log_p_known=log_p - log_p_unknown
    )
