"""`grater plan`: items, hours and money for a wanted interval, by four ways to evaluate."""

from __future__ import annotations

from dataclasses import asdict
from math import inf
from typing import Annotated

import typer
from rich.console import Console

from grater.cli.options import Json
from grater.cli.output import print_json
from grater.cli.plan_table import render
from grater.errors import UsageError
from grater.sampling.plan import Expected, Work, missed_of
from grater.sampling.plan import plan as plan_of

app = typer.Typer()


@app.command()
def plan(
    width: Annotated[float, typer.Option(metavar="W", help="Wanted width of the 95 % interval of recall.")] = 0.1,
    flagged: Annotated[float, typer.Option(metavar="SHARE", help="Share of items that the system flags.")] = 0.1,
    precision: Annotated[float, typer.Option(metavar="P", help="Expected precision.")] = 0.8,
    missed: Annotated[
        float | None, typer.Option(metavar="RATE", help="Expected rate of errors among items not flagged.")
    ] = None,
    recall: Annotated[float | None, typer.Option(metavar="R", help="Expected recall, in place of --missed.")] = None,
    items: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="Size of the corpus; endless if not given.")
    ] = None,
    errors: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Errors that a fully judged corpus is to hold.")
    ] = None,
    raters: Annotated[int, typer.Option(min=1, metavar="N", help="Raters for each item.")] = 1,
    items_per_hour: Annotated[
        float, typer.Option(metavar="N", help="How many items a rater judges.")
    ] = Work().items_per_hour,
    wage: Annotated[float, typer.Option(min=0, metavar="MONEY", help="What an hour costs.")] = 0.0,
    as_json: Json = False,
) -> None:
    """Exhaustive annotation, verification, sampling as in the paper and ours, side by side."""
    if (missed is None) == (recall is None):
        raise UsageError("expected one of --missed RATE and --recall R")
    if items_per_hour <= 0:
        raise UsageError(f"expected --items-per-hour above 0, found {items_per_hour:g}")
    for name, share in {"--recall": recall, "--flagged": flagged}.items():
        if share is not None and not 0 < share < 1:
            raise UsageError(f"expected {name} between 0 and 1, found {share:g}")
    rate = missed if recall is None else missed_of(flagged=flagged, precision=precision, recall=recall)
    expected = Expected(flagged, precision, rate or 0.0, items or inf)
    work = Work(raters, items_per_hour, wage)
    rows = plan_of(expected, width, work=work, errors=errors)
    if as_json:
        guesses = {
            "flagged": flagged,
            "precision": precision,
            "missed": rate,
            "recall": expected.recall,
            "items": items,
        }
        print_json(
            {"width": width, "expected": guesses, "work": asdict(work), "plans": [asdict(row) for row in rows]}
        )
    else:
        render(rows, expected, width, Console(highlight=False))
