"""From text to a language model, in bounded memory.

Three steps: the text becomes numbers in a file (`_Numbered`), and its words are counted on the way; the most frequent
words become the vocabulary, all others `<unk>`; n-grams are counted in sorted runs on disk (`counts`) and smoothed
(`kneser_ney`).  In memory are the different words of the text, one block of numbers or records, and the model.
Everything on disk is in one temporary folder that is removed at the end.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from grater.detect.ngrams.counts import (
    END,
    HELD_OUT,
    MOST_HELD_OUT,
    SPECIAL,
    START,
    UNKNOWN,
    NgramVocabulary,
    Packing,
    fold_of,
    smallest,
)
from grater.errors import UsageError
from grater.scale.jobs import Parts
from grater_train.counts import MOST_RECORDS, Records, all_orders, count_ngrams, summed
from grater_train.kneser_ney import Smoothed, smooth

MOST_WORDS = 1 << 16
PRUNE = (0, 0, 1, 1)

Tell = Callable[[str], None]


@dataclass(slots=True)
class HoldOutSplit:
    """Holds out the lines of two folds in a hundred, as the other engines do; `most` of them are kept.

    Thresholds are chosen and perplexity is measured on them.  Those kept have the smallest hashes, so they do not
    depend on the order of the text.
    """

    most: int = MOST_HELD_OUT
    _kept: list[str] = field(default_factory=list)

    def left(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines to train on."""
        for line in lines:
            if fold_of(line) >= HELD_OUT:
                yield line
                continue
            self._kept.append(line)
            if len(self._kept) > 2 * self.most:
                self._kept = self.lines

    @property
    def lines(self) -> list[str]:
        return smallest(self._kept, self.most)


def _ignore_step(message: str) -> None:
    """For callers who do not follow the steps."""


@dataclass(frozen=True, slots=True)
class ModelSize:
    """The size of a model: n-grams up to `order` words, `n_words` different words, thresholds for each order."""

    order: int = 4
    n_words: int = MOST_WORDS
    prune: tuple[int, ...] = PRUNE
    most_records: int = MOST_RECORDS


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A smoothed model with its words; the counts are those of its text."""

    smoothed: Smoothed
    vocabulary: NgramVocabulary
    n_sentences: int
    n_tokens: int
    n_types: int


def _require_usable(size: ModelSize) -> None:
    if size.order < 1 or size.n_words <= len(SPECIAL):
        raise UsageError(
            f"expected order 1 or more and more than {len(SPECIAL)} words, found {size.order}, {size.n_words}"
        )


def train(sentences: Iterable[Sequence[str]], size: ModelSize, *, tell: Tell = _ignore_step) -> TrainedModel:
    """Train on sentences of normal words; `tell` is called at each step."""
    _require_usable(size)
    Packing.for_words(size.order, size.n_words)
    with tempfile.TemporaryDirectory(prefix="grater-lm-") as name:
        folder = Path(name)
        tell("reading")
        text = _numbered(sentences, folder / "text")
        vocabulary, new_numbers = _vocabulary(text, size.n_words)
        packing = Packing.for_words(size.order, len(vocabulary))
        tell("counting")
        streams = (new_numbers[block] for block in _blocks(text, size.most_records))
        orders = count_ngrams(streams, packing, folder, most=size.most_records)
        tell("smoothing")
        smoothed = smooth(orders, packing, len(vocabulary), prune=size.prune[: size.order])
    return TrainedModel(
        smoothed=smoothed,
        vocabulary=vocabulary,
        n_sentences=text.n_sentences,
        n_tokens=text.n_tokens,
        n_types=len(text.words) - len(SPECIAL),
    )


@dataclass(frozen=True, slots=True)
class CountedText:
    """A text of which only the n-grams are left: its words with their counts, and its sizes."""

    words: Mapping[str, int]
    n_sentences: int
    n_tokens: int


CountedNgrams: TypeAlias = tuple[Sequence[Sequence[str]], np.ndarray[Any, np.dtype[np.int64]]]
"""N-grams of one order, position by position, and their counts."""


def train_counted(
    text: CountedText, ngrams: Iterable[CountedNgrams], size: ModelSize, *, tell: Tell = _ignore_step
) -> TrainedModel:
    """Train on n-grams that were counted before: those of the model's order, and shorter ones that begin with `<s>`.

    The model is the same as that of the text itself.
    """
    _require_usable(size)
    ranked = sorted((word for word in text.words if word not in SPECIAL), key=lambda w: (-text.words[w], w))
    vocabulary = NgramVocabulary.of([*SPECIAL, *ranked[: size.n_words - len(SPECIAL)]])
    packing = Packing.for_words(size.order, len(vocabulary))
    tell("counting")
    with tempfile.TemporaryDirectory(prefix="grater-lm-") as name:
        blocks = (_records(words, counts, vocabulary, packing) for words, counts in ngrams)
        orders = all_orders(blocks, packing, Path(name), most=size.most_records)
        tell("smoothing")
        smoothed = smooth(orders, packing, len(vocabulary), prune=size.prune[: size.order])
    return TrainedModel(
        smoothed=smoothed,
        vocabulary=vocabulary,
        n_sentences=text.n_sentences,
        n_tokens=text.n_tokens,
        n_types=len(text.words.keys() - set(SPECIAL)),
    )


def _records(
    words: Sequence[Sequence[str]],
    counts: np.ndarray[Any, np.dtype[np.int64]],
    vocabulary: NgramVocabulary,
    packing: Packing,
) -> Records:
    """N-grams as keys, those that are too short with more `<s>` in front."""
    numbers = np.full((len(counts), packing.order), START, np.int64)
    for column, spelt in enumerate(reversed(words)):
        numbers[:, packing.order - 1 - column] = [vocabulary.numbers.get(word, UNKNOWN) for word in spelt]
    return summed(Records(packing.keys(numbers), counts, counts))


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A text as numbers in a file, each sentence between `<s>` and `</s>`; `words` are in order of appearance."""

    path: Path
    words: list[str]
    n_sentences: int
    n_tokens: int


