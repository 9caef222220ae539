"""How every chart looks and is drawn: its colours, the pieces that charts share, and the way into files.

Colours go by the part they play, in light and in dark.  Series are those of Okabe & Ito (2008, "Color universal
design"), which any colour vision can distinguish; their dark counterparts are lighter tones.  No colour is
the only cue: points also differ in shape, lines in their strokes.  A chart names colours by their light value; each
value stands for one part only, so that a drawn SVG can be given to a page as CSS variables and follow the reader's
light or dark.

Shared pieces are rows of intervals, encodings of shares and series, bands, whiskers and points.  Charts are drawn by
vl-convert, without a browser or a network: SVG for pages; SVG, PNG and PDF for files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from grater.errors import MissingExtra
from grater.model import Interval
from grater.reporting.document import Figure, Row
from grater.result import encode

Theme: TypeAlias = Literal["light", "dark", "page"]

INK, MUTED, GRID, PAPER = "#1c1e21", "#5c6370", "#e3e5e8", "#fffffe"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58400", "#3a9bdc", "#7a5195", "#4d4d4d")
DARK_SERIES = ("#4fb3e8", "#ff8f4d", "#38cfa0", "#f0a6cb", "#edc04a", "#8fcaf2", "#b997d6", "#b9b9b9")

DARK: Mapping[str, str] = {
    INK: "#ececee",
    MUTED: "#a5abb6",
    GRID: "#34383f",
    PAPER: "#16181b",
    **dict(zip(SERIES, DARK_SERIES, strict=True)),
}

VARIABLES: Mapping[str, str] = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--grid",
    PAPER: "--paper",
    **{colour: f"--series-{number}" for number, colour in enumerate(SERIES, start=1)},
}

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "stroke")
DASHES = ([1, 0], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [12, 5], [2, 2, 6, 2], [1, 5])
"""Strokes of lines, so that curves differ without colour."""


def variables(theme: Literal["light", "dark"]) -> str:
    """The palette as CSS declarations."""
    return "".join(f"{name}:{DARK[colour] if theme == 'dark' else colour};" for colour, name in VARIABLES.items())


def coloured(svg: str, theme: Theme) -> str:
    """A drawn chart in another theme."""
    for colour, name in VARIABLES.items() if theme != "light" else ():
        svg = svg.replace(colour, DARK[colour] if theme == "dark" else f"var({name})")
    return svg


FileType: TypeAlias = Literal["svg", "png", "pdf"]
FILE_TYPES: tuple[FileType, ...] = ("svg", "png", "pdf")
FONT = "Inter, 'Source Sans 3', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
PIXELS = 2.0
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
CLIP = re.compile(r'id="((?:clip|gradient)_?\d+)"')

CONFIG: dict[str, Any] = {
    "background": PAPER,
    "font": FONT,
    "padding": 6,
    "view": {"stroke": None},
    "range": {"category": list(SERIES)},
    "axis": {
        "domainColor": MUTED,
        "gridColor": GRID,
        "tickColor": MUTED,
        "labelColor": MUTED,
        "titleColor": INK,
        "labelFontSize": 12,
        "titleFontSize": 13,
        "titleFontWeight": 500,
        "titlePadding": 10,
        "labelPadding": 6,
    },
    "axisX": {"grid": False, "labelFlush": False},
    "axisY": {"domain": False, "ticks": False},
    "legend": {
        "labelColor": INK,
        "titleColor": MUTED,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": 500,
        "orient": "top",
        "symbolSize": 110,
        "labelLimit": 260,
        "direction": "horizontal",
    },
    "header": {"labelColor": INK, "titleColor": MUTED, "labelFontSize": 13, "labelFontWeight": 600},
    "text": {"color": INK, "fontSize": 12},
    "title": {"color": INK, "anchor": "start"},
    "line": {"strokeWidth": 2.5},
    "point": {"size": 80, "filled": True},
}


def as_svg(figure: Figure, *, theme: Theme = "light") -> str:
    """A chart as SVG; for a page its colours are CSS variables, otherwise it has the paper's own ground."""
    described = {"$schema": SCHEMA, "description": f"{figure.title}. {figure.words}"}
    svg = _converted(json.dumps({**described, **figure.spec, "config": CONFIG}))
    if theme == "page":
        svg = GROUND.sub("", svg, count=1)
    return coloured(_numbered(svg, figure.name), theme)


GROUND = re.compile(rf'<rect width="[^"]*" height="[^"]*" fill="{PAPER}"/>')


@lru_cache(maxsize=32)
def _converted(spec: str) -> str:
    """Remembered for a while: a report shows each of its charts on its page and keeps it in a file."""
    svg: str = _converter().vegalite_to_svg(spec)
    return svg


