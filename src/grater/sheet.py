"""A result as people see it: a title, columns, rows, notes and a signature.

A signature says how a number was made, in one line that travels with it: what was computed, by which version, with
which options, on which data (by hash).  Two numbers may be compared only if their signatures agree.

A sheet holds text that is ready to be read; the functions at the top decide, once for the whole of grater, how a
number looks: `.700 [.652, .748]`, three digits by default, an en dash where it is undefined.  Scores of corrections
stay in per cent with two decimals, as the field prints them.  The writers below turn the same sheet into text for a
terminal, Markdown, LaTeX (booktabs), CSV and HTML.

On a terminal a table is as wide as the terminal at most: where it would be wider, intervals move to a second line
under their values, and then long names are cut in the middle, so that both of their ends can be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from html import escape
from math import isnan
from textwrap import wrap
from typing import Literal, TypeAlias

from grater import __version__
from grater.model import Interval

UNDEFINED = "–"
SMALLEST_P = 0.0001
TWO_DECIMALS_BELOW = 10
"""Counts from here on have one decimal at most."""
SHORTEST_NAME = 12
"""Characters that a name keeps when a table is too wide."""
LONG_CELL = 28
"""Characters of a cell beyond which a column of words wraps on a page."""
GAP = "  "
DOUBLE_QUOTE = '"'

NUMBER = re.compile(r"(?:[<p] )?[-−–+.\d]")
PIECE = re.compile(r"(\D*)([0-9]*)")
INTERVAL = re.compile(r"^(\S+) (\[.*\])$")

TableFormat: TypeAlias = Literal["text", "markdown", "latex", "csv"]


def number(value: float, *, digits: int = 3) -> str:
    """`.630`, as the papers print shares; `12.500` for what may exceed 1."""
    if isnan(value):
        return UNDEFINED
    text = f"{value:.{digits}f}"
    return _minus(re.sub(r"^(-?)0\.", r"\1.", text))


def percentage(value: float) -> str:
    """`37.33` for .3733, without the sign, as the scores of corrections are printed."""
    return UNDEFINED if isnan(value) else _minus(f"{100 * value:.2f}")


def interval(estimate: Interval, *, digits: int = 3) -> str:
    """`.700 [.652, .748]`; the value alone where it has no interval."""
    return _with_bounds(estimate, lambda value: number(value, digits=digits))


def percent(estimate: Interval) -> str:
    """`37.33 [35.48, 39.19]`: a share in per cent with its interval."""
    return _with_bounds(estimate, percentage)


def amount(estimate: Interval) -> str:
    """`1,205 [1,100, 1,310]`: an estimated total with its interval, in whole numbers.

    The same half, added up in another order, is rounded the same way.
    """
    return _with_bounds(estimate, lambda value: count(value if isnan(value) else round(round(value, 6))))


def count(value: float) -> str:
    """`1,336`; `49.5` and `1.35` where shares of raters were added up or errors of raters corrected."""
    if isnan(value):
        return UNDEFINED
    text = f"{value:,.{1 if abs(value) >= TWO_DECIMALS_BELOW else 2}f}"
    return _minus(text.rstrip("0").rstrip("."))


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))


def counted(n: int, one: str, several: str = "") -> str:
    """A number with its noun: `1 essay`, `2,391 edits`."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def duration(hours: float) -> str:
    """`340 h`, `5.5 h`, `21 min` or `42 s`, so that nothing takes 0.0 hours."""
    if hours >= 1:
        return f"{hours:,.0f} h" if hours >= 10 else f"{hours:.1f} h"
    return f"{60 * hours:.0f} min" if hours >= 1 / 40 else f"{max(1, round(3600 * hours))} s"


def p_value(p: float) -> str:
    """`.0312`, or `< .0001`."""
    return f"< {number(SMALLEST_P, digits=4)}" if p < SMALLEST_P else number(p, digits=4)


def _with_bounds(estimate: Interval, write: Callable[[float], str]) -> str:
    if isnan(estimate.value) or isnan(estimate.low) or isnan(estimate.high):
        return write(estimate.value)
    return f"{write(estimate.value)} [{write(estimate.low)}, {write(estimate.high)}]"


def _minus(text: str) -> str:
    """A true minus sign; a number that is rounded to nothing has none."""
    return text.replace("-", "−") if any(digit in text for digit in "123456789") else text.lstrip("-")


