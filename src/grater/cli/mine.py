"""`grater mine`: find likely errors by counts, for people to look at."""

from __future__ import annotations

import typer

from grater.cli.lazy import LazyGroup

COMMANDS = {
    "extraneous": ("grater.cli.mine_extraneous:app", "Prepositions that look like one too many (Madnani 2011, 2.1)."),
}

app = typer.Typer(cls=LazyGroup.of(COMMANDS), no_args_is_help=True, help="Find likely errors by n-gram counts.")


@app.callback()
def mine() -> None:
    pass
