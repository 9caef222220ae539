"""The option of every command that writes a report: which files of each figure it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

import typer

from grater.errors import UnknownName
from grater.registry import unknown
from grater.report.drawing import FILE_TYPES, FileType

FigureTypes: TypeAlias = Annotated[
    list[str], typer.Option("--figures", metavar="TYPE", help="svg, png or pdf; repeatable. All three if not given.")
]


def file_types(names: Sequence[str]) -> list[FileType]:
    """The types that were asked for, else all."""
    for name in names:
        if name not in FILE_TYPES:
            raise UnknownName(unknown("type of figure", name, list(FILE_TYPES)))
    return [name for name in FILE_TYPES if not names or name in names]
