"""Charts drawn: SVG for pages, SVG, PNG and PDF for files, by vl-convert, without a browser or a network."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

from grater.errors import MissingExtra
from grater.report.figure import Figure
from grater.report.palette import GRID, INK, MUTED, PAPER, SERIES, Theme, coloured

FileType: TypeAlias = Literal["svg", "png", "pdf"]
FILE_TYPES: tuple[FileType, ...] = ("svg", "png", "pdf")
FONT = "Inter, 'Source Sans 3', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
PIXELS = 2.0
CLIP = re.compile(r'id="((?:clip|gradient)_?\d+)"')

CONFIG: dict[str, Any] = {
    "background": None,
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
    convert = _converter()
    svg: str = convert.vegalite_to_svg(_spec(figure, ground=theme != "page"))
    return coloured(_numbered(svg, figure.name), theme)


def as_bytes(figure: Figure, file_type: FileType) -> bytes:
    """A chart as the contents of a file."""
    convert = _converter()
    if file_type == "svg":
        return as_svg(figure).encode()
    if file_type == "png":
        png: bytes = convert.vegalite_to_png(_spec(figure, ground=True), scale=PIXELS)
        return png
    pdf: bytes = convert.vegalite_to_pdf(_spec(figure, ground=True))
    return pdf


def _spec(figure: Figure, *, ground: bool) -> dict[str, Any]:
    config = {**CONFIG, "background": PAPER if ground else None}
    described = {"description": f"{figure.title}. {figure.words}"}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        **described,
        **figure.spec,
        "config": config,
    }


def _numbered(svg: str, name: str) -> str:
    """Ids inside the SVG named after the figure: vl-convert counts them through the life of the process."""
    ids = list(dict.fromkeys(CLIP.findall(svg)))
    for place, old in enumerate(ids):
        svg = svg.replace(f'id="{old}"', f'id="{name}-{place}"').replace(f"url(#{old})", f"url(#{name}-{place})")
    return svg


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtra("figures are drawn by vl-convert: pip install 'grater[report]'") from error
    return vl_convert
