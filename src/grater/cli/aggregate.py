"""`grater aggregate`: one answer for each item from many judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.cli.judgment_options import Columns, DropFlags, DuplicateRows, Merge, MinConfidence, Reading, Status
from grater.cli.options import Json, Seed, Table
from grater.cli.output import require_outputs, say, show
from grater.crowd.aggregate import METHODS, Options
from grater.crowd.aggregate import aggregate as aggregate_judgments
from grater.tables import parse_columns, read_gold, write_table

app = typer.Typer()

GoldColumns = Annotated[
    list[str], typer.Option("--gold-columns", metavar="OURS=THEIRS", help="Columns of the gold and truth tables.")
]


@app.command()
def aggregate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A table of judgments.")],
    method: Annotated[
        str, typer.Option(metavar="NAME", help="majority, wawa, dawid-skene, one-coin, mace or glad.")
    ] = "dawid-skene",
    gold: Annotated[Path | None, typer.Option(metavar="FILE", help="Items with known answers, held fixed.")] = None,
    truth: Annotated[
        Path | None, typer.Option("--true-labels", metavar="FILE", help="Say how often the answers are right.")
    ] = None,
    iterations: Annotated[int, typer.Option(help="The most iterations.")] = Options().iterations,
    tolerance: Annotated[
        float, typer.Option(help="Stop when the log-likelihood gains less than this per judgment.")
    ] = Options().tolerance,
    restarts: Annotated[int, typer.Option(help="Random starts of MACE.")] = Options().restarts,
    gold_columns: GoldColumns = [],  # noqa: B006
    columns: Columns = [],  # noqa: B006
    merge: Merge = [],  # noqa: B006
    drop_flags: DropFlags = [],  # noqa: B006
    min_confidence: MinConfidence = None,
    status: Status = [],  # noqa: B006
    duplicates: DuplicateRows = "error",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write item, label and posteriors.")] = None,
    seed: Seed = 0,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """The joint answer for each item, with its posterior, and how skilled each rater is."""
    require_outputs([out], [file, gold, truth])
    METHODS[method]  # an unknown name is answered before a long table is read
    options = Options(iterations=iterations, tolerance=tolerance, restarts=restarts, seed=seed)
    reading = Reading(columns, merge, drop_flags, min_confidence, status, duplicates)
    names = parse_columns(gold_columns)
    known = read_gold(gold, columns=names, duplicates=duplicates) if gold else None
    right = read_gold(truth, columns=names, duplicates=duplicates) if truth else None
    result = aggregate_judgments(reading.read(file), method, gold=known, truth=right, options=options)
    if not result.fit.has_converged:
        say(f"warning: {method} did not settle in {iterations} iterations; give more with --iterations")
    if out:
        write_table(result.to_frame(), out)
    show(result, table=table, as_json=as_json)
