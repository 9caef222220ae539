"""The study for managers: files in, its essays and items, the whole study and its report to take home.

Marks that were made here are not on the page of an essay: those of a unit that is not finished stay hidden (P9), and
the others are on the unit's own page.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import Response

from grater.annotate.store import decisions, dump, essays, items, jobs, units
from grater.annotate.store.runs import Run
from grater.annotate.study import jobs as study_jobs
from grater.annotate.study.importing import KINDS, Imported
from grater.annotate.study.runs import ask_for_class_report, ask_for_report
from grater.annotate.study.status import rename_study
from grater.annotate.study.tables import targets_of
from grater.annotate.tasks import TASKS
from grater.annotate.web.context import Context, RequestContext
from grater.annotate.web.rendering import pager
from grater.annotate.web.study.files import brought_in, result_file, zipped_study
from grater.corpora import FORMATS
from grater.errors import Conflict, GraterError, NotFound, StoreBusy, StoreFull, UsageError
from grater.reporting.versions import earlier_versions

router = APIRouter()

A_PAGE = 50


@router.get("/manage/start")
def start_page(context: Context) -> Response:
    """The first page of a study: its name and its texts."""
    return _start_page(context)


@router.post("/manage/start")
def start(context: Context) -> Response:
    try:
        with context.changing() as tx:
            rename_study(tx, context.text("name"), actor=context.person.person_id)
        context.server.title.forget()
        done = brought_in(context, in_background=True)
    except (StoreBusy, StoreFull):
        raise
    except GraterError as error:
        return _start_page(context, problems=str(error).splitlines())
    return context.go("/manage/runs" if isinstance(done, Run) else "/manage/jobs/new")


def _start_page(context: RequestContext, *, problems: Sequence[str] = ()) -> Response:
    with context.server.store.read() as tx:
        n_essays = essays.count(tx)
    filled = {name: values[0] for name, values in context.fields().items()}
    megabytes = context.server.settings.most_upload_bytes // 1_000_000
    shown = {"n_essays": n_essays, "filled": filled, "megabytes": megabytes, "problems": problems}
    return context.page("manage_start.html", shown, status=422 if problems else 200)


@router.get("/manage/import")
def import_page(context: Context) -> Response:
    return _import_page(context, problems=[], done=[])


@router.post("/manage/import")
def bring_in(context: Context) -> Response:
    try:
        done = brought_in(context, in_background=True)
    except (StoreBusy, StoreFull):
        raise
    except GraterError as error:
        return _import_page(context, problems=str(error).splitlines(), done=[])
    return context.go("/manage/runs") if isinstance(done, Run) else _import_page(context, problems=[], done=done)


def _import_page(context: RequestContext, *, problems: list[str], done: list[Imported]) -> Response:
    with context.server.store.read() as tx:
        shown = {"earlier": dump.all_imports(tx), "jobs": jobs.all(tx)}
    values = {**shown, "formats": list(FORMATS), "tasks": list(TASKS), "kinds": KINDS, "done": done}
    megabytes = context.server.settings.most_upload_bytes // 1_000_000
    return context.page(
        "manage_import.html", values, status=422 if problems else 200, problems=problems, megabytes=megabytes
    )


@router.get("/manage/essays")
def essay_list(context: Context, page: int = 1, essay: str = "") -> Response:
    """A page of essays, or one of them: ids are whatever files called them, and stand in no path."""
    if essay:
        return essay_view(context, essay)
    with context.server.store.read() as tx:
        here = pager(essays.count(tx), page, size=A_PAGE)
        on_page = essays.some(tx, start=here.start, most=here.size)
    return context.page("manage_essays.html", essays=on_page, pager=here)


def essay_view(context: RequestContext, essay_id: str, *, problems: Sequence[str] = ()) -> Response:
    """One essay, with what went wrong."""
    with context.server.store.read() as tx:
        essay = essays.find(tx, essay_id)
        if essay is None:
            raise NotFound("there is no such essay in this study")
        asked = units.of_essay(tx, essay_id)
    status = 422 if problems else 200
    return context.page("manage_essay.html", status=status, essay=essay, asked=asked, problems=problems)


@router.get("/manage/items")
def item_list(context: Context, page: int = 1, kind: str = "") -> Response:
    with context.server.store.read() as tx:
        kinds = items.kinds(tx)
        here = pager(items.count(tx, kind=kind or None), page, size=A_PAGE)
        on_page = items.some(tx, kind=kind or None, start=here.start, most=here.size)
        rows = list(zip(on_page, targets_of(tx, on_page), strict=True))
    return context.page("manage_items.html", rows=rows, kinds=kinds, kind=kind, pager=here)


@router.get("/manage/export")
def export_page(context: Context, job: str = "") -> Response:
    """`job` is the name of the one whose report is wanted."""
    with context.server.store.read() as tx:
        return context.page(
            "manage_export.html",
            jobs=jobs.all(tx),
            chosen=job,
            n_essays=essays.count(tx),
            versions=_earlier_versions(decisions.system_names(tx)),
        )


def _earlier_versions(systems: Sequence[str]) -> list[tuple[str, str, list[str]]]:
    """Every system, the earlier version that its name tells of, and all that it could have."""
    told = earlier_versions(systems)
    return [(new, told.get(new, ""), [old for old in systems if old != new]) for new in systems if len(systems) > 1]


@router.post("/manage/export")
def download(context: Context) -> Response:
    return zipped_study(context.server.store, names=bool(context.text("names")), raw=bool(context.text("raw")))


@router.post("/manage/report")
def make_report(context: Context) -> Response:
    """The report at once where that is quick; else it is made in the background."""
    with context.changing() as tx:
        asked = ask_for_report(
            tx,
            job=context.text("job"),
            title=context.text("title"),
            author=context.text("author"),
            earlier=[setting for setting in context.fields().get("earlier", []) if setting],
            actor=context.person.person_id,
        )
    return _made(context, asked)


@router.post("/manage/class-report")
def make_class_report(context: Context) -> Response:
    """What the default systems mark in the essays, per learner and over time, to print."""
    with context.changing() as tx:
        asked = ask_for_class_report(tx, actor=context.person.person_id)
    return _made(context, asked)


def _made(context: RequestContext, asked: Run) -> Response:
    """The file of a run that is soon over; else the page that says how far it is."""
    run = context.server.runner.wait(asked.run_id, seconds=context.server.settings.wait_seconds)
    if run.state == "failed":
        raise UsageError(run.words)
    return result_file(context.server.store, run.run_id) if run.is_over else context.go("/manage/runs")


@router.post("/manage/name")
def rename_the_study(context: Context) -> Response:
    with context.changing() as tx:
        rename_study(tx, context.text("name"), actor=context.person.person_id)
    context.server.title.forget()
    return context.go("/manage")


@router.post("/manage/essays/delete")
def delete_essay(context: Context) -> Response:
    essay_id = context.text("essay")
    try:
        with context.changing() as tx:
            study_jobs.delete_essay(tx, essay_id, word=context.text("word"), actor=context.person.person_id)
    except (Conflict, UsageError) as error:
        return essay_view(context, essay_id, problems=[str(error)])
    return context.go("/manage/essays")
