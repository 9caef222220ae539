"""Options that several commands share, so that they read and mean the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from grater.errors import UnknownName
from grater.registry import unknown
from grater.sheet import TableFormat

if TYPE_CHECKING:
    from grater.report.drawing import FileType

FORMAT_HELP = "bea, brat, fce, jsonl, m2, nucle or text; guessed from the name if not given."

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Machine output on standard output, nothing else.")]
Format: TypeAlias = Annotated[str | None, typer.Option("--format", metavar="FORMAT", help=FORMAT_HELP)]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="The same seed gives the same numbers.")]
Table: TypeAlias = Annotated[TableFormat, typer.Option("--table", help="How tables are printed.")]
FigureTypes: TypeAlias = Annotated[
    list[str], typer.Option("--figures", metavar="TYPE", help="svg, png or pdf; repeatable. All three if not given.")
]


def file_types(names: Sequence[str]) -> list[FileType]:
    """The types that were asked for, else all."""
    from grater.report.drawing import FILE_TYPES  # most commands draw nothing

    for name in names:
        if name not in FILE_TYPES:
            raise UnknownName(unknown("type of figure", name, list(FILE_TYPES)))
    return [name for name in FILE_TYPES if not names or name in names]
