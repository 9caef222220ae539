"""`grater select`: preposition selection in native text, the cloze task (T&C 2008, section 3.2, Table 1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grater.cli.options import Format, Json, Seed
from grater.cli.output import number_table, print_json
from grater.cli.reading import reading
from grater.corpora import format_for, read_corpus
from grater.detect.detector import grouped
from grater.detect.prepositions.detector import PrepositionDetector
from grater.detect.prepositions.selection import Selection, selections, tally_of
from grater.detect.systems import load_system
from grater.errors import UsageError
from grater.model import Essay, Interval
from grater.signature import Signature
from grater.text.analysis import Sentence, analyse_all

app = typer.Typer()

TITLES = {
    "34": "Which of 34 prepositions stood there",
    "gamon": "13 prepositions and Other (Gamon et al. 2008)",
    "felice": "Each of five against the rest (Felice & Pulman 2007)",
}


@app.command()
def select(
    corpus: Annotated[
        Path, typer.Argument(metavar="CORPUS", help="Well-formed text in any format of grater corpus.")
    ],
    system: Annotated[str, typer.Option(metavar="NAME", help="A preposition detector, or a model file.")],
    format_name: Format = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """How often a system finds the preposition that stood there: accuracy, and F for each preposition."""
    detector = load_system(system)
    if not isinstance(detector, PrepositionDetector):
        raise UsageError(
            f"expected a detector of prepositions, found {detector.name}, which looks for {detector.kinds}"
        )
    n_passes = format_for(corpus, format_name).n_passes
    with reading(f"reading {corpus}", corpus, n_passes=n_passes) as advance:
        essays = read_corpus(corpus, format_name=format_name, advance=advance)
        found = selections(tally_of(detector.engine, _sentences(essays)), seed=seed)
    options = {"system": detector.name, "model": str(detector.card.get("hash", "")), "seed": str(seed)}
    signature = str(Signature("select", {**options, "n": str(found[0].n)}))
    if as_json:
        print_json({"system": detector.name, "setups": [each.as_json() for each in found], "signature": signature})
        return
    console = Console(highlight=False)
    for each in found:
        _render(each, console)
    console.print(signature, style="dim", markup=False, soft_wrap=True)


def _sentences(essays: Iterator[Essay]) -> Iterator[Sentence]:
    for group in grouped(essays):
        for sentences in analyse_all(group):
            yield from sentences


def _render(found: Selection, console: Console) -> None:
    table = number_table(TITLES[found.setup], ("preposition", "n", "precision", "recall", "F"))
    for row in found.by_preposition:
        if row.n:
            table.add_row(row.preposition, f"{row.n:,}", *map(_cell, (row.precision, row.recall, row.f1)))
    table.caption_justify = "left"
    table.caption = (
        f"accuracy {_cell(found.accuracy)} on {found.n:,}; always {found.commonest}: {_cell(found.majority)}"
    )
    console.print(table)


def _cell(value: Interval) -> str:
    return (
        value.undefined_because
        if value.undefined_because
        else f"{value.value:.3f} [{value.low:.3f}, {value.high:.3f}]"
    )
