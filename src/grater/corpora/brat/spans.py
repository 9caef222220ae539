"""Where brat can show a span: fragments of at least one character, none with a line's end in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from grater.model import Span

BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""What any reader of a text file may take for the end of a line."""

AS_SPACES = str.maketrans(BREAKS, " " * len(BREAKS))
RUN = re.compile(f"[^{BREAKS}]+")
WORD = re.compile(r"\S+")


def fragments_in(text: str, span: Span) -> list[Span]:
    """The span, cut at line ends."""
    return [Span(*match.span()) for match in RUN.finditer(text, span.start, span.end)]


def shown(text: str, span: Span) -> list[Span]:
    """The fragments for a span; where it has none, those of the word beside it; none in a text without a word."""
    found = fragments_in(text, span)
    word = None if found else _word_at(text, span)
    if word is None:
        return found
    return fragments_in(text, Span(min(span.start, word.start), max(span.end, word.end)))


def _word_at(text: str, span: Span) -> Span | None:
    """The word around or right after the span, else the one right before it, else the next, else the last."""
    before = None
    for match in WORD.finditer(text):
        if match.end() > span.end:
            touches_before = before is not None and before.end == span.start
            return before if touches_before and match.start() > span.end else Span(*match.span())
        before = Span(*match.span())
    return before


def cover(fragments: Sequence[Span]) -> Span:
    return Span(fragments[0].start, fragments[-1].end)


def quoted(text: str, fragments: Iterable[Span]) -> str:
    """What a line of brat says that the fragments say."""
    return " ".join(fragment.of(text) for fragment in fragments).translate(AS_SPACES)


def joined(text: str, fragments: Iterable[Span]) -> list[Span]:
    """The fragments, less the gaps that are line ends and nothing else."""
    whole: list[Span] = []
    for fragment in fragments:
        if whole and not text[whole[-1].end : fragment.start].strip(BREAKS):
            whole[-1] = Span(whole[-1].start, fragment.end)
        else:
            whole.append(fragment)
    return whole


def widened(text: str, span: Span, wide: Span, replacement: str) -> str:
    """The replacement of a span, said of a wider one."""
    return text[wide.start : span.start] + replacement + text[span.end : wide.end]


def narrowed(text: str, span: Span, wide: Span, replacement: str) -> str | None:
    """The reverse; None where the replacement changes what lies outside the span."""
    left, right = text[wide.start : span.start], text[span.end : wide.end]
    fits = replacement.startswith(left) and replacement.endswith(right) and len(replacement) >= len(left + right)
    return replacement[len(left) : len(replacement) - len(right)] if fits else None
