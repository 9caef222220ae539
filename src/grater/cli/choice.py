"""`grater choice`: the writer's word or the system's, where the two differ (T&C 2008, 4.2)."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grater.cli.choice_table import render_choice
from grater.cli.evaluate_options import of_judgments, read_all_decisions
from grater.cli.judgment_options import Columns, DropFlags, DuplicateRows, Merge, MinConfidence, Reading, Status
from grater.cli.options import Json
from grater.cli.output import print_json
from grater.errors import UsageError
from grater.evaluate.selection import EquallyBad, choice, corrected_accuracy, exact_accuracy
from grater.model import Interval
from grater.model import Json as JsonValue
from grater.signature import Signature, digest
from grater.statistics.proportions import wilson
from grater.tables import read_gold

app = typer.Typer()


@app.command()
def choice_study(
    judgments: Annotated[
        list[Path],
        typer.Argument(metavar="JUDGMENTS...", help="Labels writer, system, equally good, equally bad, by rater."),
    ],
    accuracy: Annotated[
        float | None, typer.Option(min=0, max=1, metavar="A", help="The system's accuracy by exact match.")
    ] = None,
    of: Annotated[int | None, typer.Option(min=1, metavar="N", help="On how many items, for its limits.")] = None,
    decisions: Annotated[
        list[Path], typer.Option("--decisions", metavar="FILE", help="The system's words, to work the accuracy out.")
    ] = [],  # noqa: B006
    words: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The writer's words: item, label. With --decisions.")
    ] = None,
    equally_bad: Annotated[
        EquallyBad, typer.Option(help="'equally bad' is left out of shares, or counts for the writer.")
    ] = "drop",
    columns: Columns = [],  # noqa: B006
    merge: Merge = [],  # noqa: B006
    drop_flags: DropFlags = [],  # noqa: B006
    min_confidence: MinConfidence = None,
    status: Status = [],  # noqa: B006
    duplicates: DuplicateRows = "error",
    as_json: Json = False,
) -> None:
    """How often the system's word is equal or better, and what its accuracy comes to: a + s(1 - a)."""
    known = _accuracy(accuracy, of, decisions, words, columns, duplicates)
    judged = Reading(of_judgments(columns), merge, drop_flags, min_confidence, status, duplicates).read(*judgments)
    found = choice(judged, equally_bad=equally_bad)
    shares = {**found.by_rater, "all raters": found.all_raters}
    corrected = {name: corrected_accuracy(known, share) for name, share in shares.items()} if known else {}
    rows = judged.frame.select("item", "rater", "label").sort("item", "rater").iter_rows()
    data = digest(f"{item}|{rater}|{label}" for item, rater, label in rows)
    signature = Signature("choice", {"equally-bad": equally_bad, "level": "0.95", "data": data})
    if as_json:
        extra: dict[str, JsonValue] = {}
        if known:
            by_share = {name.replace(" ", "_"): each.as_json() for name, each in corrected.items()}
            extra = {"accuracy": known.as_json(), "corrected": by_share}
        print_json({**found.as_json(), **extra, "signature": str(signature)})
    else:
        render_choice(found, known, corrected, signature, Console(highlight=False))


def _accuracy(
    accuracy: float | None,
    n: int | None,
    decisions: list[Path],
    words: Path | None,
    columns: list[str],
    duplicates: DuplicateRows,
) -> Interval | None:
    """The accuracy by exact match, as given or worked out; none where nothing is said of it."""
    if bool(decisions) != bool(words) or (decisions and accuracy is not None):
        raise UsageError("expected --accuracy A, or --decisions and --words together, or none of them")
    if decisions and words:
        by_system = exact_accuracy(read_all_decisions(decisions, columns, duplicates), read_gold(words))
        if len(by_system) != 1:
            raise UsageError(f"expected the words of one system in --decisions, found {len(by_system)}")
        return next(iter(by_system.values()))
    if accuracy is None:
        return None
    if n is None:
        return Interval(accuracy, nan, nan, "the number of items is not known: give it with --of")
    return wilson(accuracy * n, n)