def as_bytes(figure: Figure, file_type: FileType) -> bytes:
    """A chart as the contents of a file."""
    convert = _converter()
    if file_type == "svg":
        return as_svg(figure).encode()
    if file_type == "png":
        png: bytes = convert.svg_to_png(as_svg(figure), scale=PIXELS)
        return png
    pdf: bytes = convert.svg_to_pdf(as_svg(figure))
    return pdf


def _numbered(svg: str, name: str) -> str:
    """Ids inside the SVG named after the figure: vl-convert counts them through the life of the process."""
    for index, old in enumerate(dict.fromkeys(CLIP.findall(svg))):
        svg = svg.replace(f'id="{old}"', f'id="{name}-{index}"').replace(f"url(#{old})", f"url(#{name}-{index})")
    return svg


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtra("figures are drawn by vl-convert: pip install 'grater[report]'") from error
    return vl_convert


WIDTH, HEIGHT = 640, 300


def interval_columns(interval: Interval) -> dict[str, float]:
    """An interval as the columns `value`, `low` and `high`."""
    return {"value": interval.value, "low": interval.low, "high": interval.high}


def data(rows: Sequence[Row]) -> dict[str, Any]:
    """The rows of a figure; a number that is withheld is nothing, so that it is not drawn."""
    return {"data": {"values": [encode(row) for row in rows]}}


def number_axis(
    field: str, title: str, *, domain: tuple[float, float] | None = None, share: bool = False
) -> dict[str, Any]:
    """An axis of numbers; a share is shown in hundredths, from 0 to 1."""
    scale: dict[str, Any] = {"zero": share, "nice": not share}
    if domain or share:
        scale["domain"] = list(domain or (0, 1))
    axis = {"format": ".1f" if share else ",.9~g", "tickCount": 5}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def fixed_axis(field: str, title: str, domain: tuple[float, float]) -> dict[str, Any]:
    """An axis of numbers with exactly these ends, so that the place of each point is known."""
    axis = number_axis(field, title, domain=domain)
    return {**axis, "scale": {**axis["scale"], "nice": False}}


def names_axis(field: str, title: str | None, order: Sequence[str], **more: Any) -> dict[str, Any]:
    """An axis of names, in this order."""
    return {"field": field, "type": "nominal", "title": title, "sort": list(order), **more}


def series(field: str, names: Sequence[str]) -> dict[str, Any]:
    """Colour, shape and stroke for each name; beyond eight all begin again, and labels tell them apart.

    Colour alone tells nothing in grey print: points differ in shape, lines in their strokes.  The legend has the
    shapes, so a line needs points on it.
    """
    legend = None if len(names) < 2 else {"title": None, "columns": 4, "symbolOpacity": 1, "symbolDash": [1, 0]}
    looks: dict[str, Sequence[Any]] = {"color": SERIES, "shape": SHAPES, "strokeDash": DASHES}
    return {
        channel: {
            "field": field,
            "type": "nominal",
            "scale": {"domain": list(names), "range": [look[index % len(look)] for index in range(len(names))]},
            "legend": None if channel == "strokeDash" else legend,
        }
        for channel, look in looks.items()
    }


