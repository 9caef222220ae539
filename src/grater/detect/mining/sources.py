"""Where the counts of n-grams come from: Web1T folders, plain text, or a language model.

The paper looked up the Google Web1T corpus (`ngrams.web1t`).  Any well-formed text does instead, and is counted as it
is read; or a language model of ours, which has no counts but probabilities: there an n-gram that the model keeps
counts as its probability times the model's number of words, roughly what was counted, and one that it does not keep
as 0.  A model's card says how many words it was trained on; a million where it does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from math import exp
from pathlib import Path
from typing import TypeAlias

import numpy as np

from grater.corpora.source import ignore_progress
from grater.detect.ngrams.counts import Packing
from grater.detect.ngrams.kneser_ney import find
from grater.detect.ngrams.language_model import NOTHING, LanguageModel
from grater.detect.ngrams.stored import load
from grater.detect.ngrams.texts import sentences_of_lines, text_lines
from grater.detect.ngrams.web1t import counts_of
from grater.models import shipped

Ngram: TypeAlias = tuple[str, ...]
Counts: TypeAlias = Mapping[Ngram, float]
Progress: TypeAlias = Callable[[int], None]

SHIPPED = "prep-lm"
"""The system whose language model serves where nobody names a source of counts."""


def counts_in_web1t(folder: Path, wanted: Collection[Ngram], *, advance: Progress = ignore_progress) -> Counts:
    """From a folder in the format of Web1T."""
    return counts_of(folder, wanted, advance=advance)


def counts_in_text(
    paths: Iterable[Path], wanted: Collection[Ngram], *, advance: Progress = ignore_progress
) -> Counts:
    """From files and folders of plain text."""
    return counts_in_sentences(sentences_of_lines(text_lines(paths, advance=advance)), wanted)


def counts_in_sentences(sentences: Iterable[list[str]], wanted: Collection[Ngram]) -> Counts:
    """How often wanted bigrams and trigrams stand in sentences of normal words."""
    counts: Counter[Ngram] = Counter()
    for words in sentences:
        for n in (2, 3):
            counts.update(ngram for ngram in zip(*(words[k:] for k in range(n)), strict=False) if ngram in wanted)
    return counts


def counts_in_model_file(path: Path, wanted: Collection[Ngram]) -> Counts:
    """Rough counts from a stored language model."""
    found = load(path)
    figures = found.card.get("figures")
    n_tokens = figures.get("tokens") if isinstance(figures, Mapping) else None
    return counts_in_model(found, n_tokens if isinstance(n_tokens, int) else 10**6, wanted)


def counts_in_shipped_model(wanted: Collection[Ngram]) -> Counts:
    """Rough counts from the language model that comes with grater."""
    return counts_in_model_file(shipped(SHIPPED), wanted)


def counts_in_model(model: LanguageModel, n_tokens: int, wanted: Collection[Ngram]) -> Counts:
    """Rough counts from a language model trained on `n_tokens` words."""
    counts: dict[Ngram, float] = {}
    for length in sorted({len(ngram) for ngram in wanted}):
        ngrams = sorted(ngram for ngram in wanted if len(ngram) == length)
        rows = np.array([model.vocabulary.ids(ngram) for ngram in ngrams]).reshape(-1, length)
        _, is_there = find(model.tables[length - 1].keys, Packing(length, model.packing.bits).keys(rows))
        log_p = sum(model.log_p(_padded(rows[:, :end], model.order)) for end in range(1, length + 1))
        for ngram, is_kept, log_each in zip(ngrams, is_there.tolist(), np.atleast_1d(log_p).tolist(), strict=True):
            counts[ngram] = n_tokens * exp(log_each) if is_kept and 0 not in model.vocabulary.ids(ngram) else 0.0
    return counts


def _padded(
    rows: np.ndarray[tuple[int, int], np.dtype[np.int64]], order: int
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    before = np.full((len(rows), max(0, order - rows.shape[1])), NOTHING)
    return np.concatenate([before, rows[:, -order:]], axis=1)
