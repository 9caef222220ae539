"""`grater study status`: where a study stands, and what comes next."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.table import Table

from grater.cli.options import Json
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName, pasted
from grater.sheet import counted
from grater.store import open_store
from grater.study.status import Status, status

app = typer.Typer()


@app.command()
def show(study: StudyName, as_json: Json = False) -> None:
    """Counts, jobs with their progress, and the next step."""
    with open_store(study) as store, store.read() as tx:
        found = status(tx)
    if as_json:
        print_json(found.as_json())
        return
    counts = [counted(found.essays, "essay"), counted(found.items, "item"), counted(found.decisions, "decision")]
    people = counted(found.people, "person", "people")
    invited = f" and {counted(found.n_invited, 'open invitation')}" if found.n_invited else ""
    typer.echo(f"{found.name}: {', '.join([*counts, people])}{invited}")
    if found.jobs:
        Console(highlight=False).print(_table(found))
    say(f"next: {found.next_step.replace('STUDY', pasted(study))}")


def _table(found: Status) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("job", "task", "state", "units", "valid", "wanted", "in hand"):
        table.add_column(name, justify="left" if name in ("job", "task", "state") else "right")
    for each in found.jobs:
        numbers = (sum(each.units.values()), each.valid, each.wanted, each.slots.get("leased", 0))
        table.add_row(each.job.name, each.job.task, each.job.state, *(f"{n:,}" for n in numbers))
    return table
