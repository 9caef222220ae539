"""The files of a form, for as long as somebody reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.datastructures import UploadFile

from grater.errors import BadInput, GraterError, Problem
from grater.server.uploads import unpack
from grater.server.visit import Visit


def sent_files(visit: Visit) -> list[UploadFile]:
    """What the field `files` holds; a browser sends an empty one where nothing was chosen."""
    return [each for each in visit.form.getlist("files") if isinstance(each, UploadFile) and each.filename]


@contextmanager
def received(visit: Visit) -> Iterator[list[Path]]:
    """What was sent, unpacked into a folder of ours; errors name the files, never that folder."""
    with TemporaryDirectory(prefix="grater-received-") as name:
        folder = Path(name)
        sent = [(str(each.filename), each.file) for each in sent_files(visit)]
        try:
            yield unpack(sent, folder, most_bytes=visit.server.settings.most_unpacked_bytes)
        except GraterError as error:
            raise _without_folder(folder, error) from error


def _without_folder(folder: Path, error: GraterError) -> GraterError:
    """The same error without the name of a folder that means nothing to the person."""
    hidden = f"{folder}/"
    if isinstance(error, BadInput):
        told = [
            (each.name.replace(hidden, ""), each.message.replace(hidden, ""), each.line) for each in error.problems
        ]
        return BadInput(*(Problem(*each) for each in told))
    return type(error)(str(error).replace(hidden, ""))