def natural(name: str) -> tuple[list[tuple[str, int]], str]:
    """The place of a name in a list that people read: A1, A2, A10."""
    return [(word, int(digits or 0)) for word, digits in PIECE.findall(name)], name


def undefined_notes(estimates: Iterable[Interval]) -> list[str]:
    """One note for each reason why a number, or its interval, is undefined."""
    notes = {
        f"{UNDEFINED if isnan(estimate.value) else 'No interval'}: {estimate.undefined_because}."
        for estimate in estimates
        if isnan(estimate.low) and estimate.undefined_because
    }
    return sorted(notes)


@dataclass(frozen=True, slots=True)
class Signature:
    """`str(Signature("m2", {"beta": "0.5"}))` is `m2|grater:0.3.0|beta:0.5`."""

    what: str
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        options = [f"{name}:{value}" for name, value in sorted(self.options.items())]
        return "|".join([self.what, f"grater:{__version__}", *options])


def digest(parts: Iterable[str]) -> str:
    """A hash of many strings that knows where each ends."""
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table: `name` labels it in files, `links` leads a cell (row, column) to what is behind it.

    `rules` are the numbers of the rows that have a rule above them.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    signature: str = ""
    name: str = ""
    links: Mapping[tuple[int, int], str] = field(default_factory=dict, hash=False)
    rules: tuple[int, ...] = ()

    @property
    def is_words(self) -> tuple[bool, ...]:
        """Which columns hold words, and so are aligned left; numbers are aligned right."""
        return tuple(
            column == 0 or not all(NUMBER.match(row[column]) or not row[column] for row in self.rows)
            for column in range(len(self.columns))
        )

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the columns on a page: numbers, words, and words so long that they must wrap."""
        longest = [max((len(row[column]) for row in self.rows), default=0) for column in range(len(self.columns))]
        return tuple(
            ("words long" if length > LONG_CELL else "words") if words else "number"
            for words, length in zip(self.is_words, longest, strict=True)
        )


def with_notes(sheets: Sequence[Sheet], notes: Iterable[str], signature: str = "") -> list[Sheet]:
    """The tables of a result, what must be known to read them, and its signature, below the last of them."""
    *others, last = sheets
    return [*others, replace(last, notes=(*last.notes, *notes), signature=signature)]


def without_empty_columns(sheet: Sheet) -> Sheet:
    """The table without columns that are undefined in every row."""
    columns = range(len(sheet.columns))
    kept = [column for column in columns if any(row[column] not in (UNDEFINED, "") for row in sheet.rows)]
    links = {(row, kept.index(column)): name for (row, column), name in sheet.links.items() if column in kept}
    rows = tuple(tuple(row[column] for column in kept) for row in sheet.rows)
    return replace(sheet, columns=tuple(sheet.columns[column] for column in kept), rows=rows, links=links)


# Text for a terminal


def as_text(sheet: Sheet, *, width: int | None = None) -> str:
    """The table in columns, at most `width` characters wide where that can be done."""
    rows = [sheet.columns, *sheet.rows]
    if width is not None and _total(rows) > width:
        rows = [tuple(INTERVAL.sub("\\1\n\\2", cell) for cell in row) for row in rows]
    if width is not None and _total(rows) > width:
        rows = _shortened(rows, _total(rows) - width)
    widths = _widths(rows)
    header, *body = (_text_row(row, widths, sheet.is_words) for row in rows)
    rule = GAP.join("─" * each for each in widths)
    lines = [header, rule]
    for index, line in enumerate(body):
        lines += [rule, line] if index in sheet.rules else [line]
    title = [sheet.title] if sheet.title else []
    notes = [line for note in sheet.notes for line in (wrap(note, width) if width else [note])]
    return "\n".join([*title, *lines, *notes, *([sheet.signature] if sheet.signature else [])]) + "\n"


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(len(line) for cell in column for line in cell.split("\n")) for column in zip(*rows, strict=True)]


def _total(rows: Sequence[Sequence[str]]) -> int:
    widths = _widths(rows)
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _shortened(rows: Sequence[tuple[str, ...]], excess: int) -> list[tuple[str, ...]]:
    """The names of the first column cut in the middle until the table fits, or until they are as short as may be."""
    longest = max(SHORTEST_NAME, _widths(rows)[0] - excess)
    return [(cut_in_the_middle(row[0], longest), *row[1:]) for row in rows]


def cut_in_the_middle(text: str, longest: int) -> str:
    """`prep-ma…-v2.1`: both ends of a name are informative."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"


