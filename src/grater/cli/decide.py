"""Findings as rows of the tables of decisions and items (docs/tables.md).

The items that a system from outside is to decide on, from a table of items.

`grater decide`: run detectors over a corpus; out comes a table with a decision for every candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from grater.cli.options import Format, Json
from grater.cli.output import print_json, require_outputs, say
from grater.cli.reading import reading, tell_left_out
from grater.corpora import format_for, read_corpus
from grater.detect.detector import Detector, Finding
from grater.detect.systems import load_systems
from grater.errors import Problems, UsageError
from grater.model import Essay, Item, Span
from grater.sheet import counted
from grater.tables import read_items, write_table

AROUND = 80
"""Characters of context on each side of an item."""

DECISION: dict[str, type[pl.DataType]] = {
    "item": pl.String,
    "system": pl.String,
    "flagged": pl.Boolean,
    "score": pl.Float64,
    "type": pl.String,
    "suggestion": pl.String,
}
PLACE: dict[str, type[pl.DataType]] = {"essay": pl.String, "start": pl.Int64, "end": pl.Int64, "kind": pl.String}
ITEM: dict[str, type[pl.DataType]] = {
    "item": pl.String,
    **PLACE,
    "document": pl.String,
    "target": pl.String,
    "context": pl.String,
}


class Rows:
    """Collects the findings of several systems; `with_places` puts the items' places into the decisions.

    `names` are what a table of places calls its items, by their ids.
    """

    def __init__(self, *, with_places: bool, names: Mapping[str, str] | None = None) -> None:
        self.with_places = with_places
        self.names = names or {}
        self._decisions: list[tuple[object, ...]] = []
        self._items: dict[str, tuple[object, ...]] = {}

    def add(self, essays: Iterable[Essay], detector: Detector) -> None:
        """All findings of a detector; essays are let go as soon as they are done with."""
        waiting: dict[str, Essay] = {}
        for finding in detector.find(_kept(essays, waiting)):
            self._add(finding, waiting)

    def _add(self, finding: Finding, waiting: dict[str, Essay]) -> None:
        item, decision = finding.item, finding.decision
        for done in list(_before(waiting, item.essay_id)):
            del waiting[done]
        place = (item.essay_id, item.span.start, item.span.end, item.kind)
        name = self.names.get(item.item_id, item.item_id)
        said = (name, decision.system, decision.flagged, decision.score, decision.type or None)
        self._decisions.append((*said, decision.suggestion, *(place if self.with_places else ())))
        if not self.with_places and name not in self._items:
            essay = waiting[item.essay_id]
            context = essay.text[max(0, item.span.start - AROUND) : item.span.end + AROUND]
            document = essay.metadata.get("document")
            told = (str(document) if document is not None else None, finding.target, " ".join(context.split()))
            self._items[name] = (name, *place, *told)

    def decisions(self) -> pl.DataFrame:
        schema = DECISION | (PLACE if self.with_places else {})
        return pl.DataFrame(self._decisions, schema=schema, orient="row")

    def items(self) -> pl.DataFrame:
        return pl.DataFrame(list(self._items.values()), schema=ITEM, orient="row")


def _kept(essays: Iterable[Essay], waiting: dict[str, Essay]) -> Iterator[Essay]:
    for essay in essays:
        waiting[essay.essay_id] = essay
        yield essay


def _before(waiting: dict[str, Essay], essay_id: str) -> Iterator[str]:
    """The essays that came before one: findings come in the order of essays, so these have no more."""
    for name in waiting:
        if name == essay_id:
            return
        yield name


@dataclass(frozen=True, slots=True)
class Places:
    """Items by essay, and what their table calls them, by id."""

    by_essay: Mapping[str, Sequence[Item]] = field(hash=False)
    names: Mapping[str, str] = field(hash=False)


def read_places(path: Path) -> Places:
    """The items of a table; decisions will name them as the table does."""
    by_essay: dict[str, list[Item]] = {}
    names: dict[str, str] = {}
    problems = Problems(str(path))
    for line, row in enumerate(read_items(path).frame.iter_rows(named=True), 2):
        item = Item(str(row["essay"]), Span(row["start"], row["end"]), str(row["kind"]))
        if item.item_id in names:
            problems.add(
                f"expected one item at a place, found {row['item']!r} where {names[item.item_id]!r} is", line=line
            )
        by_essay.setdefault(item.essay_id, []).append(item)
        names[item.item_id] = str(row["item"])
    problems.done()
    return Places(by_essay, names)


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
