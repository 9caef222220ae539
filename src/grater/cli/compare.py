"""`grater compare`: paired tests between systems on the same items, and rank groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import typer
from rich.console import Console

from grater.cli.evaluate_options import (
    ByColumn,
    ClusterName,
    DecisionFiles,
    GoldFile,
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
from grater.cli.evaluate_table import render_comparison
from grater.cli.judgment_options import Columns, DropFlags, DuplicateRows, Merge, MinConfidence, Reading, Status
from grater.cli.options import Json, Seed
from grater.cli.output import print_json, say
from grater.evaluate.as_json import comparison_json
from grater.evaluate.cases import cases_of
from grater.evaluate.comparison import compare_systems, is_comparable
from grater.evaluate.evaluation import EvaluationOptions, correction_of, parts_by, signature_of
from grater.evaluate.truth import ADJUDICATED, graded, truth_of
from grater.statistics.bootstrap import Chance
from grater.statistics.intervals import RESAMPLES
from grater.statistics.paired import Test, resamples_needed
from grater.tables import parse_merge, read_gold, read_items

app = typer.Typer()


@app.command()
def compare(
    decisions: DecisionFiles,
    judgments: JudgmentFiles,
    score: Annotated[
        Literal["precision", "recall", "f0.5", "f1", "kappa"], typer.Option(help="The score that is compared.")
    ] = "f0.5",
    weighted: Annotated[bool, typer.Option("--weighted", help="Scores weighted by shares of raters.")] = False,
    truth: TruthName = "majority",
    items: ItemsFile = None,
    gold: GoldFile = None,
    cluster: ClusterName = "item",
    by: ByColumn = "",
    unknown: UnknownWay = "drop",
    redundancy: Redundancy = None,
    test: Annotated[Test, typer.Option(help="The paired test that makes the rank groups.")] = "bootstrap",
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
    """Which system is better: McNemar, paired bootstrap and randomisation on common items, and rank groups."""
    decided = read_all_decisions(decisions, columns, duplicates)
    judged = Reading(of_judgments(columns), merge, drop_flags, min_confidence, status, duplicates).read(*judgments)
    chance = Chance(cluster, resamples, seed)
    first = redundancy or 0
    cases = cases_of(decided, judged, items=read_items(items) if items else None, unknown=unknown, first=first)
    answers = read_gold(gold) if gold else None
    known = truth_of(cases, truth, gold=answers, seed=seed)
    options = EvaluationOptions(truth, chance=chance, unknown=unknown, redundancy=first)
    believed = replace(options, truth="share") if weighted and truth != ADJUDICATED else options
    correction = correction_of(judged, answers, believed, merge=parse_merge(merge))
    if weighted:
        known = graded(cases, known, seed=seed)
    if resamples < resamples_needed(len(cases.systems)):
        least = resamples_needed(len(cases.systems))
        say(f"warning: {resamples} resamples cannot tell {len(cases.systems)} systems apart; take {least} or more")
    found = compare_systems(cases, known, chance=chance, score=score, test=test, correction=correction)
    parts = {
        name: compare_systems(cases, known, chance=chance, score=score, test=test, where=where, correction=correction)
        for name, where in parts_by(cases, by).items()
        if is_comparable(cases, known, where)
    }
    graded_too = {"weighted": "yes" if known.is_graded else "no", **(correction.options if correction else {})}
    signature = signature_of(cases, options, what="compare", score=score, test=test, **graded_too)
    if as_json:
        shown = {name: comparison_json(part, signature) for name, part in parts.items()}
        print_json({**comparison_json(found, signature), **({"parts": shown} if parts else {})})
        return
    for name, part in {"": found, **parts}.items():
        render_comparison(part, signature, Console(highlight=False), name)
