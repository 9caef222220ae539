"""A study made, and where it stands: new and status.

Apart from the other commands on a study, so that neither waits for what reads and writes files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from grater.annotate.study.status import Step, new_study, open_study, status
from grater.cli.command import Json, print_json, say, say_done, show_sheets
from grater.cli.study import StudyName, pasted
from grater.sheet import counted

new_app = typer.Typer()


@new_app.command()
def make_study_file(
    study: StudyName,
    name: Annotated[str, typer.Option(help="The study's name; default: the file's name.")] = "",
    as_json: Json = False,
) -> None:
    """Create an empty study; an existing one is left as it is."""
    with new_study(study, name=name) as store:
        file = pasted(study)
        message = f"{store.name}: a new study; next: grater serve {file}, or grater study import {file} FILE..."
        say_done(message, {"study": store.name}, as_json=as_json)


status_app = typer.Typer()


NEXT_STEPS: Mapping[Step, str] = {
    "import": "import essays: grater study import STUDY FILE...",
    "plan": "add a job: grater study job STUDY --task TASK; or run systems: grater study decide STUDY --system S",
    "sample": "have the systems judged: grater study design STUDY sampling --system NAME --n N",
    "serve": "send the link of the invitation, and open the pages: grater serve STUDY",
    "invite": "invite raters: grater study invite STUDY --role annotator; then grater serve STUDY",
    "wait": "wait for raters, with grater serve STUDY running",
    "report": "see the results: grater study report STUDY; export them: grater study export STUDY FOLDER",
}


@status_app.command()
def show_status(study: StudyName, as_json: Json = False) -> None:
    """Show counts, the progress of each job, and the next step."""
    with open_study(study) as store, store.read() as tx:
        summary = status(tx)
    if as_json:
        print_json(summary.to_dict())
        return
    counts = [
        counted(summary.essays, "essay"),
        counted(summary.items, "item"),
        counted(summary.decisions, "decision"),
    ]
    people = counted(summary.people, "person", "people")
    invited = f" and {counted(summary.n_invited, 'open invitation')}" if summary.n_invited else ""
    typer.echo(f"{summary.name}: {', '.join([*counts, people])}{invited}")
    if summary.jobs:
        show_sheets([summary.sheet()])
    say(f"next: {NEXT_STEPS[summary.next_step].replace('STUDY', pasted(study))}")
