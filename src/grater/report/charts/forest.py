"""Systems side by side: a score with its limits, ranked, grouped by what the data can tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grater.evaluate.standard import Scored
from grater.model import Interval
from grater.report.charts.layers import WIDTH, data, name_of, of_interval, points, quantity, rule, series, whiskers
from grater.report.figure import Figure
from grater.report.palette import INK
from grater.report.words import interval, listed, many

ROW = 46
NAMES = {"f0.5": "F0.5", "f1": "F1"}


def forest(
    systems: Sequence[Scored],
    *,
    score: str = "f0.5",
    groups: Mapping[str, str] | None = None,
    ceiling: Interval | None = None,
) -> Figure:
    """The best first; systems that share a letter cannot be told apart; `ceiling` is what people reach."""
    ranked = sorted(systems, key=lambda scored: -scored[score].value)
    names = [scored.system for scored in ranked]
    letters = groups or {}
    rows = [
        {"system": each.system, "group": letters.get(each.system, ""), **of_interval(each[score])} for each in ranked
    ]
    title = NAMES.get(score, score)
    encoding = {
        "y": name_of("system", None, names, axis={"labelFontSize": 13, "labelLimit": 220}),
        "x": quantity("value", title, share=True),
        **series("system", names),
    }
    encoding["color"] = {**encoding["color"], "legend": None}
    encoding["shape"] = {**encoding["shape"], "legend": None}
    letter = {
        "mark": {"type": "text", "dy": -13, "fontWeight": 600, "color": INK},
        "encoding": {"y": encoding["y"], "x": encoding["x"], "text": {"field": "group"}},
    }
    people = rule("x", ceiling.value, f"people {interval(ceiling)}", before=ceiling.value > 0.5) if ceiling else []
    layer = [whiskers(encoding, across="x"), points(encoding, size=120), letter, *people]
    spec = {**data(rows), "width": WIDTH, "height": max(120, ROW * len(rows)), "layer": layer}
    words = _words(ranked, score, letters)
    if ceiling:
        words += f" A person, held to the same test, reaches {interval(ceiling)}."
    return Figure("systems", f"{title} of every system", words, spec)


def _words(ranked: Sequence[Scored], score: str, letters: Mapping[str, str]) -> str:
    title = NAMES.get(score, score)
    first = ranked[0]
    words = f"{first.system} comes first with {title} {interval(first[score])} on {many(first.n, 'item')}."
    alike = [
        each.system for each in ranked[1:] if set(letters.get(each.system, "")) & set(letters.get(first.system, ""))
    ]
    if alike:
        words += f" The data cannot tell {listed(alike)} from it."
    elif letters and len(ranked) > 1:
        words += " Every other system is behind it beyond chance."
    return words
