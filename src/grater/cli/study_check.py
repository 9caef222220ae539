"""`grater study check`: whether a study keeps its promises."""

from __future__ import annotations

import typer

from grater.cli.options import Json
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName
from grater.sheet import counted
from grater.store import checks, open_store

app = typer.Typer()


@app.command()
def check(study: StudyName, as_json: Json = False) -> None:
    """Lost, doubled, over-issued, starved or orphaned work, trust and event log; exit status 1 if there is any."""
    with open_store(study) as store, store.read() as tx:
        found = checks.violations(tx)
    if as_json:
        print_json([{"kind": each.kind, "message": each.message} for each in found])
    else:
        for each in found:
            typer.echo(str(each))
        say(counted(len(found), "violation") if found else "every promise is kept")
    if found:
        raise typer.Exit(1)
