"""How often raters agree, and how much: items by the share of their majority (Madnani et al. 2011, figure 1)."""

from __future__ import annotations

from collections.abc import Sequence

from grater.report.charts.layers import HEIGHT, WIDTH, data
from grater.report.figure import Figure
from grater.report.palette import SERIES
from grater.report.words import of, percent

FULL = 0.95


def agreement_histogram(bars: Sequence[tuple[float, float, int]], *, n_split: int, split: float = 0.75) -> Figure:
    """`bars` are low, high, how many; `n_split` items lie below `split`."""
    n_items = sum(n for _, _, n in bars)
    n_full = sum(n for low, _, n in bars if low >= FULL - 1e-9)
    words = (
        f"On {of(n_full, n_items)} items nearly all raters say the same; on {of(n_split, n_items)} "
        f"({percent(n_split, n_items)}) fewer than {100 * split:g} % do. "
        "On those a score depends on whom one asked."
    )
    rows = [{"low": 100 * low, "high": 100 * high, "n": n} for low, high, n in bars]
    x = {
        "field": "low",
        "bin": {"binned": True, "step": 5},
        "type": "quantitative",
        "title": "raters who side with the majority, %",
    }
    mark = {"type": "bar", "color": SERIES[0], "binSpacing": 2}
    spec = {
        **data(rows),
        "width": WIDTH,
        "height": HEIGHT,
        "mark": mark,
        "encoding": {"x": x, "x2": {"field": "high"}, "y": {"field": "n", "type": "quantitative", "title": "items"}},
    }
    return Figure(
        "agreement-histogram", "How far raters agree on single items", words, spec, "Madnani et al. 2011, figure 1"
    )
