"""The choice study on a terminal, in eighty columns."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from grater.cli.evaluate_table import limits, number, print_table
from grater.cli.output import number_table, print_notes
from grater.evaluate.selection import Choice
from grater.model import Interval
from grater.signature import Signature


def render_choice(
    found: Choice,
    accuracy: Interval | None,
    corrected: Mapping[str, Interval],
    signature: Signature,
    console: Console,
) -> None:
    """The share in which the system's word is equal or better, and the corrected accuracy beside it."""
    more = ["corrected accuracy", "95 % limits"] if corrected else []
    table = number_table("System's word equal or better", ["", "share", "95 % limits", *more])
    for name, share in {**found.by_rater, "all raters": found.all_raters}.items():
        extra = [number(corrected[name].value), limits(corrected[name])] if corrected else []
        table.add_row(Text(name), number(share.value), limits(share), *extra)
    notes = [f"{found.n_items:,} items; {found.n_equally_bad:,} judgments say equally bad."]
    if accuracy:
        notes.append(f"accuracy by exact match {number(accuracy.value)}, limits {limits(accuracy)}")
    print_table(console, table)
    print_notes(console, [*notes, str(signature)])
