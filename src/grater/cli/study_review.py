"""`grater study review`: marks that look wrong go back to their annotators."""

from __future__ import annotations

from typing import Annotated

import typer

from grater.cli.options import Json
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName
from grater.sheet import counted
from grater.store import open_store
from grater.study.adjudication import review

app = typer.Typer()


@app.command()
def look(
    study: StudyName,
    job: Annotated[str, typer.Option(help="The marking job to look over.")] = "marking",
    as_json: Json = False,
) -> None:
    """Put what `corpus check` finds in a job's marks into the queues of the annotators who made them."""
    with open_store(study) as store:
        n_new = review(store, job)
    if as_json:
        print_json({"job": job, "findings": n_new})
    else:
        say(f"{job}: {counted(n_new, 'new finding')} for its annotators; they see them on their own page")
