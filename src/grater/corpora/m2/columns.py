r"""A stretch of an M2 file as arrays: a row for every sentence, a row for every A line.

All bounds are half-open and count bytes of `data`.  The A lines stand in the order of the file, so those of
sentence `i` are one slice: `edits_of`.

The lines of an M2 file and what each one is: S, A, or blank; anything else is a problem.

A line that holds only white space is blank.  A `\r` before the `\n` belongs to the line end.  Blank lines may
come in any number between blocks, and need not come after the last.

One A line of an M2 file, read by itself: the exact way, for lines that the fast way does not take.

Fields are those of `split("|||")`, numbers those of `int` as far as they are plain digits.  An annotator is any
word; white space around it is not part of it.

The A lines of a stretch of an M2 file, all at once.

Nearly every A line ever written ends in `|||REQUIRED|||-NONE-|||` and a number, so that only its span and its tag
need to be looked for: the sentences between cost nothing.  A line of another make (a comment, alternatives, a
number that is not plain) is read by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from grater.corpora.m2.bytes import (
    WIDTH,
    Codes,
    Flags,
    Ints,
    Words,
    bytes_from,
    find,
    first_bytes,
    leading_numbers,
    word,
    words_at,
    words_in_a_row,
    words_of,
)
from grater.corpora.m2.fields import NO_COMMENT, NOOP, REQUIRED, SEPARATOR

Found = list[tuple[int, str]]
"""Problems, each with its line."""


@dataclass(frozen=True, slots=True)
class Columns:
    """`bars` holds where the five `|||` of the A lines begin, an array each; `annotator` counts in `annotators`.

    What has a problem has no row; `found` says why.
    """

    data: bytes
    n_lines: int
    sentence_start: Ints
    sentence_end: Ints
    sentence_line: Ints
    sentence: Ints
    line: Ints
    start: Ints
    end: Ints
    annotator: Ints
    annotators: tuple[str, ...]
    is_noop: Flags
    bars: Ints
    found: Found

    @property
    def tag(self) -> tuple[Ints, Ints]:
        return self._between(0)

    @property
    def correction(self) -> tuple[Ints, Ints]:
        return self._between(1)

    @property
    def required(self) -> tuple[Ints, Ints]:
        return self._between(2)

    @property
    def comment(self) -> tuple[Ints, Ints]:
        return self._between(3)

    def edits_of(self) -> Ints:
        """Where the A lines of each sentence begin; one number more than there are sentences."""
        return np.searchsorted(self.sentence, np.arange(len(self.sentence_start) + 1))

    def _between(self, bar: int) -> tuple[Ints, Ints]:
        return self.bars[bar] + 3, self.bars[bar + 1]


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


N_FIELDS = 6
SEPARATOR_BYTES = SEPARATOR.encode()
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
    fields = raw[2:].split(SEPARATOR_BYTES)
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
        at += len(field) + len(SEPARATOR_BYTES)
    return bars


PIPE, SPACE_BYTE = ord("|"), ord(" ")
TAIL = f"|||{REQUIRED}|||{NO_COMMENT}|||".encode()
TAIL_WORDS = [word(TAIL[start : start + WIDTH]) for start in range(0, len(TAIL), WIDTH)]
TAIL_BARS = np.array([[0], [len(REQUIRED) + 3], [len(TAIL) - 3]])
LAST_BYTE = np.uint64(56)
BARS, NOOP_HEAD, NOOP_TAG = word(b"|||"), word(b"-1 -1|||"), word(f"|||{NOOP}|".encode())
N_BARS, N_PIPES = 5, 15
MOST_ANNOTATORS = 100
LONGEST = 16 * WIDTH


@dataclass(frozen=True, slots=True)
class Annotations:
    """A row for each A line; rows that are not `is_read` have a problem and hold nothing of use.

    `index` is the place of the line among all lines."""

    index: Ints
    bars: Ints
    start: Ints
    end: Ints
    annotator: Ints
    annotators: tuple[str, ...]
    is_noop: Flags
    is_read: Flags


def read_annotations(data: bytes, codes: Codes, lines: Lines) -> tuple[Annotations, Found]:
    """The A lines of `data`, which ends in `scan.PADDING`, and the problems of those that have one."""
    index = lines.is_annotation.nonzero()[0]
    line_start, line_end = lines.start[index], lines.end[index]
    rows = _of_common_make(codes, index, line_start, line_end)
    others = (~rows.is_read).nonzero()[0]
    if not len(others):
        return rows, []
    bounds = zip(line_start[others].tolist(), line_end[others].tolist(), strict=True)
    return _with_others(rows, others, line_start[others], [data[start:end] for start, end in bounds])


def _with_others(rows: Annotations, others: Ints, line_start: Ints, raws: list[bytes]) -> tuple[Annotations, Found]:
    """The rows of an uncommon make, read line by line and filled in."""
    found: Found = []
    read: list[Annotation] = []
    for row, raw in zip(others.tolist(), raws, strict=True):
        try:
            read.append(read_annotation(raw))
            rows.is_read[row] = True
        except BadAnnotation as problem:
            found.append((int(rows.index[row]), str(problem)))
    places = {name: place for place, name in enumerate(rows.annotators)}
    is_good = rows.is_read[others]
    filled, bars = others[is_good], np.array([annotation.bars for annotation in read], np.int64)
    rows.bars[:, filled] = line_start[is_good] + bars.reshape(-1, N_BARS).T
    rows.start[filled] = [annotation.start for annotation in read]
    rows.end[filled] = [annotation.end for annotation in read]
    rows.is_noop[filled] = [annotation.is_noop for annotation in read]
    rows.annotator[filled] = [places.setdefault(annotation.annotator, len(places)) for annotation in read]
    return replace(rows, annotators=tuple(places)), found


def _of_common_make(codes: Codes, index: Ints, line_start: Ints, line_end: Ints) -> Annotations:
    """The lines of the common make; of the others `is_read` is false."""
    words, bars = words_of(codes), np.empty((N_BARS, len(line_start)), np.int64)
    start, end, is_span = _spans(words, line_start + 2, bars)
    is_noop, is_tag = _tags(words, bars)
    number, is_tail = _tails(codes, line_end, bars)
    is_read = is_span & is_tag & is_tail & (bars[1] <= bars[2] - 3)
    if not is_read.all() or np.count_nonzero(codes == PIPE) != N_PIPES * len(line_start):
        # Else every bar is accounted for, and no field can hold one.
        is_read &= _next_pipe(words, bars[1] + 3, first_bytes(words_at(words, bars[1] + 3), 5)) == bars[2]
    annotator, annotators = _as_places(number, is_read)
    return Annotations(index, bars, start, end, annotator, annotators, is_noop, is_read)


def _spans(words: Words, at: Ints, bars: Ints) -> tuple[Ints, Ints, Flags]:
    """The two token numbers of each line, and where they are plain; finds the first bars."""
    heads = words_at(words, at)
    start, space = leading_numbers(heads)
    end, width = leading_numbers(bytes_from(heads, space + 1, 4))
    is_span = (space > 0) & (width > 0) & (bytes_from(heads, space, 1) == SPACE_BYTE)
    bars[0] = at + space + 1 + width
    no_ops = (heads == NOOP_HEAD).nonzero()[0]
    start[no_ops] = end[no_ops] = -1
    bars[0, no_ops], is_span[no_ops] = at[no_ops] + len("-1 -1"), True
    return start, end, is_span


def _tags(words: Words, bars: Ints) -> tuple[Flags, Flags]:
    """Which tags are that of a no-op, and which stand between bars; finds the second bars."""
    before = words_at(words, bars[0])
    bars[1] = _next_pipe(words, bars[0] + 3, before >> np.uint64(24))
    after = words_at(words, bars[1])
    return before == NOOP_TAG, (first_bytes(before, 3) == BARS) & (first_bytes(after, 3) == BARS)


def _tails(codes: Codes, line_end: Ints, bars: Ints) -> tuple[Ints, Flags]:
    """The annotator's number, and where the common tail stands before it; finds the last three bars."""
    tail = line_end - len(TAIL) - 1
    number, is_tail = _digit_after_tail(codes, tail)
    others = (~is_tail).nonzero()[0]
    if len(others):
        tens, is_tail[others] = _digit_after_tail(codes, tail[others] - 1)
        units = codes.take(line_end[others] - 1).astype(np.int64) - ord("0")
        number[others], tail[others] = 10 * tens + units, tail[others] - 1
        is_tail[others] &= (tens > 0) & (units >= 0) & (units <= 9)
    bars[2:] = tail + TAIL_BARS
    return number, is_tail


