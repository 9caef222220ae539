"""`grater score`: corrections scored by M2, ERRANT or GLEU, with limits, paired tests and rank groups."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grater.cli.options import Json, Seed
from grater.cli.output import print_json, require_outputs, say
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
    split_files,
)
from grater.cli.score_table import print_scores
from grater.errors import UsageError
from grater.evaluate.edits.edit_table import Tier
from grater.evaluate.edits.metrics import METRICS, MetricOptions
from grater.evaluate.edits.scores import RESAMPLES, Resampling, score_systems
from grater.evaluate.edits.tables import score_text
from grater.statistics.paired import Test, resamples_needed

app = typer.Typer()

WITHOUT_TYPES = ("gleu", "m2")


@app.command(cls=ManyHypotheses)
def score(
    files: Annotated[
        list[Path], typer.Argument(metavar="REF [HYP]", help="A reference and hypotheses, or references with --hyp.")
    ],
    hyp: Annotated[
        list[Path], typer.Option(metavar="HYP...", help="Hypotheses: plain text, a sentence a line, or M2.")
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
    resamples: Annotated[int, typer.Option(min=0, help="Resamples for limits and tests.")] = RESAMPLES,
    per_sentence: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the counts of every sentence as a table.")
    ] = None,
    table: PaperTable = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Score corrections, with limits for every number, paired tests between systems and rank groups."""
    chosen = METRICS[metric]
    references_files, hypothesis_files = split_files(files, hyp)
    if per_sentence:
        require_outputs([per_sentence], [*references_files, *hypothesis_files, source])
    if by and metric in WITHOUT_TYPES:
        raise UsageError(f"--by is for --metric errant, which knows types of errors; {metric} does not")
    # The quick way knows no documents.
    quickly = cluster == "sentence"
    references = read_references(chosen, references_files, source, quickly=quickly)
    hypotheses = read_hypotheses(chosen, hypothesis_files, quickly=quickly)
    tier: Tier | None = by or ("full" if as_json else None)
    options = MetricOptions(beta, mode, tier, max_unchanged, spacy_model)
    chance = Resampling(resamples, seed, cluster, test)
    if resamples < resamples_needed(len(hypotheses)):
        least = resamples_needed(len(hypotheses))
        say(f"warning: {resamples} resamples cannot tell {len(hypotheses)} systems apart; take {least} or more")
    scores = score_systems(chosen, references, hypotheses, options=options, chance=chance)
    if per_sentence:
        # polars costs as much time as scoring; only this option needs it.
        from grater.cli.score_sentences import write_sentences

        write_sentences(chosen, scores, options, per_sentence)
    if as_json:
        print_json(scores.as_json())
    elif table:
        typer.echo(score_text(scores, layout=table), nl=False)
    else:
        print_scores(scores, Console(highlight=False))
