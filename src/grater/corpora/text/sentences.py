"""Sentences of a raw text, by rule.

In the spirit of Punkt (Kiss & Strunk 2006, Computational Linguistics 32:4): a full stop is read by the word before it
(abbreviation, initial, number, ordinary word) and the word after it (its case, whether it often starts sentences).
Departures: abbreviations are listed, not learnt (one essay is too small); tokens come first (`text.tokens`), so URLs,
decimals, file names and abbreviations have kept their stops.  For a stop, with the quotes and brackets behind it:

- `.` after an ordinary word ends the sentence, also before a lower-case word (learners forget capitals) and without
  a space after it, if a capital follows (`school.Then`);
- `.` after an abbreviation or an initial does not, unless the abbreviation may end a sentence (*etc.*, *U.S.*) and a
  word that often starts sentences, for *etc.* any capital, follows;
- `?` and `!` end it, unless they stand inside quotes or brackets and a lower-case word follows (*"Why?" he asked*);
- an ellipsis ends it if a capital follows;
- the stop of a list number or letter at the start of a sentence (`1.`, `a.`, `iv.`), or after a colon, does not.

A newline ends a sentence: headings and list items need no stop.  The exception is a hard wrap: the line has 40 to 120
characters, the next line is not blank, and either that one goes on in lower case, or the block (all lines up to a
blank one) has three lines or more and each was full: the first word of the next would not have fitted into the width
of the longest.

Sentences are trimmed of outer whitespace, disjoint and in order, and cover every character that is not whitespace.
On the essays of CoNLL-2014, 1,309 of our 1,332 ends agree with the official 1,312; most of the others are stops
without a space after them, where the official split has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby, pairwise

from grater.corpora.text.tokens import NEVER_FINAL, tokenised
from grater.model import Essay, Span

STOPS = ".!?…。！？"
CLOSERS = frozenset(("''", "’’", *"\"'”’»)]}」』）"))
_STARTERS = (
    "A After Also Although An And Another As At Because Besides But By Even Every Finally First Firstly For From "
    "Furthermore He Hence Her His How However I If In Instead It Its Lastly Many Maybe Meanwhile Moreover Most My "
    "Nevertheless Nowadays On One Other Our People Second Secondly She Since So Some Still Such That The Their "
    "Then There Therefore These They This Those Though Thus To Today We What When Where Whether While Who Why "
    "With You Your"
)
STARTERS = frozenset(_STARTERS.split())
"""Words whose capital, after an abbreviation, means a new sentence."""

FARTHEST = 8
"""How many marks may come between a stop and the next word."""

NARROWEST, WIDEST = 40, 120
LIST_MARK = re.compile(r"\d{1,3}|[A-Za-z]|[ivxIVX]{1,5}")
BEFORE_LIST_MARK = frozenset(":;([-–—•*")


def sentence_spans(text: str) -> tuple[Span, ...]:
    """The sentences of a raw text, in order."""
    return tuple(Span(tokens[0].start, tokens[-1].end) for tokens, _ in sentence_tokens(text))


def sentence_tokens(text: str) -> Iterator[tuple[tuple[Span, ...], tuple[str, ...]]]:
    """The tokens and words of each sentence of a raw text, in order."""
    for paragraph in paragraph_spans(text):
        tokens = tokenised(paragraph.of(text), paragraph.start)
        for first, end in _Stream(tokens.words, tokens.after_space).sentences():
            yield tuple(tokens.spans[first:end]), tuple(tokens.words[first:end])


def sentences_of(essay: Essay) -> tuple[Span, ...]:
    """An essay that carries its own tokens, as an M2 block does, is one sentence."""
    if essay.tokens is None:
        return sentence_spans(essay.text)
    return (Span(essay.tokens[0].start, essay.tokens[-1].end),) if essay.tokens else ()


def paragraph_spans(text: str) -> tuple[Span, ...]:
    """The lines of a text, hard-wrapped ones joined, trimmed; blank ones are left out."""
    if len(text.splitlines()) < 2:
        line = text.strip()
        start = text.find(line)
        return (Span(start, start + len(line)),) if line else ()
    paragraphs: list[Span] = []
    for is_blank, block in groupby(_lines(text), key=lambda line: not len(line)):
        if not is_blank:
            paragraphs += _unwrapped(text, list(block))
    return tuple(paragraphs)


def _lines(text: str) -> Iterator[Span]:
    offset = 0
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        start = offset + line.find(stripped)
        yield Span(start, start + len(stripped))
        offset += len(line)


def _unwrapped(text: str, block: Sequence[Span]) -> list[Span]:
    # A block is full where no line had room for the first word of the next.
    width = max(len(line) for line in block)
    has_no_room = (len(line) + 1 + len(after.of(text).split(None, 1)[0]) > width for line, after in pairwise(block))
    is_full_block = len(block) >= 3 and all(has_no_room)
    paragraphs = [block[0]]
    for line, after in pairwise(block):
        if NARROWEST <= len(line) <= WIDEST and (is_full_block or text[after.start].islower()):
            paragraphs[-1] = Span(paragraphs[-1].start, after.end)
        else:
            paragraphs.append(after)
    return paragraphs


@dataclass(frozen=True, slots=True)
class _Stream:
    """The tokens of a paragraph, and the rules for a stop among them."""

    words: Sequence[str]
    after_space: Set[int]

    def sentences(self) -> Iterator[tuple[int, int]]:
        """The first token of each sentence, and the one after its last."""
        first = end = 0
        for index, word in enumerate(self.words):
            if word[-1] in STOPS and index >= end:
                end = self.after_closers(index)
                if self.ends(first, index, end):
                    yield first, end
                    first = end
        if first < len(self.words):
            yield first, len(self.words)

    def after_closers(self, index: int) -> int:
        """The token after a stop and all that closes with it: quotes and brackets without a space, further stops."""
        index += 1
        while index < len(self.words):
            word = self.words[index]
            if word[0] not in STOPS and (word not in CLOSERS or index in self.after_space):
                break
            index += 1
        return index

    def next_word(self, index: int) -> str:
        """The first word from a token on, quotes and other marks skipped; an empty string at the end."""
        for word in self.words[index : index + FARTHEST]:
            if word[0].isalnum():
                return word
        return ""

    def ends(self, first: int, index: int, end: int) -> bool:
        """Whether the stop at a token, closed before the token `end`, ends the sentence that began at `first`."""
        if end == len(self.words):
            return True
        stop, after = self.words[index], self.next_word(end)
        if stop[0] not in STOPS:
            return index > first and abbreviation_ends(stop, after)
        if self.words[end - 1] in CLOSERS and after[:1].islower():
            return False
        if end not in self.after_space and not after[:1].isupper():
            return stop == "。"
        is_ellipsis = stop == "…" or stop.startswith("..")
        return after[:1].isupper() if is_ellipsis else not self._is_list_mark(first, index, after)

    def _is_list_mark(self, first: int, index: int, after: str) -> bool:
        """Whether a full stop belongs to the number before it: `1.`, `a.`, `No. 5`."""
        if self.words[index] != "." or index == first:
            return index == first
        mark = self.words[index - 1]
        if mark.lower() == "no" and after[:1].isdigit():
            return True
        is_at_start = index - 1 == first or self.words[index - 2] in BEFORE_LIST_MARK
        return is_at_start and LIST_MARK.fullmatch(mark) is not None


def abbreviation_ends(abbreviation: str, after: str) -> bool:
    """Whether an abbreviation with its stop ends a sentence, by the word after it."""
    base = abbreviation.rstrip(".")
    if base in NEVER_FINAL or base.lower() in NEVER_FINAL:
        return False
    if base.lower() == "etc":
        return after[:1].isupper()
    return after in STARTERS
