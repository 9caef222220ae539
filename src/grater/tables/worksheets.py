"""Filled worksheets as judgments: sheets of items that a person judged in a spreadsheet, without a server.

A worksheet (`grater.annotate.tasks.worksheet` writes them) is known by its columns `item`, `sentence` and `answers`;
the last says of every row which answers may stand in `label`, so a sheet needs nothing beside it.  People sort it,
add rows and columns, leave answers open; spreadsheets trim, quote, add a byte-order mark, write semicolons for commas
and capitals where a word was typed.  All that is taken as it is meant:

- rows that begin with `#` (instructions) or have neither item nor answer are not judgments;
- a row without an answer was not judged, and is counted;
- an answer is compared without blanks and capitals; another one is an error that names its row and its cell;
- the rater is the column `rater`; where it is empty all through, the name of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from grater.errors import BadInput, Problem, Problems
from grater.tables.raw import Raw, plain, text_of
from grater.tables.xlsx import letters

ANSWERS, LABEL, RATER, ITEM = "answers", "label", "rater", "item"
MARKS = (ITEM, "sentence", ANSWERS, LABEL)
INSTRUCTION = "#"
SEPARATOR = "|"


@dataclass(frozen=True, slots=True)
class Worksheet:
    """Columns and rows of a sheet to fill, its instructions, and the answers that columns offer."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    instructions: tuple[str, ...]
    choices: Mapping[str, Sequence[str]]

    def __len__(self) -> int:
        return len(self.rows)


def is_worksheet(raw: Raw) -> bool:
    return set(MARKS) <= set(raw.columns)


def is_worksheet_header(names: list[str]) -> bool:
    return set(MARKS) <= {name.strip().strip('"') for name in names}


def answers_in(raw: Raw) -> int:
    """The number of items with something in the column for answers; 0 where this is no worksheet."""
    if not is_worksheet(raw):
        return 0
    pairs = zip(raw.columns[ITEM].to_list(), raw.columns[LABEL].to_list(), strict=True)
    return sum(bool(_text(label)) and not _text(item).startswith(INSTRUCTION) for item, label in pairs)


def answered(raw: Raw) -> tuple[Raw, int]:
    """The judgments of a worksheet, and how many items have no answer yet."""
    cells = {name: [_text(value) for value in series.to_list()] for name, series in raw.columns.items()}
    lines = raw.lines.to_list() if raw.lines is not None else list(range(2, raw.n_rows + 2))
    problems, kept, n_open = Problems(raw.name), [], 0
    labels: dict[int, str] = {}
    for row, (item, label) in enumerate(zip(cells[ITEM], cells[LABEL], strict=True)):
        if item.startswith(INSTRUCTION) or not (item or label):
            continue
        if not label:
            n_open += 1
            continue
        cell = f"{letters(list(raw.columns).index(LABEL))}{lines[row]}"
        allowed = [answer.strip() for answer in cells[ANSWERS][row].split(SEPARATOR) if answer.strip()]
        labels[row] = _matching(label, allowed)
        if not item:
            problems.add(f"expected the item of the answer in cell {cell}, found an empty cell", line=lines[row])
        elif not labels[row]:
            wanted = ", ".join(allowed)
            problems.add(f"expected one of {wanted} in cell {cell}, found {label[:40]!r}", line=lines[row])
        kept.append(row)
    problems.done()
    if not kept:
        raise BadInput(Problem(raw.name, f"expected answers in the column {LABEL}, found none on {n_open} items"))
    return _judged(raw, cells, lines, kept, labels), n_open


def _judged(raw: Raw, cells: dict[str, list[str]], lines: list[int], kept: list[int], labels: dict[int, str]) -> Raw:
    columns = {
        name: pl.Series(name, [values[row] or None for row in kept], dtype=pl.String)
        for name, values in cells.items()
        if name != ANSWERS
    }
    columns[LABEL] = pl.Series(LABEL, [labels[row] for row in kept], dtype=pl.String)
    columns[RATER] = pl.Series(RATER, list(_raters(cells.get(RATER, []), kept, raw.name)), dtype=pl.String)
    return Raw(raw.name, columns, pl.Series("number", [lines[row] for row in kept], dtype=pl.Int64))


def _raters(names: list[str], kept: list[int], name: str) -> Iterator[str]:
    """The rater of each row; one name typed once, or none at all, holds for the whole sheet."""
    typed = {each for each in names if each}
    only = typed.pop() if len(typed) == 1 else "" if typed else _stem(name)
    for row in kept:
        yield (names[row] if names else "") or only


def _stem(path: str) -> str:
    """The name of a file without its folders and its extension."""
    name = re.split(r"[/\\]", path)[-1]
    return name.partition(".")[0] or name


def _matching(label: str, allowed: list[str]) -> str:
    """The answer that is meant; any is, where the sheet names none."""
    by_form = {answer.casefold(): answer for answer in allowed}
    return by_form.get(label.casefold(), "") if allowed else label


def _text(value: object) -> str:
    return (text_of(plain(value)) or "").strip()
