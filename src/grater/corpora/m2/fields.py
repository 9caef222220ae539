"""What the fields of an A line mean, and how they are spelt.

`A start end|||tag|||correction|||REQUIRED|||comment|||annotator`: Dahlmeier and Ng 2012, "Better evaluation for
grammatical error correction", as m2scorer and ERRANT read and write it.

Alternatives are separated by `||`.  An empty correction, or `-NONE-`, deletes the words; among several alternatives
it is always spelt `-NONE-`, since an empty one before the next `|||` could not be told from a separator.  M2 has no
way to say "found but not corrected" but the one of ERRANT, which we follow: the tag `UNK`, or NUCLE's `Um`, with a
correction that equals the words.  (`errant_m2` writes both so; `errant_compare` uses `UNK` for detection only.)

A field that is spelt in another way than ours keeps its spelling in `Edit.extra`, under the names below, so that
writing gives the same bytes again.

A no-op line says that its annotator read the sentence and found nothing to correct.  Usually an annotator without
edits has one and an annotator with edits none; where the file had it otherwise, `NOOP_LEFT_OUT` and `NOOPS_AS_READ`
in the essay's metadata say so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeGuard

from grater.model import DELETE, Essay, Json

SEPARATOR = "|||"
ALTERNATIVE = "||"
REQUIRED = "REQUIRED"
NO_COMMENT = "-NONE-"
NOOP = "noop"
UNKNOWN = "UNK"
UNCORRECTED = frozenset({UNKNOWN, "Um"})
NOOP_BODY = f"-1 -1|||{NOOP}|||{DELETE}|||{REQUIRED}|||{NO_COMMENT}"
"""All of a no-op line between `A ` and the annotator."""

CORRECTION_AS_READ = "m2_correction"
REQUIRED_AS_READ = "m2_required"
COMMENT_AS_READ = "m2_comment"
"""Names in `Edit.extra`."""

NOOP_LEFT_OUT = "m2_noop"
"""False in `Essay.metadata` where the one annotator of a file has no line at all, not even a no-op."""
NOOPS_AS_READ = "m2_noop_lines"
"""In `Essay.metadata`: for each annotator the no-op lines, without `A ` and annotator, where they are not as usual.

Usual is one no-op of the common form for an annotator without edits and none for one with edits; a no-op beside edits
contradicts them."""


def replacements_of(correction: str, *, tag: str, words: str) -> tuple[str, ...]:
    """What a correction field means for an edit of these words."""
    if correction == words and tag in UNCORRECTED:
        return ()
    if ALTERNATIVE not in correction:
        return ("",) if correction == DELETE else (correction,)
    return tuple("" if part == DELETE else part for part in correction.split(ALTERNATIVE))


def correction_of(replacements: tuple[str, ...], *, words: str) -> str:
    """How we spell a correction."""
    if not replacements:
        return words
    if len(replacements) == 1:
        return replacements[0]
    return ALTERNATIVE.join(replacement or DELETE for replacement in replacements)


def comment_of(field: str) -> str:
    return "" if field == NO_COMMENT else field


def comment_field(comment: str) -> str:
    return comment or NO_COMMENT


NO_BLANK_LINE = "expected a blank line before the next 'S ' line; put one there"
NO_SENTENCE = "expected an 'S ' line before this 'A ' line; remove the blank line or add the sentence"

N_FIELDS = 6
MOST_DIGITS = 9
TOKEN_NUMBERS = re.compile(r"\s*(-?[0-9]+)\s+(-?[0-9]+)\s*", re.ASCII)


class BadAnnotation(ValueError):
    """What is wrong with an A line, in the words of the reader's message."""


class Annotation(NamedTuple):
    """An A line: the two token numbers, then its fields as they are spelt."""

    start: int
    end: int
    tag: str
    correction: str
    required: str
    comment: str
    annotator: str

    @property
    def is_noop(self) -> bool:
        return self.tag == NOOP


def parse_annotation(line: str) -> Annotation:
    """The parts of a line that begins with `A `.

    Fields are those of `split("|||")`.  An annotator is any word; white space around it is not part of it.
    """
    fields = line[2:].split(SEPARATOR)
    if len(fields) != N_FIELDS:
        raise BadAnnotation(
            f"expected {N_FIELDS} fields (start end|||tag|||correction|||REQUIRED|||comment|||annotator), "
            f"found {len(fields)}"
        )
    span, tag, correction, required, comment, annotator = fields
    numbers = TOKEN_NUMBERS.fullmatch(span)
    if numbers is None or max(len(numbers[1]), len(numbers[2])) > MOST_DIGITS:
        raise BadAnnotation(f"expected two token numbers after 'A ', found {_shortened(span)}")
    annotator = annotator.strip()
    if not annotator:
        raise BadAnnotation("expected an annotator after the last '|||', found nothing")
    return Annotation(int(numbers[1]), int(numbers[2]), tag, correction, required, comment, annotator)


def range_message(start: int, end: int, n_tokens: int) -> str:
    """Why a span does not lie within a sentence of `n_tokens` tokens."""
    if start > end:
        return f"expected a start that is not after the end, found {start} {end}"
    return f"expected token numbers from 0 to {n_tokens} (the sentence has {n_tokens} tokens), found {start} {end}"


def unknown_line_message(line: str) -> str:
    return f"expected a line starting with 'S ' or 'A ', found {_shortened(line)}"


def _shortened(line: str, *, most: int = 40) -> str:
    return repr(line if len(line) <= most else line[: most - 3] + "...")


N_BODY_FIELDS = 5


def noop_bodies(essay: Essay, with_edits: Collection[str]) -> dict[str, list[str]]:
    """For each annotator the no-op lines, without `A ` and annotator; `with_edits` have an A line of their own."""
    as_read = noops_as_read(essay)
    bodies = {}
    for index, annotator in enumerate(essay.annotators):
        usual = [] if annotator in with_edits or is_left_out(essay) else [NOOP_BODY]
        bodies[annotator] = (as_read[index] if as_read else []) or usual
    return bodies


def is_left_out(essay: Essay) -> bool:
    """Whether the essay's one annotator had no line at all."""
    return essay.metadata.get(NOOP_LEFT_OUT) is False and len(essay.annotators) == 1 and not essay.edits


def noops_as_read(essay: Essay) -> list[list[str]] | None:
    """The lines that were read, if they are still in order: a list for each annotator."""
    noops = essay.metadata.get(NOOPS_AS_READ)
    if not _is_list(noops) or len(noops) != len(essay.annotators):
        return None
    if not all(_is_list(bodies) and all(_is_noop(body) for body in bodies) for bodies in noops):
        return None
    return [[str(body) for body in bodies] for bodies in noops if _is_list(bodies)]


def _is_list(value: Json) -> TypeGuard[Sequence[Json]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_noop(body: Json) -> bool:
    if not isinstance(body, str) or "\n" in body:
        return False
    fields = body.split(SEPARATOR)
    numbers = fields[0].split(" ")
    are_numbers = len(numbers) == 2 and all(n.removeprefix("-").isdecimal() and n.isascii() for n in numbers)
    return len(fields) == N_BODY_FIELDS and fields[1] == NOOP and are_numbers and not fields[-1].endswith("|")
