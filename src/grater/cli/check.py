"""`grater check`: feedback on an essay, on a terminal, as JSON or as one small HTML page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from grater.cli.check_feedback import Feedback, feedback_on
from grater.cli.check_html import page
from grater.cli.check_text import show
from grater.cli.output import print_json
from grater.corpora.guess import DOCUMENTS
from grater.corpora.plain import read_text
from grater.corpora.source import open_source
from grater.detect.systems import load_systems
from grater.errors import UsageError

app = typer.Typer()

DEFAULT_SYSTEMS = ["prep-maxent", "article"]
CORPORA = (".ann", ".json", ".jsonl", ".m2", ".sgm", ".sgml", ".xml")
"""Files of essays with marks between their words, which are not the writer's."""


@app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The essay, plain text; '-' is standard input.")],
    system: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="A detector by name, or a model file; may be given several times."),
    ] = DEFAULT_SYSTEMS,
    output: Annotated[
        Literal["text", "json", "html"],
        typer.Option("--format", metavar="text|json|html", help="How to show the feedback."),
    ] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Read an essay and say which prepositions, articles and nouns look wrong, and what would be better."""
    _require_text(file)
    source = open_source(file)
    essay = next(iter(read_text(source.lines(), name=source.name)))
    feedback = feedback_on(essay, load_systems(system), name=source.name)
    _show(feedback, "json" if as_json else output)


def _require_text(file: Path) -> None:
    """Refuse what would be read as words and is not."""
    suffix = file.suffix.lower()
    if suffix in DOCUMENTS:
        raise UsageError(f"{file}: expected plain text, found a {file.suffix} document; save it as text (.txt) first")
    if suffix in CORPORA:
        decide = f"grater decide {file} --system NAME --out decisions.csv"
        raise UsageError(f"{file}: expected one essay as plain text, found a corpus ({suffix}); use {decide}")


def _show(feedback: Feedback, output: str) -> None:
    if output == "json":
        print_json(feedback.as_json())
    elif output == "html":
        sys.stdout.write(page(feedback))
    else:
        show(feedback)
