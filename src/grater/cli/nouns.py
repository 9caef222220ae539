"""`grater nouns`: the article-number constructions of nouns, and the study of them (Lee et al. 2009)."""

from __future__ import annotations

import typer

from grater.cli.lazy import LazyGroup

COMMANDS = {
    "entropy": ("grater.cli.nouns_entropy:app", "How nouns are constructed in a corpus, and how predictably."),
    "select": ("grater.cli.nouns_select:app", "The items of the paper's study, from a corpus."),
    "agree": ("grater.cli.nouns_agree:app", "What raters of such a study say, and how far they agree."),
}

app = typer.Typer(
    cls=LazyGroup.of(COMMANDS), no_args_is_help=True, help="Article-number constructions of nouns, and their study."
)


@app.callback()
def nouns() -> None:
    pass
