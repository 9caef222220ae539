"""Options of every command that reads judgments: which files, which columns, and which judgments count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeAlias

import polars as pl
import typer

from grater.cli.output import require_different, say
from grater.tables import Judgments, parse_columns, parse_merge, read_judgments
from grater.tables.check import Duplicates
from grater.tables.schema import VALID

Columns: TypeAlias = Annotated[
    list[str], typer.Option("--columns", metavar="OURS=THEIRS", help="Where a column has another name; repeatable.")
]
Merge: TypeAlias = Annotated[
    list[str], typer.Option("--merge", metavar="OLD,OLD=NEW", help="Take labels together, as in 0,1=error.")
]
DropFlags: TypeAlias = Annotated[
    list[str], typer.Option("--drop-flags", metavar="FLAG", help="Leave out judgments with this flag; repeatable.")
]
MinConfidence: TypeAlias = Annotated[
    float | None, typer.Option("--min-confidence", metavar="NUMBER", help="Leave out less confident judgments.")
]
Status: TypeAlias = Annotated[
    list[str], typer.Option("--status", metavar="STATUS", help="Only judgments of this status; 'all' for every one.")
]
DuplicateRows: TypeAlias = Annotated[
    Duplicates, typer.Option("--duplicates", help="What to do where a rater judged an item twice.")
]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the options above say together."""

    columns: Sequence[str] = ()
    merge: Sequence[str] = ()
    drop_flags: Sequence[str] = ()
    min_confidence: float | None = None
    status: Sequence[str] = ()
    duplicates: Duplicates = "error"

    def read(self, *paths: Path) -> Judgments:
        """The judgments of one file, or of several under each other; says on standard error what was left out."""
        require_different(paths)
        tables = [self._read(path) for path in paths]
        judgments = tables[0] if len(tables) == 1 else self._joined(tables)
        for reason, n_rows in judgments.dropped.items():
            say(f"{judgments.name}: left out {n_rows:,} judgments: {reason}")
        return judgments

    def _read(self, path: Path) -> Judgments:
        return read_judgments(
            path,
            columns=parse_columns(self.columns),
            duplicates=self.duplicates,
            status=entries(self.status) or (VALID,),
            drop_flags=entries(self.drop_flags),
            min_confidence=self.min_confidence,
            merge=parse_merge(self.merge),
        )

    def _joined(self, tables: Sequence[Judgments]) -> Judgments:
        """One table of several; the same rater on the same item in two files is a duplicate."""
        frame = pl.concat([table.frame for table in tables], how="diagonal_relaxed")
        name = ", ".join(table.name for table in tables)
        joined = read_judgments(frame, duplicates=self.duplicates, status=("all",), name=name)
        dropped = {f"{reason} ({table.name})": n for table in tables for reason, n in table.dropped.items()}
        is_anonymous = any(table.anonymous_raters for table in tables)
        return replace(joined, dropped={**dropped, **joined.dropped}, anonymous_raters=is_anonymous)


def entries(settings: Sequence[str]) -> list[str]:
    """Options may be repeated, or hold several with commas between."""
    return [entry.strip() for setting in settings for entry in setting.split(",") if entry.strip()]
