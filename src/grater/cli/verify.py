"""`grater verify`: precision only, from judgments of what systems flagged."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from grater.cli.evaluate_options import (
    ByColumn,
    ClusterName,
    DecisionFiles,
    GoldFile,
    ItemsFile,
    JudgmentFiles,
    Resamples,
    TruthName,
    UnknownWay,
    of_judgments,
    read_all_decisions,
)
from grater.cli.evaluate_table import render_verified
from grater.cli.judgment_options import Columns, DropFlags, DuplicateRows, Merge, MinConfidence, Reading, Status
from grater.cli.options import Json, Seed
from grater.cli.output import print_json, say
from grater.errors import UsageError
from grater.evaluate.as_json import verified_json
from grater.evaluate.cases import cases_of
from grater.evaluate.evaluation import EvaluationOptions, parts_by, signature_of
from grater.evaluate.truth import ADJUDICATED, truth_of
from grater.evaluate.verified import verified
from grater.statistics.bootstrap import Chance
from grater.statistics.intervals import RESAMPLES
from grater.tables import read_gold, read_items

app = typer.Typer()


@app.command()
def verify(
    decisions: DecisionFiles,
    judgments: JudgmentFiles,
    truth: TruthName = "majority",
    items: ItemsFile = None,
    gold: GoldFile = None,
    cluster: ClusterName = "item",
    unknown: UnknownWay = "drop",
    fpc: Annotated[
        bool, typer.Option("--fpc/--no-fpc", help="This corpus is all there is, or it stands for a wider one.")
    ] = False,
    by: ByColumn = "",
    resamples: Resamples = RESAMPLES,
    columns: Columns = [],  # noqa: B006
    merge: Merge = [],  # noqa: B006
    drop_flags: DropFlags = [],  # noqa: B006
    min_confidence: MinConfidence = None,
    status: Status = [],  # noqa: B006
    duplicates: DuplicateRows = "error",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Precision of systems from judged flags; recall is undefined, for nobody looked at what they passed over."""
    if gold and truth != ADJUDICATED:
        raise UsageError("expected --truth adjudicated with --gold; to correct for rater error use grater evaluate")
    decided = read_all_decisions(decisions, columns, duplicates)
    judged = Reading(of_judgments(columns), merge, drop_flags, min_confidence, status, duplicates).read(*judgments)
    options = EvaluationOptions(truth, chance=Chance(cluster, resamples, seed), unknown=unknown)
    cases = cases_of(decided, judged, items=read_items(items) if items else None, unknown=unknown)
    known = truth_of(cases, truth, gold=read_gold(gold) if gold else None, seed=seed)
    found = verified(cases, known, chance=options.chance, fpc=fpc)
    parts = {
        name: verified(cases, known, chance=options.chance, fpc=fpc, where=where)
        for name, where in parts_by(cases, by).items()
    }
    for each in found:
        if each.n_judged < each.n_flagged:
            say(f"warning: {each.system}: {each.n_flagged - each.n_judged} of {each.n_flagged} flags are not judged")
    signature = signature_of(cases, options, what="verify", fpc="yes" if fpc else "no")
    if as_json:
        shown = {name: verified_json(part, signature)["systems"] for name, part in parts.items()}
        print_json({**verified_json(found, signature), **({"parts": shown} if parts else {})})
        return
    console = Console(highlight=False)
    render_verified(found, signature, console, parts)
