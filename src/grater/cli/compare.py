"""`grater compare`: paired tests between systems and rank groups; `grater verify`: precision from judged flags."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from grater.cli.evaluate_options import (
    ByColumn,
    ClusterName,
    DecisionFiles,
    GoldFile,
    ItemsFile,
    JudgmentFiles,
    Population,
    Redundancy,
    Resamples,
    TruthName,
    UnknownWay,
    of_judgments,
    read_all_decisions,
)
from grater.cli.judgment_options import Columns, DropFlags, DuplicateRows, Merge, MinConfidence, Reading, Status
from grater.cli.options import Json, Seed, Table
from grater.cli.output import show, warn
from grater.errors import UsageError
from grater.evaluate.comparison import compare
from grater.evaluate.evaluation import EvaluationOptions
from grater.evaluate.truth import ADJUDICATED
from grater.evaluate.verified import verify
from grater.statistics.bootstrap import Chance
from grater.statistics.intervals import RESAMPLES
from grater.statistics.paired import Test
from grater.tables import parse_merge, read_gold, read_items

app = typer.Typer()
verify_app = typer.Typer()


@app.command()
def compare_detectors(
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
    seed: Seed = 0,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Which system is better: McNemar, paired bootstrap and randomisation on common items, and rank groups."""
    reading = Reading(of_judgments(columns), merge, drop_flags, min_confidence, status, duplicates)
    options = EvaluationOptions(
        truth, chance=Chance(cluster, resamples, seed), unknown=unknown, by=by, redundancy=redundancy or 0
    )
    comparison = compare(
        read_all_decisions(decisions, columns, duplicates),
        reading.read(*judgments),
        items=read_items(items) if items else None,
        gold=read_gold(gold) if gold else None,
        merge=parse_merge(merge),
        options=options,
        score=score,
        weighted=weighted,
        test=test,
    )
    warn(comparison.warnings)
    show(comparison, table=table, as_json=as_json)


@verify_app.command()
def verify_flags(
    decisions: DecisionFiles,
    judgments: JudgmentFiles,
    truth: TruthName = "majority",
    items: ItemsFile = None,
    gold: GoldFile = None,
    cluster: ClusterName = "item",
    unknown: UnknownWay = "drop",
    population: Population = "wider",
    by: ByColumn = "",
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
    """Precision of systems from judged flags; recall is undefined, for nobody looked at what they passed over."""
    if gold and truth != ADJUDICATED:
        raise UsageError("expected --truth adjudicated with --gold; to correct for rater error use grater evaluate")
    reading = Reading(of_judgments(columns), merge, drop_flags, min_confidence, status, duplicates)
    verification = verify(
        read_all_decisions(decisions, columns, duplicates),
        reading.read(*judgments),
        items=read_items(items) if items else None,
        gold=read_gold(gold) if gold else None,
        options=EvaluationOptions(truth, chance=Chance(cluster, resamples, seed), unknown=unknown, by=by),
        fpc=population == "these",
    )
    warn(verification.warnings)
    show(verification, table=table, as_json=as_json)
