"""Reference and hypothesis side by side: the same sentences, in the same order, cut into the same words.

Every metric asks here first.  A hypothesis with sources of its own (M2) must have the words of the reference; white
space between them may differ.  A hypothesis of plain text has no source to compare, only a number of lines.  The
error shows the first sentence that differs, in both files.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NoReturn, Protocol

from grater.errors import BadInput, Problem
from grater.model import Span

MOST_SHOWN = 60


class Sourced(Protocol):
    """A sentence as it was before anyone corrected it: an `Essay`, or what a metric makes of one."""

    @property
    def text(self) -> str: ...

    @property
    def tokens(self) -> tuple[Span, ...] | None: ...

    @property
    def line(self) -> int | None: ...


def require_same_sources(
    references: Sequence[Sourced],
    hypotheses: Sequence[Sourced | str],
    *,
    reference_name: str = "reference",
    hypothesis_name: str = "hypothesis",
) -> None:
    """Raise `BadInput` unless the hypotheses belong to the references, sentence by sentence."""
    for index, (reference, hypothesis) in enumerate(zip_longest(references, hypotheses)):
        if reference is None or hypothesis is None:
            _raise_unequal(references, hypotheses, reference_name, hypothesis_name)
        if not isinstance(hypothesis, str) and not _is_same(reference, hypothesis):
            message = _difference(index, reference, hypothesis, reference_name)
            if len(references) != len(hypotheses):
                message += f" ({len(references)} sentences there, {len(hypotheses)} here)"
            raise BadInput(Problem(hypothesis_name, message, hypothesis.line))


def source_words(sentence: Sourced) -> list[str]:
    """The tokens that came with the text, or else its words between white space, as in M2."""
    if sentence.tokens is None:
        return sentence.text.split()
    return [token.of(sentence.text) for token in sentence.tokens]


def _is_same(reference: Sourced, hypothesis: Sourced) -> bool:
    if reference.text == hypothesis.text and reference.tokens == hypothesis.tokens:
        return True
    return source_words(reference) == source_words(hypothesis)


def _raise_unequal(
    references: Sequence[Sourced], hypotheses: Sequence[Sourced | str], theirs: str, ours: str
) -> NoReturn:
    expected, found = len(references), len(hypotheses)
    message = f"expected {expected} sentence{'s' if expected != 1 else ''}, as in {theirs}, found {found}"
    if found > expected:
        first = hypotheses[expected]
        text, line = (first, None) if isinstance(first, str) else (first.text, first.line)
        more = f"; sentence {expected + 1} is the first too many: {_shown(text)}"
        raise BadInput(Problem(ours, message + more, expected + 1 if line is None else line))
    missing = references[found]
    more = f"; nothing stands for sentence {found + 1}{_at(missing, theirs)}: {_shown(missing.text)}"
    raise BadInput(Problem(ours, message + more))


def _difference(index: int, reference: Sourced, hypothesis: Sourced, theirs: str) -> str:
    expected, found = source_words(reference), source_words(hypothesis)
    at = next(
        place for place, (one, other) in enumerate(zip_longest(expected, found, fillvalue=None)) if one != other
    )
    why = "; the two are tokenised in different ways" if "".join(expected) == "".join(found) else ""
    return (
        f"expected in sentence {index + 1} the source of {theirs}{_at(reference, '')}, found {_word(found, at)} in "
        f"place of {_word(expected, at)} as token {at}{why}: {_shown(hypothesis.text)}"
    )


def _at(sentence: Sourced, name: str) -> str:
    where = "" if sentence.line is None else f":{sentence.line}"
    return f" of {name}{where}" if name else where


def _word(words: list[str], at: int) -> str:
    return repr(words[at]) if at < len(words) else "nothing"


def _shown(text: str) -> str:
    return repr(text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…")
