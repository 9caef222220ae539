"""Plain text for training: any files or folders, sentence by sentence, as normal words.

A line is a paragraph.  The same line twice is read once: sources share paragraphs, and what is said once should not
count twice.  Files may be packed (`.gz`, `.bz2`, `.xz`); of a folder, the files that end in `.txt` are read, in order
of name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grater.corpora.formats import FORMATS
from grater.corpora.guess import files_of
from grater.corpora.source import ignore_progress, open_source
from grater.detect.learning.lines import HELD_OUT, distinct_lines, fold_of
from grater.detect.ngrams.words import normal
from grater.text.sentences import sentence_tokens

Progress = Callable[[int], None]


def text_lines(paths: Iterable[Path], *, advance: Progress = ignore_progress) -> Iterator[str]:
    """The lines of files and folders, each different line once."""
    files = (file for path in paths for file in files_of(path, FORMATS["text"]))
    return distinct_lines(line for file in files for line in open_source(file, advance=advance).lines())


@dataclass(slots=True)
class HoldOutSplit:
    """Keeps the lines of two folds in a hundred out of training, the same as the other engines do, for choosing
    thresholds and measuring; the first `most` of them are remembered."""

    most: int = 100_000
    lines: list[str] = field(default_factory=list)

    def left(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines to train on, of lines as `text_lines` gives them."""
        for line in lines:
            if fold_of(line) >= HELD_OUT:
                yield line
            elif len(self.lines) < self.most:
                self.lines.append(line)


def sentences_of_lines(lines: Iterable[str]) -> Iterator[list[str]]:
    """The normal words of each sentence; a line has at least one, unless it is blank."""
    cache: dict[str, str] = {}
    for line in lines:
        for _, words in sentence_tokens(line):
            yield [_normal(word, cache) for word in words]


def _normal(word: str, cache: dict[str, str]) -> str:
    found = cache.get(word)
    if found is None:
        found = normal(word)
        if len(cache) < 1 << 20:
            cache[word] = found
    return found
