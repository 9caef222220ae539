"""`grater nouns agree`: the study of constructions analysed (Lee et al. 2009, sections 4 and 5)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grater.agreement.constructions import construction_study
from grater.cli.judgment_options import (
    Columns,
    DropFlags,
    DuplicateRows,
    Merge,
    MinConfidence,
    Reading,
    Status,
)
from grater.cli.nouns_agree_table import render, study_json
from grater.cli.options import Json, Seed
from grater.cli.output import print_json
from grater.tables import read_items

app = typer.Typer()


@app.command()
def agree(
    judgments: Annotated[
        list[Path], typer.Argument(metavar="JUDGMENTS", help="Tables of yes, no and yes*, read as one.")
    ],
    items: Annotated[
        Path, typer.Option(metavar="ITEMS", help="The table of items, as grater nouns select writes it.")
    ],
    columns: Columns = [],  # noqa: B006
    merge: Merge = [],  # noqa: B006
    drop_flags: DropFlags = [],  # noqa: B006
    min_confidence: MinConfidence = None,
    status: Status = [],  # noqa: B006
    duplicates: DuplicateRows = "error",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Tables 4 and 5, several right constructions, the ceilings of section 4, and what agreement depends on."""
    reading = Reading(columns, merge, drop_flags, min_confidence, status, duplicates)
    study = construction_study(reading.read(*judgments), read_items(items), seed=seed)
    if as_json:
        print_json(study_json(study))
        return
    render(study, Console(highlight=False))
