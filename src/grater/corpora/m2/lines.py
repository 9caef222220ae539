"""The lines of an M2 file and what each one is: S, A, or blank; anything else is a problem.

A line that holds only white space is blank.  A `\\r` before the `\\n` belongs to the line end.  Blank lines may
come in any number between blocks, and need not come after the last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grater.corpora.m2.columns import Flags, Found, Ints
from grater.corpora.m2.words import Codes

NEWLINE, RETURN, SPACE, LETTER_A, LETTER_S = (ord(char) for char in "\n\r AS")


@dataclass(frozen=True, slots=True)
class Lines:
    """Bounds without line ends; an A line with no S line above it is no annotation."""

    start: Ints
    end: Ints
    is_sentence: Flags
    is_annotation: Flags


def split_lines(data: bytes, codes: Codes) -> tuple[Lines, Found]:
    """The lines of `data`, which ends in a newline, and the problems of their order."""
    found: Found = []
    newline = (codes == NEWLINE).nonzero()[0]
    start = np.concatenate((np.zeros(1, np.int64), newline[:-1] + 1))
    end = newline - ((codes[newline - 1] == RETURN) & (newline > start)) if b"\r" in data else newline
    first, second = codes[start], codes.take(start + 1, mode="clip")
    is_sentence = (first == LETTER_S) & ((second == SPACE) | (end == start + 1))
    is_annotation = (first == LETTER_A) & (second == SPACE)
    is_blank = start == end
    for index in (~(is_sentence | is_annotation | is_blank)).nonzero()[0].tolist():
        line = decode(data[start[index] : end[index]])
        is_blank[index] = line.isspace()
        if not is_blank[index]:
            found.append((index, f"expected a line starting with 'S ' or 'A ', found {shortened(line)}"))
    _check_order(is_sentence, is_annotation, is_blank, found)
    return Lines(start, end, is_sentence, is_annotation), found


def _check_order(is_sentence: Flags, is_annotation: Flags, is_blank: Flags, found: Found) -> None:
    """Every block begins with its one S line; A lines without one are told once a block, and then left out."""
    after_blank = np.concatenate((np.ones(1, np.bool_), is_blank[:-1]))
    for index in (is_sentence & ~after_blank).nonzero()[0].tolist():
        found.append((index, "expected a blank line before the next 'S ' line; put one there"))
    for index in (is_annotation & after_blank).nonzero()[0].tolist():
        found.append(
            (index, "expected an 'S ' line before this 'A ' line; remove the blank line or add the sentence")
        )
        while index < len(is_annotation) and is_annotation[index]:
            is_annotation[index] = False
            index += 1


def decode(raw: bytes) -> str:
    """Lone surrogates pass: they cannot come from a file, but they can come from a program."""
    return raw.decode("utf-8", "surrogatepass")


def shortened(line: str, *, most: int = 40) -> str:
    """A line as a message quotes it."""
    return repr(line if len(line) <= most else line[: most - 3] + "...")
