"""Files into the study by the browser, all or nothing, through the same door as the command line."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from starlette.responses import Response

from grater.corpora import FORMATS
from grater.errors import BadInput, GraterError, Problem, StoreBusy, StoreFull
from grater.server.received import received
from grater.server.visit import Visit, Visiting
from grater.store import imports, jobs
from grater.study.importing import Imported, import_files
from grater.tasks import TASKS

router = APIRouter()

KINDS = ("corpus", "items", "decisions", "judgments", "gold", "practice")


@router.get("/manage/import")
def import_page(visit: Visiting) -> Response:
    return _page(visit, problems=[], done=[])


@router.post("/manage/import")
def bring_in(visit: Visiting) -> Response:
    try:
        done = brought_in(visit)
    except (StoreBusy, StoreFull):
        raise
    except GraterError as error:
        return _page(visit, problems=str(error).splitlines(), done=[])
    return _page(visit, problems=[], done=done)


def brought_in(visit: Visit) -> list[Imported]:
    """Import what the form holds; names in messages are those of the files, not of our folders."""
    kind = visit.text("kind")
    if kind not in KINDS:
        raise BadInput(Problem("form", f"kind: expected one of {', '.join(KINDS)}, found {kind[:20]!r}"))
    with received(visit) as paths:
        found = _import(visit, kind, paths)
    return [Imported(Path(each.name).name, each.kind, each.new, each.known) for each in found]


def _import(visit: Visit, kind: str, paths: list[Path]) -> list[Imported]:
    files = paths if kind == "corpus" else [file for path in paths for file in _files(path)]
    by_kind = {"corpora" if kind == "corpus" else kind: files}
    return import_files(
        visit.server.store,
        **by_kind,  # type: ignore[arg-type]
        format_name=visit.text("format") or None,
        job=visit.text("job") or None,
        task=visit.text("task") or "error",
        actor=visit.person.person_id,
    )


def _files(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def _page(visit: Visit, *, problems: list[str], done: list[Imported]) -> Response:
    with visit.server.store.read() as tx:
        shown = {"earlier": imports.all(tx), "jobs": jobs.all(tx)}
    values = {**shown, "formats": list(FORMATS), "tasks": list(TASKS), "kinds": KINDS, "done": done}
    megabytes = visit.server.settings.most_upload_bytes // 1_000_000
    return visit.page(
        "manage_import.html", values, status=422 if problems else 200, problems=problems, megabytes=megabytes
    )
