"""The colours of every chart, by the part they play, in light and in dark.

Series are those of Okabe & Ito (2008, "Color universal design"), told apart with any colour vision; their dark
counterparts are lighter tones of the same hues.  No colour is the only cue: points also differ in shape, lines in
their strokes.  A chart names colours by their light value; each value stands for one part only, so that a drawn SVG
can be given to a page as CSS variables and follow the reader's light or dark.

Charts drawn: SVG for pages, SVG, PNG and PDF for files, by vl-convert, without a browser or a network.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from grater.errors import MissingExtra
from grater.report.document import Figure

Theme: TypeAlias = Literal["light", "dark", "page"]

INK, MUTED, GRID, PAPER = "#1c1e21", "#5c6370", "#e3e5e8", "#fffffe"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58400", "#3a9bdc", "#7a5195", "#4d4d4d")

DARK: Mapping[str, str] = {
    INK: "#ececee",
    MUTED: "#a5abb6",
    GRID: "#34383f",
    PAPER: "#16181b",
    **dict(
        zip(
            SERIES,
            ("#4fb3e8", "#ff8f4d", "#38cfa0", "#f0a6cb", "#edc04a", "#8fcaf2", "#b997d6", "#b9b9b9"),
            strict=True,
        )
    ),
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
"""Strokes of lines, so that curves are told apart without colour."""


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
    svg = _converted(json.dumps(_spec(figure)))
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


def _spec(figure: Figure) -> dict[str, Any]:
    described = {"description": f"{figure.title}. {figure.words}"}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        **described,
        **figure.spec,
        "config": CONFIG,
    }


def _numbered(svg: str, name: str) -> str:
    """Ids inside the SVG named after the figure: vl-convert counts them through the life of the process."""
    ids = list(dict.fromkeys(CLIP.findall(svg)))
    for index, old in enumerate(ids):
        svg = svg.replace(f'id="{old}"', f'id="{name}-{index}"').replace(f"url(#{old})", f"url(#{name}-{index})")
    return svg


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtra("figures are drawn by vl-convert: pip install 'grater[report]'") from error
    return vl_convert
