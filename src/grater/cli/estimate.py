"""`grater estimate`: precision, recall and F of systems from a judged sample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.cli.evaluate_options import (
    ByColumn,
    ClusterName,
    DecisionFiles,
    ItemsFile,
    JudgmentFiles,
    Population,
    Resamples,
    UnknownWay,
    of_judgments,
    read_all_decisions,
)
from grater.cli.judgment_options import Columns, DropFlags, DuplicateRows, Merge, MinConfidence, Reading, Status
from grater.cli.options import Json, Seed, Table
from grater.cli.output import say, show, warn
from grater.errors import UsageError
from grater.evaluate.sampled import estimate
from grater.statistics.bootstrap import Chance
from grater.statistics.intervals import RESAMPLES
from grater.tables import parse_merge, read_gold, read_items, read_judgments, read_sample

app = typer.Typer()


@app.command()
def estimate_systems(
    decisions: DecisionFiles,
    sample: Annotated[Path, typer.Option(metavar="S", help="Which items were drawn, and how.")],
    judgments: JudgmentFiles,
    system: Annotated[
        list[str], typer.Option(metavar="NAME", help="Only this system; repeatable. Any with decisions will do.")
    ] = [],  # noqa: B006
    truth: Annotated[str, typer.Option(help="majority, share, dawid-skene or rater:NAME.")] = "majority",
    items: ItemsFile = None,
    by: ByColumn = "",
    cluster: ClusterName = "item",
    unknown: UnknownWay = "drop",
    labels: Annotated[
        Path | None,
        typer.Option(
            "--stratum-labels", metavar="FILE", help="The cheap labels that a sample with label strata was drawn by."
        ),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(metavar="G", help="Items with known answers: scores are corrected for what raters get wrong."),
    ] = None,
    population: Population = "these",
    width: Annotated[
        float | None, typer.Option(metavar="W", help="Say how many more judgments bring recall to this width.")
    ] = None,
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
    """Precision, recall and F with confidence intervals, ours and the paper's, and how far systems differ."""
    if width is not None and not 0 < width < 1:
        raise UsageError(f"expected --width between 0 and 1, found {width:g}")
    reading = Reading(of_judgments(columns), merge, drop_flags, min_confidence, status, duplicates)
    judged = reading.read(*judgments)
    estimates = estimate(
        read_all_decisions(decisions, columns, duplicates),
        read_sample(sample),
        judged,
        systems=system,
        truth=truth,
        labels=read_judgments(labels) if labels else None,
        items=read_items(items) if items else None,
        by=by,
        unknown=unknown,
        gold=read_gold(gold) if gold else None,
        merge=parse_merge(merge),
        fpc=population == "these",
        chance=Chance(cluster, resamples, seed),
    )
    warn(estimates.all_warnings)
    show(estimates, table=table, as_json=as_json)
    for line in estimates.progress(width, fpc=population == "these") if width is not None else ():
        say(line)
