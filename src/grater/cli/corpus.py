"""`grater corpus`: count, convert and check annotated corpora, and turn their edits into judgments."""

from __future__ import annotations

import typer

from grater.cli.lazy import LazyGroup

COMMANDS = {
    "stats": ("grater.cli.corpus_stats:app", "Documents, sentences, tokens, edits, tags (NUCLE, Table 5)."),
    "convert": ("grater.cli.corpus_convert:app", "From one format to another, naming what cannot be held."),
    "check": ("grater.cli.corpus_check:app", "Every defect with its line; exit status 1 if there is any."),
    "judgments": ("grater.cli.corpus_judgments:app", "Annotators' edits as judgments of items."),
}

app = typer.Typer(
    cls=LazyGroup.of(COMMANDS),
    no_args_is_help=True,
    help="Read, write, check and count annotated corpora in every format.",
)


@app.callback()
def corpus() -> None:
    pass
