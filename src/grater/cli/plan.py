"""`grater plan`: items, raters, hours and money for a wanted interval, by several ways to evaluate."""

from __future__ import annotations

from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grater.cli.judgment_options import Merge, Reading
from grater.cli.options import Json
from grater.cli.output import print_json
from grater.cli.plan_guesses import guessed, skill_from, strata_from
from grater.cli.plan_table import render
from grater.errors import UsageError
from grater.sampling.plan import Expected, Work
from grater.sampling.plan import plan as plan_of
from grater.sampling.raters import Panel, majority_of, panel

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
    decisions: Annotated[
        Path | None, typer.Option(metavar="D", help="The corpus itself: what the system said, with its scores.")
    ] = None,
    system: Annotated[str | None, typer.Option(metavar="S", help="The system of --decisions to plan for.")] = None,
    strata: Annotated[str, typer.Option(metavar="score:N", help="The strata of --decisions.")] = "score:10",
    rate: Annotated[
        list[str],
        typer.Option(metavar="STRATUM=RATE", help="Expected rates there; 'score' (default) takes the scores."),
    ] = [],  # noqa: B006
    errors: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Errors that a fully judged corpus is to hold.")
    ] = None,
    raters: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Raters for each item; worked out, or 1.")
    ] = None,
    right: Annotated[
        float, typer.Option(metavar="SHARE", help="How often the majority of an item's raters is to be right.")
    ] = 0.95,
    rater_accuracy: Annotated[
        float | None, typer.Option(min=0, max=1, metavar="A", help="How often one rater is right.")
    ] = None,
    kappa: Annotated[
        float | None, typer.Option(metavar="K", help="Expected kappa of two raters, in place of their accuracy.")
    ] = None,
    judgments: Annotated[
        Path | None, typer.Option(metavar="J", help="Judgments of a pilot, with --gold, in place of it.")
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(metavar="G", help="Known answers to some of the pilot's items.")
    ] = None,
    merge: Merge = [],  # noqa: B006
    items_per_hour: Annotated[
        float, typer.Option(metavar="N", help="How many items a rater judges.")
    ] = Work().items_per_hour,
    wage: Annotated[float, typer.Option(min=0, metavar="MONEY", help="What an hour costs.")] = 0.0,
    as_json: Json = False,
) -> None:
    """Exhaustive annotation, verification, sampling as in the paper and ours, side by side."""
    if items_per_hour <= 0:
        raise UsageError(f"expected --items-per-hour above 0, found {items_per_hour:g}")
    if decisions and not (missed is None and recall is None and items is None):
        raise UsageError("expected --decisions, or --missed, --recall and --items, found both")
    parts = strata_from(decisions, system, strata, rate) if decisions else []
    expected = Expected.of(parts) if parts else guessed(flagged, precision, missed, recall, items)
    pilot = Reading(merge=merge).read(judgments) if judgments else None
    skill = skill_from(rater_accuracy, kappa, pilot, gold, expected.error_rate)
    found = None
    if skill:
        found = panel(skill, right) if raters is None else Panel(raters, skill, majority_of(raters, skill))
    work = Work(raters or (found.n if found else 1), items_per_hour, wage)
    rows = plan_of(expected, width, work=work, errors=errors, strata=parts)
    if as_json:
        guesses = {
            "flagged": expected.flagged,
            "precision": expected.precision,
            "missed": expected.missed,
            "recall": expected.recall,
            "items": None if expected.size == inf else expected.size,
        }
        told = {"raters": {**asdict(found), "wanted": right}} if found else {}
        plans = [asdict(row) for row in rows]
        print_json({"width": width, "expected": guesses, "work": asdict(work), **told, "plans": plans})
    else:
        render(rows, expected, width, Console(highlight=False), found)
