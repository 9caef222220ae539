"""`grater study design`: a study of the papers as a job, by one name."""

from __future__ import annotations

from typing import Annotated

import typer

from grater.cli.options import Json, Seed
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName, pasted
from grater.model import Json as JsonValue
from grater.sheet import counted
from grater.store import open_store, progress
from grater.study.designs import DESIGNS, MISSING, Order, start

app = typer.Typer()


@app.command()
def plan(
    study: StudyName,
    design: Annotated[str, typer.Argument(help=f"One of {', '.join(DESIGNS)}.")],
    system: Annotated[str | None, typer.Option(metavar="NAME", help="The system that the study is about.")] = None,
    n: Annotated[int | None, typer.Option("--n", min=1, help="How many units; all that fit if not given.")] = None,
    flagged: Annotated[int | None, typer.Option(min=0, help="Sampling: how many of them are flagged.")] = None,
    judgments: Annotated[int | None, typer.Option(min=1, help="Judgments a unit; the paper's if not given.")] = None,
    annotators: Annotated[list[str], typer.Option("--annotator", help="Who has joined, by name; repeatable.")] = [],  # noqa: B006
    name: Annotated[str, typer.Option(help="What the job is called; the design's name if not given.")] = "",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Plan the job of a design, with the sizes of its paper unless told otherwise, and open it for work."""
    order = Order(design, name, system, n, flagged, judgments, annotators, seed)
    with open_store(study) as store:
        job = start(store, order)
        with store.read() as tx:
            n_units = progress.units_by_job(tx)[job.job_id]["work"]
    not_filled = job.options.get(MISSING, [])
    if as_json:
        sizes: dict[str, JsonValue] = {"units": n_units, "judgments": job.judgments, MISSING: not_filled}
        print_json({"job": job.name, "design": design, "task": job.task, **sizes})
        return
    for line in not_filled if isinstance(not_filled, list) else ():
        say(f"not filled: {line}")
    told = f"{counted(n_units, 'unit')} of the task {job.task}, {counted(job.judgments, 'judgment')} each"
    say(f"{job.name}: {told} ({DESIGNS[design].source}); next: grater study invite {pasted(study)} --role annotator")
