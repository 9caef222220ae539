"""Systems of the study and samples drawn for them: what `grater study decide` and `study sample` do, by clicking.

Only installed systems can be run from here: no path, no command and no address from a form is ever opened.  Long work
is done in the background; managers see what waits, how far it is, and what came of it.
"""

from __future__ import annotations

from typing import Literal

from starlette.responses import HTMLResponse, Response

from grater.annotate import content, jobs, people, runs, samples
from grater.annotate.runs import MOST_RUNS, NewRun
from grater.annotate.samples import NewSample, draw, kind_of
from grater.annotate.systems import load_offered, model_in, offered_systems, require_offered
from grater.annotate.web.calls import Shape, When, by_form, calls_about, list_at, page_at
from grater.annotate.web.context import Context, Reading, RequestContext, Routes
from grater.annotate.web.security import MANAGERS
from grater.annotate.web.study import asked_run, result_file, run_now
from grater.detect.systems import SYSTEMS
from grater.tables import Sample as Drawn

pages = Routes(MANAGERS)


def price_page(context: RequestContext, name: str) -> Response | None:
    """What asking a language model takes, before anybody agrees to it; None for any other system."""
    settings = context.server.settings
    system = require_offered(name, settings.systems)
    model = None if system in SYSTEMS or context.text("agreed") else model_in(load_offered(system, settings.chat))
    if model is None:
        return None
    with context.server.store.read() as tx:
        essays = list(content.own_essays(tx))
    return context.page("manage_model.html", model=model, planned=model.planned(essays), n_essays=len(essays))


@page_at(pages, "/manage/systems")
def _page(context: RequestContext, tx: Reading, *, done: str = "") -> Response:
    drawn = {name: samples.named(tx, name) for name in samples.names(tx)}
    shown = {
        "n_essays": content.n_essays(tx),
        "decided": content.flags_by_system(tx),
        "drawn": [(name, each.frame["item"].n_unique(), each.meta) for name, each in drawn.items()],
    }
    more = {"installed": list(offered_systems(context.server.settings.systems)), "done": done}
    return context.page("manage_systems.html", {**shown, **more})


@by_form(pages, "/manage/systems", refused=_page)
def run_system_form(context: RequestContext) -> Response:
    """Run an installed system over all essays, in the background where that takes long."""
    if priced := price_page(context, context.text("system")):
        return priced
    run = run_now(context, context.sent(NewRun, kind="system"))
    return _page(context, done=run.words) if run.is_over else context.go("/manage/runs")


@pages.get("/manage/runs")
def run_list_page(context: Context, tx: Reading) -> Response:
    latest = runs.latest(tx, most=MOST_RUNS)
    names = {person.person_id: person.name for person in people.all(tx)}
    made, is_begun, has_systems = runs.with_results(tx), bool(jobs.all(tx)), bool(content.system_names(tx))
    if any(not run.is_over for run in latest):
        context.server.runner.wake()
    shown = {"runs": latest, "names": names, "with_file": made, "is_begun": is_begun, "has_systems": has_systems}
    return context.page("manage_runs.html", shown)


@pages.get("/manage/runs/{run_id}/file")
def run_file_page(context: Context, run_id: str, open: bool = False) -> Response:  # noqa: A002  (as it stands in the address)
    """The page that a task made: to keep, or to read here, where it can do nothing."""
    return result_file(context.server.store, run_id, is_shown=open)


api = calls_about("systems", MANAGERS)


class System(Shape):
    """The decisions of a system in this study."""

    system: str
    items: int
    flagged: int


class Systems(Shape):
    """`installed` can be run from here, with what the server was started with; `decided` may come from files."""

    installed: list[str]
    decided: list[System]


class Sample(Shape):
    name: str
    items: int
    systems: list[str]
    design: str
    kind: str


class DrawnSample(Sample):
    """`left` are its items that nobody has judged yet."""

    left: int


@api.get("/systems")
def system_list(context: Context, tx: Reading) -> Systems:
    """The systems that can be run, and those with decisions."""
    flags = content.flags_by_system(tx)
    decided = [System(system=name, items=n_items, flagged=n) for name, (n_items, n) in flags.items()]
    return Systems(installed=list(offered_systems(context.server.settings.systems)), decided=decided)


@list_at(api, "/samples", "samples")
def sample_list(tx: Reading) -> list[Sample]:
    """The samples, oldest first."""
    return [_sample(samples.named(tx, name)) for name in samples.names(tx)]


def _sample_wanted(context: RequestContext) -> NewSample:
    flagged = context.text("flagged")
    return context.sent(NewSample, system=context.text("of"), flagged=None if flagged in ("", "0") else flagged)


@by_form(pages, "/manage/samples", sent=_sample_wanted, then="/manage/systems", refused=_page)
@api.post("/samples")
def draw_sample(context: Context, sent: NewSample) -> DrawnSample:
    """Draw a sample of items for a system; the same draw again changes nothing."""
    drawn = draw(context.store, sent, actor=context.person_id)
    with context.server.store.read() as tx:
        sample = _sample(samples.named(tx, sent.name))
    return DrawnSample(**sample.model_dump(), left=len(drawn.left))


def _sample(sample: Drawn) -> Sample:
    meta = sample.meta
    return Sample(
        name=sample.name,
        items=sample.frame["item"].n_unique(),
        systems=list(meta.systems) if meta else [],
        design=meta.design if meta else "",
        kind=kind_of(sample),
    )


run_calls = calls_about("runs", MANAGERS)


class LongRun(Shape):
    """`done` of `total` steps, both 0 where nobody knows; `words` are its result, or the error."""

    run_id: str
    kind: str
    title: str
    state: Literal["waiting", "running", "done", "failed"]
    done: int
    total: int
    words: str
    made_at: When
    ended_at: When | None


@list_at(run_calls, "/runs", "runs", name="LongRuns")
def run_list(tx: Reading) -> list[LongRun]:
    """The latest background tasks, the newest first."""
    return [LongRun.of(run) for run in runs.latest(tx, most=MOST_RUNS)]


@run_calls.post("/runs")
def new_run(context: Context, sent: NewRun) -> LongRun:
    """Start a background task; it survives a restart of the server."""
    run = asked_run(context, sent)
    context.server.runner.wake()
    return LongRun.of(run)


@run_calls.get("/runs/{run_id}")
def one_run(tx: Reading, run_id: str) -> LongRun:
    """The progress of a background task."""
    return LongRun.of(runs.get(tx, run_id))


@run_calls.get("/runs/{run_id}/file", response_class=HTMLResponse)
def run_file(context: Context, run_id: str) -> Response:
    """The file a background task made: the report, of the study or of the class, as one HTML page."""
    return result_file(context.server.store, run_id)
