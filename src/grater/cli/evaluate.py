"""`grater evaluate`: detectors against raters: standard, by rater, weighted, in bins of agreement, by part."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.console import Console

from grater.cli.evaluate_options import (
    ByColumn,
    ClusterName,
    CurveFile,
    DecisionFiles,
    GoldFile,
    HigherScore,
    ItemsFile,
    JudgmentFiles,
    NoFpc,
    Redundancy,
    Resamples,
    TruthName,
    UnknownWay,
    of_judgments,
    read_all_decisions,
)
from grater.cli.evaluate_table import render
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
from grater.errors import UsageError
from grater.evaluate.as_json import curve_json, evaluation_json
from grater.evaluate.evaluation import Evaluation, EvaluationOptions, evaluate
from grater.evaluate.standard import EDGES
from grater.evaluate.suggestions import suggestions
from grater.evaluate.thresholds import (
    Curve,
    Higher,
    curve_of_thresholds,
    frame_of_curve,
    scored_systems,
    signature_of_curve,
)
from grater.statistics.bootstrap import Chance
from grater.statistics.intervals import RESAMPLES
from grater.tables import Table, parse_merge, read_gold, read_items, write_table

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
    no_fpc: NoFpc = False,  # noqa: ARG001
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Precision, recall and F against raters: majority, each rater in turn, weighted and in bins of agreement."""
    require_outputs([curve], [*decisions, *judgments, items, gold, corrections])
    decided = read_all_decisions(decisions, columns, duplicates)
    judged = Reading(of_judgments(columns), merge, drop_flags, min_confidence, status, duplicates).read(*judgments)
    chance = Chance(cluster, resamples, seed)
    flags = tuple(entries([contexts]))
    edges = parse_edges(bins) if bins else EDGES
    options = EvaluationOptions(truth, edges, chance, unknown, by, flags, confidence_apart, redundancy or 0)
    adjudicated = read_gold(gold) if gold else None
    found = evaluate(
        decided,
        judged,
        items=read_items(items) if items else None,
        gold=adjudicated,
        merge=parse_merge(merge),
        options=options,
    )
    if found.cases.n_stray and not found.cases.is_judged.any():
        raise UsageError("no item is both decided on and judged; do --decisions and --judgments name the same items?")
    wanted = read_gold(corrections) if corrections else None
    suggested = (
        suggestions(decided, judged, corrections=wanted, n_resamples=resamples, seed=seed)
        if with_suggestions or corrections
        else []
    )
    curves = curves_of(decided, found, options.chance, higher) if curve else []
    if curve:
        frames = [frame_of_curve(each, signature_of_curve(each, found.signature)) for each in curves]
        write_table(pl.concat(frames), curve)
    for warning in [*found.warnings, *(warning for each in curves for warning in each.warnings)]:
        say(f"warning: {warning}")
    if as_json:
        extra = {"suggestions": [each.as_json() for each in suggested]} if suggested else {}
        drawn = {"curve": [curve_json(each, signature_of_curve(each, found.signature)) for each in curves]}
        print_json({**evaluation_json(found), **extra, **(drawn if curves else {})})
    else:
        render(found, suggested, Console(highlight=False), weighted=weighted, bins=bool(bins))


def curves_of(decisions: Table, found: Evaluation, chance: Chance, higher: Higher) -> list[Curve]:
    """A curve of every system with scores; where no system has any, the first is refused."""
    scored = scored_systems(decisions)
    for system in found.cases.systems if scored else ():
        if system not in scored:
            say(f"warning: {system} gave no scores and has no curve")
    return [
        curve_of_thresholds(found.cases, decisions, system, found.truth, chance=chance, higher=higher)
        for system in scored or found.cases.systems[:1]
    ]


def parse_edges(text: str) -> list[float]:
    """`0.5,0.75,0.9,1` as numbers."""
    try:
        return [float(edge) for edge in text.split(",")]
    except ValueError as error:
        raise UsageError(f"expected --bins EDGE,EDGE, as in 0.5,0.75,0.9,1, found {text!r}") from error
