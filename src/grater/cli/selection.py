"""`grater cloze`: who fills blanks alike; `grater choice`: the writer's word or the system's (T&C 2008, 4)."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.command import Json, Seed, Table, show
from grater.cli.inputs import Reading, takes_reading
from grater.errors import UsageError
from grater.evaluate.selection import WRITER, EquallyBad, choice_study, cloze_study, exact_accuracy
from grater.model import Interval
from grater.statistics.proportions import wilson
from grater.tables import read_gold

cloze_app = typer.Typer()
choice_app = typer.Typer()


@cloze_app.command()
@takes_reading
def fill_blanks(
    judgments: Annotated[list[Path], typer.Argument(metavar="JUDGMENTS...", help="The words that people filled in.")],
    decisions: Annotated[
        list[Path], typer.Option("--decisions", metavar="FILE", help="Systems' words, in 'suggestion'; repeatable.")
    ] = [],  # noqa: B006
    writer: Annotated[str, typer.Option(metavar="NAME", help="The rater whose words are the writer's own.")] = WRITER,
    *,
    reading: Reading,
    seed: Seed = 0,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Agreement and kappa of the writer with each rater and each system, and of raters with each other."""
    decided = reading.read_decisions(*decisions) if decisions else None
    study = cloze_study(reading.read_beside_decisions(*judgments), decisions=decided, writer=writer, seed=seed)
    show(study, table=table, as_json=as_json)


@choice_app.command()
@takes_reading
def choose_word(
    judgments: Annotated[
        list[Path],
        typer.Argument(metavar="JUDGMENTS...", help="Labels writer, system, equally good, equally bad, by rater."),
    ],
    accuracy: Annotated[
        float | None, typer.Option(min=0, max=1, metavar="A", help="The system's accuracy by exact match.")
    ] = None,
    of: Annotated[
        int | None, typer.Option("--n-items", min=1, metavar="N", help="The number of items, for its interval.")
    ] = None,
    decisions: Annotated[
        list[Path], typer.Option("--decisions", metavar="FILE", help="The system's words, to work the accuracy out.")
    ] = [],  # noqa: B006
    words: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The writer's words: item, label. With --decisions.")
    ] = None,
    equally_bad: Annotated[
        EquallyBad, typer.Option(help="'equally bad' is left out of shares, or counts for the writer.")
    ] = "drop",
    *,
    reading: Reading,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """How often the system's word is equal or better, and what its accuracy comes to: a + s(1 - a)."""
    known = _accuracy(accuracy, of, decisions, words, reading)
    study = choice_study(reading.read_beside_decisions(*judgments), accuracy=known, equally_bad=equally_bad)
    show(study, table=table, as_json=as_json)


def _accuracy(
    accuracy: float | None,
    n: int | None,
    decisions: list[Path],
    words: Path | None,
    reading: Reading,
) -> Interval | None:
    """The accuracy by exact match, as given or worked out; none where nothing is said of it."""
    if bool(decisions) != bool(words) or (decisions and accuracy is not None):
        raise UsageError("expected --accuracy A, or --decisions and --words together, or none of them")
    if decisions and words:
        by_system = exact_accuracy(reading.read_decisions(*decisions), read_gold(words))
        if len(by_system) != 1:
            raise UsageError(f"expected the words of one system in --decisions, found {len(by_system)}")
        return next(iter(by_system.values()))
    if accuracy is None:
        return None
    if n is None:
        return Interval(accuracy, nan, nan, "the number of items is not known: give it with --n-items")
    return wilson(accuracy * n, n)
