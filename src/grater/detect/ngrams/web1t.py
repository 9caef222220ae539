"""Counts in the format of Google's Web 1T 5-gram Corpus (Brants & Franz 2006, LDC2006T13).

A folder with one folder for each order, `1gms` to `5gms`; in them files, packed or not, whose lines are an n-gram, a
tab and a count:

    marry with her <tab> 1234

`1gms` has the words in `vocab.gz`, in order of name (`vocab_cs.gz`, the same in order of count, is passed over); the
others have files such as `3gm-0042.gz` (an index, `3gm.idx`, is passed over).  They are found at any depth, with the
data of several disks side by side.

The corpus keeps case apart; what is looked up here is in normal form (`words.normal`), so the counts of all spellings
of an n-gram are added up.  It leaves out what was seen fewer than 40 times: an n-gram that is not there has a count
of 0, which means fewer than 40.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from grater.corpora.source import ignore_progress, open_source
from grater.detect.ngrams.words import normal
from grater.errors import BadInput, Problem, Problems, UsageError

NGRAM_FILE = re.compile(r"(\d)gm-\d+(\.gz|\.bz2|\.xz)?", re.IGNORECASE)
VOCABULARY_FILE = re.compile(r"vocab(\.gz|\.bz2|\.xz)?", re.IGNORECASE)


def read_counts(lines: Iterable[str], *, order: int, name: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """The n-grams of a file as it has them, with their counts."""
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
    found = [path for path in folder.rglob("*") if path.is_file() and _order_of(path) == order]
    if not found:
        raise UsageError(
            f"{folder}: expected files such as {order}gms/{order}gm-0000.gz below this folder, found none"
        )
    return sorted(found)


def _order_of(path: Path) -> int | None:
    """The order of a file's n-grams; None for files that are passed over."""
    if match := NGRAM_FILE.fullmatch(path.name):
        return int(match[1])
    return 1 if VOCABULARY_FILE.fullmatch(path.name) else None


def counts_of(
    folder: Path, wanted: Collection[Sequence[str]], *, advance: Callable[[int], None] = ignore_progress
) -> Counter[tuple[str, ...]]:
    """The counts of wanted n-grams, given as normal words; the corpus is gone through once, nothing else is kept."""
    counts: Counter[tuple[str, ...]] = Counter()
    for order in sorted({len(ngram) for ngram in wanted}):
        among = {tuple(ngram) for ngram in wanted if len(ngram) == order}
        middle = {ngram[order // 2] for ngram in among}
        for path in files_of_order(folder, order):
            lines = open_source(path, advance=advance).lines()
            for words, count in read_counts(lines, order=order, name=str(path)):
                if normal(words[order // 2]) not in middle:  # most lines end here, so that the pass stays quick
                    continue
                ngram = tuple(map(normal, words))
                if ngram in among:
                    counts[ngram] += count
    return counts
