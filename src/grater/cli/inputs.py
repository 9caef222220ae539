"""What commands read: tables of judgments and of decisions, and corpora.

The options say which files, which columns and which judgments count.  Corpora are read under a progress bar, on a
terminal and for long input only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import polars as pl
import typer

from grater.cli.command import messages, require_different, say
from grater.corpora import format_for, read_corpus
from grater.corpora.formats import FORMATS
from grater.corpora.merge import Reread
from grater.corpora.source import OPENERS, left_out
from grater.errors import UsageError
from grater.measure.agreement.coded import Unknown
from grater.model import Essay
from grater.sheet import counted
from grater.tables import Judgments, Table, parse_columns, parse_merge, read_decisions, read_judgments
from grater.tables.check import Duplicates
from grater.tables.schema import VALID
from grater.uncertainty.bootstrap import Cluster

FORMAT_HELP = f"Corpus format: {FORMATS.listed()}; default: by file name."
Format: TypeAlias = Annotated[str | None, typer.Option("--format", metavar="FORMAT", help=FORMAT_HELP)]
Columns: TypeAlias = Annotated[
    list[str], typer.Option("--columns", metavar="OURS=THEIRS", help="Rename a column; repeatable.")
]
Merge: TypeAlias = Annotated[
    list[str], typer.Option("--merge", metavar="OLD,OLD=NEW", help="Merge labels, as in 0,1=error.")
]
DropFlags: TypeAlias = Annotated[
    list[str], typer.Option("--drop-flags", metavar="FLAG", help="Ignore judgments with this flag; repeatable.")
]
MinConfidence: TypeAlias = Annotated[
    float | None, typer.Option("--min-confidence", metavar="NUMBER", help="Ignore less confident judgments.")
]
Status: TypeAlias = Annotated[
    list[str],
    typer.Option("--status", metavar="STATUS", help="Use only judgments with this status; 'all' for any."),
]
RaterColumns: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--rater-columns",
        metavar="NAME,NAME",
        help="Columns of labels, one per rater, in a sheet with one row per item.",
    ),
]
DuplicateRows: TypeAlias = Annotated[
    Duplicates, typer.Option("--duplicates", help="What to do if a rater judged an item twice.")
]


OF_DECISIONS = ("system", "flagged", "score", "type", "suggestion")
"""Columns that are about decisions where a command reads both."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Which judgments count, and how tables are read: the options that `takes_options` gives to a command."""

    columns: Columns = field(default_factory=list)
    merge: Merge = field(default_factory=list)
    drop_flags: DropFlags = field(default_factory=list)
    min_confidence: MinConfidence = None
    status: Status = field(default_factory=list)
    duplicates: DuplicateRows = "error"
    rater_columns: RaterColumns = field(default_factory=list)

    def read(self, *paths: Path) -> Judgments:
        """The judgments of one file, or of several under each other; says on standard error what was left out."""
        require_different(paths)
        tables = [self._read(path) for path in paths]
        judgments = tables[0] if len(tables) == 1 else self._joined(tables)
        for reason, n_rows in judgments.dropped.items():
            say(f"{judgments.name}: left out {counted(n_rows, 'judgment')}: {reason}")
        return judgments

    @property
    def for_experts(self) -> Reading:
        """Columns and filters are about the crowd's file; labels must mean the same in the experts'."""
        return Reading(merge=self.merge, status=self.status, duplicates=self.duplicates)

    def read_beside_decisions(self, *paths: Path) -> Judgments:
        """The judgments, where some of the columns named are those of the decisions."""
        columns = [column for column in entries(self.columns) if not _is_of_decisions(column)]
        return replace(self, columns=columns).read(*paths)

    def read_decisions(self, *paths: Path) -> Table:
        """The decisions of several files as one table."""
        require_different(paths)
        columns = parse_columns(column for column in entries(self.columns) if _is_of_decisions(column))
        if len(paths) == 1:
            return read_decisions(paths[0], columns=columns, duplicates=self.duplicates)
        tables = [read_decisions(path, columns=columns, duplicates=self.duplicates) for path in paths]
        frame = pl.concat([table.frame for table in tables], how="diagonal_relaxed")
        return read_decisions(frame, duplicates=self.duplicates, name=", ".join(table.name for table in tables))

    def _read(self, path: Path) -> Judgments:
        return read_judgments(
            path,
            columns=parse_columns(self.columns),
            duplicates=self.duplicates,
            status=entries(self.status) or (VALID,),
            drop_flags=entries(self.drop_flags),
            min_confidence=self.min_confidence,
            merge=parse_merge(self.merge),
            rater_columns=entries(self.rater_columns),
        )

    def _joined(self, tables: Sequence[Judgments]) -> Judgments:
        """One table of several; the same rater on the same item in two files is a duplicate."""
        frame = pl.concat([table.frame for table in tables], how="diagonal_relaxed")
        name = ", ".join(table.name for table in tables)
        joined = read_judgments(frame, duplicates=self.duplicates, status=("all",), name=name)
        dropped = {f"{reason} ({table.name})": n for table in tables for reason, n in table.dropped.items()}
        is_anonymous = any(table.anonymous_raters for table in tables)
        return replace(joined, dropped={**dropped, **joined.dropped}, anonymous_raters=is_anonymous)


