"""Charts of a running job as SVG text: how far it is, how fast, and who does how much.

Plain shapes with classes, coloured by the style sheet, each with its numbers in words.  There are no style
attributes: the content policy forbids them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from grater.sheet import counted
from grater.store.clock import as_iso
from grater.store.progress import Progress

WIDTH = 480
ROW = 30
LETTER, MOST_LETTERS = 9, 18
"""Width of a letter in a label, with room for wide ones, and the most of them."""

HEIGHT = 180
MARGIN = 34
MOST_POINTS = 200


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a bar chart: a part `value` of a whole `of`."""

    label: str
    value: float
    of: float
    words: str


def bars(rows: Sequence[Bar], *, title: str) -> Markup:
    """Horizontal bars, each on the track of its whole; the longest whole fills the width."""
    longest = max((row.of for row in rows), default=0) or 1
    left = 14 + LETTER * min(MOST_LETTERS, max((len(row.label) for row in rows), default=0))
    right = 14 + LETTER * max((len(row.words) for row in rows), default=0)
    scale = max(1, WIDTH - left - right) / longest
    drawn = [_bar(row, number * ROW, scale, left) for number, row in enumerate(rows)]
    return _svg(
        drawn, height=max(1, len(rows)) * ROW, title=title, words="; ".join(f"{r.label}: {r.words}" for r in rows)
    )


def _bar(row: Bar, top: float, scale: float, left: float) -> Markup:
    return Markup(
        '<text x="{right}" y="{base}" text-anchor="end">{label}</text>'
        '<rect class="bar-rest" x="{left}" y="{y}" width="{of:.1f}" height="14" rx="7"/>'
        '<rect class="bar" x="{left}" y="{y}" width="{value:.1f}" height="14" rx="7"/>'
        '<text x="{end:.1f}" y="{base}">{words}</text>'
    ).format(
        right=left - 10,
        base=top + 19,
        label=_short(row.label),
        left=left,
        y=top + 8,
        of=row.of * scale,
        value=min(row.value, row.of) * scale,
        end=left + row.of * scale + 8,
        words=row.words,
    )


def curve(points: Sequence[tuple[float, float]], *, title: str, ends: tuple[str, str], top: str) -> Markup:
    """A line over time from the first point to the last; `ends` label the axis, `top` the highest value."""
    if len(points) < 2:
        return Markup("")
    placed = _placed(points)
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
    floor = HEIGHT - MARGIN
    under = f"{placed[0][0]:.1f},{floor} {line} {placed[-1][0]:.1f},{floor}"
    drawn = [
        Markup('<polygon class="below" points="{}"/><polyline class="curve" points="{}"/>').format(under, line),
        Markup('<line class="axis" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>').format(MARGIN, WIDTH - MARGIN, floor),
        Markup('<text x="{}" y="{}">{}</text>').format(MARGIN, HEIGHT - 10, ends[0]),
        Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(WIDTH - MARGIN, HEIGHT - 10, ends[1]),
        Markup('<text x="{}" y="14">{}</text>').format(MARGIN, top),
    ]
    return _svg(drawn, height=HEIGHT, title=title, words=f"{title}, from {ends[0]} to {ends[1]}: {top}")


def _placed(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    first, last = points[0][0], points[-1][0]
    across, up = (last - first) or 1, max(y for _, y in points) or 1
    wide, high = WIDTH - 2 * MARGIN, HEIGHT - MARGIN - 22
    return [(MARGIN + (x - first) / across * wide, HEIGHT - MARGIN - y / up * high) for x, y in points]


def _svg(drawn: Sequence[Markup], *, height: float, title: str, words: str) -> Markup:
    head = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}"><title>{}</title>')
    return head.format(WIDTH, height, words, title) + Markup("").join(drawn) + Markup("</svg>")


def _short(label: str) -> Markup:
    return escape(label if len(label) <= MOST_LETTERS else label[: MOST_LETTERS - 1] + "…")


def unit_chart(progress: Progress) -> Markup:
    """How many units have how many of the judgments they want."""
    wanted = max((unit.wanted for unit in progress.by_unit), default=0)
    counts = [sum(min(unit.valid, wanted) == n for unit in progress.by_unit) for n in range(wanted + 1)]
    if len(counts) > 12:
        return Markup("")
    is_same = all(unit.wanted == wanted for unit in progress.by_unit)  # not so where some are for all annotators
    rows = [
        Bar(
            f"{n} of {wanted}" if is_same else str(n),
            count if n else 0,  # nothing done is no full bar
            progress.units or 1,
            counted(count, "unit"),
        )
        for n, count in enumerate(counts)
    ]
    return bars(rows, title="Judgments per unit")


def rater_chart(progress: Progress) -> Markup:
    raters = sorted(progress.by_rater, key=lambda rater: -rater.valid)[:20]
    most = max((rater.valid for rater in raters), default=1)
    rows = [Bar(rater.name, rater.valid, most, str(rater.valid)) for rater in raters]
    return bars(rows, title="Valid judgments per rater") if rows else Markup("")


def time_chart(moments: Sequence[int]) -> Markup:
    """Judgments over time, added up."""
    times = sorted(moments)
    if len(times) < 2:
        return Markup("")
    step = max(1, len(times) // MOST_POINTS)
    points = [(float(at), float(n)) for n, at in enumerate(times, 1) if n % step == 0 or n in (1, len(times))]
    ends = (as_iso(times[0])[:16].replace("T", " "), as_iso(times[-1])[:16].replace("T", " "))
    return curve(points, title="Judgments over time", ends=ends, top=counted(len(times), "judgment"))
