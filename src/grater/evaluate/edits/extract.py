"""Edits out of a text and its correction, by the `errant` package (extra `errant`) with any spaCy model.

Bryant, Felice and Briscoe 2017, sections 2-4.  What `errant_parallel` would write: both lines are tokenised already
(words between white space), aligned, merged by its rules, typed.  spaCy is loaded here and nowhere else in grater.

Departure: an empty source line gives a sentence without words; `errant_parallel` drops it, and with it the place of
all lines below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import zip_longest
from typing import Any

from grater.corpora.identity import EssayIds
from grater.errors import BadInput, MissingExtra, Problem
from grater.model import Edit, Essay, Span

ANNOTATOR = "0"
UNCORRECTED = "UNK"


def extract_edits(
    source_lines: Iterable[str], corrected_lines: Iterable[str], *, spacy_model: str, name: str = "hypothesis"
) -> Iterator[Essay]:
    """A sentence for each pair of lines, with its edits by annotator 0; messages call the corrections by `name`."""
    annotator = load_annotator(spacy_model)  # before the first sentence is asked for, so that what is missing is told
    return _extracted(source_lines, corrected_lines, annotator, name)


def load_annotator(spacy_model: str) -> Any:
    """ERRANT with the spaCy model of this name or path."""
    try:
        spacy, errant = import_module("spacy"), import_module("errant")
    except ImportError as error:
        raise MissingExtra(
            f"extracting edits from plain text needs the package {error.name}; "
            "install it with: pip install 'grater[errant]'"
        ) from error
    try:
        pipeline = spacy.load(spacy_model, disable=["ner"])  # as errant.load does with its own
    except OSError as error:
        raise MissingExtra(
            f"the spaCy model {spacy_model!r} is not installed; install it (python -m spacy download {spacy_model}), "
            "or name one that is"
        ) from error
    return errant.load("en", pipeline)


def _extracted(
    source_lines: Iterable[str], corrected_lines: Iterable[str], annotator: Any, name: str
) -> Iterator[Essay]:
    ids = EssayIds()
    for number, (source, corrected) in enumerate(zip_longest(source_lines, corrected_lines), 1):
        if source is None or corrected is None:
            found = "the corrections end" if corrected is None else "the source ends"
            raise BadInput(Problem(name, f"expected a correction for every source line; {found} first", number))
        words, new_words = source.split(), corrected.split()
        if not words and new_words:
            message = "expected a source sentence for the correction, found an empty line"
            raise BadInput(Problem(name, message, number))
        yield _essay(ids, words, new_words, annotator, number)


def _essay(ids: EssayIds, words: list[str], new_words: list[str], annotator: Any, number: int) -> Essay:
    text, tokens = " ".join(words), _spans(words)
    edits = () if words == new_words else _edits(text, tokens, " ".join(new_words), annotator)
    return Essay(ids.of_text(text), text, edits, (ANNOTATOR,), tokens, line=number)


def _spans(words: list[str]) -> tuple[Span, ...]:
    spans, start = [], 0
    for word in words:
        spans.append(Span(start, start + len(word)))
        start += len(word) + 1
    return tuple(spans)


def _edits(text: str, tokens: tuple[Span, ...], corrected: str, annotator: Any) -> tuple[Edit, ...]:
    found = annotator.annotate(annotator.parse(text), annotator.parse(corrected))
    return tuple(_edit(edit.o_start, edit.o_end, edit.type, edit.c_str, text, tokens) for edit in found)


def _edit(start: int, end: int, tag: str, correction: str, text: str, tokens: tuple[Span, ...]) -> Edit:
    point = tokens[start].start if start < len(tokens) else len(text)
    span = Span(point, tokens[end - 1].end) if start < end else Span(point, point)
    is_uncorrected = tag == UNCORRECTED and correction == span.of(text)
    return Edit(span, () if is_uncorrected else (correction,), tag, ANNOTATOR)
