"""`grater ceiling`: each annotator against the others, beside the systems, for every number of references."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grater.cli.options import Json, Seed
from grater.cli.output import print_json
from grater.cli.score_inputs import (
    Beta,
    DrawnCluster,
    ManyHypotheses,
    MatchMode,
    MaxUnchanged,
    MetricName,
    PaperTable,
    SourceFile,
    SpacyModel,
    read_hypotheses,
    read_references,
)
from grater.cli.score_table import print_ceiling
from grater.errors import UsageError
from grater.evaluate.edits.ceiling import MOST_SUBSETS, RESAMPLES
from grater.evaluate.edits.ceiling import ceiling as human_ceiling
from grater.evaluate.edits.metrics import METRICS, MetricOptions
from grater.evaluate.edits.scores import Resampling
from grater.evaluate.edits.tables import ceiling_text

app = typer.Typer()


@app.command(cls=ManyHypotheses)
def ceiling(
    files: Annotated[
        list[Path], typer.Argument(metavar="REF", help="References: M2 files, or plain text files with --source.")
    ],
    hyp: Annotated[
        list[Path], typer.Option(metavar="HYP...", help="Systems to stand beside the people: plain text or M2.")
    ] = [],  # noqa: B006
    metric: MetricName = "m2",
    source: SourceFile = None,
    references: Annotated[
        str, typer.Option(metavar="N,N", help="Numbers of references; from 1 to all but one if not given.")
    ] = "",
    mode: MatchMode = "cs",
    beta: Beta = 0.5,
    max_unchanged: MaxUnchanged = 2,
    spacy_model: SpacyModel = None,
    subsets: Annotated[
        int, typer.Option(min=1, help="Sets of references of one size; more are sampled.")
    ] = MOST_SUBSETS,
    cluster: DrawnCluster = "sentence",
    resamples: Annotated[int, typer.Option(min=0, help="Resamples for limits.")] = RESAMPLES,
    table: PaperTable = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Score each annotator against the others, and systems against the same numbers of references."""
    chosen = METRICS[metric]
    found = human_ceiling(
        chosen,
        read_references(chosen, files, source),
        read_hypotheses(chosen, hyp),
        options=MetricOptions(beta, mode, None, max_unchanged, spacy_model),
        chance=Resampling(resamples, seed, cluster),
        sizes=_numbers(references),
        most_subsets=subsets,
    )
    if as_json:
        print_json(found.as_json())
    elif table:
        typer.echo(ceiling_text(found, layout=table), nl=False)
    else:
        print_ceiling(found, Console(highlight=False))


def _numbers(text: str) -> list[int] | None:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() for part in parts):
        raise UsageError(f"expected numbers for --references, as in 1,2,9, found {text!r}")
    return sorted({int(part) for part in parts}) or None
