"""`grater corpus stats`: the corpus study of the NUCLE paper (Dahlmeier, Ng & Wu 2013, section 5) for any corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grater.cli.options import Format, Json, Seed
from grater.cli.output import print_json
from grater.cli.reading import reading_all, tell_left_out
from grater.cli.stats_table import render
from grater.corpora.statistics import corpus_statistics

app = typer.Typer()


@app.command()
def stats(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Corpora, side by side if several.")],
    format_name: Format = None,
    by: Annotated[
        str | None, typer.Option(metavar="FIELD", help="A row for each value of a metadata field, such as language.")
    ] = None,
    merge_alternatives: Annotated[
        bool, typer.Option("--merge-alternatives", help="Several edits by one annotator on one span count once.")
    ] = False,
    split_tags: Annotated[
        bool,
        typer.Option("--split-tags", help="Wcip as preposition or other, Rloc as article or other, by its words."),
    ] = False,
    resamples: Annotated[int, typer.Option(min=1, help="Bootstrap resamples behind each interval.")] = 1000,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Count documents, sentences, tokens, types and edits, by annotator, tag and metadata field."""
    with reading_all(files, format_name) as corpora:
        statistics = corpus_statistics(
            corpora,
            by=by,
            merge_alternatives=merge_alternatives,
            split_tags=split_tags,
            seed=seed,
            resamples=resamples,
        )
    tell_left_out(files, format_name)
    if as_json:
        print_json(statistics.as_json())
    else:
        render(statistics, Console())
