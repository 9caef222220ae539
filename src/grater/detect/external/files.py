"""Systems known by their output: corrected text, or edits, of the same essays.

Edits come from an M2 file or any annotated corpus; essays are matched by their ids.  Where the file has several
annotators, name one after an at sign: `edits:out.m2@2`.

Corrected essays come as lines of text or in any corpus format.  They are matched by their ids where the file has them
(our JSONL, M2, NUCLE), by their order where it is plain text with one essay per line.  Edits are the differences
between the two, token by token, in the best alignment (`text.alignment`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grater.corpora import read_corpus
from grater.errors import BadInput, Problem, UnknownName
from grater.model import Edit, Essay, Span
from grater.registry import unknown
from grater.text.alignment import align
from grater.text.tokens import token_spans, tokens_of

TAG = "corrected"
LINES = (".txt", ".out", "")


@dataclass(frozen=True, slots=True, eq=False)
class Edited:
    """A file of edits; `annotator` is empty where it has only one."""

    path: Path
    name: str
    annotator: str = ""

    @property
    def about(self) -> str:
        return f"edits in {self.path.name}"

    def correct(self, essays: Iterable[Essay]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        edited = {essay.essay_id: essay for essay in read_corpus(self.path)}
        annotator = self._chosen(edited.values())
        for essay in essays:
            theirs = edited.get(essay.essay_id)
            if theirs is None or theirs.text != essay.text:
                why = "found none" if theirs is None else "found another text under this id"
                raise BadInput(Problem(self.path.name, f"expected edits of essay {essay.essay_id!r}, {why}"))
            yield essay, tuple(edit for edit in theirs.edits if edit.rater == annotator)

    def _chosen(self, essays: Iterable[Essay]) -> str:
        names = sorted({name for essay in essays for name in essay.annotators})
        if self.annotator and self.annotator not in names:
            raise UnknownName(f"{self.path.name}: {unknown('annotator', self.annotator, names)}")
        if not self.annotator and len(names) > 1:
            message = f"expected one annotator, found {', '.join(names)}; choose with edits:{self.path.name}@NAME"
            raise BadInput(Problem(self.path.name, message))
        return self.annotator or (names[0] if names else "")


@dataclass(frozen=True, slots=True, eq=False)
class Corrected:
    """A file of corrected text."""

    path: Path
    name: str

    @property
    def about(self) -> str:
        return f"corrected text in {self.path.name}"

    def correct(self, essays: Iterable[Essay]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        if self.path.suffix in LINES:
            yield from self._by_order(list(essays), self.path.read_text(encoding="utf-8").splitlines())
        else:
            yield from self._by_id(essays, {essay.essay_id: essay.text for essay in read_corpus(self.path)})

    def _by_order(self, essays: Sequence[Essay], lines: Sequence[str]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        if len(lines) != len(essays):
            message = (
                f"expected a line for each of {len(essays)} essays, found {len(lines)}; write an essay on one line"
            )
            raise BadInput(Problem(self.path.name, message))
        for essay, line in zip(essays, lines, strict=True):
            yield essay, edits_between(essay, line, rater=self.name)

    def _by_id(self, essays: Iterable[Essay], texts: Mapping[str, str]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        for essay in essays:
            if essay.essay_id not in texts:
                raise BadInput(
                    Problem(self.path.name, f"expected a correction of essay {essay.essay_id!r}, found none")
                )
            yield essay, edits_between(essay, texts[essay.essay_id], rater=self.name)


def edits_between(essay: Essay, corrected: str, *, rater: str) -> tuple[Edit, ...]:
    """The edits that turn the essay's tokens into those of the corrected text."""
    spans = tokens_of(essay)
    source = [span.of(essay.text) for span in spans]
    # Tokenised text is corrected token by token: its spaces are the boundaries of tokens.
    target = (
        corrected.split() if essay.tokens is not None else [span.of(corrected) for span in token_spans(corrected)]
    )
    edits, position = [], 0
    for old, new in align(source, target):
        gap = spans[position].start if position < len(spans) else len(essay.text)
        span = Span(gap, gap) if old is None else spans[position]
        if old != new:
            edits.append(
                Edit(span=span, replacements=(_inserted(new or "", essay.text, span),), tag=TAG, rater=rater)
            )
        position += old is not None
    return tuple(edits)


def _inserted(words: str, text: str, span: Span) -> str:
    """A word inserted before another needs a space after it; at the end it needs one before."""
    if span.start != span.end or not words:
        return words
    return f"{words} " if span.start < len(text) else f" {words}"
