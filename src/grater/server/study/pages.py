"""Files into the study by the browser, all or nothing, through the same door as the command line.

The essays of the study, for managers: what came in, with its marks, and where each is asked about.

Marks that were made here are not on these pages: those of a unit that is not finished stay hidden (P9), and the
others are on the unit's own page.

The items of the study, for managers: what each is and where it stands.

The whole study to take home: one snapshot, as a zip of the folder that `grater study export` writes.

The report of the study as a file to take home: the page that `grater study report` writes, without its figures.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path

from fastapi import APIRouter
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from grater.corpora import FORMATS
from grater.errors import BadInput, GraterError, NotFound, Problem, StoreBusy, StoreFull
from grater.report.save import report_html
from grater.server.context import Context, RequestContext
from grater.server.rendering import pager
from grater.server.uploads import received
from grater.store import Store, dump, essays, items, jobs, units
from grater.study.export import export
from grater.study.importing import KINDS, Imported, import_files
from grater.study.reporting import study_report
from grater.study.tables import targets_of
from grater.tasks import TASKS

router = APIRouter()


@router.get("/manage/import")
def import_page(context: Context) -> Response:
    return _page(context, problems=[], done=[])


@router.post("/manage/import")
def bring_in(context: Context) -> Response:
    try:
        done = brought_in(context)
    except (StoreBusy, StoreFull):
        raise
    except GraterError as error:
        return _page(context, problems=str(error).splitlines(), done=[])
    return _page(context, problems=[], done=done)


def brought_in(context: RequestContext) -> list[Imported]:
    """Import what the form holds; names in messages are those of the files, not of our folders."""
    kind = context.text("kind")
    if kind not in KINDS:
        raise BadInput(Problem("form", f"kind: expected one of {', '.join(KINDS)}, found {kind[:20]!r}"))
    with received(context) as paths:
        found = _import(context, kind, paths)
    return [Imported(Path(each.name).name, each.kind, each.new, each.known) for each in found]


def _import(context: RequestContext, kind: str, paths: list[Path]) -> list[Imported]:
    files = paths if kind == "corpus" else [file for path in paths for file in _files(path)]
    by_kind = {"corpora" if kind == "corpus" else kind: files}
    return import_files(
        context.server.store,
        **by_kind,  # type: ignore[arg-type]
        format_name=context.text("format") or None,
        job=context.text("job") or None,
        task=context.text("task") or "error",
        actor=context.person.person_id,
    )


def _files(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def _page(context: RequestContext, *, problems: list[str], done: list[Imported]) -> Response:
    with context.server.store.read() as tx:
        shown = {"earlier": dump.all_imports(tx), "jobs": jobs.all(tx)}
    values = {**shown, "formats": list(FORMATS), "tasks": list(TASKS), "kinds": KINDS, "done": done}
    megabytes = context.server.settings.most_upload_bytes // 1_000_000
    return context.page(
        "manage_import.html", values, status=422 if problems else 200, problems=problems, megabytes=megabytes
    )


A_PAGE = 50


@router.get("/manage/essays")
def essay_list(context: Context, page: int = 1, essay: str = "") -> Response:
    """A page of essays, or one of them: ids are whatever files called them, and stand in no path."""
    if essay:
        return _one(context, essay)
    with context.server.store.read() as tx:
        here = pager(essays.count(tx), page, size=A_PAGE)
        found = essays.some(tx, start=here.start, most=here.size)
    return context.page("manage_essays.html", found=found, pager=here)


def _one(context: RequestContext, essay_id: str) -> Response:
    with context.server.store.read() as tx:
        essay = essays.find(tx, essay_id)
        if essay is None:
            raise NotFound("there is no such essay in this study")
        asked = units.of_essay(tx, essay_id)
    return context.page("manage_essay.html", essay=essay, asked=asked)


@router.get("/manage/items")
def item_list(context: Context, page: int = 1, kind: str = "") -> Response:
    with context.server.store.read() as tx:
        kinds = items.kinds(tx)
        here = pager(items.count(tx, kind=kind or None), page, size=A_PAGE)
        found = items.some(tx, kind=kind or None, start=here.start, most=here.size)
        rows = list(zip(found, targets_of(tx, found), strict=True))
    return context.page("manage_items.html", rows=rows, kinds=kinds, kind=kind, pager=here)


NAME = "study"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The oldest time that a zip can hold: the same study gives the same bytes."""


@router.get("/manage/export")
def export_page(context: Context) -> Response:
    with context.server.store.read() as tx:
        return context.page("manage_export.html", jobs=jobs.all(tx))


@router.post("/manage/export")
def download(context: Context) -> Response:
    return zipped_study(context.server.store, names=bool(context.text("names")), raw=bool(context.text("raw")))


def zipped_study(store: Store, *, names: bool, raw: bool) -> Response:
    """An export as a download; its files are gone from the server once it is sent."""
    folder = Path(tempfile.mkdtemp(prefix="grater-export-"))
    try:
        export(store, folder / NAME, names=names, raw=raw)
        archive = folder / f"{NAME}.zip"
        _zip(folder / NAME, archive)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    after = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(archive, media_type="application/zip", filename=f"{NAME}.zip", background=after)


def _zip(folder: Path, archive: Path) -> None:
    """Files in the order of their names, all with the same time."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            member = zipfile.ZipInfo(file.relative_to(folder).as_posix(), EPOCH)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16
            with file.open("rb") as source, packed.open(member, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target)


@router.post("/manage/report")
def make_report(context: Context) -> Response:
    return report_file(context.server.store, job=context.text("job"), title=context.text("title"))


def report_file(store: Store, *, job: str, title: str) -> Response:
    """One page that works offline; a download, for its style stands in it, which the policy of our pages forbids."""
    with store.read() as tx:
        names = [jobs.named(tx, job).name] if job else []
        report = study_report(tx, title=title, job_names=names)
    headers = {"content-disposition": 'attachment; filename="report.html"'}
    return Response(report_html(report), media_type="text/html; charset=utf-8", headers=headers)
