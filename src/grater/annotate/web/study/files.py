"""Files in and out of the study, for its pages and its calls: imports, the export as a zip, the report.

An import is all or nothing, through the same door as the command line.  The export is one snapshot, a zip of the
folder that `grater study export` writes.  The report is the page that `grater study report` writes, without its
figures beside it; one that was made in the background is the file of its run.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import overload

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from grater.annotate.store import Store, jobs, runs
from grater.annotate.store.runs import Run, RunFile
from grater.annotate.study.export import export
from grater.annotate.study.importing import KINDS, Imported, import_files
from grater.annotate.study.reporting import study_inputs
from grater.annotate.study.runs import ask_for_import
from grater.annotate.study.tables import ALL_COUNT, Counting
from grater.annotate.web.context import RequestContext
from grater.annotate.web.security import POLICY_HEADER, READ_ONLY_POLICY
from grater.annotate.web.uploads import received
from grater.errors import BadInput, NotFound, Problem
from grater.model import Json
from grater.reporting.build import build
from grater.reporting.save import report_html
from grater.reporting.versions import told_versions

NAME = "study"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The oldest time that a zip can hold: the same study gives the same bytes."""


BIG = 5_000_000
"""Bytes from which on an import goes on in the background."""


@overload
def brought_in(context: RequestContext) -> list[Imported]: ...
@overload
def brought_in(context: RequestContext, *, in_background: bool) -> list[Imported] | Run: ...
def brought_in(context: RequestContext, *, in_background: bool = False) -> list[Imported] | Run:
    """Import what the form holds; names in messages are those of the files, not of our folders.

    What is big becomes a run, where the caller has no need of the outcome now.
    """
    kind = context.text("kind")
    if kind not in KINDS:
        raise BadInput(Problem("form", f"kind: expected one of {', '.join(KINDS)}, found {kind[:20]!r}"))
    with received(context) as paths:
        files = [(path, file) for path in paths for file in _files(path)]
        if in_background and sum(file.stat().st_size for _, file in files) > BIG:
            return _later(context, kind, files)
        imported = _import(context, kind, paths)
    return [replace(file, name=Path(file.name).name) for file in imported]


def _later(context: RequestContext, kind: str, files: list[tuple[Path, Path]]) -> Run:
    options: dict[str, Json] = {"kind": kind, **{name: context.text(name) for name in ("format", "job", "task")}}
    sent = [RunFile(name=file.relative_to(path.parent).as_posix(), content=file.read_bytes()) for path, file in files]
    with context.changing() as tx:
        run = ask_for_import(tx, sent, options, actor=context.person.person_id)
    return context.server.runner.wait(run.run_id, seconds=0)


def _import(context: RequestContext, kind: str, paths: list[Path]) -> list[Imported]:
    files = paths if kind == "corpus" else [file for path in paths for file in _files(path)]
    by_kind = {"corpora" if kind == "corpus" else kind: files}
    return import_files(
        context.store,
        **by_kind,  # type: ignore[arg-type]
        format_name=context.text("format") or None,
        job=context.text("job") or None,
        task=context.text("task") or "error",
        actor=context.person.person_id,
    )


def _files(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


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
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            member = zipfile.ZipInfo(file.relative_to(folder).as_posix(), EPOCH)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16
            with file.open("rb") as source, packed.open(member, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target)


def report_file(
    store: Store,
    *,
    job: str,
    title: str,
    author: str = "",
    earlier: Sequence[str] = (),
    counting: Counting = ALL_COUNT,
) -> Response:
    """One page that works offline; a download, for its style stands in it, which the policy of our pages forbids."""
    with store.read() as tx:
        names = [jobs.named(tx, job).name] if job else []
        inputs = study_inputs(
            tx, title=title, author=author, job_names=names, counting=counting, earlier=told_versions(earlier)
        )
    headers = {"content-disposition": 'attachment; filename="report.html"'}
    return Response(report_html(build(inputs)), media_type="text/html; charset=utf-8", headers=headers)


def result_file(store: Store, run_id: str, *, is_shown: bool = False) -> Response:
    """The file that a run made: a page that works offline, to save or to read at once."""
    with store.read() as tx:
        runs.get(tx, run_id)
        made = runs.files_of(tx, run_id, is_result=True)
    if not made:
        raise NotFound("this task has no file (yet)")
    place = "inline" if is_shown else "attachment"
    headers = {"content-disposition": f'{place}; filename="{made[0].name}"', POLICY_HEADER: READ_ONLY_POLICY}
    return Response(made[0].content, media_type="text/html; charset=utf-8", headers=headers)
