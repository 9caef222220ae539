"""The argument that every command on a study takes first, and the file of instructions that some take."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from grater.errors import BadInput, Problem
from grater.files import reason

StudyName: TypeAlias = Annotated[str, typer.Argument(metavar="STUDY", help="A file (SQLite) or a postgresql:// URL.")]


def pasted(study: str) -> str:
    """The study as the next command takes it; a URL may hold a password, and is not repeated."""
    return "STUDY" if "://" in study else shlex.quote(study)


def read_guidelines(path: Path) -> str:
    """Instructions in Markdown from a file."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(Problem(str(path), f"expected instructions in UTF-8: {reason(error)}")) from error
