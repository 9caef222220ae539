"""Bytes of an M2 file into columns, all lines at once.

A file is streamed in stretches of whole blocks, so memory stays flat.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from grater.corpora.m2.bytes import WIDTH, Flags, count_tokens
from grater.corpora.m2.columns import Columns, read_annotations, split_lines
from grater.errors import Problems

N_LINES = 40_000
"""Lines to a stretch: two megabytes or so."""
N_BYTES = 1 << 21
MOST_LINES = 25 * N_LINES


PADDING = 3 * WIDTH * b"\n"
"""So that three words can be read anywhere; blank lines at the end mean nothing."""


def scan_lines(lines: Iterable[str], *, problems: Problems) -> Iterator[Columns]:
    """The columns of a file, stretch by stretch, with their problems told in the order of lines."""
    for first_line, stretch in stretches(lines, problems=problems):
        columns = within_sentences(scan(stretch.encode("utf-8", "surrogatepass"), first_line=first_line))
        for line, message in sorted(columns.found):
            problems.add(message, line=line)
        yield columns


def stretches(lines: Iterable[str], *, problems: Problems) -> Iterator[tuple[int, str]]:
    """Whole blocks of a file, some thousand lines at a time, with the number of the first line."""
    rest, waiting, number = iter(lines), list[str](), 1
    while some := list(islice(rest, N_LINES)):
        cut = len(waiting) + _after_last_blank(some)
        waiting += some
        if cut > len(waiting) - len(some):
            yield number, "".join(waiting[:cut])
            waiting, number = waiting[cut:], number + cut
        elif len(waiting) >= MOST_LINES:
            problems.add(f"expected a blank line between sentences, found none in {MOST_LINES:,} lines", line=number)
            return
    if waiting:
        yield number, "".join(waiting)


def _after_last_blank(lines: list[str]) -> int:
    for n_before in range(len(lines), 0, -1):
        if lines[n_before - 1].isspace():
            return n_before
    return 0


def scan_bytes(data: bytes, *, n_bytes: int = N_BYTES) -> Iterator[Columns]:
    """The columns of a whole file, two megabytes at a time: quicker than at once, since caches are small."""
    start, first_line = 0, 1
    while start < len(data):
        end = data.rfind(b"\n\n", start, start + n_bytes) + 2
        end = end if end > start + 1 and start + n_bytes < len(data) else len(data)
        columns = _scan(b"".join((memoryview(data)[start:end], PADDING)), first_line)
        yield columns
        start, first_line = end, first_line + columns.n_lines


def scan(data: bytes, *, first_line: int = 1) -> Columns:
    """`data` is whole blocks in UTF-8; `first_line` is the number of its first line in the file."""
    return _scan(data + PADDING, first_line)


def _scan(data: bytes, first_line: int) -> Columns:
    n_more = len(PADDING) - (data[-len(PADDING) - 1 : -len(PADDING)] != b"\n")
    codes = np.frombuffer(data, np.uint8)
    lines, found_in_lines = split_lines(data, codes)
    rows, found_in_rows = read_annotations(data, codes, lines)
    s_lines, a_lines = lines.is_sentence.nonzero()[0], rows.index
    ends = lines.end[s_lines]
    columns = Columns(
        data=data,
        n_lines=len(lines.start) - n_more,
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
        found=[(index + first_line, message) for index, message in found_in_lines + found_in_rows],
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
    rows = (~is_kept).nonzero()[0].tolist()
    messages = [(int(columns.line[row]), _range_message(columns, row, int(n_tokens[row]))) for row in rows]
    return replace(_only(columns, is_kept), found=columns.found + messages)


def _range_message(columns: Columns, row: int, n_tokens: int) -> str:
    start, end = int(columns.start[row]), int(columns.end[row])
    if start > end:
        return f"expected a start that is not after the end, found {start} {end}"
    return f"expected token numbers from 0 to {n_tokens} (the sentence has {n_tokens} tokens), found {start} {end}"


def _only(columns: Columns, is_kept: Flags) -> Columns:
    of_rows = ("sentence", "line", "start", "end", "annotator", "is_noop", "bars")
    return replace(columns, **{name: getattr(columns, name)[..., is_kept] for name in of_rows})
