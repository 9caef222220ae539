"""Worksheets: items of a sample or job, to be judged in a spreadsheet without the server.

A row has only what the task's own page shows of an item: the sentence with its target in brackets, the sentence
before if the task shows it, and a suggestion only if the task compares one (`verify`). A worksheet is therefore as
blind as the page. The task's fields are empty columns named as in the table of judgments (better words go to
`alternatives`); `answers` lists the values that `label` may have. Filled sheets are judgments
(`grater.tables.worksheets`). Tasks that put words in a random order, or ask about several items on one page, need the
server, and are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from grater.annotate.tasks import TASKS, Piece
from grater.annotate.tasks.task import LABEL, ONE, SUGGESTION, WORDS, Field, Task, Unit, UnitItem
from grater.errors import BadInput, Problem, UsageError
from grater.measure.sampling.plan import decided
from grater.model import Essay, Item
from grater.tables import Table
from grater.tables.worksheets import SEPARATOR, Worksheet
from grater.uncertainty import generator

ALTERNATIVES = "alternatives"
VERIFY = "verify"
OPEN, CLOSE, GAP = "[[", "]]", "[[ ]]"
HEADING = re.compile(r"^#+ *")
BULLET = re.compile(r"^- ")  # a spreadsheet would take it for a formula


def sample_worksheet(
    left: Sequence[str],
    places: Mapping[str, Item],
    essays: Iterable[Essay],
    *,
    task: str = "error",
    decisions: Table | None = None,
    system: str = "",
) -> Worksheet:
    """The sheet of unjudged items, in order; a task that compares suggestions gets only items with one."""
    asks, by_id = TASKS[task], {essay.essay_id: essay for essay in essays}
    suggestions = _suggestions(decisions, system) if task == VERIFY else {}
    wanted = [item for item in left if task != VERIFY or item in suggestions]
    if not wanted:
        raise UsageError("no worksheet is written: nothing is left to judge")
    missing = sorted({places[item].essay_id for item in wanted} - by_id.keys())
    if missing:
        message = f"expected the essays of all items, found none called {', '.join(missing[:3])}"
        raise BadInput(Problem("essays", f"{message} ({len(missing)} in all)"))
    asked = []
    for item in wanted:
        payload = {SUGGESTION: suggestions[item]} if item in suggestions else {}
        asked.append((item, Unit(item, by_id[places[item].essay_id], (UnitItem(places[item], payload),))))
    return sheet_of(asks, asked)


def _suggestions(decisions: Table | None, system: str) -> dict[str, str]:
    rows = decided(decisions, system) if decisions is not None else pl.DataFrame()
    if "suggestion" not in rows.columns:
        name = decisions.name if decisions is not None else "decisions"
        raise UsageError(f"{name}: expected a column suggestion for the task {VERIFY}, found none")
    return dict(rows.filter(pl.col("suggestion").is_not_null()).select("item", "suggestion").iter_rows())


def sheet_of(task: Task, asked: Sequence[tuple[str, Unit]], *, rater: str = "") -> Worksheet:
    """The sheet of these units of one item each, under the names of their items."""
    shown = [task.show(unit, rng=generator(0, "worksheet", name)) for name, unit in asked]
    if any(page.kept for page in shown):
        raise UsageError(
            f"the task {task.name} puts words in a random order, which a sheet cannot keep; use the server"
        )
    fields = sorted(shown[0].fields if shown else (), key=lambda field: field.name != LABEL)
    if not fields or fields[0].name != LABEL:
        raise UsageError(f"the task {task.name} has no single answer per item; expected one such as error or usage")
    names = tuple(dict.fromkeys(_column(field) for field in fields))
    rows = []
    for (name, _), page in zip(asked, shown, strict=True):
        label = next(field for field in page.fields if field.name == LABEL)
        sentence = " ".join("".join(map(_in_brackets, page.pieces)).split())
        answers = f" {SEPARATOR} ".join(choice.value for choice in label.choices)
        rows.append((name, page.before, sentence, label.question, answers, *("" for _ in names), "", rater))
    columns = ("item", "before", "sentence", "question", "answers", *names, "comment", "rater")
    choices = {field.name: [choice.value for choice in field.choices] for field in fields if field.kind == ONE}
    has_own_words = any(page.fields != shown[0].fields for page in shown)
    return Worksheet(columns, tuple(rows), _instructions(task, fields, has_own_words=has_own_words), choices)


def _in_brackets(piece: Piece) -> str:
    if not piece.mark:
        return piece.text
    return f"{OPEN}{piece.text}{CLOSE}" if piece.text else GAP


def _column(field: Field) -> str:
    return ALTERNATIVES if field.kind == WORDS else field.name


def _instructions(task: Task, fields: Sequence[Field], *, has_own_words: bool) -> tuple[str, ...]:
    """How to fill in the sheet, what each column means, and the task's guidelines.

    Questions that differ between items are only in the rows.
    """
    lines = [
        f"{task.title}: judge each row. The words in question are between {OPEN} and {CLOSE}.",
        "Write one of the answers of the row into the column label; leave it empty where you have not judged.",
        "Write your name into the column rater, once is enough. Do not change the column item.",
    ]
    for field in fields if not has_own_words else ():
        offered = "; ".join(f"{choice.value} = {choice.text}" for choice in field.choices)
        lines.append(
            f"{_column(field)}: {field.question}"
            + (f" {offered}" if field.name == LABEL or field.kind == ONE else "")
        )
    guide = [
        HEADING.sub("", BULLET.sub("• ", line)).replace("**", "").rstrip() for line in task.guidelines.splitlines()
    ]
    return (*lines, *(line for line in guide if line))
