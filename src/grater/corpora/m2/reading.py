"""M2 into essays: every block is one essay, with its tokens, its edits and its annotators.

The text is the S line after `S `, as it stands; tokens are those of `str.split()`, as ERRANT and m2scorer count
them.  A span of tokens becomes a span of code points, from the start of its first token to the end of its last; an
insertion before token `i` stands at the start of that token, and after the last token at the end of the text.

A no-op line says that its annotator found nothing to correct.  A block without A lines says so too where the file has
one annotator; where it has several, nobody is known to have read the block (docs/corpora.md).

A line that holds only white space is blank.  A `\\r` before the `\\n` belongs to the line end.  Blank lines may come
in any number between blocks, and need not come after the last.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from grater.corpora.formats import Source
from grater.corpora.identity import EssayIds
from grater.corpora.m2.fields import (
    COMMENT_AS_READ,
    CORRECTION_AS_READ,
    NO_BLANK_LINE,
    NO_SENTENCE,
    NOOP_BODY,
    NOOP_LEFT_OUT,
    NOOPS_AS_READ,
    REQUIRED,
    REQUIRED_AS_READ,
    SEPARATOR,
    Annotation,
    BadAnnotation,
    comment_field,
    comment_of,
    correction_of,
    parse_annotation,
    range_message,
    replacements_of,
    unknown_line_message,
)
from grater.errors import Problems
from grater.model import Edit, Essay, Json, Span

WORD = re.compile(r"\S+")


def read_source(source: Source) -> Iterator[Essay]:
    """The essays of a file, which is read twice: who its annotators are must be known at its first block."""
    annotators = annotators_of(source.lines())
    yield from read_m2(source.lines(), name=source.name, annotators=annotators)


def annotators_of(lines: Iterable[str]) -> set[str]:
    """The annotators of a file; two at the most, since more make no difference."""
    annotators: set[str] = set()
    for line in lines:
        if line.startswith("A "):
            annotators.add(line[line.rfind(SEPARATOR) + len(SEPARATOR) :].strip())
            if len(annotators) == 2:
                break
    return annotators


def read_m2(lines: Iterable[str], *, name: str, annotators: Collection[str] | None = None) -> Iterator[Essay]:
    """The essays of lines; `annotators` are those of the whole file, where they are known."""
    problems, ids = Problems(name), EssayIds()
    alone = next(iter(annotators)) if annotators is not None and len(annotators) == 1 else None
    for block in read_blocks(lines, problems=problems):
        yield _essay(block, ids.of_text(block.text), alone=alone)
    problems.done()


@dataclass(slots=True)
class AnnotatedSentence:
    """A block: an S line and its A lines, each with its line number."""

    line: int
    text: str
    tokens: tuple[Span, ...]
    annotations: list[tuple[int, Annotation]] = field(default_factory=list)


def read_blocks(lines: Iterable[str], *, problems: Problems) -> Iterator[AnnotatedSentence]:
    """The blocks of a file, without the lines that have a problem.

    Of several A lines in a row that have no sentence, the first is reported.
    """
    block: AnnotatedSentence | None = None
    previous: Literal["blank", "orphan", "content"] = "blank"
    for number, line in enumerate(lines, start=1):
        line, before, previous = line.removesuffix("\n").removesuffix("\r"), previous, "content"
        if line.startswith("A "):
            if before == "content":
                _add_annotation(block, line, number, problems)
                continue
            previous = "orphan"
            if before == "blank":
                problems.add(NO_SENTENCE, line=number)
        elif line.startswith("S ") or line == "S":
            if before != "blank":
                problems.add(NO_BLANK_LINE, line=number)
            if block is not None:
                yield block
            block = AnnotatedSentence(number, line[2:], token_spans_of_line(line[2:]))
        elif not line or line.isspace():
            previous = "blank"
        else:
            problems.add(unknown_line_message(line), line=number)
    if block is not None:
        yield block


def _add_annotation(block: AnnotatedSentence | None, line: str, number: int, problems: Problems) -> None:
    try:
        annotation = parse_annotation(line)
    except BadAnnotation as problem:
        problems.add(str(problem), line=number)
        return
    n_tokens = len(block.tokens) if block else 0
    is_within = 0 <= annotation.start <= annotation.end <= n_tokens
    if block is not None and (is_within or annotation.is_noop):
        block.annotations.append((number, annotation))
    else:
        problems.add(range_message(annotation.start, annotation.end, n_tokens), line=number)


def _essay(block: AnnotatedSentence, essay_id: str, *, alone: str | None) -> Essay:
    text, annotations = block.text, block.annotations
    if not annotations and alone is not None:
        return Essay(essay_id, text, (), (alone,), block.tokens, {NOOP_LEFT_OUT: False}, block.line)
    edits = tuple([_edit(annotation, block, line) for line, annotation in annotations if not annotation.is_noop])
    annotators = tuple(dict.fromkeys([annotation.annotator for _, annotation in annotations]))
    metadata = {} if len(edits) == len(annotations) else _unusual_noops(block, annotators)
    return Essay(essay_id, text, edits, annotators, block.tokens, metadata, block.line)


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


def _edit(annotation: Annotation, block: AnnotatedSentence, line: int) -> Edit:
    span = _span(annotation.start, annotation.end, block)
    words = block.text[span.start : span.end]
    replacements = replacements_of(annotation.correction, tag=annotation.tag, words=words)
    comment = comment_of(annotation.comment)
    extra: dict[str, Json] = {}
    if annotation.required != REQUIRED:
        extra[REQUIRED_AS_READ] = annotation.required
    if annotation.correction != correction_of(replacements, words=words):
        extra[CORRECTION_AS_READ] = annotation.correction
    if annotation.comment != comment_field(comment):
        extra[COMMENT_AS_READ] = annotation.comment
    return Edit(span, replacements, annotation.tag, annotation.annotator, comment, extra, line)


def _span(start: int, end: int, block: AnnotatedSentence) -> Span:
    tokens = block.tokens
    if start < end:
        return shared_span((tokens[start].start, tokens[end - 1].end))
    point = tokens[start].start if start < len(tokens) else len(block.text)
    return shared_span((point, point))


def _unusual_noops(block: AnnotatedSentence, annotators: tuple[str, ...]) -> dict[str, Json]:
    """The no-op lines, where they are not the usual ones."""
    noops: dict[str, list[Json]] = {annotator: [] for annotator in annotators}
    usual: dict[str, list[Json]] = {annotator: [NOOP_BODY] for annotator in annotators}
    for _, annotation in block.annotations:
        if annotation.is_noop:
            *fields, _ = annotation[2:]
            noops[annotation.annotator].append(SEPARATOR.join((f"{annotation.start} {annotation.end}", *fields)))
        else:
            usual[annotation.annotator] = []
    return {} if noops == usual else {NOOPS_AS_READ: list(noops.values())}
