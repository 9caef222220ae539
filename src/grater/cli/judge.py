"""`grater judge`: a program as a rater."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from grater.cli.options import Json
from grater.cli.output import print_json, say
from grater.cli.study.options import StudyName
from grater.sheet import counted
from grater.store import jobs
from grater.study.programs import judge, program_job, through
from grater.study.status import open_study

app = typer.Typer()


@app.command()
def ask(
    study: StudyName,
    job: Annotated[str, typer.Option(help="The job whose units the program judges.")],
    command: Annotated[str, typer.Option(help="What to run: a JSON line in for each unit, a JSON line out.")],
    name: Annotated[str, typer.Option(help="What the program is called among the raters.")] = "program",
    as_json: Json = False,
) -> None:
    """Let a program judge what people judge, in a job of its own; units that it has answered are not asked again.

    In:  {"unit": ID, "task": ..., "before": ..., "pieces": [...], "after": ..., "fields": [...]}, one line a unit.
    Out: {"unit": ID, "fields": {"label": ["ok"]}}, in any order.
    """
    with open_study(study) as store:
        with store.write() as tx:
            own, person = program_job(tx, jobs.named(tx, job), name)
        n_done = judge(store, own, person, partial(through, command), tick=lambda: None)
    if as_json:
        print_json({"job": own.name, "judged": n_done, "rater": person.pseudonym})
    else:
        say(f"{own.name}: {counted(n_done, 'unit')} judged by the program {name}")
