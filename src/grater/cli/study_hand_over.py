"""`grater study hand-over`: somebody leaves, and another goes on."""

from __future__ import annotations

from typing import Annotated

import typer

from grater.cli.options import Json
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName
from grater.sheet import counted
from grater.store import open_store
from grater.study.jobs import hand_over_by_name

app = typer.Typer()


@app.command()
def move(
    study: StudyName,
    giver: Annotated[str, typer.Argument(metavar="FROM", help="Whose units they were.")],
    taker: Annotated[str, typer.Argument(metavar="TO", help="Whose they become.")],
    job: Annotated[str, typer.Option(help="The job, one with named annotators.")],
    as_json: Json = False,
) -> None:
    """Give what a named annotator has not done to somebody else; what they have done stays."""
    with open_store(study) as store:
        n_units = hand_over_by_name(store, job=job, giver=giver, taker=taker)
    if as_json:
        print_json({"job": job, "from": giver, "to": taker, "units": n_units})
    else:
        say(f"{job}: {counted(n_units, 'unit')} of {giver} went to {taker}")
