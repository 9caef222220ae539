"""`grater study import-archive`: a study made again from an exported folder or its zip."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.cli.output import say
from grater.cli.study_option import StudyName
from grater.study.archive import import_archive

app = typer.Typer()


@app.command()
def restore(
    study: StudyName,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What grater study export wrote, or a zip of it.")],
) -> None:
    """Make the study again; an archive that was changed or cut short is refused."""
    with import_archive(folder, study) as store:
        say(f"{store.name}: restored from {folder}; people have no passwords: grater study invite STUDY --back NAME")