def _text_row(row: Sequence[str], widths: Sequence[int], is_words: Sequence[bool]) -> str:
    cells = [cell.split("\n") for cell in row]
    lines = []
    for index in range(max(map(len, cells))):
        parts = [cell[index] if index < len(cell) else "" for cell in cells]
        aligned = [
            part.ljust(width) if words else part.rjust(width)
            for part, width, words in zip(parts, widths, is_words, strict=True)
        ]
        lines.append(GAP.join(aligned).rstrip())
    return "\n".join(lines)


# Markdown


def as_markdown(sheet: Sheet) -> str:
    """A table with its title above, its notes and its signature below."""
    rule = "|".join(["", *("---" if words else "---:" for words in sheet.is_words), ""])
    table = "\n".join([_markdown_row(sheet.columns), rule, *map(_markdown_row, sheet.rows)])
    title = [f"**{sheet.title}**"] if sheet.title else []
    signature = [f"`{sheet.signature}`"] if sheet.signature else []
    return "\n\n".join([*title, table, *sheet.notes, *signature]) + "\n"


def _markdown_row(cells: Iterable[str]) -> str:
    escaped = (cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for cell in cells)
    return "| " + " | ".join(escaped) + " |"


# LaTeX


LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "_": r"\_",
        "%": r"\%",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "|": r"\textbar{}",
        "–": "--",
        "−": "$-$",
        "…": r"\dots{}",
        "→": r"$\rightarrow$",
        "↓": r"$\downarrow$",
        "∅": r"$\emptyset$",
        **{bar: rf"\rule{{{width / 8:g}ex}}{{1.5ex}}" for width, bar in enumerate("▏▎▍▌▋▊▉█", 1)},
        "\n": " ",
    }
)


def as_latex(sheet: Sheet) -> str:
    r"""A `table` with caption and label; `\usepackage{booktabs}` is all it needs."""
    body = [line for index, row in enumerate(sheet.rows) for line in _latex_lines(row, has_rule=index in sheet.rules)]
    notes = "".join(f" {note.translate(LATEX)}" for note in sheet.notes)
    title = sheet.title.translate(LATEX)
    lines = [
        r"\begin{table}[t]",
        r"\centering\small",
        rf"\begin{{tabular}}{{{''.join('l' if words else 'r' for words in sheet.is_words)}}}",
        r"\toprule",
        *_latex_lines(sheet.columns),
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        *([rf"\caption{{{title}.{notes}}}"] if title or notes else []),
        *([rf"\label{{tab:{sheet.name}}}"] if sheet.name else []),
        r"\end{table}",
        *([f"% {sheet.signature}"] if sheet.signature else []),
    ]
    return "\n".join(lines) + "\n"


def _latex_lines(cells: Iterable[str], *, has_rule: bool = False) -> list[str]:
    row = " & ".join(cell.translate(LATEX) for cell in cells) + r" \\"
    return [r"\midrule", row] if has_rule else [row]


# CSV


def as_csv(sheet: Sheet) -> str:
    """The cells as they are read; a result's `to_frame` has the numbers at full precision."""
    return "".join(",".join(map(_quoted, row)) + "\n" for row in (sheet.columns, *sheet.rows))


def _quoted(cell: str) -> str:
    return f'"{cell.replace(DOUBLE_QUOTE, 2 * DOUBLE_QUOTE)}"' if re.search('[",\n\r]', cell) else cell


# HTML


def as_html(sheet: Sheet) -> str:
    """A plain table, as notebooks and pages show it."""

    def cells(row: Sequence[str], kind: str) -> str:
        looks = zip(row, sheet.classes, strict=True)
        return "".join(f'<{kind} class="{look}">{escape(cell)}</{kind}>' for cell, look in looks)

    header = cells(sheet.columns, "th")
    rows = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in sheet.rows)
    caption = f"<caption>{escape(sheet.title)}</caption>" if sheet.title else ""
    below = [f"<p>{escape(note)}</p>" for note in sheet.notes]
    below += [f"<p><code>{escape(sheet.signature)}</code></p>"] if sheet.signature else []
    return f"<table>{caption}<thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table>{''.join(below)}"


WRITERS: Mapping[TableFormat, Callable[[Sheet], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
}
