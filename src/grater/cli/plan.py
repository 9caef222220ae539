"""What `grater plan` is told, or reads, of the corpus and of raters.

`grater plan`: items, raters, hours and money for a wanted interval, by several ways to evaluate.
"""

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
from grater.cli.plan_table import render
from grater.cli.sample_rates import parse_rates, score_rates
from grater.errors import UsageError
from grater.evaluate.rater_error import rater_error
from grater.sampling.plan import Expected, Panel, Skill, Work, majority_of, missed_of, panel, skill_of_kappa
from grater.sampling.plan import plan as plan_of
from grater.sampling.strata import assign_strata, strata_of, system_names, with_rates
from grater.statistics.stratified import Stratum
from grater.tables import Judgments, read_decisions, read_gold


def guessed(
    flagged: float, precision: float, missed: float | None, recall: float | None, items: int | None
) -> Expected:
    """What is expected of a corpus that nobody has looked at."""
    if (missed is None) == (recall is None):
        raise UsageError("expected one of --missed RATE and --recall R, or --decisions D")
    for name, share in {"--recall": recall, "--flagged": flagged}.items():
        if share is not None and not 0 < share < 1:
            raise UsageError(f"expected {name} between 0 and 1, found {share:g}")
    rate = missed if recall is None else missed_of(flagged=flagged, precision=precision, recall=recall)
    return Expected(flagged, precision, rate or 0.0, items or inf)


def strata_from(decisions: Path, system: str | None, strata: str, rate: list[str]) -> list[Stratum]:
    """The strata of a corpus that a system has decided on, with the rates expected in each."""
    table = read_decisions(decisions)
    names = system_names(table)
    if system is None and len(names) > 1:
        raise UsageError(f"{decisions}: expected --system, one of {', '.join(names)}")
    name = system or names[0]
    rates = score_rates(table, name, strata, None) if rate in ([], ["score"]) else parse_rates(rate)
    return with_rates(strata_of(assign_strata(table, name, strata=strata)), rates)


def skill_from(
    accuracy: float | None, kappa: float | None, judgments: Judgments | None, gold: Path | None, error_rate: float
) -> Skill | None:
    """What one rater is like: as said, as the kappa of two says, or as gold shows; none where nothing is said."""
    given = [accuracy is not None, kappa is not None, judgments is not None or gold is not None]
    if sum(given) > 1:
        raise UsageError("expected one of --rater-accuracy, --kappa, and --judgments with --gold")
    if accuracy is not None:
        return Skill(accuracy, accuracy)
    if kappa is not None:
        return skill_of_kappa(kappa, error_rate)
    if judgments is None and gold is None:
        return None
    if judgments is None or gold is None:
        raise UsageError("expected --judgments and --gold together")
    raters = rater_error(judgments, read_gold(gold), truth="share")
    if raters.undefined_because:
        raise UsageError(f"{gold}: {raters.undefined_because}")
    return Skill(raters.sensitivity.value, raters.specificity.value)


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
