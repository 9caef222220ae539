r"""The columns of an M2 file: a row for every sentence and a row for every A line, read all at once.

Several times as fast as reading essays, for scorers that look only at spans, tags and corrections.  A file is
streamed in stretches of whole blocks, so memory stays flat.  All bounds are half-open and count bytes of `data`.  The
A lines are in the order of the file, so those of sentence `i` are one slice: `edits_of`.

Nearly every A line ever written ends in `|||REQUIRED|||-NONE-|||` and a number, so that only its span and its tag
need to be looked for: the sentences between cost nothing.  A line of another form (a comment, alternatives, a
number that is not plain) is parsed by itself.  Problems are those of `reading`, in the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from grater.corpora.formats import BytesSource, Source
from grater.corpora.m2.bytes import (
    WIDTH,
    Codes,
    Flags,
    Ints,
    Words,
    bytes_from,
    count_tokens,
    find,
    first_bytes,
    leading_numbers,
    word,
    words_at,
    words_in_a_row,
    words_of,
)
from grater.corpora.m2.fields import (
    NO_BLANK_LINE,
    NO_COMMENT,
    NO_SENTENCE,
    NOOP,
    REQUIRED,
    SEPARATOR,
    Annotation,
    BadAnnotation,
    parse_annotation,
    range_message,
    unknown_line_message,
)
from grater.errors import Problems

N_LINES = 40_000
"""Lines in a stretch: two megabytes or so."""
MOST_LINES = 25 * N_LINES
PADDING = 3 * WIDTH * b"\n"
"""So that three words can be read anywhere; blank lines at the end mean nothing."""

LineProblems = list[tuple[int, str]]
"""Problems, each with its line."""


@dataclass(frozen=True, slots=True)
class Columns:
    """`bars` holds where the five `|||` of the A lines begin, an array each; `annotator` counts in `annotators`.

    What has a problem has no row; `problems` says why.
    """

    data: bytes
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
    problems: LineProblems

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


def split_lines(data: bytes, codes: Codes) -> tuple[Lines, LineProblems]:
    """The lines of `data`, which ends in a newline, and the problems of their order."""
    problems: LineProblems = []
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
            problems.append((index, unknown_line_message(line)))
    _check_order(is_sentence, is_annotation, is_blank, problems)
    return Lines(start, end, is_sentence, is_annotation), problems


def _check_order(is_sentence: Flags, is_annotation: Flags, is_blank: Flags, problems: LineProblems) -> None:
    """Every block begins with its one S line; A lines without one are reported once per block, and then left out."""
    after_blank = np.concatenate((np.ones(1, np.bool_), is_blank[:-1]))
    for index in (is_sentence & ~after_blank).nonzero()[0].tolist():
        problems.append((index, NO_BLANK_LINE))
    for index in (is_annotation & after_blank).nonzero()[0].tolist():
        problems.append((index, NO_SENTENCE))
        while index < len(is_annotation) and is_annotation[index]:
            is_annotation[index] = False
            index += 1


def decode(raw: bytes) -> str:
    """Lone surrogates pass: they cannot come from a file, but they can come from a program."""
    return raw.decode("utf-8", "surrogatepass")


PIPE = ord("|")
TAIL = f"|||{REQUIRED}|||{NO_COMMENT}|||".encode()
TAIL_WORDS = [word(TAIL[start : start + WIDTH]) for start in range(0, len(TAIL), WIDTH)]
TAIL_BARS = np.array([[0], [len(REQUIRED) + 3], [len(TAIL) - 3]])
LAST_BYTE = np.uint64(56)
BARS, NOOP_HEAD, NOOP_TAG = word(b"|||"), word(b"-1 -1|||"), word(f"|||{NOOP}|".encode())
N_BARS, N_PIPES = 5, 15
MOST_ANNOTATORS = 100
LONGEST = 16 * WIDTH


@dataclass(frozen=True, slots=True)
class AnnotationColumns:
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


def read_annotations(data: bytes, codes: Codes, lines: Lines) -> tuple[AnnotationColumns, LineProblems]:
    """The A lines of `data`, which ends in `PADDING`, and the problems of those that have one."""
    index = lines.is_annotation.nonzero()[0]
    line_start, line_end = lines.start[index], lines.end[index]
    rows = _of_common_make(codes, index, line_start, line_end)
    others = (~rows.is_read).nonzero()[0]
    if not len(others):
        return rows, []
    bounds = zip(line_start[others].tolist(), line_end[others].tolist(), strict=True)
    return _with_others(rows, others, line_start[others], [data[start:end] for start, end in bounds])


def _with_others(
    rows: AnnotationColumns, others: Ints, line_start: Ints, raws: list[bytes]
) -> tuple[AnnotationColumns, LineProblems]:
    """The rows of an uncommon make, read line by line and filled in."""
    problems: LineProblems = []
    annotations: list[Annotation] = []
    bars: list[list[int]] = []
    for row, raw in zip(others.tolist(), raws, strict=True):
        try:
            annotations.append(parse_annotation(decode(raw)))
            bars.append(_bars(raw))
            rows.is_read[row] = True
        except BadAnnotation as problem:
            problems.append((int(rows.index[row]), str(problem)))
    ranks = {name: rank for rank, name in enumerate(rows.annotators)}
    is_good = rows.is_read[others]
    filled = others[is_good]
    rows.bars[:, filled] = line_start[is_good] + np.array(bars, np.int64).reshape(-1, N_BARS).T
    rows.start[filled] = [annotation.start for annotation in annotations]
    rows.end[filled] = [annotation.end for annotation in annotations]
    rows.is_noop[filled] = [annotation.is_noop for annotation in annotations]
    rows.annotator[filled] = [ranks.setdefault(annotation.annotator, len(ranks)) for annotation in annotations]
    return replace(rows, annotators=tuple(ranks)), problems


def _bars(raw: bytes) -> list[int]:
    """Where the five `|||` begin, in bytes from the start of the line."""
    at, bars = 2, []
    for field in raw[2:].split(SEPARATOR.encode())[:-1]:
        bars.append(at + len(field))
        at += len(field) + len(SEPARATOR)
    return bars


def _of_common_make(codes: Codes, index: Ints, line_start: Ints, line_end: Ints) -> AnnotationColumns:
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
    return AnnotationColumns(index, bars, start, end, annotator, annotators, is_noop, is_read)


def _spans(words: Words, at: Ints, bars: Ints) -> tuple[Ints, Ints, Flags]:
    """The two token numbers of each line, and where they are plain; finds the first bars."""
    heads = words_at(words, at)
    start, space = leading_numbers(heads)
    end, width = leading_numbers(bytes_from(heads, space + 1, 4))
    is_span = (space > 0) & (width > 0) & (bytes_from(heads, space, 1) == SPACE)
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


def scan_lines(lines: Iterable[str], *, problems: Problems) -> Iterator[Columns]:
    """The columns of a file, stretch by stretch, with their problems reported in the order of lines."""
    return scan_raw_lines(_encoded(lines), problems=problems)


def _encoded(lines: Iterable[str]) -> Iterator[list[bytes]]:
    rest = iter(lines)
    while some := list(islice(rest, N_LINES)):
        yield [(line if line.endswith("\n") else line + "\n").encode("utf-8", "surrogatepass") for line in some]


def scan_source(source: Source, *, problems: Problems) -> Iterator[Columns]:
    """The columns of a source, by the quickest way that it has."""
    if isinstance(source, BytesSource):
        return scan_raw_lines(source.raw_lines(), problems=problems)
    return scan_lines(source.lines(), problems=problems)


def scan_raw_lines(batches: Iterable[list[bytes]], *, problems: Problems) -> Iterator[Columns]:
    """The columns of lines in UTF-8."""
    for first_line, stretch in stretches(batches, problems=problems):
        columns = within_sentences(scan(stretch, first_line=first_line))
        for line, message in sorted(columns.problems):
            problems.add(message, line=line)
        yield columns


def stretches(batches: Iterable[list[bytes]], *, problems: Problems) -> Iterator[tuple[int, bytes]]:
    """Whole blocks of a file, some thousand lines at a time, with the number of the first line."""
    waiting, number, cut = list[bytes](), 1, 0
    for lines in batches:
        after_blank = _after_last_blank(lines)
        cut = len(waiting) + after_blank if after_blank else cut
        waiting += lines
        if cut and len(waiting) >= N_LINES:
            yield number, b"".join(waiting[:cut])
            waiting, number, cut = waiting[cut:], number + cut, 0
        elif len(waiting) >= MOST_LINES:
            problems.add(f"expected a blank line between sentences, found none in {MOST_LINES:,} lines", line=number)
            return
    if waiting:
        yield number, b"".join(waiting)


def _after_last_blank(lines: list[bytes]) -> int:
    for n_before in range(len(lines), 0, -1):
        if lines[n_before - 1].isspace():
            return n_before
    return 0


def scan(data: bytes, *, first_line: int = 1) -> Columns:
    """`data` is whole blocks in UTF-8; `first_line` is the number of its first line in the file."""
    return _scan(data + PADDING, first_line)


def _scan(data: bytes, first_line: int) -> Columns:
    codes = np.frombuffer(data, np.uint8)
    lines, of_lines = split_lines(data, codes)
    rows, of_rows = read_annotations(data, codes, lines)
    s_lines, a_lines = lines.is_sentence.nonzero()[0], rows.index
    ends = lines.end[s_lines]
    columns = Columns(
        data=data,
        sentence_start=np.minimum(lines.start[s_lines] + 2, ends),
        sentence_end=ends,
        sentence_line=s_lines + first_line,
        sentence=np.cumsum(lines.is_sentence)[a_lines] - 1,
        line=a_lines + first_line,
        start=rows.start,
        end=rows.end,
        annotator=rows.annotator,
        annotators=rows.annotators,
        is_noop=rows.is_noop,
        bars=rows.bars,
        problems=[(index + first_line, message) for index, message in of_lines + of_rows],
    )
    return columns if rows.is_read.all() else _only(columns, rows.is_read)


def within_sentences(columns: Columns) -> Columns:
    """Without the A lines whose span is not within the sentence; a no-op has none, whatever numbers it carries."""
    n_tokens = count_tokens(columns.data, columns.sentence_start, columns.sentence_end)
    n_tokens = np.append(n_tokens, 0)[columns.sentence]  # the last is for A lines before any sentence
    in_range = (columns.start >= 0) & (columns.start <= columns.end) & (columns.end <= n_tokens)
    is_kept = (in_range | columns.is_noop) & (columns.sentence >= 0)
    if is_kept.all():
        return columns
    messages = [
        (int(columns.line[row]), range_message(int(columns.start[row]), int(columns.end[row]), int(n_tokens[row])))
        for row in (~is_kept).nonzero()[0].tolist()
    ]
    return replace(_only(columns, is_kept), problems=columns.problems + messages)


def _only(columns: Columns, is_kept: Flags) -> Columns:
    of_rows = ("sentence", "line", "start", "end", "annotator", "is_noop", "bars")
    return replace(columns, **{name: getattr(columns, name)[..., is_kept] for name in of_rows})
