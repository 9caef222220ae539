"""`grater select`: preposition selection in native text, the cloze task (T&C 2008, section 3.2, Table 1)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.cli.options import Format, Json, Seed, Table
from grater.cli.output import show
from grater.cli.reading import reading
from grater.corpora import format_for, read_corpus
from grater.detect.prepositions.selection import selection_test
from grater.detect.systems import load_system

app = typer.Typer()


@app.command()
def select(
    corpus: Annotated[
        Path, typer.Argument(metavar="CORPUS", help="Well-formed text in any format of grater corpus.")
    ],
    system: Annotated[str, typer.Option(metavar="NAME", help="A preposition detector, or a model file.")],
    format_name: Format = None,
    seed: Seed = 0,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """How often a system finds the preposition that stood there: accuracy, and F for each preposition."""
    detector = load_system(system)
    n_passes = format_for(corpus, format_name).n_passes
    with reading(f"reading {corpus}", corpus, n_passes=n_passes) as advance:
        essays = read_corpus(corpus, format_name=format_name, advance=advance)
        result = selection_test(detector, essays, seed=seed)
    show(result, table=table, as_json=as_json)
