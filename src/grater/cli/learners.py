"""`grater learners`: the marks of a class, per learner and over time, as tables or a page to print."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.check import Systems
from grater.cli.command import Json, Table, require_different, say, show
from grater.corpora import read_corpus
from grater.detect.learners import DATE, LEARNER, class_report
from grater.detect.systems import default_systems, load_systems
from grater.model import Essay

app = typer.Typer()


@app.command()
def learners(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Essays: text files, one per learner, or any format of grater corpus."
        ),
    ],
    system: Systems = None,
    learner: Annotated[
        str, typer.Option("--learner-field", metavar="FIELD", help="The metadata field with the learner.")
    ] = LEARNER,
    date: Annotated[
        str, typer.Option("--date-field", metavar="FIELD", help="The metadata field with the date.")
    ] = DATE,
    out: Annotated[Path | None, typer.Option(metavar="PAGE", help="Write a printable page, NAME.html.")] = None,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Report on a class: which errors are marked and how many, per learner and over time."""
    require_different([*files, *([out] if out else [])])
    essays = list(_essays(files))
    report = class_report(essays, load_systems(system or default_systems()), learner_field=learner, date_field=date)
    if out:
        out.write_text(report.to_html(), encoding="utf-8")
        say(f"{out}: {report.sheets()[0].title}")
    if as_json or not out:
        show(report, table=table, as_json=as_json)


def _essays(files: list[Path]) -> Iterator[tuple[str, Essay]]:
    """Every essay with its name: that of its file where a file is one essay, else its id."""
    for file in files:
        essays = list(read_corpus(file))
        for essay in essays:
            yield (file.stem if len(essays) == 1 else essay.essay_id), essay
