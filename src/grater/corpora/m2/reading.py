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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import pairwise

import numpy as np

from grater.corpora.formats import Source
from grater.corpora.identity import numbered
from grater.corpora.m2.bytes import Ints
from grater.corpora.m2.columns import Columns, decode, scan_lines, scan_source
from grater.corpora.m2.fields import (
    COMMENT_AS_READ,
    CORRECTION_AS_READ,
    NOOP_BODY,
    NOOP_LEFT_OUT,
    NOOPS_AS_READ,
    REQUIRED,
    REQUIRED_AS_READ,
    SEPARATOR,
    Annotation,
    comment_field,
    comment_of,
    correction_of,
    replacements_of,
)
from grater.errors import Problems
from grater.model import Edit, Essay, Json, Span, short_hash

WORD = re.compile(r"\S+")


def read_source(source: Source) -> Iterator[Essay]:
    """The essays of a file; it is read once more if somebody must know before its end who its annotators are."""
    problems = Problems(source.name)
    return _read(scan_source(source, problems=problems), problems, _Annotators(source.lines))


def read_m2(lines: Iterable[str], *, name: str, annotators: Collection[str] | None = None) -> Iterator[Essay]:
    """The essays of lines; `annotators` are those of the whole file, where they are known."""
    problems = Problems(name)
    return _read(scan_lines(lines, problems=problems), problems, _Annotators(known=annotators or ()))


def _read(stretches: Iterable[Columns], problems: Problems, annotators: _Annotators) -> Iterator[Essay]:
    repeats = _Repeats()
    for columns in stretches:
        annotators.meet(columns.annotators)
        yield from _Blocks(columns, annotators).essays(repeats)
    annotators.is_complete = True
    problems.done()


class _Annotators:
    """The annotators of a file; two at the most, since more make no difference.

    `lines` gives the file from its beginning; without it all are known.
    """

    def __init__(self, lines: Callable[[], Iterable[str]] | None = None, known: Collection[str] = ()) -> None:
        self.lines, self.known, self.is_complete = lines, {*known}, lines is None

    def meet(self, names: Iterable[str]) -> None:
        if not self.is_complete:
            self.known.update(names)

    def alone(self) -> str | None:
        """The one annotator of the whole file, or none."""
        if self.lines and not self.is_complete and len(self.known) < 2:
            self.known, self.is_complete = annotators_of(self.lines()), True
        return next(iter(self.known)) if len(self.known) == 1 else None


def annotators_of(lines: Iterable[str]) -> set[str]:
    """The annotators of a file; two at the most, since more make no difference."""
    annotators: set[str] = set()
    for line in lines:
        if line.startswith("A "):
            annotators.add(line[line.rfind(SEPARATOR) + len(SEPARATOR) :].strip())
            if len(annotators) == 2:
                break
    return annotators


class _Repeats:
    """How often a text has come before: what the number of its id depends on.

    All that is kept of a text is a hash of 64 bits, in a few sorted arrays.
    """

    def __init__(self) -> None:
        self._seen: list[Ints] = []
        self._n_seen: dict[int, int] = {}  # of texts that came more than once

    def n_before(self, texts: Sequence[str]) -> list[int]:
        """For each text how often it came, in this call or before."""
        keys = np.fromiter(map(hash, texts), np.int64, len(texts))
        unique, n_here = np.unique(keys, return_counts=True)
        is_old = np.zeros(len(unique), np.bool_)
        for seen in self._seen:
            is_old |= seen[np.minimum(np.searchsorted(seen, unique), len(seen) - 1)] == unique
        again = is_old | (n_here > 1)
        repeated = dict(zip(unique[again].tolist(), is_old[again].tolist(), strict=True))
        self._add(unique[~is_old])
        return [self._next(key, repeated) for key in keys.tolist()] if repeated else [0] * len(texts)

    def _next(self, key: int, repeated: Mapping[int, bool]) -> int:
        if key not in repeated:
            return 0
        n_before = self._n_seen.get(key, int(repeated[key]))
        self._n_seen[key] = n_before + 1
        return n_before

    def _add(self, keys: Ints) -> None:
        while len(keys) and self._seen and len(self._seen[-1]) < 2 * len(keys):
            keys = np.sort(np.concatenate((self._seen.pop(), keys)))
        if len(keys):
            self._seen.append(keys)


