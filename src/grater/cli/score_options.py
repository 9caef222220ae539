"""Options of the commands that score corrections: of systems (`score`) and of people (`ceiling`)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from grater.evaluate.edits.errant_match import Mode
from grater.evaluate.edits.scores import Cluster
from grater.evaluate.edits.tables import Layout

MetricName: TypeAlias = Annotated[str, typer.Option(metavar="m2|errant|gleu", help="How corrections are scored.")]
SourceFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The sentences before correction, for references in plain text."),
]
MatchMode: TypeAlias = Annotated[Mode, typer.Option(help="errant: what must be the same for two edits to match.")]
Beta: TypeAlias = Annotated[float, typer.Option(help="Recall counts this many times as much as precision.")]
MaxUnchanged: TypeAlias = Annotated[int, typer.Option(min=0, help="m2: words that an edit may leave unchanged.")]
SpacyModel: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="errant: extract edits from plain text with this spaCy model.")
]
DrawnCluster: TypeAlias = Annotated[Cluster, typer.Option(help="What is drawn in a resample.")]
PaperTable: TypeAlias = Annotated[
    Layout | None, typer.Option(help="A table for a paper, in place of the one for a screen.")
]
