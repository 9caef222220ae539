"""Merges files with the same essays by different annotators into one corpus.

Files such as `A1.m2` ... `A10.m2` each call their annotator 0 (docs/corpora.md). Ids collide if two files use one id
for the same essay; then the annotator is named by the file's stem, or `STEM.ID` if several ids of one file collide.
Other ids stay, so files of different essays are unchanged.

Essays are matched by id. Those missing from some files come last, with the annotators they have. Text and tokens must
be the same in every file; metadata is that of the first file that has the field.

**Documents** of M2 sentences are found by their words.

M2 does not say where one essay ends and the next begins; the SGML of the same corpus does. Both have the same order,
so each sentence is searched from the end of the previous one, first in the same document and then in later ones.
White space and quotation marks are ignored, because tokenisers insert the former and change the latter (`"` becomes
two backticks or two apostrophes). Words between sentences, and whole documents, may be skipped.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import PurePath
from typing import TypeAlias

from grater.corpora.formats import shortened
from grater.errors import BadInput, Problem, Problems
from grater.model import Essay, Json, Span

Names: TypeAlias = Mapping[str, str]
"""What annotators of one file are called in the merged corpus, where that is not their id."""


def stems(names: Iterable[str]) -> dict[str, str]:
    """A short name for each file: its stem, or its full name if two stems are equal."""
    names = list(names)
    times = Counter(PurePath(name).stem for name in names)
    return {name: PurePath(name).stem if times[PurePath(name).stem] == 1 else name for name in names}


def merge_annotators(corpora: Mapping[str, Iterable[Essay]]) -> Iterator[Essay]:
    """Each essay once, with the annotators and edits of every file; `corpora` maps stems to files."""
    known = {stem: list(essays) for stem, essays in corpora.items()}
    names = annotator_names(known)
    yield from _together({stem: _renamed(essays, names[stem]) for stem, essays in known.items()})


def annotator_names(corpora: Mapping[str, Sequence[Essay]]) -> dict[str, Names]:
    """The final names of each file's annotators."""
    colliding: dict[str, dict[str, None]] = {stem: {} for stem in corpora}
    first: dict[tuple[str, str], str] = {}
    for stem, essays in corpora.items():
        for essay in essays:
            for annotator in essay.annotators:
                other = first.setdefault((essay.essay_id, annotator), stem)
                if other != stem:
                    colliding[stem][annotator] = colliding[other][annotator] = None
    return {
        stem: {annotator: stem if len(ids) == 1 else f"{stem}.{annotator}" for annotator in ids}
        for stem, ids in colliding.items()
    }


def _renamed(essays: Iterable[Essay], names: Names) -> Iterator[Essay]:
    for essay in essays:
        edits = tuple(replace(edit, rater=names.get(edit.rater, edit.rater)) for edit in essay.edits)
        yield replace(essay, edits=edits, annotators=tuple(names.get(name, name) for name in essay.annotators))


def _together(corpora: Mapping[str, Iterator[Essay]]) -> Iterator[Essay]:
    """Essays as soon as all files have yielded them, then those missing from some files."""
    stems = list(corpora)
    waiting: defaultdict[str, dict[str, Essay]] = defaultdict(dict)
    for abreast in zip_longest(*corpora.values()):
        for stem, essay in zip(stems, abreast, strict=True):
            if essay is not None:
                parts = waiting[essay.essay_id]
                if stem in parts:
                    message = f"expected essay {essay.essay_id!r} once, found it again"
                    raise BadInput(Problem(stem, message, essay.line))
                for other, part in parts.items():
                    _require_same(essay, stem, part, other)
                parts[stem] = essay
        for essay_id in dict.fromkeys(essay.essay_id for essay in abreast if essay is not None):
            if len(waiting[essay_id]) == len(stems):
                yield _merged(stems, waiting.pop(essay_id))
    for parts in waiting.values():
        yield _merged(stems, parts)


def _require_same(essay: Essay, stem: str, other: Essay, other_stem: str) -> None:
    if essay.text != other.text:
        at = first_difference(essay.text, other.text)
        actual, expected = essay.text[at : at + 20], other.text[at : at + 20]
        raise _differ("text", essay, stem, other_stem, f"{actual!r} in place of {expected!r} at character {at}")
    if essay.tokens is not None and other.tokens is not None and essay.tokens != other.tokens:
        at = first_difference(essay.tokens, other.tokens)
        found = f"{_token(essay, at)} in place of {_token(other, at)} as token {at}"
        raise _differ("tokens", essay, stem, other_stem, found)


def _differ(what: str, essay: Essay, stem: str, other_stem: str, found: str) -> BadInput:
    expected = f"expected the {what} that {other_stem} has for essay {essay.essay_id!r}"
    return BadInput(Problem(stem, f"{expected}, found {found}", essay.line))


