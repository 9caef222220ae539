"""The whole study to take home: one snapshot, as a zip of the folder that `grater study export` writes."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path

from fastapi import APIRouter
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from grater.server.visit import Visiting
from grater.store import Store, jobs
from grater.study.export import export

router = APIRouter()

NAME = "study"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The oldest time that a zip can hold: the same study gives the same bytes."""


@router.get("/manage/export")
def export_page(visit: Visiting) -> Response:
    with visit.server.store.read() as tx:
        return visit.page("manage_export.html", jobs=jobs.all(tx))


@router.post("/manage/export")
def download(visit: Visiting) -> Response:
    return zipped_study(visit.server.store, names=bool(visit.text("names")), raw=bool(visit.text("raw")))


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
