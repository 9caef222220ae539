"""ARPA files, the format of back-off models of other tools: read and written.

    \\data\\
    ngram 1=3 ...
    \\1-grams:
    -1.2 <tab> word <tab> -0.3        log10 of the probability, the n-gram, log10 of its back-off weight, if any
    \\end\\

Doug Paul's format, as SRILM and KenLM's lmplz write it.  Only n-grams of words in normal form (`counts.normal`) are
taken, since nothing else is ever looked up: train on normal words.  Where there are more words than the order has
room for, the most probable are kept and the n-grams of others left out; `ArpaModel` has the counts.  The beginning
and the end of every n-gram must be n-grams themselves, as they are in files that lmplz makes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import log
from typing import Any

import numpy as np

from grater.detect.ngrams.counts import KEY_BITS, SPECIAL, NgramVocabulary, Packing, find, normal
from grater.detect.ngrams.language_model import LanguageModel
from grater.errors import BadInput, Problem
from grater_train.kneser_ney import LEAST, Level, Smoothed

LN10 = log(10)
COUNT = re.compile(r"ngram (\d+)\s*=\s*(\d+)")
SECTION = re.compile(r"\\(\d+)-grams:")


@dataclass(frozen=True, slots=True)
class ArpaModel:
    """The model of an ARPA file, and how many of its words and n-grams were left out."""

    smoothed: Smoothed
    vocabulary: NgramVocabulary
    n_words_left_out: int
    n_ngrams_left_out: int


@dataclass(slots=True)
class _Section:
    """The entries of one order: word numbers, and logarithms to the base 10."""

    words: list[tuple[int, ...]] = field(default_factory=list)
    log_p: list[float] = field(default_factory=list)
    log_backoff: list[float] = field(default_factory=list)
    n_left_out: int = 0

    @classmethod
    def of(cls, entries: Iterable[tuple[str, float, float]], vocabulary: NgramVocabulary) -> _Section:
        """The entries whose words the vocabulary has; the others are counted."""
        section = cls()
        for words, p, backoff in entries:
            numbers = tuple(vocabulary.numbers.get(word, -1) for word in words.split(" "))
            if -1 in numbers:
                section.n_left_out += 1
                continue
            section.words.append(numbers)
            section.log_p.append(p)
            section.log_backoff.append(backoff)
        return section

    def level(self, order: int, bits: int) -> Level:
        packing = Packing(order, bits)
        keys = packing.keys(np.array(self.words, np.int64).reshape(-1, order))
        by_key = np.argsort(keys)
        log_p, log_backoff = (
            np.maximum(np.array(logs) * LN10, LEAST)[by_key] for logs in (self.log_p, self.log_backoff)
        )
        return Level(keys[by_key], log_p, log_backoff)


def read_arpa(lines: Iterable[str], *, name: str) -> ArpaModel:
    """A model from the lines of an ARPA file."""
    reader = _Reader(name, enumerate(lines, 1))
    n_by_order = reader.header()
    if not n_by_order:
        raise BadInput(Problem(name, "expected 'ngram 1=...' after '\\data\\', found none; is it an ARPA file?"))
    most = 1 << (KEY_BITS // len(n_by_order))
    unigrams = {words: (p, backoff) for words, p, backoff in reader.entries(1, n_by_order[0])}
    vocabulary = _vocabulary(unigrams, most)
    packing = Packing.for_words(len(n_by_order), len(vocabulary))
    levels = [_unigrams(unigrams, vocabulary)]
    n_left_out = 0
    for order, n_entries in enumerate(n_by_order[1:], 2):
        section = _Section.of(reader.entries(order, n_entries), vocabulary)
        n_left_out += section.n_left_out
        levels.append(section.level(order, packing.bits))
        _require_parts(levels, packing.bits, name)
    return ArpaModel(
        smoothed=Smoothed(packing, tuple(levels), ()),
        vocabulary=vocabulary,
        n_words_left_out=len(unigrams.keys() - vocabulary.numbers.keys()),
        n_ngrams_left_out=n_left_out,
    )


@dataclass(slots=True)
class _Reader:
    """The lines of a file with their numbers, read once, section by section."""

    name: str
    lines: Iterator[tuple[int, str]]

    def header(self) -> list[int]:
        """The number of n-grams of each order."""
        n_by_order: list[int] = []
        for _, line in self.lines:
            if match := COUNT.match(line):
                n_by_order.append(int(match[2]))
            elif SECTION.match(line):
                break
        return n_by_order

    def entries(self, order: int, n_entries: int) -> Iterator[tuple[str, float, float]]:
        """The n-grams of an order, up to the heading of the next."""
        n_found = 0
        for number, line in self.lines:
            if line.startswith("\\"):
                break
            if line.strip():
                n_found += 1
                yield self._entry(line.rstrip("\r\n").split("\t")[:3], order, number)
        if n_found != n_entries:
            message = f"expected {n_entries:,} n-grams of order {order}, found {n_found:,}; is the file cut off?"
            raise BadInput(Problem(self.name, message))

    def _entry(self, fields: list[str], order: int, number: int) -> tuple[str, float, float]:
        try:
            p, backoff = float(fields[0]), float(fields[2]) if len(fields) > 2 else 0.0
        except ValueError:
            p = backoff = float("nan")
        if len(fields) < 2 or fields[1].count(" ") != order - 1 or not p <= 0:
            message = f"expected a logarithm, a tab and {order} words, found {' '.join(fields)[:60]!r}"
            raise BadInput(Problem(self.name, message, number))
        return fields[1], p, backoff


def _vocabulary(unigrams: dict[str, tuple[float, float]], most: int) -> NgramVocabulary:
    usable = [word for word in unigrams if word not in SPECIAL and normal(word) == word]
    ranked = sorted(usable, key=lambda word: (-unigrams[word][0], word))
    return NgramVocabulary.of([*SPECIAL, *ranked[: most - len(SPECIAL)]])


def _unigrams(unigrams: dict[str, tuple[float, float]], vocabulary: NgramVocabulary) -> Level:
    rows = np.array([unigrams.get(word, (LEAST, 0.0)) for word in vocabulary.words])
    log_p, log_backoff = (np.maximum(rows * LN10, LEAST)).T
    return Level(np.arange(len(rows), dtype=np.uint64), log_p, log_backoff)


def _require_parts(levels: list[Level], bits: int, name: str) -> None:
    """Every n-gram without its last word, and without its first, must be there too."""
    packing, keys = Packing(len(levels), bits), levels[-1].keys
    for part, parts in (("beginning", packing.prefixes(keys)), ("end", packing.suffixes(keys))):
        n_missing = int((~find(levels[-2].keys, parts)[1]).sum())
        if n_missing:
            expected = f"expected the {part} of every n-gram of order {len(levels)} to be an n-gram too"
            raise BadInput(Problem(name, f"{expected}, found {n_missing:,} without; make the file with lmplz"))


def write_arpa(model: LanguageModel) -> Iterator[str]:
    """The lines of an ARPA file, with the numbers as the model has them."""
    yield "\\data\\\n"
    yield from (f"ngram {order}={len(table)}\n" for order, table in enumerate(model.tables, 1))
    for order, table in enumerate(model.tables, 1):
        yield from ("\n", f"\\{order}-grams:\n")
        everywhere = np.arange(len(table))
        log_p, backoff = table.log_p.at(everywhere) / LN10, table.log_backoff.at(everywhere) / LN10
        for ngram, p, weight in zip(_ngrams(model, order), log_p.tolist(), backoff.tolist(), strict=True):
            end = f"\t{weight:.7g}\n" if order < model.order else "\n"
            yield f"{p:.7g}\t{ngram}{end}"
    yield from ("\n", "\\end\\\n")


def _ngrams(model: LanguageModel, order: int) -> Iterator[str]:
    packing = Packing(order, model.packing.bits)
    columns: list[np.ndarray[Any, Any]] = [
        packing.words(model.tables[order - 1].keys, position) for position in range(order)
    ]
    words = model.vocabulary.words
    for numbers in zip(*(column.tolist() for column in columns), strict=True):
        yield " ".join(words[number] for number in numbers)
