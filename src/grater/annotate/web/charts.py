"""Charts of pages as SVG text: the progress and pace of a job, narrowing intervals, confusions, raters by skill.

Plain shapes with classes, coloured by the style sheet, each chart with its numbers in words.  There are no style
attributes: the content policy forbids them.  Series differ in the pattern of their line as well as in colour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log

from markupsafe import Markup, escape

from grater.annotate.dashboard import Confusion, PairShare
from grater.annotate.progress import RaterProgress, UnitProgress
from grater.annotate.raters import RaterLine
from grater.annotate.store.transaction import as_iso
from grater.model import Interval
from grater.sheet import counted, duration
from grater.sheet import interval as in_words

WIDTH, HEIGHT = 480, 230
LETTER, MOST_LETTERS = 9, 20
"""Width of a letter in a label, with room for wide ones, and the most of them."""


def _svg(
    drawn: Sequence[Markup], *, width: float, height: float, title: str, words: str, role: str = "img"
) -> Markup:
    head = Markup('<svg class="chart" viewBox="0 0 {} {}" role="{}" aria-label="{}">')
    return head.format(width, height, role, f"{title}. {words}") + Markup("").join(drawn) + Markup("</svg>")


def _short(label: str, most: int) -> Markup:
    return escape(label if len(label) <= most else label[: most - 1] + "…")


def _text(x: float, y: float, words: object, anchor: str = "") -> Markup:
    placed = Markup(' text-anchor="{}"').format(anchor) if anchor else ""
    return Markup('<text x="{:.1f}" y="{:.1f}"{}>{}</text>').format(x, y, placed, words)


# A job: how far it is, how fast, and who does how much

ROW, BAR_LETTERS = 30, 18
CURVE_HEIGHT, MARGIN, MOST_POINTS = 180, 34, 200


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a bar chart: a part `value` of a whole `of`."""

    label: str
    value: float
    of: float
    words: str
    kind: str = "bar"


def bars(rows: Sequence[Bar], *, title: str) -> Markup:
    """Horizontal bars, each on the track of its whole; the longest whole fills the width."""
    longest = max((row.of for row in rows), default=0) or 1
    left = 14 + LETTER * min(BAR_LETTERS, max((len(row.label) for row in rows), default=0))
    right = 14 + LETTER * max((len(row.words) for row in rows), default=0)
    scale = max(1, WIDTH - left - right) / longest
    rect = Markup('<rect class="{}" x="{}" y="{}" width="{:.1f}" height="14" rx="7"/>')
    drawn = []
    for number, row in enumerate(rows):
        top = number * ROW
        drawn += [
            _text(left - 10, top + 19, _short(row.label, BAR_LETTERS), "end"),
            rect.format("bar-rest", left, top + 8, row.of * scale),
            rect.format(row.kind, left, top + 8, max(4.0 if row.value else 0.0, min(row.value, row.of) * scale)),
            _text(left + row.of * scale + 8, top + 19, row.words),
        ]
    words = "; ".join(f"{row.label}: {row.words}" for row in rows)
    return _svg(drawn, width=WIDTH, height=max(1, len(rows)) * ROW, title=title, words=words)


def job_charts(
    units: Sequence[UnitProgress], raters: Sequence[RaterProgress], moments: Sequence[int]
) -> list[tuple[str, Markup]]:
    """The charts of a job with their titles; those with nothing to show are left out."""
    drawn = {
        "Judgments per unit": unit_chart(units),
        "Over time": time_chart(moments),
        "Judgments per rater": rater_chart(raters),
    }
    return [(title, chart) for title, chart in drawn.items() if chart]


