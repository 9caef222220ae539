"""Plain text: one file is one essay, character for character.

The text of the essay is the file's text with nothing changed, its last line end included; its id is a hash of the
text.  `one_per_line=True` reads corpora with one paragraph per line: each line with words is an essay, without its
line end.  A NUL character is refused: UTF-16, or a file that is not text, looks like that.

A text file holds words and nothing else: ids, edits, annotators, tokens and metadata are reported as losses, and so
are the bounds between essays where several go into one file (a blank line then stands between two).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from grater.corpora.formats import EssayIds, FileFormat, Loss, Report, Source, is_of_corpus
from grater.errors import Problems, UsageError
from grater.model import Essay, short_hash

WORDS_ONLY = "a text file contains only words"


def read_text(lines: Iterable[str], *, name: str, one_per_line: bool = False) -> Iterator[Essay]:
    """The essay of a text file, or one for each line with words."""
    problems = Problems(name)
    checked = _checked(lines, problems)
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
        yield Essay(ids.of_text(text), text, line=1)


def read_sentences(source: Source) -> list[str]:
    """The lines of a file of one sentence per line, blank ones too, without their line ends."""
    problems = Problems(source.name)
    sentences = [line.removesuffix("\n").removesuffix("\r") for line in _checked(source.lines(), problems)]
    problems.done()
    return sentences


FOREIGN = {".csv": "a table", ".tsv": "a table", ".xlsx": "a table", ".parquet": "a table", ".json": "JSON"}


def sentences_alone(source: Source) -> list[str]:
    """One sentence per line; columns, JSON or markup would be scored as if they were words, and are refused."""
    name = source.name.lower().removesuffix(".gz")
    foreign = next((kind for suffix, kind in FOREIGN.items() if name.endswith(suffix)), None)
    if foreign is None and not name.endswith(".jsonl") and is_of_corpus(PurePath(name).suffix):
        foreign = "a corpus of another format"
    if foreign:
        wish = "write the sentences to a text file first"
        raise UsageError(f"{source.name}: expected one sentence per line or M2, found {foreign}; {wish}")
    sentences = read_sentences(source)
    filled = [sentence for sentence in sentences if sentence.strip()]
    if filled and all("\t" in sentence for sentence in filled):
        wish = f"use one column: cut -f2 {source.name}"
        raise UsageError(f"{source.name}: expected one sentence per line, found a tab in each; {wish}")
    if filled and all(sentence.startswith("{") and sentence.endswith("}") for sentence in filled):
        wish = "extract the corrected sentences first"
        raise UsageError(f"{source.name}: expected one sentence per line, found JSON; {wish}")
    return sentences


def _checked(lines: Iterable[str], problems: Problems) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            problems.add("expected text, found a NUL character; is it UTF-16? Convert it to UTF-8 first", line=number)
        yield line


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
    if essay.essay_id != short_hash(essay.text):
        yield loss("id", "a text file has no id: a hash of the text replaces it", changed=True)
    if is_first and essay.text.startswith("\ufeff"):
        yield loss("U+FEFF at its start", "it will be taken for a byte-order mark")
    if "\0" in essay.text:
        yield loss("NUL characters", "they are not text")
    for edit in essay.edits:
        yield loss(f"edit {edit.span.start}-{edit.span.end} {edit.tag}")
    for annotator in essay.annotators:
        yield loss(f"annotator {annotator}")
    if essay.tokens is not None:
        yield loss("tokens")
    for key in essay.metadata:
        yield loss(f"metadata {key}")


FORMAT = FileFormat("text", (".txt",), lambda source: read_text(source.lines(), name=source.name), write_text)
