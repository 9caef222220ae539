"""`grater report`: tables in, one page with pictures out, or its first figure alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from typer import Option

from grater.cli.command import (
    Author,
    Earlier,
    FigureTypes,
    GoldFile,
    HeadlineFile,
    ItemsFile,
    Json,
    Reading,
    file_types,
    say_done,
    takes_options,
)
from grater.corpora import read_merged
from grater.detect.factors import with_factors
from grater.errors import UsageError
from grater.reporting.build import Inputs, build, headline, of_kind
from grater.reporting.document import Byline
from grater.reporting.drawing import FileType
from grater.reporting.save import save_figure, save_report
from grater.reporting.versions import told_versions
from grater.sheet import counted
from grater.tables import read_gold, read_items, read_sample


@takes_options
def report(
    out: Annotated[Path | None, Option("--out", metavar="FOLDER", help="The folder for the report.")] = None,
    judgments: Annotated[list[Path], Option("--judgments", metavar="FILE", help="Judgments of the raters.")] = [],
    decisions: Annotated[list[Path], Option("--decisions", metavar="FILE", help="Decisions of the systems.")] = [],
    experts: Annotated[list[Path], Option("--experts", metavar="FILE", help="Judgments of experts.")] = [],
    essays: Annotated[list[Path], Option("--essays", metavar="FILE", help="The corpus, in any format.")] = [],
    items: ItemsFile = None,
    kind: Annotated[str, Option(help="Only items of this kind, such as prep.")] = "",
    gold: GoldFile = None,
    sample: Annotated[Path | None, Option(metavar="FILE", help="The judged sample.")] = None,
    title: Annotated[str, Option(help="The title.")] = "How good are these detectors?",
    author: Author = "",
    earlier: Earlier = [],
    headline: HeadlineFile = None,
    *,
    reading: Reading,
    figures: FigureTypes = [],
    as_json: Json = False,
) -> None:
    """Report on tables of judgments and decisions: an HTML page that works offline, Markdown, LaTeX, figures."""
    if not (essays or judgments or experts or decisions):
        raise UsageError("expected something to report on: --essays, --judgments, --experts or --decisions")
    if out is None and headline is None:
        raise UsageError("expected --out FOLDER for the report, or --headline FILE for its first figure")
    wanted = file_types(figures)
    read = reading.read_beside_decisions if decisions else reading.read
    inputs = Inputs(
        title=title,
        essays=list(read_merged(essays)) if essays else (),
        judgments=read(*judgments) if judgments else None,
        experts=read(*experts) if experts else None,
        decisions=reading.read_decisions(*decisions) if decisions else None,
        items=read_items(items) if items else None,
        gold=read_gold(gold) if gold else None,
        sample=read_sample(sample) if sample else None,
        byline=Byline(author=author, date=datetime.now(UTC).date().isoformat()),
        earlier=told_versions(earlier),
        factors=with_factors,
    )
    save_asked(of_kind(inputs, kind) if kind else inputs, out, headline, wanted, as_json=as_json)


def save_asked(
    inputs: Inputs, out: Path | None, figure: Path | None, wanted: Sequence[FileType], *, as_json: bool
) -> None:
    """Write the headline figure, the report, or both, and say where they are."""
    if figure is not None:
        save_figure(headline(inputs), figure)
    if out is None:
        say_done(f"the figure is {figure}", {"files": [str(figure)]}, as_json=as_json)
        return
    result = build(inputs)
    written = [*save_report(result, out, file_types=wanted), *([figure] if figure else [])]
    message = f"the report is {written[0]}; {counted(len(result.figures), 'figure')} in {out}/figures"
    found = {"report": str(written[0]), "files": [str(path) for path in written], "warnings": list(result.warnings)}
    say_done(message, found, as_json=as_json)
