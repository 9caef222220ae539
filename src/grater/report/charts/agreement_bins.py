"""Systems where raters agree and where they do not: scores in bins of agreement (Madnani et al. 2011, figure 2).

Kappa by agreement is the one to read for systems on different data, where error rates differ.
"""

from __future__ import annotations

from collections.abc import Sequence

from grater.evaluate.binned import Bin
from grater.report.charts.layers import data, line, name_of, of_interval, points, quantity, series, whiskers
from grater.report.figure import Figure, Row
from grater.report.words import listed, number

SCORES = {"precision": "precision", "recall": "recall", "kappa": "kappa"}


def agreement_bins(bins: Sequence[Bin], *, scores: Sequence[str] = ("precision", "recall")) -> Figure:
    """One panel a score, one line a system, from the most contested items to the clearest."""
    systems = [scored.system for scored in bins[0].systems] if bins else []
    rows = [row for each in bins for row in _rows(each, scores)]
    encoding = {
        "x": name_of(
            "bin", "raters who side with the majority", [each.title for each in bins], axis={"labelAngle": 0}
        ),
        "y": quantity("value", "", domain=(min(0.0, _lowest(rows)), 1.0)),
        "xOffset": {"field": "system", "sort": systems},
        **series("system", systems),
    }
    layer = [whiskers(encoding), line(encoding, opacity=0.35), points(encoding)]
    facet = {"field": "score", "type": "nominal", "title": None, "sort": list(scores)}
    spec = {
        **data(rows),
        "facet": {"column": facet},
        "spec": {"width": 620 // len(scores) - 30, "height": 260, "layer": layer},
    }
    name = "agreement-bins" if "precision" in scores else "kappa-by-agreement"
    title = f"{listed([SCORES[score] for score in scores]).capitalize()} by how far raters agree"
    return Figure(name, title, _words(bins, scores[0]), spec, "Madnani et al. 2011, figure 2")


def _rows(each: Bin, scores: Sequence[str]) -> list[Row]:
    return [
        {"bin": each.title, "n": each.n, "system": scored.system, "score": score, **of_interval(scored[score])}
        for scored in each.systems
        for score in scores
    ]


def _lowest(rows: Sequence[Row]) -> float:
    return min((row["low"] for row in rows if row["low"] is not None), default=0.0)


def _words(bins: Sequence[Bin], score: str) -> str:
    parts = []
    for place, scored in enumerate(bins[-1].systems if bins else ()):
        values = [each.systems[place][score].value for each in bins]
        path = ", ".join(number(value) for value in values)
        parts.append(f"{scored.system} {path}")
    shown = listed([f"{each.n:,}" for each in bins])
    return f"{SCORES[score].capitalize()} from contested to clear items ({shown} of them): {'; '.join(parts)}."
