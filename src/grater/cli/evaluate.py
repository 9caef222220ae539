"""`grater evaluate`: detectors against raters: standard, by rater, weighted, in bins of agreement, by part."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.evaluate_options import (
    ByColumn,
    ClusterName,
    CurveFile,
    DecisionFiles,
    GoldFile,
    HigherScore,
    ItemsFile,
    JudgmentFiles,
    Redundancy,
    Resamples,
    TruthName,
    UnknownWay,
    of_judgments,
    read_all_decisions,
)
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
from grater.cli.options import Json, Seed, Table
from grater.cli.output import require_outputs, show, warn
from grater.errors import UsageError
from grater.evaluate.evaluation import EvaluationOptions, evaluate
from grater.evaluate.standard import EDGES
from grater.statistics.bootstrap import Chance
from grater.statistics.intervals import RESAMPLES
from grater.tables import parse_merge, read_gold, read_items, write_table

app = typer.Typer()


@app.command()
def evaluate_detectors(
    decisions: DecisionFiles,
    judgments: JudgmentFiles,
    weighted: Annotated[bool, typer.Option("--weighted", help="Show scores weighted by shares of raters.")] = False,
    bins: Annotated[
        str, typer.Option(metavar="EDGE,EDGE", help="Show scores in bins of agreement, as in 0.5,0.75,0.9,1.")
    ] = "",
    truth: TruthName = "majority",
    items: ItemsFile = None,
    gold: GoldFile = None,
    cluster: ClusterName = "item",
    by: ByColumn = "",
    contexts: Annotated[
        str, typer.Option(metavar="FLAG,FLAG", help="Show items with and without these flags apart.")
    ] = "",
    confidence_apart: Annotated[
        float | None, typer.Option(metavar="X", help="Show items with a judgment below this confidence apart.")
    ] = None,
    unknown: UnknownWay = "drop",
    with_suggestions: Annotated[
        bool, typer.Option("--suggestions", help="Score suggestions against the raters' alternatives too.")
    ] = False,
    corrections: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Score suggestions against adjudicated corrections: item, label."),
    ] = None,
    redundancy: Redundancy = None,
    curve: CurveFile = None,
    higher: HigherScore = "auto",
    resamples: Resamples = RESAMPLES,
    columns: Columns = [],  # noqa: B006
    merge: Merge = [],  # noqa: B006
    drop_flags: DropFlags = [],  # noqa: B006
    min_confidence: MinConfidence = None,
    status: Status = [],  # noqa: B006
    duplicates: DuplicateRows = "error",
    seed: Seed = 0,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Precision, recall and F against raters: majority, each rater in turn, weighted and in bins of agreement."""
    require_outputs([curve], [*decisions, *judgments, items, gold, corrections])
    reading = Reading(of_judgments(columns), merge, drop_flags, min_confidence, status, duplicates)
    options = EvaluationOptions(
        truth=truth,
        edges=parse_edges(bins) if bins else EDGES,
        chance=Chance(cluster, resamples, seed),
        unknown=unknown,
        by=by,
        contexts=tuple(entries([contexts])),
        least_confidence=confidence_apart,
        redundancy=redundancy or 0,
    )
    evaluation = evaluate(
        read_all_decisions(decisions, columns, duplicates),
        reading.read(*judgments),
        items=read_items(items) if items else None,
        gold=read_gold(gold) if gold else None,
        merge=parse_merge(merge),
        options=options,
        corrections=read_gold(corrections) if corrections else None,
        with_suggestions=with_suggestions,
        with_curves=curve is not None,
        higher=higher,
    )
    if evaluation.cases.n_stray and not evaluation.cases.is_judged.any():
        raise UsageError("no item is both decided on and judged; do --decisions and --judgments name the same items?")
    if curve:
        write_table(evaluation.curve_frame(), curve)
    warn(evaluation.warnings)
    shown = replace(evaluation, shows_weighted=weighted, shows_bins=bool(bins))
    show(shown, table=table, as_json=as_json)


def parse_edges(text: str) -> list[float]:
    """`0.5,0.75,0.9,1` as numbers."""
    try:
        return [float(edge) for edge in text.split(",")]
    except ValueError as error:
        raise UsageError(f"expected --bins EDGE,EDGE, as in 0.5,0.75,0.9,1, found {text!r}") from error
