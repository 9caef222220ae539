"""`grater study token`: a token with which a program acts for somebody."""

from __future__ import annotations

from typing import Annotated

import typer

from grater.cli.options import Json
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName
from grater.store import open_store, people
from grater.study.people import make_token

app = typer.Typer()


@app.command()
def make(
    study: StudyName,
    person: Annotated[str, typer.Argument(metavar="NAME", help="The person for whom a program shall act.")],
    days: Annotated[float | None, typer.Option(min=0, help="How long it works; for good if not given.")] = None,
    name: Annotated[str, typer.Option(help="A note on what it is for.")] = "",
    as_json: Json = False,
) -> None:
    """Print an API token, this once; the study keeps only its hash.  It may do what the person may."""
    with open_store(study) as store, store.write() as tx:
        found = people.named(tx, person)
        token = make_token(tx, found.person_id, name=name, days=days)
    if as_json:
        print_json({"token": token, "person": found.name, "role": found.role, "days": days})
        return
    typer.echo(token)
    say(f"acts for {found.name}, {found.role}, {'until it is ended' if days is None else f'for {days:g} days'}")
