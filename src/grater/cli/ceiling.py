"""`grater ceiling`: what annotators reach by the measures that systems are scored by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.cli.command import Json, Seed, Table, counting, show, takes_options
from grater.cli.corrections import ManyHypotheses, Measure, named_files, require_piped_once
from grater.errors import UsageError
from grater.evaluate.edits.ceiling import MOST_SUBSETS, RESAMPLES, ceiling
from grater.evaluate.edits.scores import Resampling

app = typer.Typer()


@app.command(cls=ManyHypotheses)
@takes_options
def score_people(
    files: Annotated[
        list[Path], typer.Argument(metavar="REF", help="References: M2 files, or plain text files with --source.")
    ],
    hyp: Annotated[
        list[Path],
        typer.Option(metavar="HYP...", help="Systems to compare, FILE or NAME=FILE: text or M2."),
    ] = [],  # noqa: B006
    *,
    measure: Measure,
    references: Annotated[
        str, typer.Option(metavar="N,N", help="Numbers of references; default: 1 to all but one.")
    ] = "",
    subsets: Annotated[int, typer.Option(min=1, help="Maximum sets of references per size.")] = MOST_SUBSETS,
    resamples: Annotated[int, typer.Option(min=0, help="Resamples for intervals.")] = RESAMPLES,
    table: Table = "text",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Score each annotator against the others, and systems against the same number of references."""
    require_piped_once([*(file for _, file in named_files([*files, *hyp])), measure.source])
    people_and_systems = measure.references(files), measure.hypotheses(hyp)
    with counting("scoring people") as advance:
        people = ceiling(
            measure.chosen,
            *people_and_systems,
            options=measure.options(),
            chance=Resampling(resamples, seed, measure.cluster),
            sizes=_numbers(references),
            most_subsets=subsets,
            advance=advance,
        )
    show(people, table=table, as_json=as_json)


def _numbers(text: str) -> list[int] | None:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() for part in parts):
        raise UsageError(f"expected numbers for --references, as in 1,2,9, found {text!r}")
    return sorted({int(part) for part in parts}) or None
