"""`grater study gold`: gold for a job from what experts agree on, known errors of essays, or planted ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.cli.options import Json, Seed
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName
from grater.corpora import read_corpus
from grater.sheet import counted
from grater.store import jobs, open_store
from grater.study.gold import PLANTED, gold_from_planted, known_gold

app = typer.Typer()


@app.command()
def make(
    study: StudyName,
    job: Annotated[str, typer.Option(help="The job that is to have gold.")],
    source: Annotated[str | None, typer.Option(help="The job in which experts judged; any if not given.")] = None,
    least: Annotated[int, typer.Option(min=1, help="Experts who must all agree.")] = 2,
    most: Annotated[int | None, typer.Option("--n", min=1, help="Only so many units, drawn at random.")] = None,
    rater: Annotated[str | None, typer.Option(help="For marking: whose edits are the known errors.")] = None,
    planted: Annotated[
        Path | None,
        typer.Option(metavar="CORPUS", help="For marking: good essays whose edits say which wrong words to put in."),
    ] = None,
    reason: Annotated[str, typer.Option(help="What raters read after a miss; a plain sentence if not given.")] = "",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Turn untouched units into gold; items that raters have met stay work."""
    good = None if planted is None else list(read_corpus(planted))
    with open_store(study) as store, store.write() as tx:
        found = jobs.named(tx, job)
        if good is not None:
            made = gold_from_planted(tx, found, good, reason=reason or PLANTED)
        else:
            made = known_gold(tx, found, source=source, rater=rater, least=least, most=most, reason=reason, seed=seed)
    if as_json:
        print_json({"job": job, "gold": made.made, "met": made.met})
    else:
        say(f"{job}: {counted(made.made, 'gold unit')} made, {made.met} left alone: gold already, or met by raters")
