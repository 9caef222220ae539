"""`grater check`: feedback on an essay, on a terminal, as JSON or as one small HTML page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.text import Text

from grater.cli.output import messages, print_json
from grater.corpora.guess import DOCUMENTS
from grater.corpora.plain import read_text
from grater.corpora.source import open_source
from grater.detect.detector import Finding
from grater.detect.feedback import DEFAULT_SYSTEMS, Feedback, advice, excerpt, feedback_on, reason, source
from grater.detect.systems import load_systems
from grater.errors import UsageError

app = typer.Typer()

CORPORA = (".ann", ".json", ".jsonl", ".m2", ".sgm", ".sgml", ".xml")
"""Files of essays with marks between their words, which are not the writer's."""


@app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The essay, plain text; '-' is standard input.")],
    system: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="A detector by name, or a model file; may be given several times."),
    ] = [*DEFAULT_SYSTEMS],  # noqa: B006 (typer copies it)
    output: Annotated[
        Literal["text", "json", "html"],
        typer.Option("--show", metavar="text|json|html", help="How to show the feedback."),
    ] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --show json.")] = False,
) -> None:
    """Read an essay and say which prepositions, articles and nouns look wrong, and what would be better."""
    _require_text(file)
    text = open_source(file)
    essay = next(iter(read_text(text.lines(), name=text.name)))
    feedback = feedback_on(essay, load_systems(system), name=text.name)
    if as_json or output == "json":
        print_json(feedback.to_dict())
    elif output == "html":
        sys.stdout.write(feedback.to_html())
    else:
        _print(feedback)


def _require_text(file: Path) -> None:
    """Refuse what would be read as words and is not."""
    suffix = file.suffix.lower()
    if suffix in DOCUMENTS:
        raise UsageError(f"{file}: expected plain text, found a {file.suffix} document; save it as text (.txt) first")
    if suffix in CORPORA:
        decide = f"grater decide {file} --system NAME --out decisions.csv"
        raise UsageError(f"{file}: expected one essay as plain text, found a corpus ({suffix}); use {decide}")


def _print(feedback: Feedback) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for finding in feedback.flags:
        console.print(_flag(feedback, finding, has_colours=bool(console.color_system)))
        why = f"  {reason(finding)} ({source(finding)})"
        console.print(Text(f"      {advice(finding)}", "bold green"), Text(why, "dim"), end="\n\n")
    console.print(Text(feedback.summary, "bold"))
    if feedback.note:
        messages.print(Text(feedback.note, "dim"), soft_wrap=False)


def _flag(feedback: Feedback, finding: Finding, *, has_colours: bool) -> Text:
    """The text around a flag, the flagged words in red; in a file or a pipe, which have no colours, in brackets."""
    around = excerpt(feedback.essay.text, finding.item.span)
    shown = Text(f"{around.line:>4}  ", "dim")
    shown.append(around.before)
    shown.append(around.marked if has_colours else f"[{around.marked}]", "bold red underline")
    shown.append(around.after)
    return shown