def _is_of_decisions(column: str) -> bool:
    """Whether a `--columns OURS=THEIRS` is about the decisions; all others are about the judgments."""
    return column.partition("=")[0].strip() in OF_DECISIONS


def entries(settings: Sequence[str]) -> list[str]:
    """Options may be repeated, or hold several with commas between."""
    return [entry.strip() for setting in settings for entry in setting.split(",") if entry.strip()]


DecisionFiles: TypeAlias = Annotated[
    list[Path], typer.Option("--decisions", metavar="FILE", help="Decisions of systems; repeatable.")
]
JudgmentFiles: TypeAlias = Annotated[
    list[Path], typer.Option("--judgments", metavar="FILE", help="Judgments of raters; repeatable.")
]
ItemsFile: TypeAlias = Annotated[
    Path | None, typer.Option("--items", metavar="FILE", help="A table of items, for its columns.")
]
GoldFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--gold",
        metavar="FILE",
        help="Known answers: the truth with --truth adjudicated, otherwise used to correct for raters' errors.",
    ),
]
ErrorsByFlag: TypeAlias = Annotated[
    bool,
    typer.Option("--errors-by-flag", help="Correct flagged items by flagged gold items, and unflagged by unflagged."),
]


def require_gold(gold: Path | None, *, errors_by_flag: bool) -> None:
    """Refuse a correction on each side of a decision where nothing says what raters get wrong."""
    if errors_by_flag and gold is None:
        raise UsageError("expected --gold with --errors-by-flag")


TruthName: TypeAlias = Annotated[
    str,
    typer.Option("--truth", metavar="share|majority|dawid-skene|adjudicated|rater:NAME", help="What counts as true."),
]
ClusterName: TypeAlias = Annotated[
    Cluster,
    typer.Option("--cluster", help="Clusters that are resampled; auto: essays if known, else items."),
]
ContextFlags: TypeAlias = Annotated[
    str, typer.Option("--contexts", metavar="FLAG,FLAG", help="Show items with and without these flags separately.")
]
ConfidenceApart: TypeAlias = Annotated[
    float | None,
    typer.Option("--confidence-apart", metavar="X", help="Show items with a less confident judgment separately."),
]
UnknownWay: TypeAlias = Annotated[
    Unknown,
    typer.Option("--unknown", help="Judgments 'unknown': drop them, count them as ok, or also show them separately."),
]
Population: TypeAlias = Annotated[
    Literal["these", "wider"],
    typer.Option(
        "--population", help="What the intervals are about: other essays like these, or exactly these items."
    ),
]
ByColumn: TypeAlias = Annotated[
    str, typer.Option("--by", metavar="COLUMN", help="Show results for each value of an item column.")
]
Resamples: TypeAlias = Annotated[int, typer.Option("--resamples", min=0, help="Bootstrap resamples.")]
Redundancy: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--redundancy",
        metavar="N",
        min=0,
        help="Use the first N judgments of each item, if collection stopped early; 0: all.",
    ),
]

WORTH_A_BAR = 5_000_000
"""Bytes of input below which a progress bar would only flicker."""

MOST_NAMED = 5


@contextmanager
def reading(title: str, *paths: Path, n_passes: int = 1) -> Iterator[Callable[[int], None]]:
    """A bar over the bytes of some files, on a terminal and for long input only; gives the callback that moves it."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    n_bytes = n_passes * sum(_size(path) for path in paths)
    is_packed = any(path.suffix.lower() in OPENERS for path in paths)  # then nobody knows how much it unpacks to
    columns = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()]
    shown = messages.is_terminal and n_bytes >= WORTH_A_BAR
    with Progress(*columns, console=messages, transient=True, disable=not shown) as progress:
        bar = progress.add_task(title, total=None if is_packed else n_bytes)
        yield lambda n_bytes: progress.advance(bar, n_bytes)


@contextmanager
def reading_all(
    paths: Sequence[Path], format_name: str | None, *, n_readings: int = 1
) -> Iterator[dict[str, Iterable[Essay]]]:
    """The corpora at some paths by their names as given, each to be read `n_readings` times, under one bar."""
    require_different(paths)
    n_passes = n_readings * max(format_for(path, format_name).n_passes for path in paths)
    with reading("reading", *paths, n_passes=n_passes) as advance:
        read = partial(read_corpus, format_name=format_name, advance=advance)
        yield {str(path): Reread(partial(read, path)) for path in paths}


def tell_left_out(paths: Iterable[Path], format_name: str | None) -> None:
    """Name the files of folders that nobody reads; an essay in another format must not go missing unnoticed."""
    for path in paths:
        chosen = format_for(path, format_name)
        files = [str(file.relative_to(path)) for file in left_out(path, chosen)]
        if files:
            more = ", ..." if len(files) > MOST_NAMED else ""
            names = ", ".join(files[:MOST_NAMED]) + more
            say(f"{path}: left out {counted(len(files), 'file')} of another format than {chosen.name}: {names}")


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
