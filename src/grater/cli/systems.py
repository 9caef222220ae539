"""`grater systems`, `decide` and `select`: the installed detectors, and detectors run over text.

`decide` writes a table with a decision for every candidate; `select` measures preposition selection in native text,
the cloze task (T&C 2008, section 3.2, Table 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.command import (
    Format,
    Json,
    Precision,
    Seed,
    Table,
    print_json,
    require_different,
    require_outputs,
    say,
    show,
)
from grater.cli.inputs import reading, tell_left_out
from grater.corpora import format_for, read_corpus, write_corpus
from grater.corpora.formats import ignore_loss
from grater.detect.corrections import corrected_essays
from grater.detect.decisions import TYPES, DecisionRows, read_item_places, summary
from grater.detect.prepositions.selection import selection_test
from grater.detect.systems import at_precision, load_system, load_systems, system_cards
from grater.errors import UsageError
from grater.files import require_place
from grater.sheet import counted
from grater.tables import write_table

app = typer.Typer()

OUTSIDE = ("harper", "languagetool:URL", "corrected:FILE", "edits:FILE", "command:LINE")
"""Systems that grater did not write (docs/howto/bring-your-own-detector.md)."""

decide_app = typer.Typer()

select_app = typer.Typer()


@app.command()
def systems(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]", help="Systems or model files to show; all without a name.")
    ] = None,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Show the detectors by name: what they look for, and what they were made of."""
    show(system_cards(names or ()), table=table, as_json=as_json)
    if not names and not as_json:
        say(f"from outside, where a NAME is expected: {', '.join(OUTSIDE)}")


@decide_app.command()
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
        Path | None,
        typer.Option("--items-out", metavar="FILE", help="Write where the items stand here, not into the decisions."),
    ] = None,
    places: Annotated[
        Path | None,
        typer.Option(metavar="ITEMS", help="The items that a system from outside decides on, not prepositions."),
    ] = None,
    corrections: Annotated[
        Path | None,
        typer.Option(metavar="CORPUS", help="Also write the essays with what the system would change, as in out.m2."),
    ] = None,
    with_answers: Annotated[
        bool,
        typer.Option("--all", help="Also its best word for every place, and the next ones with probabilities."),
    ] = False,
    precision: Precision = None,
    format_name: Format = None,
    as_json: Json = False,
) -> None:
    """Write a decision for every place that a detector looks at, flagged or not."""
    require_outputs([out, items], [corpus, places])
    if corrections:
        _require_one_corrector(corrections, system, [corpus, out])
    asked = read_item_places(places) if places else None
    detectors = at_precision(load_systems(system, places=asked.by_essay if asked else None), precision)
    names = asked.names if asked else {}
    rows = DecisionRows(with_places=items is None, names=names, with_answers=with_answers)
    n_passes = format_for(corpus, format_name).n_passes * len(detectors)
    with reading(f"reading {corpus}", corpus, n_passes=n_passes) as advance:
        for detector in detectors:
            rows.add(read_corpus(corpus, format_name=format_name, advance=advance), detector)
    tell_left_out([corpus], format_name)
    decisions = rows.decisions()
    if places and asked:
        _say_missing(places, len(asked.names) - decisions["item"].n_unique(), len(asked.names), corpus)
    write_table(decisions, out)
    if items:
        write_table(rows.items(), items)
    if corrections:
        essays = corrected_essays(detectors[0], read_corpus(corpus, format_name=format_name))
        write_corpus(essays, corrections, ignore_loss)
    systems = summary(decisions)
    if as_json:
        print_json({"decisions": str(out), "systems": systems})
        return
    if not systems:
        detector_names = " or ".join(detector.name for detector in detectors)
        say(f"{out}: no decision: no place in {corpus} that {detector_names} looks at")
    for counts in systems:
        by_type = ", ".join(f"{counts[name]} {name}" for name in TYPES)
        n_items, n_flagged = counted(counts["items"], "item"), f"{counts['flagged']:,} flagged"
        say(f"{out}: {counts['system']}: {n_items}, {n_flagged} ({by_type})")


def _require_one_corrector(corrections: Path, systems: Sequence[str], others: Sequence[Path]) -> None:
    if len(systems) != 1:
        raise UsageError(f"expected one system whose corrections go to {corrections}, found {len(systems)}")
    require_different([*others, corrections])
    require_place(corrections)


def _say_missing(places: Path, n_missing: int, n_asked: int, corpus: Path) -> None:
    """Report items in essays that the corpus does not have; if there are no others it is another corpus."""
    message = f"{places}: {counted(n_missing, 'item')} in essays that {corpus} does not have"
    if n_missing == n_asked:
        raise UsageError(message)
    if n_missing:
        say(message)


@select_app.command()
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
