"""One A line of an M2 file, read by itself: the exact way, for lines that the fast way does not take.

Fields are those of `split("|||")`, numbers those of `int` as far as they are plain digits.  An annotator is any
word; white space around it is not part of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from grater.corpora.m2.fields import NOOP, SEPARATOR
from grater.corpora.m2.lines import decode, shortened

N_FIELDS = 6
BARS = SEPARATOR.encode()
MOST_DIGITS = 9


class BadAnnotation(ValueError):
    """What is wrong with the line, as the reader will tell it."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """`bars` are where the five `|||` begin, in bytes from the start of the line."""

    start: int
    end: int
    bars: list[int]
    annotator: str
    is_noop: bool


def read_annotation(raw: bytes) -> Annotation:
    """The parts of a line that begins with `A `."""
    fields = raw[2:].split(BARS)
    if len(fields) != N_FIELDS:
        raise BadAnnotation(
            f"expected {N_FIELDS} fields (start end|||tag|||correction|||REQUIRED|||comment|||annotator), "
            f"found {len(fields)}"
        )
    span, tag, *_, annotator = fields
    numbers = span.split()
    if len(numbers) != 2 or not (_is_number(numbers[0]) and _is_number(numbers[1])):
        raise BadAnnotation(f"expected two token numbers after 'A ', found {shortened(decode(span))}")
    name = decode(annotator).strip()
    if not name:
        raise BadAnnotation("expected an annotator after the last '|||', found nothing")
    return Annotation(int(numbers[0]), int(numbers[1]), _bars(fields), name, tag == NOOP.encode())


def _is_number(field: bytes) -> bool:
    return field.removeprefix(b"-").isdigit() and len(field) <= MOST_DIGITS


def _bars(fields: list[bytes]) -> list[int]:
    at, bars = 2, []
    for field in fields[:-1]:
        bars.append(at + len(field))
        at += len(field) + len(BARS)
    return bars
