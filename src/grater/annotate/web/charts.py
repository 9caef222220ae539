"""Charts of pages: judgments over time and narrowing intervals as SVG text; squares for pairs.

Plain shapes with classes, coloured by the style sheet, each chart with its numbers in words.  There are no style
attributes: the content policy forbids them.  Series differ in the pattern of their line as well as in colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log

from markupsafe import Markup

from grater.annotate.dashboard import Confusion, PairShare
from grater.annotate.store.transaction import as_iso
from grater.model import Interval
from grater.sheet import counted
from grater.sheet import interval as in_words

WIDTH, HEIGHT = 480, 230


def _svg(drawn: Sequence[Markup], *, height: float, title: str, words: str) -> Markup:
    head = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">')
    return head.format(WIDTH, height, f"{title}. {words}") + Markup("").join(drawn) + Markup("</svg>")


def _text(x: float, y: float, words: object, anchor: str = "") -> Markup:
    placed = Markup(' text-anchor="{}"').format(anchor) if anchor else ""
    return Markup('<text x="{:.1f}" y="{:.1f}"{}>{}</text>').format(x, y, placed, words)


CURVE_HEIGHT, MARGIN, MOST_POINTS = 180, 34, 200


def time_chart(moments: Sequence[int]) -> Markup:
    """Judgments over time, cumulative: a line from the first to the last."""
    times = sorted(moments)
    if len(times) < 2:
        return Markup("")
    step = max(1, len(times) // MOST_POINTS)
    wide, high, floor = WIDTH - 2 * MARGIN, CURVE_HEIGHT - MARGIN - 22, CURVE_HEIGHT - MARGIN
    placed = [
        (MARGIN + (at - times[0]) / ((times[-1] - times[0]) or 1) * wide, floor - n / len(times) * high)
        for n, at in enumerate(times, 1)
        if n % step == 0 or n in (1, len(times))
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
    under = f"{placed[0][0]:.1f},{floor} {line} {placed[-1][0]:.1f},{floor}"
    first, last = (as_iso(at)[:16].replace("T", " ") for at in (times[0], times[-1]))
    top = counted(len(times), "judgment")
    drawn = [
        Markup('<polygon class="below" points="{}"/><polyline class="curve" points="{}"/>').format(under, line),
        Markup('<line class="axis" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>').format(MARGIN, WIDTH - MARGIN, floor),
        _text(MARGIN, CURVE_HEIGHT - 10, first),
        _text(WIDTH - MARGIN, CURVE_HEIGHT - 10, last, "end"),
        _text(MARGIN, 14, top),
    ]
    words = f"From {first} to {last}: {top}"
    return _svg(drawn, height=CURVE_HEIGHT, title="Judgments over time", words=words)


# The dashboard: intervals over the number of judgments

LEFT, RIGHT, TOP, BOTTOM = 38, 162, 14, 30
MOST_SERIES = 6
GRID_LINE = Markup(
    '<line class="grid-line" x1="{}" x2="{}" y1="{y:.1f}" y2="{y:.1f}"/><text x="2" y="{t:.1f}">{}</text>'
)


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    points: tuple[tuple[int, Interval], ...]

    @property
    def drawn(self) -> list[tuple[int, Interval]]:
        return [(n, interval) for n, interval in self.points if isfinite(interval.value)]


def narrowing(series: Sequence[Series], *, title: str) -> Markup:
    """Lines with their intervals from 0 to 1; numbers of judged items double from tick to tick."""
    shown = [one for one in series if one.drawn][:MOST_SERIES]
    if not shown:
        return Markup("")
    most = max(n for one in shown for n, _ in one.drawn)
    least = min(n for one in shown for n, _ in one.drawn)
    parts = [GRID_LINE.format(LEFT, WIDTH - RIGHT, f"{at:g}", y=_y(at), t=_y(at) + 5) for at in (0, 0.5, 1)]
    for n, anchor in [(least, "start"), (most, "end")] if most > least else [(most, "middle")]:
        parts.append(_text(_x(n, least, most), HEIGHT - 10, f"{n:,}", anchor))
    ends = _apart([_y(one.drawn[-1][1].value) for one in shown])
    for number, (one, end) in enumerate(zip(shown, ends, strict=True), 1):
        parts.append(_band(one, number, least, most, end))
    words = "; ".join(
        f"{one.name}: {in_words(one.drawn[-1][1])} after {one.drawn[-1][0]:,} judged items" for one in shown
    )
    return _svg(parts, height=HEIGHT, title=title, words=words)


def _x(n: int, least: int, most: int) -> float:
    room = WIDTH - LEFT - RIGHT
    return LEFT + (room * log(n / least) / log(most / least) if most > least else room / 2)


def _y(value: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(1.0, max(0.0, value)))


def _apart(heights: Sequence[float], gap: float = 16) -> list[float]:
    """Heights of labels, moved down until none overlaps."""
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    placed, last = list(heights), -gap
    for number in order:
        placed[number] = last = max(heights[number], last + gap)
    return placed


def _band(one: Series, number: int, least: int, most: int, end: float) -> Markup:
    """The line of a series; its band closes where a value has no interval."""
    xs = [_x(n, least, most) for n, _ in one.drawn]
    value, low, high = (
        [_y(limit if isfinite(limit) else each.value) for _, each in one.drawn for limit in [getattr(each, name)]]
        for name in ("value", "low", "high")
    )
    line, above, below = ([f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True)] for ys in (value, high, low))
    return Markup(
        '<polygon class="band series-{0}" points="{1}"/><polyline class="line series-{0}" points="{2}"/>'
        '<line class="whisker series-{0}" x1="{3:.1f}" x2="{3:.1f}" y1="{4:.1f}" y2="{5:.1f}"/>'
        '<circle class="dot series-{0}" cx="{3:.1f}" cy="{6:.1f}" r="4"/>'
        '<text class="series-name" x="{7:.1f}" y="{8:.1f}">{9}</text>'
    ).format(
        number,
        " ".join([*above, *reversed(below)]),
        " ".join(line),
        xs[-1],
        high[-1],
        low[-1],
        value[-1],
        xs[-1] + 9,
        end + 5,
        one.name if len(one.name) <= 17 else f"{one.name[:16]}…",
    )


# Squares for pairs of answers and pairs of raters, which a page shows as a table

SHADES = 5


@dataclass(frozen=True, slots=True)
class Square:
    """A cell with its words and tooltip, from light (`shade` 1) to dark; empty where there is nothing to show."""

    words: str = ""
    hint: str = ""
    shade: int = 0


def square(words: str, share: float, hint: str = "") -> Square:
    return Square(words, hint, 1 + min(SHADES - 1, int(SHADES * share)))


@dataclass(frozen=True, slots=True)
class Squares:
    labels: Sequence[str]
    rows: Sequence[Sequence[Square]]


def confused(confusion: Confusion) -> Squares:
    """A square for each pair of answers, darker the more often two raters gave them to one item."""
    most = max(max(row) for row in confusion.counts)
    rows = [[square(f"{n:,}", n / most) if n else Square("0") for n in row] for row in confusion.counts]
    return Squares(confusion.labels, rows)


def agreeing(pairs: Sequence[PairShare], names: Mapping[str, str]) -> Squares:
    """A square for each pair of raters, darker the more they agree, with the percentage."""
    raters = {rater: names.get(rater, rater) for pair in pairs for rater in (pair.first, pair.second)}
    order = sorted(raters, key=lambda rater: raters[rater])
    squares = {
        frozenset((pair.first, pair.second)): square(
            f"{100 * pair.share:.0f}", pair.share, f"{pair.agreed} of {pair.n}"
        )
        for pair in pairs
    }
    rows = [[squares.get(frozenset((one, other)), Square()) for other in order] for one in order]
    return Squares([raters[rater] for rater in order], rows)