def first_difference(one: Sequence[object], other: Sequence[object]) -> int:
    """The first index at which two sequences differ; the shorter length if one is a prefix of the other."""
    shortest = min(len(one), len(other))
    return next((at for at in range(shortest) if one[at] != other[at]), shortest)


def shared_ends(one: Sequence[object], other: Sequence[object]) -> tuple[int, int]:
    """How many members two sequences have in common at their start, then, of what is left, at their end."""
    first = first_difference(one, other)
    stop = first - 1 if first else None
    return first, first_difference(one[:stop:-1], other[:stop:-1])


def _token(essay: Essay, at: int) -> str:
    tokens: tuple[Span, ...] = essay.tokens or ()
    return repr(tokens[at].of(essay.text)) if at < len(tokens) else "nothing"


def _merged(stems: Sequence[str], parts: Mapping[str, Essay]) -> Essay:
    essays = [parts[stem] for stem in stems if stem in parts]
    annotators = [annotator for essay in essays for annotator in essay.annotators]
    if len(set(annotators)) < len(annotators):
        doubled = next(annotator for annotator in annotators if annotators.count(annotator) > 1)
        message = f"expected one annotator {doubled!r}, found a file and an annotator of that name; rename the file"
        raise BadInput(Problem(doubled, message))
    metadata: dict[str, Json] = {}
    for essay in reversed(essays):
        metadata |= essay.metadata
    edits = tuple(edit for essay in essays for edit in essay.edits)
    tokens = next((essay.tokens for essay in essays if essay.tokens is not None), None)
    return replace(essays[0], edits=edits, annotators=tuple(annotators), tokens=tokens, metadata=metadata)


QUOTES = "\"'`´‘’‚‛“”„‟«»"
COMPARED = re.compile(rf"[^\s{QUOTES}]")
LEADING_QUOTES = re.compile(rf"[\s{QUOTES}]*")
QUOTE = re.compile(rf"``|''|[{QUOTES}]")
MOST_QUOTED = 60


@dataclass(frozen=True, slots=True)
class Letters:
    """The compared characters of a document, with their offsets in its text."""

    document: Essay
    letters: str
    offsets: tuple[int, ...]

    def offset(self, start: int, n_quotes: int) -> int:
        """The offset where these letters begin, including preceding quotation marks that belong to them."""
        text = self.document.text
        before = self.offsets[start - 1] + 1 if start else 0
        offset = self.offsets[start] if start < len(self.offsets) else len(text)
        quotes = [before + quote.start() for quote in QUOTE.finditer(text[before:offset])]
        return quotes[-n_quotes:][0] if n_quotes and quotes else offset


class Finder:
    """Goes through documents in order; `find` locates a sentence, and the next search starts after it."""

    def __init__(self, documents: Iterable[Essay]) -> None:
        self._rest = iter(documents)
        self._ahead: deque[Letters] = deque()
        self._at = 0

    def find(self, sentence: str) -> tuple[Essay, int] | None:
        """The document and the offset in it; None if the sentence occurs in no remaining document."""
        wanted = "".join(COMPARED.findall(sentence))
        for n_passed, document in enumerate(self._documents()):
            start = document.letters.find(wanted, 0 if n_passed else self._at)
            if start >= 0:
                self._pass(n_passed, start + len(wanted))
                return document.document, document.offset(start, _n_leading_quotes(sentence))
        return None

    def _documents(self) -> Iterator[Letters]:
        yield from tuple(self._ahead)
        for document in self._rest:
            self._ahead.append(_letters(document))
            yield self._ahead[-1]

    def _pass(self, n_documents: int, at: int) -> None:
        for _ in range(n_documents):
            self._ahead.popleft()
        self._at = at


def attach_documents(essays: Iterable[Essay], documents: Iterable[Essay]) -> Iterator[Essay]:
    """The essays with `document` and `document_start` in their metadata; one found in no document is an error."""
    finder, problems = Finder(documents), Problems("documents")
    for number, essay in enumerate(essays, 1):
        position = finder.find(essay.text)
        if position is None:
            where = f"sentence {number}" if essay.line is None else f"sentence {number} (line {essay.line})"
            quoted = shortened(essay.text, MOST_QUOTED)
            problems.add(f"expected {where} in a document after the sentence before it, found none: {quoted}")
            continue
        document, start = position
        metadata = {**essay.metadata, "document": document.essay_id, "document_start": start}
        yield replace(essay, metadata=metadata)
    problems.done()


def _letters(document: Essay) -> Letters:
    letters = [(match.group(), match.start()) for match in COMPARED.finditer(document.text)]
    return Letters(document, "".join(letter for letter, _ in letters), tuple(start for _, start in letters))


def _n_leading_quotes(sentence: str) -> int:
    leading = LEADING_QUOTES.match(sentence)
    return len(QUOTE.findall(leading.group())) if leading else 0
