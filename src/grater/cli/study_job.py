"""`grater study job`: a task over items or essays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.cli.options import Json, Seed
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName, pasted, read_guidelines
from grater.sheet import counted
from grater.store import open_store, progress
from grater.study.jobs import JobPlan, add_job
from grater.study.samples import of_sample
from grater.tasks import TASKS

app = typer.Typer()


@app.command()
def add(
    study: StudyName,
    task: Annotated[str, typer.Option(help=f"One of {', '.join(TASKS)}.")],
    name: Annotated[str | None, typer.Option(help="What the job is called; the task's name if not given.")] = None,
    judgments: Annotated[
        int, typer.Option(min=1, help="Judgments for each unit; of named annotators, how many.")
    ] = 1,
    kind: Annotated[str | None, typer.Option(help="The kind of items; the task's own if not given.")] = None,
    system: Annotated[str | None, typer.Option(help="Whose suggestions choice and verify show.")] = None,
    most: Annotated[int | None, typer.Option("--n", min=1, help="Only so many units, drawn at random.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Only essays that no job of the task has yet.")] = False,
    sample: Annotated[str, typer.Option(metavar="NAME", help="Only the items of a sample still to be judged.")] = "",
    annotators: Annotated[list[str], typer.Option("--annotator", help="Who has joined, by name; repeatable.")] = [],  # noqa: B006
    batch_size: Annotated[int, typer.Option(min=0, help="Units in a batch.")] = 0,
    overlap_every: Annotated[int, typer.Option(min=0, help="Every so-manyth batch is for all annotators.")] = 0,
    delay_days: Annotated[float, typer.Option(min=0, help="Days between the two stages of construction.")] = 3,
    lease_minutes: Annotated[float | None, typer.Option(help="How long a rater may keep a unit.")] = None,
    guidelines: Annotated[Path | None, typer.Option(metavar="FILE.md", help="Instead of the task's own.")] = None,
    tagset: Annotated[str | None, typer.Option(help="The tags of marking; the 27 of NUCLE if not given.")] = None,
    grey: Annotated[bool, typer.Option("--grey", help="A grey answer for construction, counted as yes.")] = False,
    draft: Annotated[bool, typer.Option("--draft", help="Do not open it for work yet.")] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Add a job and open it for work."""
    plan = JobPlan(
        name or task,
        task,
        judgments,
        kind=kind,
        system=system,
        most=most,
        annotators=annotators,
        batch_size=batch_size,
        overlap_every=overlap_every,
        delay_days=delay_days,
        lease_minutes=lease_minutes,
        guidelines=read_guidelines(guidelines) if guidelines else None,
        payload={**({"tagset": tagset} if tagset else {}), **({"grey": True} if grey else {})},
        seed=seed,
        is_open=not draft,
        is_fresh=fresh,
    )
    with open_store(study) as store:
        job = add_job(store, of_sample(store, plan, sample) if sample else plan)
        with store.read() as tx:
            n_units = progress.units_by_job(tx)[job.job_id]["work"]
            n_slots = sum(progress.slots_by_job(tx)[job.job_id].values())
    if as_json:
        print_json(
            {"job": job.name, "job_id": job.job_id, "units": n_units, "judgments": n_slots, "state": job.state}
        )
    else:
        told = f"{counted(n_units, 'unit')}, {counted(n_slots, 'judgment')} wanted, {job.state}"
        say(f"{job.name}: {told}; next: grater study invite {pasted(study)} --role annotator")