class _Blocks:
    """The blocks of a stretch of a file, checked; the parts of an essay are made as they are asked for."""

    def __init__(self, columns: Columns, annotators: _Annotators) -> None:
        self.columns, self.annotators = columns, annotators
        self.rows = columns.edits_of().tolist()

    def essays(self, repeats: _Repeats) -> Iterator[Essay]:
        texts, deferred, fields = self._texts(), Essay.deferred, self._fields
        for block, (text, n_before) in enumerate(zip(texts, repeats.n_before(texts), strict=True)):
            yield deferred(text, partial(fields, block, n_before))

    def _texts(self) -> list[str]:
        starts, ends, data = (
            self.columns.sentence_start.tolist(),
            self.columns.sentence_end.tolist(),
            self.columns.data,
        )
        if data.isascii():  # then a byte is a code point
            whole = data.decode("ascii")
            return [whole[start:end] for start, end in zip(starts, ends, strict=True)]
        return [decode(data[start:end]) for start, end in zip(starts, ends, strict=True)]

    def _fields(self, block: int, n_before: int, essay: Essay, name: str) -> dict[str, object]:
        if name == "essay_id":
            return {name: numbered(short_hash(essay.text), n_before)}
        if name == "line":
            return {name: int(self.columns.sentence_line[block])}
        if name == "tokens":
            return {name: token_spans_of_line(essay.text)}
        if name in ("edits", "annotators", "metadata"):
            return self._marks(block, essay)
        raise AttributeError(f"{type(essay).__name__!r} object has no attribute {name!r}")

    def _marks(self, block: int, essay: Essay) -> dict[str, object]:
        rows = range(self.rows[block], self.rows[block + 1])
        if not rows and (alone := self.annotators.alone()) is not None:
            return {"edits": (), "annotators": (alone,), "metadata": {NOOP_LEFT_OUT: False}}
        annotations = [self._annotation(row) for row in rows]
        lines = self.lines[rows.start : rows.stop]
        edits = tuple(
            [_edit(mark, essay, line) for mark, line in zip(annotations, lines, strict=True) if not mark.is_noop]
        )
        annotators = tuple(dict.fromkeys([annotation.annotator for annotation in annotations]))
        metadata = {} if len(edits) == len(annotations) else _unusual_noops(annotations, annotators)
        return {"edits": edits, "annotators": annotators, "metadata": metadata}

    @cached_property
    def lines(self) -> list[int]:
        lines: list[int] = self.columns.line.tolist()
        return lines

    @cached_property
    def marks(self) -> list[tuple[int, ...]]:
        """For each A line its two token numbers, its annotator, and where its bars stand."""
        columns = self.columns
        return list(
            zip(
                *(column.tolist() for column in (columns.start, columns.end, columns.annotator, *columns.bars)),
                strict=True,
            )
        )

    def _annotation(self, row: int) -> Annotation:
        start, end, annotator, *bars = self.marks[row]
        data, width = self.columns.data, len(SEPARATOR)
        tag, correction, required, comment = [decode(data[bar + width : after]) for bar, after in pairwise(bars)]
        return Annotation(start, end, tag, correction, required, comment, self.columns.annotators[annotator])


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


def _edit(annotation: Annotation, essay: Essay, line: int) -> Edit:
    span = _span(annotation.start, annotation.end, essay)
    words = essay.text[span.start : span.end]
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


def _span(start: int, end: int, essay: Essay) -> Span:
    tokens = essay.tokens or ()
    if start < end:
        return shared_span((tokens[start].start, tokens[end - 1].end))
    point = tokens[start].start if start < len(tokens) else len(essay.text)
    return shared_span((point, point))


def _unusual_noops(annotations: Sequence[Annotation], annotators: tuple[str, ...]) -> dict[str, Json]:
    """The no-op lines, where they are not the usual ones."""
    noops: dict[str, list[Json]] = {annotator: [] for annotator in annotators}
    usual: dict[str, list[Json]] = {annotator: [NOOP_BODY] for annotator in annotators}
    for annotation in annotations:
        if annotation.is_noop:
            *fields, _ = annotation[2:]
            noops[annotation.annotator].append(SEPARATOR.join((f"{annotation.start} {annotation.end}", *fields)))
        else:
            usual[annotation.annotator] = []
    return {} if noops == usual else {NOOPS_AS_READ: list(noops.values())}
