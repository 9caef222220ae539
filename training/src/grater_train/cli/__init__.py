"""The command line: `grater-train MODEL ...`, one module per kind of model; what it makes is one file with a card."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import typer

from grater.cli import OneValue, run
from grater.cli.command import made_of
from grater_train import __version__
from grater_train.cli import articles, context, events, lm, prepositions, tagger

app = typer.Typer(
    name="grater-train",
    help="grater-train: make the models that grater's detectors use, from text.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)

EXAMPLES: Mapping[Callable[..., object], str] = {
    tagger.tagger: "treebank.conllu --out tagger.model",
    prepositions.prepositions: "news.txt.gz --out prepositions.model",
    articles.articles: "news.txt --out articles.model",
    lm.lm: "news.txt.gz --order 4 --out lm.model",
    context.context: "news.txt.gz --folder run --out context.model --device cuda",
    prepositions.combination: "news.txt.gz --system prep-maxent --system prep-lm --out both.model",
    events.events: "news.txt.gz --kind article --out events",
}
for command, example in EXAMPLES.items():
    name = command.__name__
    made = made_of(command) if hasattr(command, "is_described") else command
    app.command(name, cls=OneValue, epilog=f"Example: grater-train {name} {example}")(made)


@app.callback(invoke_without_command=True)
def version(
    shown: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
) -> None:
    if shown:
        typer.echo(f"grater-train {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line and leave with its exit status: 0 done, 2 wrong use or bad input."""
    sys.exit(run(sys.argv[1:], app))
