"""`grater raters-needed`: how reliable a crowd of N raters is, and how many match the experts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grater.agreement.coded import LEFT_OUT, Unknown, with_unknown
from grater.agreement.raters_needed import NeedOptions, needed_json, raters_needed
from grater.cli.judgment_options import (
    Columns,
    DropFlags,
    DuplicateRows,
    Merge,
    MinConfidence,
    Reading,
    Status,
)
from grater.cli.options import Json, Seed
from grater.cli.output import print_json, require_different, require_outputs, say
from grater.cli.raters_needed_table import flat, render
from grater.errors import UsageError
from grater.statistics.intervals import RESAMPLES
from grater.tables import Judgments, write_table

app = typer.Typer()


@app.command()
def needed(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The crowd's judgments.")],
    experts: Annotated[
        Path, typer.Option(metavar="FILE", help="Judgments of experts; a rater called writer is the writer.")
    ],
    draws: Annotated[
        int, typer.Option(min=0, metavar="N", help="Draw at random so often, as the paper; 0 is exact.")
    ] = 0,
    unknown: Annotated[Unknown, typer.Option(help="What to do with the label unknown.")] = "drop",
    resamples: Annotated[int, typer.Option(min=0, help="Resamples of the bootstrap.")] = RESAMPLES,
    columns: Columns = [],  # noqa: B006
    merge: Merge = [],  # noqa: B006
    drop_flags: DropFlags = [],  # noqa: B006
    min_confidence: MinConfidence = None,
    status: Status = [],  # noqa: B006
    duplicates: DuplicateRows = "error",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the curves as a table too.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Reliability against the number of raters, and the smallest number that matches the experts."""
    require_different([file, experts])
    require_outputs([out], [file, experts])
    crowd = Reading(columns, merge, drop_flags, min_confidence, status, duplicates).read(file)
    # Columns and filters are about the crowd's file; labels must mean the same in both.
    known = Reading(merge=merge, status=status, duplicates=duplicates).read(experts)
    options = NeedOptions(n_draws=draws, n_resamples=resamples, seed=seed)
    found = raters_needed(_kept(crowd, unknown), _kept(known, unknown), options)
    for warning in found.warnings:
        say(f"warning: {warning}")
    if out:
        write_table(flat(found), out)
    if as_json:
        print_json(needed_json(found))
    else:
        render(found, Console(highlight=False))


def _kept(judgments: Judgments, unknown: Unknown) -> Judgments:
    """The judgments that have a say, with a word on those that have none."""
    kept = with_unknown(judgments, unknown)
    if len(kept) == 0:
        raise UsageError(f"{judgments.name}: every judgment is unknown; count them with --unknown apart")
    n_dropped = kept.dropped.get(LEFT_OUT, 0)
    if n_dropped:
        say(f"{judgments.name}: left out {n_dropped} judgments: {LEFT_OUT}")
    return kept