def whiskers(encoding: Row, *, across: str = "y") -> dict[str, Any]:
    """The intervals of points as lines along `across`."""
    ends = {across: {**encoding[across], "field": "low"}, f"{across}2": {"field": "high"}}
    kept = {name: value for name, value in encoding.items() if name not in (across, "shape", "strokeDash")}
    return {"mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.75}, "encoding": {**kept, **ends}}


def points(encoding: Row, *, size: int = 90) -> dict[str, Any]:
    mark = {"type": "point", "filled": True, "size": size, "opacity": 1}
    return {"mark": mark, "encoding": _without_strokes(encoding)}


def _without_strokes(encoding: Row) -> dict[str, Any]:
    return {name: value for name, value in encoding.items() if name != "strokeDash"}


def interval_band(encoding: Row) -> dict[str, Any]:
    """The intervals of a line as a tinted area."""
    ends = {"y": {**encoding["y"], "field": "low"}, "y2": {"field": "high"}}
    kept = {name: value for name, value in encoding.items() if name not in ("y", "shape", "order", "strokeDash")}
    return {"mark": {"type": "area", "opacity": 0.12, "line": False}, "encoding": {**kept, **ends}}


def line(encoding: Row, **mark: Any) -> dict[str, Any]:
    kept = {name: value for name, value in encoding.items() if name != "shape"}
    return {"mark": {"type": "line", **mark}, "encoding": kept}


def rule(axis: str, value: float, text: str, *, before: bool = False) -> list[dict[str, Any]]:
    """A line across the chart at a value, with its name at its end: above or right of it, or else `before` it."""
    position = {axis: {"datum": value}}
    if axis == "y":
        corner: dict[str, Any] = {"x": {"value": WIDTH - 4}}
        words = {"type": "text", "align": "right", "dy": 13 if before else -9, "text": text}
    else:
        corner = {"y": {"value": "height"}}
        align, dx = ("right", -6) if before else ("left", 6)
        words = {"type": "text", "align": align, "dx": dx, "dy": -9, "text": text}
    mark = {"type": "rule", "strokeDash": [5, 4], "color": INK, "opacity": 0.7}
    return [
        {"data": {"values": [{}]}, "mark": mark, "encoding": position},
        {"data": {"values": [{}]}, "mark": {**words, "color": INK}, "encoding": {**position, **corner}},
    ]


def ringed_points(encoding: Row) -> dict[str, Any]:
    """Large points with a ring of paper around them, for what must be seen at once."""
    mark = {"type": "point", "filled": True, "size": 190, "opacity": 1, "stroke": PAPER, "strokeWidth": 2}
    return {"mark": mark, "encoding": _without_strokes(encoding)}


Box = tuple[float, float, float, float]
"""Left, top, right and bottom of something drawn, in pixels."""

NAME_SIZE, A_LETTER, A_LINE, A_DOT = 11, 6.4, 13.0, 6.0
SIDES: dict[str, dict[str, Any]] = {
    "above": {"dy": -13, "align": "center"},
    "below": {"dy": 14, "align": "center"},
    "right": {"dx": 10, "align": "left"},
    "left": {"dx": -10, "align": "right"},
}


def forest(rows: Sequence[Row], title: str, *more: dict[str, Any], share: bool = False) -> dict[str, Any]:
    """The score of each `system` as a point with its interval, below the letters of its `group`."""
    names = [row["system"] for row in rows]
    encoding = {
        "y": names_axis("system", None, names, axis={"labelFontSize": 13, "labelLimit": 220}),
        "x": number_axis("value", title, share=share),
        **series("system", names),
    }
    for channel in ("color", "shape"):
        encoding[channel] = {**encoding[channel], "legend": None}
    letter = {
        "mark": {"type": "text", "dy": -13, "fontWeight": 600, "color": INK},
        "encoding": {"y": encoding["y"], "x": encoding["x"], "text": {"field": "group"}},
    }
    layer = [whiskers(encoding, across="x"), points(encoding, size=120), letter, *more]
    return {**data(rows), "width": WIDTH, "height": max(120, 46 * len(rows)), "layer": layer}


def point_names(
    encoding: Row,
    places: Mapping[str, tuple[float, float]],
    *,
    across: tuple[float, float],
    up: tuple[float, float],
    most: int,
) -> list[dict[str, Any]]:
    """Names of points next to them, the first first; a name that would lie on a point or another name is left out.

    `across` and `up` are the ends of axes of `fixed_axis`.
    """
    where = {name: (_share(x, across) * WIDTH, (1 - _share(y, up)) * HEIGHT) for name, (x, y) in places.items()}
    taken = [(x - A_DOT, y - A_DOT, x + A_DOT, y + A_DOT) for x, y in where.values()]
    rows: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
    for name, (x, y) in where.items():
        side = next((side for side in SIDES if _is_free(_name_box(name, x, y, side), taken)), None)
        if side is None or sum(map(len, rows.values())) == most:
            continue
        taken.append(_name_box(name, x, y, side))
        rows[side].append({"name": name, encoding["x"]["field"]: places[name][0], "value": places[name][1]})
    look = {"type": "text", "fontSize": NAME_SIZE, "color": INK, "baseline": "middle"}
    position = {"x": encoding["x"], "y": {**encoding["y"], "field": "value"}, "text": {"field": "name"}}
    return [
        {**data(named), "mark": {**look, **SIDES[side]}, "encoding": position}
        for side, named in rows.items()
        if named
    ]


def _share(value: float, ends: tuple[float, float]) -> float:
    return (value - ends[0]) / (ends[1] - ends[0])


def _name_box(name: str, x: float, y: float, side: str) -> Box:
    width = A_LETTER * len(name)
    x, y = x + SIDES[side].get("dx", 0), y + SIDES[side].get("dy", 0)
    left = {"center": x - width / 2, "left": x, "right": x - width}[SIDES[side]["align"]]
    return left, y - A_LINE / 2, left + width, y + A_LINE / 2


def _is_free(box: Box, taken: Sequence[Box]) -> bool:
    left, top, right, bottom = box
    if left < 0 or right > WIDTH or top < -A_LINE or bottom > HEIGHT:  # a line may stand above the frame
        return False
    return not any(left < other[2] and right > other[0] and top < other[3] and bottom > other[1] for other in taken)
