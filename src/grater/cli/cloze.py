"""`grater cloze`: writer, raters and systems fill the same blanks (T&C 2008, 4.1 and Table 2)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grater.cli.cloze_table import render_cloze
from grater.cli.evaluate_options import of_judgments, read_all_decisions
from grater.cli.judgment_options import Columns, DropFlags, DuplicateRows, Merge, MinConfidence, Reading, Status
from grater.cli.options import Json, Seed
from grater.cli.output import print_json
from grater.evaluate.selection import WRITER, cloze, mean_kappas
from grater.sampling.strata import system_names
from grater.signature import Signature, digest

app = typer.Typer()


@app.command()
def cloze_study(
    judgments: Annotated[list[Path], typer.Argument(metavar="JUDGMENTS...", help="The words that people filled in.")],
    decisions: Annotated[
        list[Path], typer.Option("--decisions", metavar="FILE", help="Systems' words, in 'suggestion'; repeatable.")
    ] = [],  # noqa: B006
    writer: Annotated[str, typer.Option(metavar="NAME", help="The rater whose words are the writer's own.")] = WRITER,
    columns: Columns = [],  # noqa: B006
    merge: Merge = [],  # noqa: B006
    drop_flags: DropFlags = [],  # noqa: B006
    min_confidence: MinConfidence = None,
    status: Status = [],  # noqa: B006
    duplicates: DuplicateRows = "error",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Agreement and kappa of the writer with each rater and each system, and of raters with each other."""
    words = Reading(of_judgments(columns), merge, drop_flags, min_confidence, status, duplicates).read(*judgments)
    decided = read_all_decisions(decisions, columns, duplicates) if decisions else None
    pairs = cloze(words, decisions=decided, writer=writer, seed=seed)
    data = digest(f"{pair.first}|{pair.second}|{pair.n}|{pair.agreement.value}" for pair in pairs)
    signature = Signature("cloze", {"writer": writer, "seed": str(seed), "data": data})
    means = mean_kappas(pairs, writer=writer, systems=system_names(decided) if decided else ())
    if as_json:
        print_json({"pairs": [pair.as_json() for pair in pairs], "mean_kappa": means, "signature": str(signature)})
    else:
        render_cloze(pairs, means, signature, Console(highlight=False))
