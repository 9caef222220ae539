"""Long work in the background through the API: ask for it, see how far it is, fetch what it made."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from starlette.responses import HTMLResponse, Response

from grater.errors import UsageError
from grater.server.calls import Body, Shape, When, at_most, calls_about, example
from grater.server.context import Context
from grater.server.runs.files import result_file
from grater.store import runs
from grater.study.runs import ask_for_class_report, ask_for_report, ask_for_system

router = calls_about("runs")

MOST = 50


class LongRun(Shape):
    """`done` of `total` steps, both 0 where nobody knows; `words` say what came of it, or what went wrong."""

    run_id: str
    kind: str
    title: str
    state: Literal["waiting", "running", "done", "failed"]
    done: int
    total: int
    words: str
    made_at: When
    ended_at: When | None


class LongRuns(Shape):
    """The newest first."""

    runs: list[LongRun]


class NewRun(Body):
    """A `system` to run over all essays, a report (of a `job`, with a `title`), or a `class` report of the essays."""

    model_config = example(kind="report", title="Two schools")
    kind: Literal["system", "report", "class"]
    system: str = ""
    job: str = Field(default="", description="Its name: the report is of this job alone.")
    title: Annotated[str, at_most("report.title")] = ""
    author: Annotated[str, at_most("report.author")] = ""
    earlier: list[str] = Field(default=[], description="NEW=OLD: the system OLD is an earlier version of NEW.")


@router.get("/runs")
def run_list(context: Context) -> LongRuns:
    """The latest background tasks."""
    with context.server.store.read() as tx:
        return LongRuns(runs=[LongRun.of(run) for run in runs.latest(tx, most=MOST)])


@router.post("/runs")
def new_run(context: Context, sent: NewRun) -> LongRun:
    """Start a background task; it survives a restart of the server."""
    actor = context.person.person_id
    if sent.kind != "report" and (sent.job or sent.title or sent.author or sent.earlier):
        raise UsageError("job, title, author and earlier are for a report; expected none of them")
    with context.changing() as tx:
        if sent.kind == "system":
            run = ask_for_system(tx, sent.system, actor=actor)
        elif sent.kind == "class":
            run = ask_for_class_report(tx, actor=actor)
        else:
            run = ask_for_report(
                tx, job=sent.job, title=sent.title, author=sent.author, earlier=sent.earlier, actor=actor
            )
    context.server.runner.wake()
    return LongRun.of(run)


@router.get("/runs/{run_id}")
def one_run(context: Context, run_id: str) -> LongRun:
    """The progress of a background task."""
    with context.server.store.read() as tx:
        return LongRun.of(runs.get(tx, run_id))


@router.get("/runs/{run_id}/file", response_class=HTMLResponse)
def run_file(context: Context, run_id: str) -> Response:
    """The file a background task made: the report, of the study or of the class, as one HTML page."""
    return result_file(context.server.store, run_id)
