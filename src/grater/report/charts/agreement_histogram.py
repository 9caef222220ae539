"""How often raters agree, and how much: items by the share of their majority (Madnani et al. 2011, figure 1)."""

from __future__ import annotations

from collections.abc import Sequence

from grater.report.charts.layers import HEIGHT, WIDTH, data
from grater.report.figure import Figure
from grater.report.palette import SERIES
from grater.report.words import of, percent


def agreement_histogram(bars: Sequence[tuple[float, float, int]], *, n_split: int, split: float = 0.75) -> Figure:
    """`bars` are low, high, how many; `n_split` items lie below `split`."""
    n_items = sum(n for _, _, n in bars)
    full, _, n_full = bars[-1]
    words = (
        f"On {of(n_full, n_items)} items {100 * full:.0f} % of the raters or more say the same; on "
        f"{of(n_split, n_items)} ({percent(n_split, n_items)}) fewer than {100 * split:g} % do. "
        "On those a score depends on whom one asked."
    )
    rows = [{"low": 100 * low, "high": 100 * high, "n": n} for low, high, n in bars]
    x = {
        "field": "low",
        "bin": {"binned": True},
        "type": "quantitative",
        "title": "raters who side with the majority, %",
        "axis": {"values": [100 * low for low, _, _ in bars] + [100], "format": ".3~g"},
    }
    y = {"field": "n", "type": "quantitative", "title": "items", "scale": {"nice": 5}, "axis": {"tickCount": 5}}
    mark = {"type": "bar", "color": SERIES[0], "binSpacing": 2}
    spec = {
        **data(rows),
        "width": WIDTH,
        "height": HEIGHT,
        "mark": mark,
        "encoding": {"x": x, "x2": {"field": "high"}, "y": y},
    }
    return Figure(
        "agreement-histogram", "How far raters agree on single items", words, spec, "Madnani et al. 2011, figure 1"
    )
