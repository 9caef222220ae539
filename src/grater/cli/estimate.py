"""`grater estimate`: precision, recall and F of systems from a judged sample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grater.cli.estimate_table import progress, render
from grater.cli.judgment_options import Columns, DropFlags, DuplicateRows, Merge, MinConfidence, Reading, Status
from grater.cli.options import Json
from grater.cli.output import print_json, say
from grater.errors import UsageError
from grater.evaluate.sampled import sampled
from grater.evaluate.sampled_json import sampled_json
from grater.tables import read_decisions, read_judgments, read_sample

app = typer.Typer()


@app.command()
def estimate(
    decisions: Annotated[Path, typer.Option(metavar="D", help="What the systems said of every item.")],
    sample: Annotated[Path, typer.Option(metavar="S", help="Which items were drawn, and how.")],
    judgments: Annotated[Path, typer.Option(metavar="J", help="What raters said of the drawn items: error or ok.")],
    system: Annotated[
        list[str], typer.Option(metavar="NAME", help="Only this system; repeatable. Any with decisions will do.")
    ] = [],  # noqa: B006
    truth: Annotated[str, typer.Option(help="majority, share or rater:NAME.")] = "majority",
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The cheap labels that a sample with label strata was drawn by."),
    ] = None,
    no_fpc: Annotated[
        bool, typer.Option("--no-fpc", help="The corpus stands for a wider one: no finite-population correction.")
    ] = False,
    width: Annotated[
        float | None, typer.Option(metavar="W", help="Say how many more judgments bring recall to this width.")
    ] = None,
    columns: Columns = [],  # noqa: B006
    merge: Merge = [],  # noqa: B006
    drop_flags: DropFlags = [],  # noqa: B006
    min_confidence: MinConfidence = None,
    status: Status = [],  # noqa: B006
    duplicates: DuplicateRows = "error",
    as_json: Json = False,
) -> None:
    """Precision, recall and F with limits, ours and the paper's, and how far systems differ."""
    if width is not None and not 0 < width < 1:
        raise UsageError(f"expected --width between 0 and 1, found {width:g}")
    reading = Reading(columns, merge, drop_flags, min_confidence, status, duplicates)
    cheap = read_judgments(labels) if labels else None
    found = sampled(
        read_decisions(decisions),
        read_sample(sample),
        reading.read(judgments),
        systems=system,
        truth=truth,
        labels=cheap,
        fpc=not no_fpc,
    )
    for warning in found.warnings:
        say(f"warning: {warning}")
    if as_json:
        print_json(sampled_json(found))
    else:
        render(found, Console(highlight=False))
    if width is not None:
        for line in progress(found, width, fpc=not no_fpc):
            say(line)
