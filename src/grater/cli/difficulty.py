"""`grater difficulty`: easiest and hardest items, and what goes with disagreement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grater.agreement.difficulty import SPLIT, DifficultyOptions, difficulty, difficulty_json
from grater.cli.difficulty_table import flat, render
from grater.cli.judgment_options import (
    Columns,
    DropFlags,
    DuplicateRows,
    Merge,
    MinConfidence,
    Reading,
    Status,
    entries,
)
from grater.cli.options import Json, Seed
from grater.cli.output import print_json, require_outputs, say
from grater.statistics.intervals import RESAMPLES
from grater.tables import read_items, write_table

app = typer.Typer()


@app.command()
def hard(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The crowd's judgments.")],
    experts: Annotated[Path | None, typer.Option(metavar="FILE", help="Judgments of experts.")] = None,
    items: Annotated[Path | None, typer.Option(metavar="FILE", help="A table of items, for its columns.")] = None,
    by: Annotated[
        list[str], typer.Option(metavar="COLUMN", help="Columns of the items; all telling ones if not given.")
    ] = [],  # noqa: B006
    top: Annotated[int, typer.Option(min=1, help="How many items to name at each end.")] = 10,
    split: Annotated[
        float, typer.Option(min=0, max=1, help="A crowd is split where its majority has a smaller share.")
    ] = SPLIT,
    quantiles: Annotated[int, typer.Option(min=2, help="Parts that a column of numbers is cut into.")] = 4,
    resamples: Annotated[int, typer.Option(min=0, help="Resamples of the bootstrap.")] = RESAMPLES,
    columns: Columns = [],  # noqa: B006
    merge: Merge = [],  # noqa: B006
    drop_flags: DropFlags = [],  # noqa: B006
    min_confidence: MinConfidence = None,
    status: Status = [],  # noqa: B006
    duplicates: DuplicateRows = "error",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write every item as a table too.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Easiest and hardest items for the crowd and for experts, and what goes with disagreement."""
    require_outputs([out], [file, experts, items])
    crowd = Reading(columns, merge, drop_flags, min_confidence, status, duplicates).read(file)
    known = Reading(merge=merge, status=status, duplicates=duplicates).read(experts) if experts else None
    options = DifficultyOptions(top, split, entries(by), quantiles, resamples, seed=seed)
    found = difficulty(crowd, known, read_items(items) if items else None, options)
    for warning in found.warnings:
        say(f"warning: {warning}")
    if out:
        write_table(flat(crowd, known), out)
    if as_json:
        print_json(difficulty_json(found))
    else:
        render(found, Console(highlight=False))
