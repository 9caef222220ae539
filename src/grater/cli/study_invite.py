"""`grater study invite`: a link for somebody to join."""

from __future__ import annotations

from typing import Annotated

import typer

from grater.cli.options import Json
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName
from grater.store import jobs, open_store, people
from grater.study.people import invite, invite_back

app = typer.Typer()


@app.command()
def make(
    study: StudyName,
    role: Annotated[str, typer.Option(help="owner, manager, adjudicator, annotator or worker.")] = "annotator",
    job: Annotated[str | None, typer.Option(help="The job that they are asked to do.")] = None,
    days: Annotated[float, typer.Option(help="How long the link works.")] = 14,
    name: Annotated[str, typer.Option(help="A note on whom it is for.")] = "",
    back_name: Annotated[
        str | None, typer.Option("--back", metavar="NAME", help="For somebody of the study whose password is lost.")
    ] = None,
    url: Annotated[str, typer.Option(help="Where people reach the server.")] = "http://127.0.0.1:8000",
    as_json: Json = False,
) -> None:
    """Print a link that works once; the study keeps only its hash."""
    with open_store(study) as store, store.write() as tx:
        if back_name:
            person = people.named(tx, back_name)
            token, role = invite_back(tx, person.person_id, days=days), person.role
        else:
            job_id = jobs.named(tx, job).job_id if job else None
            token = invite(tx, role=role, job_id=job_id, days=days, name=name)
    link = f"{url.rstrip('/')}/join/{token}"
    if as_json:
        print_json({"link": link, "role": role, "days": days})
        return
    typer.echo(link)
    say(f"works once, for {days:g} days, as {role}")
