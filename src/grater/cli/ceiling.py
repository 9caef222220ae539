"""`grater ceiling`: what annotators reach by the measures that systems are scored by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.cli.command import EngineName, Json, Seed, Table, counting, show
from grater.cli.corrections import (
    Beta,
    DrawnCluster,
    ManyHypotheses,
    MatchMode,
    MaxUnchanged,
    MetricName,
    SourceFile,
    SpacyModel,
    read_hypotheses,
    read_references,
)
from grater.errors import UsageError
from grater.evaluate.edits.ceiling import MOST_SUBSETS, RESAMPLES, ceiling
from grater.evaluate.edits.metrics import METRICS, MetricOptions
from grater.evaluate.edits.scores import Resampling

app = typer.Typer()


@app.command(cls=ManyHypotheses)
def score_people(
    files: Annotated[
        list[Path], typer.Argument(metavar="REF", help="References: M2 files, or plain text files with --source.")
    ],
    hyp: Annotated[
        list[Path],
        typer.Option(metavar="HYP...", help="Systems to compare, FILE or NAME=FILE: text or M2."),
    ] = [],  # noqa: B006
    metric: MetricName = "m2",
    source: SourceFile = None,
    references: Annotated[
        str, typer.Option(metavar="N,N", help="Numbers of references; default: 1 to all but one.")
    ] = "",
    mode: MatchMode = "cs",
    beta: Beta = 0.5,
    max_unchanged: MaxUnchanged = 2,
    engine: EngineName = "grater",
    spacy_model: SpacyModel = None,
    subsets: Annotated[int, typer.Option(min=1, help="Maximum sets of references per size.")] = MOST_SUBSETS,
    cluster: DrawnCluster = "sentence",
    resamples: Annotated[int, typer.Option(min=0, help="Resamples for intervals.")] = RESAMPLES,
    table: Table = "text",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Score each annotator against the others, and systems against the same number of references."""
    chosen = METRICS[metric]
    engine = f"errant:{spacy_model}" if spacy_model else engine
    people_and_systems = read_references(chosen, files, source, engine=engine), read_hypotheses(chosen, hyp)
    with counting("scoring people") as advance:
        people = ceiling(
            chosen,
            *people_and_systems,
            options=MetricOptions(beta, mode, None, max_unchanged, engine),
            chance=Resampling(resamples, seed, cluster),
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