def unit_chart(units: Sequence[UnitProgress]) -> Markup:
    """The number of units with each number of judgments."""
    wanted = max((unit.wanted for unit in units), default=0)
    counts = [sum(min(unit.valid, wanted) == n for unit in units) for n in range(wanted + 1)]
    if len(counts) > 12:
        return Markup("")
    is_same = all(unit.wanted == wanted for unit in units)  # not so where some are for all annotators
    rows = [
        Bar(
            f"{n} of {wanted}" if is_same else str(n),
            count,
            len(units) or 1,
            counted(count, "unit"),
            kind="bar" if n else "bar bar-none",
        )
        for n, count in enumerate(counts)
    ]
    return bars(rows, title="Judgments per unit")


def rater_chart(raters: Sequence[RaterProgress]) -> Markup:
    busiest = sorted(raters, key=lambda rater: -rater.valid)[:20]
    most = max((rater.valid for rater in busiest), default=1)
    rows = [Bar(rater.name, rater.valid, most, f"{rater.valid:,}") for rater in busiest]
    return bars(rows, title="Valid judgments per rater") if rows else Markup("")


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
    return _svg(drawn, width=WIDTH, height=CURVE_HEIGHT, title="Judgments over time", words=words)


# The dashboard: intervals over the number of judgments

LEFT, RIGHT, TOP, BOTTOM = 38, 162, 14, 30
MOST_SERIES = 6


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
    parts = _shares(WIDTH - RIGHT)
    for n, anchor in [(least, "start"), (most, "end")] if most > least else [(most, "middle")]:
        parts.append(_text(_x(n, least, most), HEIGHT - 10, f"{n:,}", anchor))
    ends = _apart([_y(one.drawn[-1][1].value) for one in shown])
    for number, (one, end) in enumerate(zip(shown, ends, strict=True), 1):
        parts.append(_band(one, number, least, most, end))
    words = "; ".join(
        f"{one.name}: {in_words(one.drawn[-1][1])} after {one.drawn[-1][0]:,} judged items" for one in shown
    )
    return _svg(parts, width=WIDTH, height=HEIGHT, title=title, words=words)


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


def _shares(right: float) -> list[Markup]:
    """Lines at 0, one half and 1."""
    line = Markup(
        '<line class="grid-line" x1="{}" x2="{}" y1="{y:.1f}" y2="{y:.1f}"/><text x="2" y="{t:.1f}">{}</text>'
    )
    return [line.format(LEFT, right, f"{value:g}", y=_y(value), t=_y(value) + 5) for value in (0, 0.5, 1)]


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
        _short(one.name, 17),
    )


# Squares for pairs of answers and pairs of raters

CELL, SHADES = 44, 6


