"""M2 into essays: every block is one essay, with its tokens, its edits and its annotators.

The text is the S line after `S `, as it stands; tokens are those of `str.split()`.  A span of tokens becomes a span
of code points, from the start of its first token to the end of its last; an insertion before token `i` stands at
the start of that token, and after the last token at the end of the text.

A no-op line says that its annotator found nothing to mend.  A block without A lines says so too where the file has
one annotator; where it has several, nobody is known to have read the block (docs/corpora.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from grater.corpora.formats import Source
from grater.corpora.identity import EssayIds
from grater.corpora.m2.bytes import Ints
from grater.corpora.m2.columns import Columns, decode
from grater.corpora.m2.fields import (
    COMMENT_AS_READ,
    CORRECTION_AS_READ,
    NOOP,
    NOOP_BODY,
    NOOP_LEFT_OUT,
    NOOPS_AS_READ,
    REQUIRED,
    REQUIRED_AS_READ,
    SEPARATOR,
    comment_field,
    comment_of,
    correction_of,
    replacements_of,
)
from grater.corpora.m2.scan import scan_lines
from grater.errors import Problems
from grater.model import Edit, Essay, Json, Span

WORD = re.compile(r"\S+")


class Row(NamedTuple):
    """An A line."""

    start: int
    end: int
    tag: str
    correction: str
    required: str
    comment: str
    annotator: str
    line: int


def read_source(source: Source) -> Iterator[Essay]:
    """The essays of a file, which is read twice: who its annotators are must be known at its first block."""
    annotators = annotators_of(source.lines())
    yield from read_m2(source.lines(), name=source.name, annotators=annotators)


def annotators_of(lines: Iterable[str]) -> set[str]:
    """The annotators of a file; two at the most, since more make no difference."""
    annotators: set[str] = set()
    for line in lines:
        if line.startswith("A "):
            annotators.add(line[line.rfind(SEPARATOR) + 3 :].strip())
            if len(annotators) == 2:
                break
    return annotators


def read_m2(lines: Iterable[str], *, name: str, annotators: Collection[str] | None = None) -> Iterator[Essay]:
    """The essays of lines; `annotators` are those of the whole file, where they are known."""
    problems, ids = Problems(name), EssayIds()
    alone = next(iter(annotators)) if annotators is not None and len(annotators) == 1 else None
    for columns in scan_lines(lines, problems=problems):
        for line, sentence, rows in _blocks(columns):
            yield _essay(ids.of_text(sentence), sentence, rows, alone=alone, line=line)
    problems.done()


def _blocks(columns: Columns) -> Iterator[tuple[int, str, list[Row]]]:
    """Each sentence with its line and its A lines."""
    text, continuations = decode(columns.data), _continuations(columns.data)
    rows = _rows(columns, text, continuations)
    bounds = columns.edits_of().tolist()
    sentences = _slices(text, (columns.sentence_start, columns.sentence_end), continuations)
    for index, (line, sentence) in enumerate(zip(columns.sentence_line.tolist(), sentences, strict=True)):
        yield line, sentence, rows[bounds[index] : bounds[index + 1]]


def _rows(columns: Columns, text: str, continuations: Ints) -> list[Row]:
    fields = (columns.tag, columns.correction, columns.required, columns.comment)
    tags, corrections, required, comments = (_slices(text, field, continuations) for field in fields)
    annotators = [columns.annotators[place] for place in columns.annotator.tolist()]
    starts, ends, lines = columns.start.tolist(), columns.end.tolist(), columns.line.tolist()
    return list(map(Row, starts, ends, tags, corrections, required, comments, annotators, lines))


def _slices(text: str, bounds: tuple[Ints, Ints], continuations: Ints) -> list[str]:
    """The parts of `text` between bounds that count bytes of it."""
    start, end = (bound - np.searchsorted(continuations, bound) if len(continuations) else bound for bound in bounds)
    return [text[start:end] for start, end in zip(start.tolist(), end.tolist(), strict=True)]


def _continuations(data: bytes) -> Ints:
    """Where the bytes of UTF-8 stand that begin no character."""
    if data.isascii():
        return np.zeros(0, np.int64)
    continuations: Ints = (np.frombuffer(data, np.uint8) & 0xC0 == 0x80).nonzero()[0]
    return continuations


def _essay(essay_id: str, text: str, rows: list[Row], *, alone: str | None, line: int) -> Essay:
    tokens = token_spans_of_line(text)
    edits = tuple([_edit(row, text, tokens) for row in rows if row.tag != NOOP])
    if not rows and alone is not None:
        return Essay(essay_id, text, (), (alone,), tokens, {NOOP_LEFT_OUT: False}, line)
    annotators = tuple(dict.fromkeys([row.annotator for row in rows]))
    metadata = {} if len(edits) == len(rows) else _unusual_noops(rows, annotators)
    return Essay(essay_id, text, edits, annotators, tokens, metadata, line)


def token_spans_of_line(text: str) -> tuple[Span, ...]:
    """The tokens of an S line: those of `str.split()`."""
    words = text.split()
    if " ".join(words) != text:
        return tuple([shared_span(match.span()) for match in WORD.finditer(text)])
    spans, start = [], 0
    for word in words:
        end = start + len(word)
        spans.append(shared_span((start, end)))
        start = end + 1
    return tuple(spans)


@lru_cache(maxsize=1 << 16)
def shared_span(bounds: tuple[int, int]) -> Span:
    """A span; words stand at the same few places in most sentences, so that one value serves them all."""
    return Span(*bounds)


def _edit(row: Row, text: str, tokens: tuple[Span, ...]) -> Edit:
    span = _span(row.start, row.end, text, tokens)
    words = text[span.start : span.end]
    replacements = replacements_of(row.correction, tag=row.tag, words=words)
    extra: dict[str, Json] = {}
    if row.required != REQUIRED:
        extra[REQUIRED_AS_READ] = row.required
    if row.correction != correction_of(replacements, words=words):
        extra[CORRECTION_AS_READ] = row.correction
    comment = comment_of(row.comment)
    if row.comment != comment_field(comment):
        extra[COMMENT_AS_READ] = row.comment
    return Edit(span, replacements, row.tag, row.annotator, comment, extra, row.line)


def _span(start: int, end: int, text: str, tokens: tuple[Span, ...]) -> Span:
    if start < end:
        return shared_span((tokens[start].start, tokens[end - 1].end))
    point = tokens[start].start if start < len(tokens) else len(text)
    return shared_span((point, point))


def _unusual_noops(rows: list[Row], annotators: tuple[str, ...]) -> dict[str, Json]:
    """The no-op lines, where they are not the usual ones."""
    noops: dict[str, list[Json]] = {annotator: [] for annotator in annotators}
    usual: dict[str, list[Json]] = {annotator: [NOOP_BODY] for annotator in annotators}
    for row in rows:
        if row.tag == NOOP:
            fields = (f"{row.start} {row.end}", row.tag, row.correction, row.required, row.comment)
            noops[row.annotator].append(SEPARATOR.join(fields))
        else:
            usual[row.annotator] = []
    return {} if noops == usual else {NOOPS_AS_READ: list(noops.values())}
