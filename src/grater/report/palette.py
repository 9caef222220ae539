"""The colours of every chart, by the part they play, in light and in dark.

Series are those of Okabe & Ito (2008, "Color universal design"), told apart with any colour vision; their dark
counterparts are lighter tones of the same hues.  No colour is the only cue: series also differ in shape and stand in
a legend.  A chart names colours by their light value; each value stands for one part only, so that a drawn SVG can be
given to a page as CSS variables and follow the reader's light or dark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

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


def variables(theme: Literal["light", "dark"]) -> str:
    """The palette as CSS declarations."""
    return "".join(f"{name}:{DARK[colour] if theme == 'dark' else colour};" for colour, name in VARIABLES.items())


def coloured(svg: str, theme: Theme) -> str:
    """A drawn chart in another theme."""
    for colour, name in VARIABLES.items() if theme != "light" else ():
        svg = svg.replace(colour, DARK[colour] if theme == "dark" else f"var({name})")
    return svg
