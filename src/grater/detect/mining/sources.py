"""Where the counts of n-grams come from: Web1T folders, plain text, or a language model.

The paper looked up Google's Web 1T 5-gram Corpus (Brants & Franz 2006, LDC2006T13): a folder with one folder for each
order, `1gms` to `5gms`; in them files, compressed or not, whose lines are an n-gram, a tab and a count:

    marry with her <tab> 1234

`1gms` has the words in `vocab.gz`, in order of name (`vocab_cs.gz`, the same in order of count, is skipped); the
others have files such as `3gm-0042.gz` (an index, `3gm.idx`, is skipped).  They are found at any depth, with the data
of several disks side by side.  The corpus is case-sensitive; we look up normal forms (`ngrams.counts.normal`), so the
counts of all spellings of an n-gram are added.  It leaves out what was seen fewer than 40 times: an n-gram that is
missing has a count of 0, which means fewer than 40.

Any well-formed text does instead, and is counted as it is read; or a language model of ours, which has probabilities
but no counts: there an n-gram that the model keeps counts as its probability times the model's number of words,
roughly what was counted, and one that it does not keep as 0.  A model's card says how many words it was trained on; a
million where it does not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import exp
from pathlib import Path
from typing import TypeAlias

import numpy as np

from grater.corpora.source import ignore_progress, open_source
from grater.detect.ngrams.counts import Packing, find, normal, sentences_of_lines, text_lines
from grater.detect.ngrams.language_model import NOTHING, LanguageModel, load
from grater.errors import BadInput, Problem, Problems, UsageError
from grater.models import shipped

NGRAM_FILE = re.compile(r"(\d)gm-\d+(\.gz|\.bz2|\.xz)?", re.IGNORECASE)
VOCABULARY_FILE = re.compile(r"vocab(\.gz|\.bz2|\.xz)?", re.IGNORECASE)

Ngram: TypeAlias = tuple[str, ...]
Counts: TypeAlias = Mapping[Ngram, float]
Progress: TypeAlias = Callable[[int], None]

SHIPPED = "prep-lm"
"""The system whose language model is the default source of counts."""


def read_counts(lines: Iterable[str], *, order: int, name: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """The n-grams of a file, as spelt there, with their counts."""
    problems = Problems(name)
    for number, line in enumerate(lines, 1):
        text, tab, count = line.rstrip("\r\n").rpartition("\t")
        words = tuple(text.split(" "))
        if not tab or len(words) != order or not count.isdecimal():
            expected = f"expected {order} words, a tab and a count"
            problems.add(f"{expected}, found {line.rstrip()[:60]!r}", line=number)
        else:
            yield words, int(count)
    problems.done()


def files_of_order(folder: Path, order: int) -> list[Path]:
    """The files of a corpus that hold n-grams of one order, in order of name."""
    if not folder.is_dir():
        raise BadInput(Problem(str(folder), "expected a folder of Web1T counts, found none"))
    paths = [path for path in folder.rglob("*") if path.is_file() and _order_of(path) == order]
    if not paths:
        raise UsageError(
            f"{folder}: expected files such as {order}gms/{order}gm-0000.gz below this folder, found none"
        )
    return sorted(paths)


def _order_of(path: Path) -> int | None:
    """The order of a file's n-grams; None for files that are skipped."""
    if match := NGRAM_FILE.fullmatch(path.name):
        return int(match[1])
    return 1 if VOCABULARY_FILE.fullmatch(path.name) else None


def counts_of(
    folder: Path, wanted: Collection[Sequence[str]], *, advance: Callable[[int], None] = ignore_progress
) -> Counter[tuple[str, ...]]:
    """The counts of wanted n-grams, given as normal words; the corpus is read once, and nothing else is kept."""
    counts: Counter[tuple[str, ...]] = Counter()
    for order in sorted({len(ngram) for ngram in wanted}):
        among = {tuple(ngram) for ngram in wanted if len(ngram) == order}
        middle = {ngram[order // 2] for ngram in among}
        for path in files_of_order(folder, order):
            lines = open_source(path, advance=advance).lines()
            for words, count in read_counts(lines, order=order, name=str(path)):
                if normal(words[order // 2]) not in middle:  # most lines are skipped here, which keeps the pass quick
                    continue
                ngram = tuple(map(normal, words))
                if ngram in among:
                    counts[ngram] += count
    return counts


def counts_in_web1t(folder: Path, wanted: Collection[Ngram], *, advance: Progress = ignore_progress) -> Counts:
    """From a folder in the format of Web1T."""
    return counts_of(folder, wanted, advance=advance)


def counts_in_text(
    paths: Iterable[Path], wanted: Collection[Ngram], *, advance: Progress = ignore_progress
) -> Counts:
    """From files and folders of plain text."""
    counts: Counter[Ngram] = Counter()
    for words in sentences_of_lines(text_lines(paths, advance=advance)):
        for n in (2, 3):
            counts.update(ngram for ngram in zip(*(words[k:] for k in range(n)), strict=False) if ngram in wanted)
    return counts


def counts_in_model_file(path: Path, wanted: Collection[Ngram]) -> Counts:
    """Rough counts from a stored language model."""
    model = load(path)
    figures = model.card.get("figures")
    n_tokens = figures.get("tokens") if isinstance(figures, Mapping) else None
    return counts_in_model(model, n_tokens if isinstance(n_tokens, int) else 10**6, wanted)


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
