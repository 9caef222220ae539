"""`grater study seat`: two people, one agreed judgment."""

from __future__ import annotations

from typing import Annotated

import typer

from grater.cli.options import Json
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName
from grater.store import open_store
from grater.study.people import add_seat

app = typer.Typer()


@app.command()
def make(
    study: StudyName,
    first: Annotated[str, typer.Argument(metavar="NAME", help="One of the two people.")],
    second: Annotated[str, typer.Argument(metavar="NAME", help="The other.")],
    name: Annotated[str, typer.Option(help="What the seat is called; both names if not given.")] = "",
    as_json: Json = False,
) -> None:
    """Make a joint seat; either of the two opens it from their own page on the server."""
    with open_store(study) as store:
        seat = add_seat(store, (first, second), name=name)
    if as_json:
        print_json({"person_id": seat.person_id, "name": seat.name, "role": seat.role, "members": [first, second]})
    else:
        say(f"{seat.name}: a joint seat of {first} and {second}, {seat.role}; they open it from their own page")
