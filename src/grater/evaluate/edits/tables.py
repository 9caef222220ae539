"""Scores as a table for a paper: Markdown, or LaTeX with booktabs.

Numbers are percentages with two decimals, as the field prints them, each with its 95 % limits; the best of a column
is not set in bold, since the rank groups say more.  The signature is the last line.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Literal, TypeAlias

from grater.evaluate.edits.ceiling import Ceiling
from grater.evaluate.edits.scores import Scores
from grater.model import Interval

Layout: TypeAlias = Literal["markdown", "latex"]

TITLES = {"precision": "P", "recall": "R", "gleu": "GLEU"}
LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
        "|": r"\textbar{}",
    }
)


def title(name: str) -> str:
    """`P`, `R`, `F0.5`, `GLEU`."""
    return TITLES.get(name, name.upper())


def score_text(scores: Scores, *, layout: Layout) -> str:
    """A row for each system: its scores and its rank group."""
    names = list(scores.systems[0].overall.scores)
    header = ["System", *(title(name) for name in names), "Group"]
    rows = [
        [system.system, *(percentage(system.overall.scores[name]) for name in names), system.group]
        for system in scores.systems
    ]
    return table_text(header, rows, note=str(scores.signature), layout=layout)


def ceiling_text(ceiling: Ceiling, *, layout: Layout) -> str:
    """A row for everyone who was scored, for each number of references."""
    names = list(ceiling.rows[0].scores)
    header = ["References", "Who", *(title(name) for name in names), "% of human"]
    rows = [
        [str(row.n_references), row.name, *(percentage(row.scores[name]) for name in names), percentage(row.of_human)]
        for row in ceiling.rows
    ]
    return table_text(header, rows, note=str(ceiling.signature), layout=layout)


def percentage(score: Interval) -> str:
    """`37.33 [35.48, 39.19]`; an en dash where it is undefined."""
    if isnan(score.value):
        return "–"
    value = f"{100 * score.value:.2f}"
    return value if isnan(score.low) else f"{value} [{100 * score.low:.2f}, {100 * score.high:.2f}]"


def table_text(header: Sequence[str], rows: Sequence[Sequence[str]], *, note: str, layout: Layout) -> str:
    """A table with one line of text below it; the first column is words, the others are numbers."""
    return _markdown(header, rows, note) if layout == "markdown" else _latex(header, rows, note)


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]], note: str) -> str:
    rule = ["---", *("---:" for _ in header[1:])]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (header, rule, *rows)]
    return "\n".join([*lines, "", f"`{note}`", ""])


def _latex(header: Sequence[str], rows: Sequence[Sequence[str]], note: str) -> str:
    def line(cells: Sequence[str]) -> str:
        return " & ".join(cell.translate(LATEX) for cell in cells) + r" \\"

    columns = "l" + "r" * (len(header) - 1)
    body = [line(header), r"\midrule", *(line(row) for row in rows)]
    signature = f"% {note}"
    return "\n".join(
        [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *body, r"\bottomrule", r"\end{tabular}", signature, ""]
    )
