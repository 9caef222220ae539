"""`grater raters`: one row for each rater."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grater.cli.judgment_options import Columns, DropFlags, DuplicateRows, Merge, MinConfidence, Reading, Status
from grater.cli.options import Json
from grater.cli.output import print_json, print_notes, require_outputs
from grater.crowd.raters import Rater, rater_frame, signature_of
from grater.crowd.raters import raters as rate_raters
from grater.model import Interval
from grater.model import Json as JsonValue
from grater.sheet import counted
from grater.tables import parse_columns, read_gold, write_table

app = typer.Typer()

WIDTH = 80
NOTES = (
    "gold: accuracy on gold; others: agreement with the plurality of the others; both with 95 % limits.",
    "skill: chance of being right, by Dawid and Skene; sec: median seconds.",
    "top: the most frequent label; share: how often; rest: how often all others give it.",
)


@app.command()
def raters(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A table of judgments.")],
    gold: Annotated[Path | None, typer.Option(metavar="FILE", help="Items with known answers.")] = None,
    gold_columns: Annotated[
        list[str], typer.Option("--gold-columns", metavar="OURS=THEIRS", help="Columns of the gold table.")
    ] = [],  # noqa: B006
    columns: Columns = [],  # noqa: B006
    merge: Merge = [],  # noqa: B006
    drop_flags: DropFlags = [],  # noqa: B006
    min_confidence: MinConfidence = None,
    status: Status = [],  # noqa: B006
    duplicates: DuplicateRows = "error",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rows as a table too.")] = None,
    as_json: Json = False,
) -> None:
    """Each rater's judgments, accuracy on gold, agreement with the others, skill, speed and favourite label."""
    require_outputs([out], [file, gold])
    reading = Reading(columns, merge, drop_flags, min_confidence, status, duplicates)
    known = read_gold(gold, columns=parse_columns(gold_columns), duplicates=duplicates) if gold else None
    judgments = reading.read(file)
    found = rate_raters(judgments, gold=known)
    signature = str(signature_of(judgments, known))
    if out:
        write_table(rater_frame(found), out)
    if as_json:
        print_json({"raters": [as_json_value(each) for each in found], "signature": signature})
    else:
        render(found, signature, Console(highlight=False))


def as_json_value(rater: Rater) -> dict[str, JsonValue]:
    return {
        "rater": rater.rater,
        "n": rater.n,
        "gold": {**rater.on_gold.as_json(), "n": rater.n_gold},
        "others": {**rater.with_others.as_json(), "n": rater.n_compared},
        "skill": rater.skill,
        "seconds": rater.seconds,
        "top_label": {
            "label": rater.top_label,
            "share": rater.top_share,
            "others": None if isnan(rater.others_share) else rater.others_share,
        },
    }


def render(found: list[Rater], signature: str, console: Console) -> None:
    """The most skilled first; columns that nobody has are left out."""
    has_gold, has_seconds = any(each.n_gold for each in found), any(each.seconds is not None for each in found)
    headers = ["rater", "n", *["gold", "limits"] * has_gold, "others", "limits", "skill"]
    headers += [*["sec"] * has_seconds, "top", "share", "rest"]
    table = Table(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for header in headers:
        is_name = header in ("rater", "top")
        table.add_column(header, justify="left" if is_name else "right", no_wrap=not is_name, overflow="fold")
    for each in sorted(found, key=lambda each: (-each.skill, each.rater)):
        gold = _cells(each.on_gold) if has_gold else []
        seconds = ["–" if each.seconds is None else f"{each.seconds:.1f}"] * has_seconds
        top = [each.top_label, _number(each.top_share), _number(each.others_share)]
        cells = [each.rater, f"{each.n:,}", *gold, *_cells(each.with_others), _number(each.skill), *seconds, *top]
        table.add_row(*map(Text, cells))
    width = min(WIDTH, console.width)
    console.print(Text(counted(len(found), "rater"), style="bold"), width=width)
    console.print(table, width=width)
    print_notes(console, [*NOTES, signature])


def _cells(interval: Interval) -> list[str]:
    """A share and its 95 % limits, as .75 and .60–.87."""
    if isnan(interval.value):
        return ["–", "–"]
    return [_number(interval.value), f"{_number(interval.low)}–{_number(interval.high)}"]


def _number(value: float) -> str:
    return "–" if isnan(value) else f"{value:.2f}".removeprefix("0")
