"""Commands on people: invite, token and seat."""

from __future__ import annotations

from typing import Annotated

import typer

from grater.cli.options import Json
from grater.cli.output import print_json, say
from grater.cli.study.options import StudyName
from grater.store import jobs, people
from grater.study.people import add_seat, invite, invite_back, make_token
from grater.study.status import open_study

invite_app = typer.Typer()


@invite_app.command()
def make_link(
    study: StudyName,
    role: Annotated[str, typer.Option(help="owner, manager, adjudicator, annotator or worker.")] = "annotator",
    job: Annotated[str | None, typer.Option(help="The job that they are asked to do.")] = None,
    days: Annotated[float, typer.Option(help="How long the link works.")] = 14,
    name: Annotated[str, typer.Option("--note", help="A note on whom it is for.")] = "",
    back_name: Annotated[
        str | None, typer.Option("--back", metavar="NAME", help="For somebody of the study whose password is lost.")
    ] = None,
    url: Annotated[str, typer.Option(help="Where people reach the server.")] = "http://127.0.0.1:8000",
    as_json: Json = False,
) -> None:
    """Print a link that works once; the study keeps only its hash."""
    with open_study(study) as store, store.write() as tx:
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


token_app = typer.Typer()


@token_app.command()
def print_token(
    study: StudyName,
    person: Annotated[str, typer.Argument(metavar="NAME", help="The person for whom a program shall act.")],
    days: Annotated[float | None, typer.Option(min=0, help="How long it works; for good if not given.")] = None,
    name: Annotated[str, typer.Option("--note", help="A note on what it is for.")] = "",
    as_json: Json = False,
) -> None:
    """Print an API token, this once; the study keeps only its hash.  It may do what the person may."""
    with open_study(study) as store, store.write() as tx:
        owner = people.named(tx, person)
        token = make_token(tx, owner.person_id, name=name, days=days)
    if as_json:
        print_json({"token": token, "person": owner.name, "role": owner.role, "days": days})
        return
    typer.echo(token)
    say(f"acts for {owner.name}, {owner.role}, {'until it is ended' if days is None else f'for {days:g} days'}")


seat_app = typer.Typer()


@seat_app.command()
def make_seat(
    study: StudyName,
    first: Annotated[str, typer.Argument(metavar="NAME", help="One of the two people.")],
    second: Annotated[str, typer.Argument(metavar="NAME", help="The other.")],
    name: Annotated[str, typer.Option(help="What the seat is called; both names if not given.")] = "",
    as_json: Json = False,
) -> None:
    """Make a joint seat; either of the two opens it from their own page on the server."""
    with open_study(study) as store:
        seat = add_seat(store, (first, second), name=name)
    if as_json:
        print_json({"person_id": seat.person_id, "name": seat.name, "role": seat.role, "members": [first, second]})
    else:
        say(f"{seat.name}: a joint seat of {first} and {second}, {seat.role}; they open it from their own page")
