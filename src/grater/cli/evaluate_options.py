"""Options of the commands that hold systems against raters, and the reading that they share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import polars as pl
import typer

from grater.agreement.coded import Unknown
from grater.cli.judgment_options import entries
from grater.cli.output import require_different
from grater.evaluate.thresholds import Higher
from grater.statistics.bootstrap import Cluster
from grater.tables import Table, parse_columns, read_decisions
from grater.tables.check import Duplicates

DecisionFiles: TypeAlias = Annotated[
    list[Path], typer.Option("--decisions", metavar="FILE", help="What systems decided; repeatable.")
]
JudgmentFiles: TypeAlias = Annotated[
    list[Path], typer.Option("--judgments", metavar="FILE", help="What raters said; repeatable.")
]
ItemsFile: TypeAlias = Annotated[
    Path | None, typer.Option("--items", metavar="FILE", help="A table of items, for its columns.")
]
GoldFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--gold", metavar="FILE", help="Known answers: the truth of --truth adjudicated, else a correction."
    ),
]
TruthName: TypeAlias = Annotated[
    str,
    typer.Option(
        "--truth", metavar="share|majority|dawid-skene|adjudicated|rater:NAME", help="What is taken for true."
    ),
]
ClusterName: TypeAlias = Annotated[Cluster, typer.Option("--cluster", help="What is drawn in a resample.")]
UnknownWay: TypeAlias = Annotated[
    Unknown, typer.Option("--unknown", help="Judgments 'unknown': no vote, a vote for ok, or also shown apart.")
]
Population: TypeAlias = Annotated[
    Literal["these", "wider"],
    typer.Option("--population", help="These items are all there are, or they stand for a wider population."),
]
ByColumn: TypeAlias = Annotated[
    str, typer.Option("--by", metavar="COLUMN", help="Results for each value of a column of the items.")
]
Resamples: TypeAlias = Annotated[int, typer.Option("--resamples", min=0, help="Resamples of the bootstrap.")]

Redundancy: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--redundancy",
        metavar="N",
        min=0,
        help="Shares of the first N judgments of each item, where asking stopped early; 0 for all.",
    ),
]

CurveFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--curve", metavar="FILE", help="Write precision and recall at every threshold on the scores."),
]
HigherScore: TypeAlias = Annotated[
    Higher, typer.Option("--higher", help="What a high score means; by default as the system's own flags have it.")
]


OF_DECISIONS = ("system", "flagged", "score", "type", "suggestion")


def is_of_decisions(column: str) -> bool:
    """Whether a `--columns OURS=THEIRS` is about the decisions; all others are about the judgments."""
    return column.partition("=")[0].strip() in OF_DECISIONS


def of_judgments(columns: Sequence[str]) -> list[str]:
    return [column for column in entries(columns) if not is_of_decisions(column)]


def read_all_decisions(paths: Sequence[Path], columns: Sequence[str], duplicates: Duplicates) -> Table:
    """The decisions of one file, or of several under each other."""
    require_different(paths)
    named = parse_columns(column for column in entries(columns) if is_of_decisions(column))
    tables = [read_decisions(path, columns=named, duplicates=duplicates) for path in paths]
    if len(tables) == 1:
        return tables[0]
    frame = pl.concat([table.frame for table in tables], how="diagonal_relaxed")
    return read_decisions(frame, duplicates=duplicates, name=", ".join(table.name for table in tables))
