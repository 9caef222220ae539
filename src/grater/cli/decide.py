"""`grater decide`: run detectors over a corpus; out comes a table with a decision for every candidate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from grater.cli.decide_places import read_places
from grater.cli.decide_rows import Rows
from grater.cli.options import Format, Json
from grater.cli.output import counted, print_json, require_outputs, say
from grater.cli.reading import reading, tell_left_out
from grater.corpora import format_for, read_corpus
from grater.detect.systems import load_systems
from grater.errors import UsageError
from grater.tables import write_table

app = typer.Typer()

TYPES = ("choice", "extraneous", "missing")


@app.command()
def decide(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="Essays in any format of grater corpus.")],
    system: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            help="A detector by name, a model file, or one from outside; NEW=NAME renames it.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DECISIONS", help="The table of decisions to write.")],
    items: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write where the items stand here, not into the decisions.")
    ] = None,
    places: Annotated[
        Path | None,
        typer.Option(metavar="ITEMS", help="The items that a system from outside decides on, not prepositions."),
    ] = None,
    format_name: Format = None,
    as_json: Json = False,
) -> None:
    """Write a decision for every place that a detector looks at, flagged or not."""
    require_outputs([out, items], [corpus, places])
    asked = read_places(places) if places else None
    detectors = load_systems(system, places=asked.by_essay if asked else None)
    rows = Rows(with_places=items is None, names=asked.names if asked else {})
    n_passes = format_for(corpus, format_name).n_passes * len(detectors)
    with reading(f"reading {corpus}", corpus, n_passes=n_passes) as advance:
        for detector in detectors:
            rows.add(read_corpus(corpus, format_name=format_name, advance=advance), detector)
    tell_left_out([corpus], format_name)
    decisions = rows.decisions()
    if places and asked:
        _tell_missing(places, len(asked.names) - decisions["item"].n_unique(), len(asked.names), corpus)
    write_table(decisions, out)
    if items:
        write_table(rows.items(), items)
    summary = _summary(decisions)
    if as_json:
        print_json({"decisions": str(out), "systems": summary})
        return
    if not summary:
        say(f"{out}: no decision: no place in {corpus} that {' or '.join(each.name for each in detectors)} looks at")
    for each in summary:
        by_type = ", ".join(f"{each[name]} {name}" for name in TYPES)
        say(f"{out}: {each['system']}: {counted(each['items'], 'item')}, {each['flagged']:,} flagged ({by_type})")


def _tell_missing(places: Path, n_missing: int, n_asked: int, corpus: Path) -> None:
    """Items in essays that are not here are said; a table of nothing else is of another corpus."""
    message = f"{places}: {counted(n_missing, 'item')} in essays that {corpus} does not have"
    if n_missing == n_asked:
        raise UsageError(message)
    if n_missing:
        say(message)


def _summary(decisions: pl.DataFrame) -> list[dict[str, int]]:
    """Counts for each system."""
    return (
        decisions.group_by("system", maintain_order=True)
        .agg(
            pl.len().alias("items"),
            pl.col("flagged").sum(),
            *((pl.col("type") == name).sum().alias(name) for name in TYPES),
        )
        .to_dicts()
    )
