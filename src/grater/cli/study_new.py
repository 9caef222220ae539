"""`grater study new`: an empty study."""

from __future__ import annotations

from typing import Annotated

import typer

from grater.cli.output import say
from grater.cli.study_option import StudyName, pasted
from grater.study.archive import new

app = typer.Typer()


@app.command()
def make(
    study: StudyName,
    name: Annotated[str, typer.Option(help="What people call it; the file's name if not given.")] = "",
) -> None:
    """Make an empty study; one that is there already is left alone."""
    with new(study, name=name) as store:
        say(f"{store.name}: a new study; next: grater study import {pasted(study)} FILE...")
