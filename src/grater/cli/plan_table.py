"""Plans on a terminal, in eighty columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grater.sampling.plan import Expected, Panel, Row

WIDTH = 80


def render(
    rows: Sequence[Row], expected: Expected, width: float, console: Console, panel: Panel | None = None
) -> None:
    """Print the ways to evaluate side by side, and what the raters of an item reach together."""
    title = f"To know recall {expected.recall:.2f} within a width of {width:g}, at {expected.error_rate:.1%} errors"
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE, pad_edge=False, padding=(0, 1))
    has_cost = any(row.cost for row in rows)  # without a wage there is nothing to show
    for header in ("method", "items", "flagged", "width", "hours", *(["cost"] if has_cost else []), "note"):
        table.add_column(header, justify="left" if header in ("method", "note") else "right", overflow="fold")
    for row in rows:
        numbers = [f"{row.items:,}", f"{row.flagged:,}", f"{row.width:.3f}", f"{row.hours:,.1f}"]
        cost = [f"{row.cost:,.0f}"] if has_cost else []
        table.add_row(row.method, *numbers, *cost, Text(row.note))
    console.print(table, width=min(WIDTH, console.width))
    if panel:
        console.print(Text(_told(panel, expected)), width=min(WIDTH, console.width))


def _told(panel: Panel, expected: Expected) -> str:
    one, majority = panel.one, panel.majority
    hits, misses = expected.flagged * expected.precision, (1 - expected.flagged) * expected.missed
    judged = (majority.judged(expected.precision), majority.judged(expected.missed))
    seen = expected.flagged * judged[0] / (expected.flagged * judged[0] + (1 - expected.flagged) * judged[1])
    return (
        f"{panel.n} raters an item: one is right on {one.sensitivity:.3f} of errors and {one.specificity:.3f} of "
        f"good items, their majority on {majority.sensitivity:.3f} and {majority.specificity:.3f}. Uncorrected, "
        f"recall {hits / (hits + misses):.3f} would be judged to be {seen:.3f}; gold items correct for it."
    )
