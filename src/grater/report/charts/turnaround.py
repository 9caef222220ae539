"""Judgments as they came in, and what they cost so far (T,C&M 2013, Table 5: judgments, cost, turn-around)."""

from __future__ import annotations

from collections.abc import Sequence

from grater.report.charts.layers import HEIGHT, WIDTH, data, quantity
from grater.report.figure import Figure
from grater.report.palette import SERIES


def turnaround(hours: Sequence[float], *, wanted: int | None = None) -> Figure:
    """`hours` since the first judgment, one entry a judgment, in order."""
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
    half, most = (hours[int(share * (len(hours) - 1))] if hours else 0.0 for share in (0.5, 0.9))
    done = f"Half of the judgments were there after {half:.1f} hours, nine in ten after {most:.1f}"
    left = f"; {wanted - len(hours):,} are still wanted" if wanted and wanted > len(hours) else ""
    return Figure("turnaround", "How quickly judgments came in", f"{done}{left}.", spec, "T,C&M 2013, Table 5")


def _thinned(rows: list[dict[str, float]], most: int = 2000) -> list[dict[str, float]]:
    step = max(1, len(rows) // most)
    return rows[::step] + (rows[-1:] if step > 1 else [])
