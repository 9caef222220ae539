"""`grater raters`: one row for each rater."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.cli.judgment_options import Columns, DropFlags, DuplicateRows, Merge, MinConfidence, Reading, Status
from grater.cli.options import Json, Table
from grater.cli.output import require_outputs, show
from grater.crowd.raters import raters as rate_raters
from grater.tables import parse_columns, read_gold, write_table

app = typer.Typer()


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
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Each rater's judgments, accuracy on gold, agreement with the others, skill, speed and favourite label."""
    require_outputs([out], [file, gold])
    reading = Reading(columns, merge, drop_flags, min_confidence, status, duplicates)
    known = read_gold(gold, columns=parse_columns(gold_columns), duplicates=duplicates) if gold else None
    result = rate_raters(reading.read(file), gold=known)
    if out:
        write_table(result.to_frame(), out)
    show(result, table=table, as_json=as_json)
