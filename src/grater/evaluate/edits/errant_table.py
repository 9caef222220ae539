"""The edits of a corpus as arrays of token indices and integer codes: what ERRANT's comparison works on.

From essays that have tokens, or straight from the columns of an M2 file, which is several times quicker since only
the type and the correction of an edit are looked at.  Corrections are compared as they are spelt, as
`errant_compare` does: `-NONE-` and an empty correction, both of which delete, are not the same.

A *group* is what one annotator says of one sentence, which may be nothing.  A block without any A line is one group
without edits: of the one annotator of its file, else of annotator 0, as in ERRANT.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from grater.corpora.format import Source
from grater.corpora.m2.columns import Columns, Ints
from grater.corpora.m2.fields import CORRECTION_AS_READ, correction_of
from grater.corpora.m2.lines import decode
from grater.corpora.m2.scan import scan_lines
from grater.errors import Problems, UsageError
from grater.model import Edit, Essay, Span

NOBODY = "0"
"""Whom ERRANT takes a block without A lines to be from."""


_Line: TypeAlias = tuple[int, str, int, int, str, str, int]
"""Sentence, annotator, start, end, tag, correction, and 1 for a no-op."""


class SourceSentence(NamedTuple):
    """A sentence before it was corrected; without `tokens` they are its words."""

    text: str
    tokens: tuple[Span, ...] | None
    line: int | None


@dataclass(frozen=True, slots=True)
class EditTable:
    """A row for each edit, in the order of the file; `tag` and `correction` count in `tags` and `corrections`.

    Groups stand in the order of sentences, and within one in the order in which its annotators appear.
    """

    sentences: Sequence[SourceSentence]
    group_sentence: Ints
    group_annotator: Sequence[str]
    group: Ints
    start: Ints
    end: Ints
    tag: Ints
    correction: Ints
    tags: Sequence[str]
    corrections: Sequence[str]

    def only(self, rows: Ints) -> EditTable:
        """The table with these edits only; its groups stay."""
        names = ("group", "start", "end", "tag", "correction")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})


@dataclass(slots=True)
class _Rows:
    """A lines as they are gathered: numbers in chunks of (sentence, annotator, start, end, tag, correction)."""

    sentences: list[SourceSentence] = field(default_factory=list)
    annotators: dict[str, int] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    corrections: dict[str, int] = field(default_factory=dict)
    chunks: list[Ints] = field(default_factory=lambda: [np.zeros((6, 0), np.int64)])
    are_noops: list[Ints] = field(default_factory=lambda: [np.zeros(0, np.int64)])


def read_table(source: Source) -> EditTable:
    """The edits of an M2 file, without making essays of it."""
    problems, rows = Problems(source.name), _Rows()
    for columns in scan_lines(source.lines(), problems=problems):
        _add_columns(rows, columns)
    problems.done()
    return _table(rows)


def table_of(essays: Iterable[Essay]) -> EditTable:
    """The edits of essays that are sentences, as those read from M2 are."""
    rows, lines = _Rows(), list[_Line]()
    for index, essay in enumerate(essays):
        rows.sentences.append(SourceSentence(essay.text, essay.tokens, essay.line))
        lines += [(index, annotator, 0, 0, "", "", 1) for annotator in essay.annotators]
        lines += _lines(index, essay)
    sentence, annotator, start, end, tag, correction, is_noop = zip(*lines, strict=True) if lines else ((),) * 7
    codes = (
        _codes(rows.annotators, annotator),
        start,
        end,
        _codes(rows.tags, tag),
        _codes(rows.corrections, correction),
    )
    rows.chunks.append(np.array([sentence, *codes], np.int64))
    rows.are_noops.append(np.array(is_noop, np.int64))
    return _table(rows)


def _lines(index: int, essay: Essay) -> list[_Line]:
    if essay.tokens is None:
        raise UsageError(f"essay {essay.essay_id!r} has no tokens; convert the corpus to M2 first")
    starts = [token.start for token in essay.tokens]
    return [
        (index, edit.rater, *_tokens(edit.span, essay, essay.tokens, starts), edit.tag, _spelt(edit, essay.text), 0)
        for edit in essay.edits
    ]


def _spelt(edit: Edit, text: str) -> str:
    if not edit.extra and len(edit.replacements) == 1:  # nearly always
        return edit.replacements[0]
    as_read = edit.extra.get(CORRECTION_AS_READ)
    return as_read if isinstance(as_read, str) else correction_of(edit.replacements, words=edit.span.of(text))


def _tokens(span: Span, essay: Essay, tokens: tuple[Span, ...], starts: list[int]) -> tuple[int, int]:
    start, end = bisect_left(starts, span.start), bisect_left(starts, span.end)
    begins = tokens[start].start if start < len(tokens) else len(essay.text)
    ends = tokens[end - 1].end if start < end else begins
    if (begins, ends) != (span.start, span.end):
        raise UsageError(
            f"essay {essay.essay_id!r}: edit {span.start}-{span.end} begins or ends inside a token; "
            "convert the corpus to M2 first, which grows edits to whole tokens"
        )
    return start, end


def _add_columns(rows: _Rows, columns: Columns) -> None:
    text = columns.data.decode("latin-1")  # a character a byte, so that slices cost little
    annotators = np.array([*_codes(rows.annotators, columns.annotators), 0], np.int64)[columns.annotator]
    tags = _codes(rows.tags, _slices(text, columns.tag))
    corrections = _codes(rows.corrections, _slices(text, columns.correction))
    sentence = columns.sentence + len(rows.sentences)
    rows.chunks.append(np.stack([sentence, annotators, columns.start, columns.end, tags, corrections]))
    rows.are_noops.append(columns.is_noop.astype(np.int64))
    sentences = zip(
        _slices(text, (columns.sentence_start, columns.sentence_end)), columns.sentence_line.tolist(), strict=True
    )
    rows.sentences += [SourceSentence(sentence, None, line) for sentence, line in sentences]


def _codes(places: dict[str, int], strings: Iterable[str]) -> list[int]:
    """The number of each string; a new one gets the next."""
    return [places.setdefault(string, len(places)) for string in strings]


def _slices(text: str, bounds: tuple[Ints, Ints]) -> list[str]:
    start, end = bounds
    parts = [text[i:j] for i, j in zip(start.tolist(), end.tolist(), strict=True)]
    return [part if part.isascii() else decode(part.encode("latin-1")) for part in parts]


def _table(rows: _Rows) -> EditTable:
    sentence, annotator, start, end, tag, correction = np.concatenate(rows.chunks, axis=1)
    names = list(rows.annotators)
    code = sentence * max(1, len(names)) + annotator
    _, first, group = np.unique(code, return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    group = np.argsort(appearance)[group]
    first = first[appearance]
    of_group = [names[place] for place in annotator[first].tolist()]
    silent = (np.bincount(sentence, minlength=len(rows.sentences)) == 0).nonzero()[0]
    places = np.searchsorted(sentence[first], silent)
    name = names[0] if len(names) == 1 else NOBODY
    is_edit = (np.concatenate(rows.are_noops) == 0).nonzero()[0]
    return EditTable(
        sentences=rows.sentences,
        group_sentence=np.insert(sentence[first], places, silent),
        group_annotator=np.insert(np.array(of_group, object), places, name).tolist(),
        group=group + np.searchsorted(places, group, side="right"),
        start=start,
        end=end,
        tag=tag,
        correction=correction,
        tags=list(rows.tags),
        corrections=list(rows.corrections),
    ).only(is_edit)
