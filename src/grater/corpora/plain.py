"""Plain text: one file is one essay, character for character, or the words of a Word document (`corpora.docx`).

The text of the essay is the file's text, unchanged, including its last line end; its id is the file's name without
the suffix. `one_per_line=True` reads corpora with one paragraph per line: each line with words is an essay, without
its line end, and its id a hash of the text. A NUL character is refused, since it indicates UTF-16 or a file that is
not text.

A text file holds only words: ids, edits, annotators, tokens and metadata are reported as losses, and so are the
boundaries between several essays in one file (separated by blank lines).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from grater.corpora.formats import EssayIds, FileFormat, Loss, Report, unmarked_losses
from grater.corpora.source import STDIN, without_nul
from grater.errors import Problems
from grater.model import Essay, short_hash

WORDS_ONLY = "a text file contains only words"


def read_text(lines: Iterable[str], *, name: str, one_per_line: bool = False) -> Iterator[Essay]:
    """The essay of a text file, or one for each line with words."""
    problems = Problems(name)
    checked = without_nul(lines, problems)
    ids = EssayIds()
    if one_per_line:
        for number, line in enumerate(checked, 1):
            if line.strip():
                text = line.removesuffix("\n").removesuffix("\r")
                yield Essay(ids.of_text(text), text, line=number)
        problems.done()
    else:
        text = "".join(checked)
        problems.done()
        yield Essay(bare_name(name) or short_hash(text), text, line=1)


def bare_name(name: str) -> str:
    """The last part of a path without its suffixes; empty for standard input."""
    file = PurePath(name).name
    for suffix in (".gz", ".bz2", ".xz"):
        file = file.removesuffix(suffix)
    return "" if name == STDIN else PurePath(file).stem


def write_text(essays: Iterable[Essay], report: Report) -> Iterator[str]:
    """The words of the essays, with a blank line between two."""
    before = ""
    for number, essay in enumerate(essays):
        for loss in _losses(essay, is_first=number == 0):
            report(loss)
        text = essay.text.replace("\0", "")
        gap = "" if number == 0 else "\n" if before.endswith("\n") else "\n\n"
        yield gap + text
        before = text or before


def _losses(essay: Essay, *, is_first: bool) -> Iterator[Loss]:
    def loss(what: str, why: str = WORDS_ONLY, *, changed: bool = False) -> Loss:
        return Loss(essay.essay_id, what, why, changed)

    if not is_first:
        yield loss("its boundaries", "a text file is one essay: a blank line precedes this one", changed=True)
    yield loss("id", "a text file has no id: its name replaces it", changed=True)
    if is_first and essay.text.startswith("\ufeff"):
        yield loss("U+FEFF at its start", "it will be taken for a byte-order mark")
    yield from unmarked_losses(essay, WORDS_ONLY)
    for key in essay.metadata:
        yield loss(f"metadata {key}")


FORMAT = FileFormat("text", (".txt", ".docx"), lambda source: read_text(source.lines(), name=source.name), write_text)