def _numbered(sentences: Iterable[Sequence[str]], path: Path, *, n_at_once: int = 1 << 22) -> _Numbered:
    numbers = {word: number for number, word in enumerate(SPECIAL)}
    n_sentences = n_tokens = 0
    waiting = array("I")
    with path.open("wb") as stream:
        for words in sentences:
            waiting.append(START)
            waiting.extend([numbers.setdefault(word, len(numbers)) for word in words])
            waiting.append(END)
            n_sentences, n_tokens = n_sentences + 1, n_tokens + len(words)
            if len(waiting) >= n_at_once:
                waiting.tofile(stream)
                del waiting[:]
        waiting.tofile(stream)
    if not n_tokens:
        raise UsageError("expected text to learn from, found no words in it")
    return _Numbered(path=path, words=list(numbers), n_sentences=n_sentences, n_tokens=n_tokens)


def _vocabulary(text: _Numbered, n_words: int) -> tuple[NgramVocabulary, np.ndarray[Any, np.dtype[np.uint32]]]:
    """The most frequent words, and the new number of every old one."""
    counts = np.zeros(len(text.words), np.int64)
    for block in _blocks(text, MOST_RECORDS):
        counts += np.bincount(block, minlength=len(counts))
    ranked = sorted(range(len(SPECIAL), len(counts)), key=lambda number: (-counts[number], text.words[number]))
    kept = [*range(len(SPECIAL)), *ranked[: n_words - len(SPECIAL)]]
    new_numbers = np.full(len(counts), UNKNOWN, np.uint32)
    new_numbers[kept] = np.arange(len(kept))
    return NgramVocabulary.of([text.words[number] for number in kept]), new_numbers


def _blocks(text: _Numbered, size: int) -> Iterator[np.ndarray[Any, np.dtype[np.uint32]]]:
    """The numbers in blocks of whole sentences of about `size` words."""
    numbers = np.memmap(text.path, np.uint32, mode="r")
    start = 0
    while start < len(numbers):
        end = min(start + size, len(numbers))
        while end < len(numbers) and numbers[end] != START:
            end += 1
        yield np.asarray(numbers[start:end])
        start = end


def ngrams_of(frame: pl.DataFrame, order: int) -> CountedNgrams:
    """The n-grams of one order in a part, position by position."""
    chosen = frame.filter(pl.col("order") == order)
    fields = chosen["ngram"].str.split_exact(" ", order - 1).struct.unnest()
    return [column.to_list() for column in fields], chosen["n"].cast(pl.Int64).to_numpy()


def model_from_counts(parts: Parts, size: ModelSize, *, tell: Callable[[str], None]) -> TrainedModel:
    """The language model of counted text."""
    counted_order = parts.about["options"]["order"]  # type: ignore[index,call-overload]
    if size.order > int(str(counted_order)):
        raise UsageError(f"{parts.folder}: expected n-grams of order {size.order}, found orders 1 to {counted_order}")
    words: dict[str, int] = {}
    for frame in parts.frames():
        (spelt,), counts = ngrams_of(frame, 1)
        words.update(zip(spelt, counts.tolist(), strict=True))
    totals = parts.about["totals"]
    assert isinstance(totals, Mapping)
    text = CountedText(words=words, n_sentences=int(str(totals["sentences"])), n_tokens=int(str(totals["tokens"])))
    return train_counted(text, _for_model(parts, size.order), size, tell=tell)


def _for_model(parts: Parts, order: int) -> Iterator[CountedNgrams]:
    for frame in parts.frames():
        yield ngrams_of(frame, order)
        at_start = frame.filter(pl.col("ngram").str.starts_with(f"{SPECIAL[START]} "))
        for shorter in range(2, order):
            yield ngrams_of(at_start, shorter)