def confusion_map(confusion: Confusion, *, title: str) -> Markup:
    """A cell for each pair of answers, darker the more often two raters gave them to one item."""
    labels, counts = confusion.labels, confusion.counts
    most = max(max(row) for row in counts) or 1
    across = max(CELL, min(2 * CELL, (WIDTH - _left(labels) - 10) // len(labels)))
    cells = [
        (row, column, n / most if n else None, f"{n:,}" if n < 10_000 else f"{n // 1000}k", "")
        for row, of_row in enumerate(counts)
        for column, n in enumerate(of_row)
    ]
    words = "; ".join(
        f"{one} and {other}: {counts[i][j]:,}"
        for i, one in enumerate(labels)
        for j, other in enumerate(labels)
        if i <= j
    )
    return _map(labels, [_short(label, across // LETTER) for label in labels], cells, across, title, words)


def pair_map(pairs: Sequence[PairShare], names: Mapping[str, str], *, title: str) -> Markup:
    """Who agrees with whom: a square for each pair, darker the more they agree, with the percentage."""
    raters = sorted(
        {pair.first for pair in pairs} | {pair.second for pair in pairs}, key=lambda one: names.get(one, one)
    )
    place = {rater: number for number, rater in enumerate(raters)}
    shown = {rater: names.get(rater, rater) for rater in raters}
    cells = [
        (place[row], place[column], pair.share, f"{100 * pair.share:.0f}", f"{pair.agreed} of {pair.n}")
        for pair in pairs
        for row, column in ((pair.first, pair.second), (pair.second, pair.first))
    ]
    words = "; ".join(
        f"{shown[pair.first]} and {shown[pair.second]}: {100 * pair.share:.0f} % of {pair.n}" for pair in pairs
    )
    labels = list(shown.values())
    short = _initials(labels)
    return _map(labels, [short[label] for label in labels], cells, CELL, title, words)


def _left(labels: Sequence[str]) -> int:
    """Where the first cell begins, so that every label fits on its left."""
    return 16 + LETTER * min(MOST_LETTERS, max(map(len, labels)))


def _map(
    labels: Sequence[str],
    short: Sequence[Markup],
    cells: Iterable[tuple[int, int, float | None, str, str]],
    across: int,
    title: str,
    words: str,
) -> Markup:
    """Cells by row and column, each with its share of the total (for its shade), its text and its tooltip."""
    left, parts = _left(labels), []
    for number, label in enumerate(labels):
        parts.append(_text(left - 8, 24 + number * CELL + CELL / 2 + 5, _short(label, MOST_LETTERS), "end"))
        whole = Markup("{}<title>{}</title>").format(short[number], label)
        parts.append(_text(left + number * across + across / 2, 16, whole, "middle"))
    for row, column, part, shown, hint in cells:
        shade = 0 if part is None else 1 + min(SHADES - 2, int((SHADES - 1) * part))
        x, y = left + column * across, 24 + row * CELL
        noted = Markup("{}<title>{}</title>").format(shown, hint) if hint else shown
        parts.append(
            Markup(
                '<rect class="cell shade-{0}" x="{1}" y="{2}" width="{3}" height="{4}" rx="4"/>'
                '<text class="on-shade-{0}" x="{5}" y="{6}" text-anchor="middle">{7}</text>'
            ).format(shade, x + 1, y + 1, across - 2, CELL - 2, x + across / 2, y + CELL / 2 + 5, noted)
        )
    width, height = left + len(labels) * across + 10, len(labels) * CELL + 30
    return _svg(parts, width=max(WIDTH, width), height=height, title=title, words=words)


def _initials(names: Iterable[str]) -> dict[str, Markup]:
    """`AB` for Aisha Bello, whose row has the whole name; a name of one word is cut, as are initials of several."""
    initials = {name: "".join(word[0] for word in name.split()[:3]) for name in names}
    shared = Counter(initials.values())
    return {
        name: escape(short) if len(short) > 1 and shared[short] == 1 else _short(name.split()[-1], 5)
        for name, short in initials.items()
    }


# Raters by skill and speed


def rater_scatter(job_id: str, raters: Sequence[RaterLine], *, title: str) -> Markup:
    """Raters by speed (across) and by how often they agree with the others (up); a dot leads to its rater."""
    measured = [
        (line.person, line.seconds, line.signals.with_others.value)
        for line in sorted(raters, key=lambda line: line.person.name)
        if line.seconds is not None and line.signals and line.signals.n_compared
    ]
    if not measured:
        return Markup("")
    slowest = max(seconds for _, seconds, _ in measured) or 1.0
    parts, words = _shares(WIDTH - 20), list[str]()
    parts += [_text(LEFT, HEIGHT - 10, "0 s"), _text(WIDTH - 20, HEIGHT - 10, duration(slowest / 3600), "end")]
    for person, seconds, share in measured:
        words.append(f"{person.name}: {100 * share:.0f} %, {duration(seconds / 3600)}")
        address = f"/manage/jobs/{job_id}/raters/{person.person_id}"
        x, y = LEFT + (WIDTH - 20 - LEFT) * seconds / slowest, _y(share)
        parts.append(
            Markup(
                '<a href="{}" aria-label="{}"><circle class="dot series-1" cx="{:.1f}" cy="{:.1f}" r="6"/>'
                "<title>{}</title></a>"
            ).format(address, words[-1], x, y, words[-1])
        )
    return _svg(parts, width=WIDTH, height=HEIGHT, title=title, words="; ".join(words), role="group")
