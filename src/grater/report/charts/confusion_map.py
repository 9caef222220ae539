"""Where two raters part: the labels of one against those of the other (T&C 2008, Tables 3 and 5)."""

from __future__ import annotations

from grater.agreement.confusion import Confusion, disagreements, ok_label
from grater.report.charts.layers import data, name_of
from grater.report.figure import Figure, Row
from grater.report.palette import INK, SERIES
from grater.report.words import percent

CELL = 96


def confusion_map(
    table: Confusion, *, name: str = "", about: str = "", source: str = "T&C 2008, Tables 3 and 5"
) -> Figure:
    """A cell is darker the more items it holds; the diagonal is agreement; `about` says of what."""
    first, second = table.raters
    total = int(table.cells.sum())
    rows: list[Row] = [
        {
            "first": one,
            "second": other,
            "n": int(table.cells[i, j]),
            "share": float(table.cells[i, j]) / max(total, 1),
        }
        for i, one in enumerate(table.labels)
        for j, other in enumerate(table.labels)
    ]
    encoding = {
        "x": name_of(
            "second", second, table.labels, axis={"orient": "top", "labelAngle": 0, "domain": False, "ticks": False}
        ),
        "y": name_of("first", first, table.labels, axis={"domain": False, "ticks": False}),
    }
    shade = {
        "field": "share",
        "type": "quantitative",
        "legend": None,
        "scale": {"type": "sqrt", "domain": [0, 1], "range": [0.04, 0.8]},
    }
    cells = {
        "mark": {"type": "rect", "color": SERIES[0], "cornerRadius": 3},
        "encoding": {**encoding, "opacity": shade},
    }
    counts = {
        "mark": {"type": "text", "fontSize": 15, "color": INK},
        "encoding": {**encoding, "text": {"field": "n", "format": ","}},
    }
    side = CELL * len(table.labels)
    spec = {**data(rows), "width": max(side, 220), "height": max(side // 2, 130), "layer": [cells, counts]}
    title = f"{first} against {second}" + (f", {about}" if about else "")
    return Figure(name or _name(first, second), title, _words(table), spec, source)


def _name(first: str, second: str) -> str:
    """A name that every file system takes, whatever raters are called."""
    safe = ("".join(c if c.isalnum() else "-" for c in rater) for rater in (first, second))
    return "-".join(("confusion", *safe))


def _words(table: Confusion) -> str:
    ok = ok_label(table.labels)
    if ok is None:
        same = int(table.cells.diagonal().sum())
        return f"The two say the same of {percent(same, int(table.cells.sum()))} of {int(table.cells.sum()):,} items."
    parts = [
        f"of the {each.n:,} uses that {each.rater} calls errors, {each.other} finds {each.n_ok:,}, "
        f"{percent(each.n_ok, each.n)}, correct"
        for each in disagreements(table, ok=ok)
        if each.n
    ]
    text = "; ".join(parts)
    return (text[:1].upper() + text[1:] + ".") if text else "Neither calls any use an error."
