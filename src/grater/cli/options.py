"""Options that several commands share, so that they read and mean the same everywhere."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from grater.sheet import TableFormat

FORMAT_HELP = "bea, brat, fce, jsonl, m2, nucle or text; guessed from the name if not given."

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Machine output on standard output, nothing else.")]
Format: TypeAlias = Annotated[str | None, typer.Option("--format", metavar="FORMAT", help=FORMAT_HELP)]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="The same seed gives the same numbers.")]
Table: TypeAlias = Annotated[TableFormat, typer.Option("--table", help="How tables are printed.")]
