"""`grater score`: corrections scored by M2, ERRANT or GLEU; `grater ceiling`: what annotators reach by the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.cli.options import Json, Seed, Table
from grater.cli.output import require_outputs, show, warn
from grater.cli.score_inputs import (
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
    split_files,
)
from grater.errors import UsageError
from grater.evaluate.edits.ceiling import MOST_SUBSETS, ceiling
from grater.evaluate.edits.ceiling import RESAMPLES as CEILING_RESAMPLES
from grater.evaluate.edits.edit_table import Tier
from grater.evaluate.edits.metrics import METRICS, MetricOptions
from grater.evaluate.edits.scores import RESAMPLES, Resampling, score_systems, sentence_frame
from grater.statistics.paired import Test

app = typer.Typer()
ceiling_app = typer.Typer()

WITHOUT_TYPES = ("gleu", "m2")


@app.command(cls=ManyHypotheses)
def score(
    files: Annotated[
        list[Path], typer.Argument(metavar="REF [HYP]", help="A reference and hypotheses, or references with --hyp.")
    ],
    hyp: Annotated[
        list[Path],
        typer.Option(metavar="HYP...", help="FILE or NAME=FILE: text, one sentence per line, or M2."),
    ] = [],  # noqa: B006
    metric: MetricName = "m2",
    source: SourceFile = None,
    mode: MatchMode = "cs",
    by: Annotated[Tier | None, typer.Option(help="errant: scores by type of error.")] = None,
    beta: Beta = 0.5,
    max_unchanged: MaxUnchanged = 2,
    spacy_model: SpacyModel = None,
    cluster: DrawnCluster = "sentence",
    test: Annotated[Test, typer.Option(help="The paired test that makes the rank groups.")] = "bootstrap",
    resamples: Annotated[int, typer.Option(min=0, help="Resamples for intervals and tests.")] = RESAMPLES,
    per_sentence: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the counts of every sentence as a table.")
    ] = None,
    table: Table = "text",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Score corrections, with an interval for every number, paired tests between systems and rank groups."""
    chosen = METRICS[metric]
    references_files, hypothesis_files = split_files(files, hyp)
    if per_sentence:
        require_outputs([per_sentence], [*references_files, *hypothesis_files, source])
    if by and metric in WITHOUT_TYPES:
        raise UsageError(f"--by is for --metric errant, which knows types of errors; {metric} does not")
    quickly = cluster == "sentence"  # the fast reader does not keep documents
    references = read_references(chosen, references_files, source, quickly=quickly)
    hypotheses = read_hypotheses(chosen, hypothesis_files, quickly=quickly)
    tier: Tier | None = by or ("full" if as_json else None)
    options = MetricOptions(beta, mode, tier, max_unchanged, spacy_model)
    chance = Resampling(resamples, seed, cluster, test)
    scores = score_systems(chosen, references, hypotheses, options=options, chance=chance)
    if per_sentence:
        from grater.tables import write_table  # polars costs as much time as scoring; only this option needs it

        write_table(sentence_frame(chosen, scores, options), per_sentence)
    warn(scores.warnings)
    show(scores, table=table, as_json=as_json)


@ceiling_app.command(cls=ManyHypotheses)
def score_people(
    files: Annotated[
        list[Path], typer.Argument(metavar="REF", help="References: M2 files, or plain text files with --source.")
    ],
    hyp: Annotated[
        list[Path],
        typer.Option(metavar="HYP...", help="Systems beside the people, FILE or NAME=FILE: text or M2."),
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
    resamples: Annotated[int, typer.Option(min=0, help="Resamples for intervals.")] = CEILING_RESAMPLES,
    table: Table = "text",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Score each annotator against the others, and systems against the same numbers of references."""
    chosen = METRICS[metric]
    people = ceiling(
        chosen,
        read_references(chosen, files, source),
        read_hypotheses(chosen, hyp),
        options=MetricOptions(beta, mode, None, max_unchanged, spacy_model),
        chance=Resampling(resamples, seed, cluster),
        sizes=_numbers(references),
        most_subsets=subsets,
    )
    show(people, table=table, as_json=as_json)


def _numbers(text: str) -> list[int] | None:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() for part in parts):
        raise UsageError(f"expected numbers for --references, as in 1,2,9, found {text!r}")
    return sorted({int(part) for part in parts}) or None
