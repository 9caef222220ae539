"""`grater study export`: everything in one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.cli.options import Json
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName
from grater.sheet import counted
from grater.store import open_store
from grater.study.export import export

app = typer.Typer()


@app.command()
def write(
    study: StudyName,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")],
    names: Annotated[bool, typer.Option("--names", help="People's own names and addresses, not pseudonyms.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Leave cells alone that a spreadsheet would run.")] = False,
    as_json: Json = False,
) -> None:
    """Write one consistent snapshot of the study; nothing secret is in it."""
    with open_store(study) as store:
        done = export(store, folder, names=names, raw=raw)
    if as_json:
        print_json({"folder": str(done.folder), "files": done.files, "counts": done.counts, "losses": done.losses})
        return
    who = "names" if names else "pseudonyms"
    say(f"{done.folder}: {counted(done.files, 'file')}, raters by {who}; manifest.json lists them with their hashes")
    if done.losses:
        say(f"{counted(done.losses, 'thing')} that some corpus format cannot hold: essays/losses.jsonl")
