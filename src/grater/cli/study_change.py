"""`grater study change`: a job opened, paused or closed, or with new instructions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from grater.cli.options import Json
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName, read_guidelines
from grater.errors import UsageError
from grater.store import jobs, open_store
from grater.study.jobs import add_guidelines, set_state

app = typer.Typer()


@app.command()
def change(
    study: StudyName,
    job: Annotated[str, typer.Option(help="The job to change.")],
    state: Annotated[Literal["open", "paused", "closed"] | None, typer.Option(help="What it is from now on.")] = None,
    instructions: Annotated[
        Path | None, typer.Option("--guidelines", metavar="FILE.md", help="A new version of its instructions.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Change a job; work in raters' hands is still taken, and judgments know the version they were made under."""
    if state is None and instructions is None:
        raise UsageError("expected --state or --guidelines, found neither")
    words = read_guidelines(instructions) if instructions else ""
    with open_store(study) as store, store.write() as tx:
        found = jobs.named(tx, job)
        if instructions is not None:
            add_guidelines(tx, found.job_id, words)
        if state is not None:
            found = set_state(tx, found.job_id, state)
        current = jobs.current_guidelines(tx, found.job_id)
    version = current.version if current else 0
    if as_json:
        print_json({"job": job, "state": found.state, "guidelines": version})
    else:
        say(f"{job}: {found.state}, instructions version {version}")
