"""`grater report`: tables in, one page with pictures out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.cli.evaluate_options import GoldFile, ItemsFile, Resamples, read_all_decisions
from grater.cli.judgment_options import Columns, DropFlags, DuplicateRows, Merge, MinConfidence, Reading, Status
from grater.cli.options import FigureTypes, Seed, file_types
from grater.cli.output import say
from grater.corpora import read_merged
from grater.errors import UsageError
from grater.report.build import Inputs, build
from grater.report.save import save_report
from grater.sheet import counted
from grater.statistics.bootstrap import Chance
from grater.statistics.intervals import RESAMPLES
from grater.tables import read_gold, read_items, read_sample

app = typer.Typer()


@app.command()
def report(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder for the report; made if missing.")],
    judgments: Annotated[
        list[Path], typer.Option("--judgments", metavar="FILE", help="Judgments of the raters.")
    ] = [],  # noqa: B006
    decisions: Annotated[
        list[Path], typer.Option("--decisions", metavar="FILE", help="Decisions of the systems.")
    ] = [],  # noqa: B006
    experts: Annotated[list[Path], typer.Option("--experts", metavar="FILE", help="Judgments of experts.")] = [],  # noqa: B006
    essays: Annotated[list[Path], typer.Option("--essays", metavar="FILE", help="The corpus, in any format.")] = [],  # noqa: B006
    items: ItemsFile = None,
    gold: GoldFile = None,
    sample: Annotated[Path | None, typer.Option(metavar="FILE", help="The judged sample.")] = None,
    title: Annotated[str, typer.Option(help="The title of the report.")] = "How good are these detectors?",
    columns: Columns = [],  # noqa: B006
    merge: Merge = [],  # noqa: B006
    drop_flags: DropFlags = [],  # noqa: B006
    min_confidence: MinConfidence = None,
    status: Status = [],  # noqa: B006
    duplicates: DuplicateRows = "error",
    figures: FigureTypes = [],  # noqa: B006
    resamples: Resamples = RESAMPLES,
    seed: Seed = 0,
) -> None:
    """A report of everything that tables say: one HTML page that works offline, Markdown, LaTeX tables, figures."""
    if not (essays or judgments or experts or decisions):
        raise UsageError("expected something to report on: --essays, --judgments, --experts or --decisions")
    wanted = file_types(figures)
    reading = Reading(columns, merge, drop_flags, min_confidence, status, duplicates)
    inputs = Inputs(
        title=title,
        essays=list(read_merged(essays)) if essays else (),
        judgments=reading.read(*judgments) if judgments else None,
        experts=reading.read(*experts) if experts else None,
        decisions=read_all_decisions(decisions, columns, duplicates) if decisions else None,
        items=read_items(items) if items else None,
        gold=read_gold(gold) if gold else None,
        sample=read_sample(sample) if sample else None,
        chance=Chance(n_resamples=resamples, seed=seed),
    )
    result = build(inputs)
    written = save_report(result, out, file_types=wanted)
    say(f"the report is {written[0]}; {counted(len(result.figures), 'figure')} in {out}/figures")
