"""`grater train`: make a model from text; each is one file with a card inside."""

from __future__ import annotations

import typer

from grater.cli.lazy import LazyGroup

COMMANDS = {
    "tagger": ("grater.cli.train_tagger:app", "The part-of-speech tagger, from CoNLL-U files."),
    "prepositions": ("grater.cli.train_prepositions:app", "A preposition detector, from well-formed text."),
    "articles": ("grater.cli.train_articles:app", "A detector of article and number errors, from well-formed text."),
    "lm": ("grater.cli.train_lm:app", "The language model of prep-lm, from well-formed text."),
    "combination": ("grater.cli.train_combination:app", "Several preposition detectors as one, as in prep-both."),
}

app = typer.Typer(cls=LazyGroup.of(COMMANDS), no_args_is_help=True, help="Make models from text.")


@app.callback()
def train() -> None:
    pass