def _digit_after_tail(codes: Codes, tail: Ints) -> tuple[Ints, Flags]:
    first, second, third = words_in_a_row(codes, tail, 3)
    digit = (third >> LAST_BYTE).astype(np.int64) - ord("0")
    is_tail = (first == TAIL_WORDS[0]) & (second == TAIL_WORDS[1]) & (first_bytes(third, 7) == TAIL_WORDS[2])
    return digit, is_tail & (digit >= 0) & (digit <= 9)


def _next_pipe(words: Words, at: Ints, starts: Words) -> Ints:
    """The first `|` from each place on, given the word there; past some dozens of bytes it is given up.

    The last three bytes of a word may have been cut off."""
    step = find("|", starts)
    at, rows = at + np.minimum(step, WIDTH - 3), (step == WIDTH).nonzero()[0]
    for _ in range(LONGEST // WIDTH):
        if not len(rows):
            break
        step = find("|", words_at(words, at[rows]))
        at[rows] += step
        rows = rows[(step == WIDTH).nonzero()[0]]
    return at


def _as_places(number: Ints, is_read: Flags) -> tuple[Ints, tuple[str, ...]]:
    """Annotators as places in the list of those there are."""
    number = np.where(is_read, number, MOST_ANNOTATORS)
    present = np.bincount(number, minlength=MOST_ANNOTATORS + 1)[:MOST_ANNOTATORS].nonzero()[0]
    place_of = np.zeros(MOST_ANNOTATORS + 1, np.int64)
    place_of[present] = np.arange(len(present))
    return place_of[number], tuple(str(name) for name in present.tolist())
