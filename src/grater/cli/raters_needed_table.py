"""Raters needed on a terminal, in eighty columns: the curves as a table, and kappa as a small plot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf, isnan

import polars as pl
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grater.agreement.coefficients import band
from grater.agreement.majorities import WRITER
from grater.agreement.raters_needed import MEAN, Curve, RatersNeeded
from grater.cli.output import print_notes
from grater.model import Interval
from grater.sheet import counted

WIDTH = 80
MOST_POINTS = 30
MOST_PLOTTED = 20
MOST_CURVES = 4
HEIGHT = 10
NONE = "–"


def render(found: RatersNeeded, console: Console) -> None:
    """Print the curves, the plot and the answer."""
    width = min(WIDTH, console.width)
    console.print(curves(found), width=width)
    for line in plot(found):
        console.print(Text(line), width=width, no_wrap=True)
    for line in answer(found):
        console.print(Text(line), width=width, overflow="fold")
    print_notes(console, [str(found.signature)])


def headline(found: RatersNeeded) -> Curve:
    """The curve that is compared with the experts' kappa: with the writer where there is one."""
    names = {curve.against for curve in found.curves}
    return found.curve(WRITER if WRITER in names else MEAN)


def curves(found: RatersNeeded) -> Table:
    """Agreement and kappa of the headline, kappa with the experts beside it."""
    main = headline(found)
    others = [curve for curve in found.curves if curve is not main][:MOST_CURVES]
    headers = ["raters", "items", "agreement", f"kappa, {main.against}", "limits"]
    table = _table(
        f"A crowd of N raters, {counted(found.n_items, 'item')}", [*headers, *(curve.against for curve in others)]
    )
    for place in _shown(len(main.points), MOST_POINTS):
        point = main.points[place]
        kappas = [_number(curve.points[place].kappa.value) for curve in others]
        cells = [f"{point.n_items:,.0f}", _number(point.agreement.value), _number(point.kappa.value)]
        table.add_row(str(point.n_raters), *cells, _brief(point.kappa), *kappas)
    return table


def _shown(n_points: int, most: int) -> list[int]:
    """All places, or at most so many of them spread evenly, first and last always among them."""
    if n_points <= most:
        return list(range(n_points))
    return sorted({round(step * (n_points - 1) / (most - 1)) for step in range(most)})


def plot(found: RatersNeeded) -> Iterator[str]:
    """Kappa against N: a dot for each N, a line of dashes for the experts' kappa."""
    main = headline(found)
    points = [main.points[place] for place in _shown(len(main.points), MOST_PLOTTED)]
    target = found.target.kappa.value
    values = [value for value in (*(point.kappa.value for point in points), target) if not isnan(value)]
    if not values:
        return
    low, high = min(values), max(values)
    heights = {point.n_raters: _height(point.kappa.value, low, high) for point in points}
    line = _height(target, low, high)
    for height in range(HEIGHT, -1, -1):
        value = low + (high - low) * height / HEIGHT
        cells = "".join(_cell(heights[point.n_raters] == height, is_target=line == height) for point in points)
        yield f"{value:8.3f} |{cells}" + ("  experts" if line == height else "")
    yield " " * 9 + "+" + "-" * 3 * len(points)
    yield " " * 10 + "".join(f"{point.n_raters:>3}" for point in points) + "  raters"


def _height(value: float, low: float, high: float) -> int | None:
    if isnan(value):
        return None
    return round((value - low) / (high - low) * HEIGHT) if high > low else 0


def _cell(is_point: bool, *, is_target: bool) -> str:
    return "  o" if is_point else "---" if is_target else "   "


def answer(found: RatersNeeded) -> Iterator[str]:
    """What to tell a colleague."""
    kappa, smallest = found.target.kappa, found.smallest
    pairs = "1 pair" if len(found.target.pairs) == 1 else f"{len(found.target.pairs)} pairs"
    if not isnan(kappa.value):
        yield (
            f"Kappa of {found.target.what}: {kappa.value:.4f}, {_limits(kappa)} (mean of {pairs}; "
            f"{band(kappa.value)})."
        )
    if isnan(smallest.value):
        yield f"No number of raters can be named: {smallest.undefined_because}."
    else:
        yield f"{smallest.value:.0f} raters match the experts (95 % limits {_whole(smallest)})."
        if smallest.undefined_because:
            yield f"Above the upper limit: {smallest.undefined_because}."


def flat(found: RatersNeeded) -> pl.DataFrame:
    """Every number as a row: against, raters, items, left_out, coefficient, value, low, high."""
    rows = [
        (curve.against, point.n_raters, point.n_items, point.n_left_out, name, *_cells(interval))
        for curve in found.curves
        for point in curve.points
        for name, interval in (("agreement", point.agreement), ("kappa", point.kappa))
    ]
    names = ["against", "raters", "items", "left_out", "coefficient", "value", "low", "high"]
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)


def _cells(interval: Interval) -> list[float | None]:
    return [None if isnan(each) else each for each in (interval.value, interval.low, interval.high)]


def _number(value: float) -> str:
    return NONE if isnan(value) else f"{value:.4f}"


def _limits(interval: Interval) -> str:
    return NONE if isnan(interval.low) else f"{interval.low:.4f} to {interval.high:.4f}"


def _brief(interval: Interval) -> str:
    return NONE if isnan(interval.low) else f"{interval.low:.3f}–{interval.high:.3f}"


def _whole(interval: Interval) -> str:
    if isnan(interval.low):
        return "unknown"
    high = "more than there are" if interval.high == inf else f"{interval.high:.0f}"
    return f"{interval.low:.0f} to {high}"


def _table(title: str, headers: Iterable[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE, pad_edge=False, padding=(0, 1))
    for header in headers:
        table.add_column(Text(header), justify="right", overflow="fold")
    return table
