"""Judgments as they came in, and what they cost so far (T,C&M 2013, Table 5: judgments, cost, turn-around)."""

from __future__ import annotations

from collections.abc import Sequence

from grater.report.charts.layers import HEIGHT, WIDTH, data, quantity
from grater.report.figure import Figure
from grater.report.palette import SERIES
from grater.report.words import many


def turnaround(hours: Sequence[float], *, wanted: int | None = None, cost: str = "") -> Figure:
    """`hours` since the first judgment, one entry a judgment, in order; `cost` is ready to be read."""
    rows = [{"hours": hour, "n": place} for place, hour in enumerate(hours, start=1)]
    encoding = {
        "x": quantity("hours", "hours since the first judgment"),
        "y": {**quantity("n", "judgments"), "stack": None},
    }
    mark = {
        "type": "area",
        "interpolate": "step-after",
        "color": SERIES[0],
        "opacity": 0.25,
        "line": {"color": SERIES[0]},
    }
    spec = {**data(_thinned(rows)), "width": WIDTH, "height": HEIGHT - 60, "mark": mark, "encoding": encoding}
    done = (
        f"{many(len(hours), 'judgment')} came in within {hours[-1]:.1f} hours" if hours else "No judgment has a time"
    )
    left = f"; {wanted - len(hours):,} are still wanted" if wanted and wanted > len(hours) else ""
    paid = f", for {cost}" if cost else ""
    return Figure("turnaround", "How quickly judgments came in", f"{done}{paid}{left}.", spec, "T,C&M 2013, Table 5")


def _thinned(rows: list[dict[str, float]], most: int = 2000) -> list[dict[str, float]]:
    step = max(1, len(rows) // most)
    return rows[::step] + (rows[-1:] if step > 1 else [])
