"""The answer first: every system in one figure and one table, and one sentence that can be quoted.

Systems are in order of F0.5, the best first; systems that decided on different items are not ranked.  A few sentences
show what hits, false alarms and misses of the best look like: those that raters agree on most, no two alike.  Next to
each score with its interval is the range over raters: the same system against one rater at a time (T&C 2008, section
5.2), raters who judged fewer than `ENOUGH` of its flags (for recall: errors) left out.  Where a sample was judged,
all of it is estimated for the whole corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

from grater.measure.evaluation.cases import EDITED
from grater.measure.evaluation.evaluation import Evaluation
from grater.measure.evaluation.standard import Scored
from grater.model import Interval
from grater.reporting.document import (
    PARTS,
    Figure,
    ItemList,
    Row,
    Section,
    Spec,
    interval,
    section_of,
)
from grater.reporting.drawing import MUTED, PAPER, data, interval_columns, names_axis, number_axis, series
from grater.reporting.items import in_its_sentence, list_name
from grater.reporting.systems import ENOUGH, n_behind
from grater.sheet import Sheet, counted, listed, number, undefined_notes
from grater.sheet import interval as cell

SCORES = {"precision": "Precision", "recall": "Recall", "f0.5": "F0.5"}
BEHIND = {"precision": "false_alarm", "recall": "miss", "f0.5": "hit"}
LEADS = (
    "Every score links to the items behind it: precision to the system’s false alarms, recall to its misses, F0.5 to "
    "its hits, each in its sentence with every rater’s answer."
)
OVER_RATERS = (
    "Range over raters: the lowest and highest score when a single rater, or their majority, decides. Raters who "
    f"judged fewer than {ENOUGH} of the system’s flags (for recall, errors) are left out."
)
ESTIMATED = "Scores are estimates for the whole corpus from the judged sample."
ROW_HEIGHT, NARROW_WIDTH, GAP = 44, 200, 22
PANEL_WIDTH = 168


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Every system in the order of the table, the lowest and highest of its scores over raters, and what replaced it.

    Scores are of the judged items or, from a sample, estimates for the whole corpus.
    """

    evaluation: Evaluation
    systems: tuple[Scored, ...]
    over_raters: Mapping[str, Mapping[str, tuple[float, float]]]
    replaced_by: Mapping[str, str]

    @property
    def first(self) -> Scored:
        """The best system that no other replaced, or the first where they are not ranked."""
        return next((each for each in self.systems if each.system not in self.replaced_by), self.systems[0])

    @property
    def titles(self) -> list[str]:
        names = [each.system for each in self.systems]
        return [f"{name}, earlier" if name in self.replaced_by else name for name in names]


def answer_of(evaluation: Evaluation, *, earlier: Mapping[str, str] | None = None) -> Answer:
    """The best first, unless systems are not ranked; `earlier` has the version that each system replaced."""
    systems = evaluation.systems
    return Answer(
        evaluation=evaluation,
        systems=tuple(sorted(systems, key=_merit)) if _is_ranked(evaluation) else systems,
        over_raters={each.system: dict(_ranges(evaluation, each)) for each in systems},
        replaced_by={old: new for new, old in (earlier or {}).items()},
    )


def _is_ranked(evaluation: Evaluation) -> bool:
    return evaluation.different is None and not evaluation.cases.withheld


def _ranges(evaluation: Evaluation, whole: Scored) -> Iterator[tuple[str, tuple[float, float]]]:
    """The lowest and the highest score against one rater or the majority; none where fewer than two judged enough."""
    by_rater = evaluation.whole.by_rater.values()
    alone = [scored for by_system in by_rater for scored in by_system if scored.system == whole.system]
    for score in SCORES:
        sides = ("precision", "recall") if score == "f0.5" else (score,)
        values = [scored[score].value for scored in alone if all(n_behind(scored, side) >= ENOUGH for side in sides)]
        known = [value for value in values if not isnan(value)]
        if len(known) > 1 and not isnan(whole[score].value):
            yield score, (min(*known, whole[score].value), max(*known, whole[score].value))


def _merit(scored: Scored) -> float:
    value = scored["f0.5"].value
    return 1.0 if isnan(value) else -value


def answer_section(answer: Answer) -> Section:
    """The figure and the table; the sentences are `quotable` and `precise`."""
    figures, sheets = [headline_figure(answer)], [_sheet(answer)]
    return section_of(answer.evaluation, "answer", PARTS[0], (), figures=figures, sheets=sheets)


RATIOS = (
    *((0.05, "one", "twenty"), (0.1, "one", "ten"), (0.2, "one", "five"), (0.25, "one", "four")),
    *((1 / 3, "one", "three"), (0.5, "", ""), (2 / 3, "two", "three"), (0.75, "three", "four")),
    *((0.8, "four", "five"), (0.9, "nine", "ten"), (0.95, "nineteen", "twenty")),
)
FEW, MOST, WIDE = 0.025, 0.975, 0.3
"""Shares that are hardly any and nearly all, and the width of an interval that is too wide."""


def quotable(answer: Answer) -> str:
    """One sentence in words that anybody can repeat; the numbers are in `precise`."""
    first, sample = answer.first, answer.evaluation.sample
    return in_words(first.system, first["precision"], first["recall"], sample.n_judged if sample else first.n)


def in_words(system: str, precision: Interval, recall: Interval, n: int) -> str:
    """How good a system is, from `n` judged items, in plain words."""
    if isnan(precision.value):
        why = precision.undefined_because or "nothing was flagged"
        return f"How often {system} is right is not known: {why}."
    flags = "edits" if EDITED in recall.undefined_because else "flags"
    verdict = f"{system} is right in {_in_words(precision.value, '{} of {} ' + flags, '{} of its ' + flags)}"
    if isnan(recall.value):
        verdict += "; how many errors it finds is not known"
    else:
        found = _in_words(recall.value, "{} errors in {}", "{} of the errors")
        verdict += f" and finds {found.replace('one errors', 'one error')}"
    is_rough = any(each.high - each.low > WIDE for each in (precision, recall))
    return f"{verdict}: a first guess, from {counted(n, 'item')}." if is_rough else f"{verdict}."


def _in_words(share: float, ratio: str, plain: str) -> str:
    """A share as the nearest ratio in common use, `about three of four flags`, or in a word: `all of its flags`."""
    _, part, whole = min(RATIOS, key=lambda known: abs(known[0] - share))
    if FEW < share < MOST:
        return f"about {ratio.format(part, whole)}" if part else plain.format("about half")
    return plain.format({0.0: "none", 1.0: "all"}.get(share, "nearly all" if share >= MOST else "hardly any"))


EXAMPLES = {
    "hit": ("Right: flagged, and an error to raters", 4),
    "false_alarm": ("Wrong: flagged, but fine to raters", 3),
    "miss": ("Missed: an error to raters, not flagged", 3),
}


def examples_of(answer: Answer, lists: Sequence[ItemList]) -> list[ItemList]:
    """Ten sentences behind the scores of the first system; none where the items have no text."""
    by_name = {group.name: group for group in lists}
    found = []
    for behind, (title, most) in EXAMPLES.items():
        group = by_name[list_name(answer.first.system, behind)]
        excerpts = [in_its_sentence(view) for view in group.items if view.before or view.after]
        excerpts.sort(key=lambda view: -len(view.by_label[0][1]) / len(view.labels) if view.labels else 0)
        apart = {(view.before, view.target, view.after): view for view in reversed(excerpts)}
        chosen = tuple(view for view in excerpts if apart[view.before, view.target, view.after] is view)[:most]
        if chosen:
            found.append(replace(group, title=title, items=chosen))
    return found


def precise(answer: Answer) -> str:
    """The numbers behind the first sentence, with all that a reader needs to quote them."""
    first, recall, sample = answer.first, answer.first["recall"], answer.evaluation.sample
    raters = counted(len(answer.evaluation.cases.raters), "rater")
    basis = f"On {counted(first.n, 'item')} judged by {raters}"
    if sample:
        basis = f"Estimated for {counted(round(sample.n_items), 'item')} from {sample.n_judged:,} judged by {raters}"
    verdict = f"{basis}, {first.system} flags errors with precision {interval(first['precision'])}"
    verdict += " (95 % interval)" if isnan(recall.value) else f" and recall {interval(recall)} (95 % intervals)"
    if over := answer.over_raters[first.system].get("precision"):
        low, high = map(number, over)
        verdict += f"; from rater to rater, its precision ranges from {low} to {high}"
    return f"{verdict}. Recall is withheld: {recall.undefined_because}." if isnan(recall.value) else f"{verdict}."


def _sheet(answer: Answer) -> Sheet:
    shown, columns = answer.systems, ["system"]
    links: dict[tuple[int, int], str] = {}
    cells = [answer.titles]
    for score, behind in BEHIND.items():
        links |= {(place, len(columns)): list_name(each.system, behind) for place, each in enumerate(shown)}
        columns.append("F0.5" if score == "f0.5" else score)
        cells.append([cell(each[score]) for each in shown])
        spans = [answer.over_raters[each.system].get(score, ()) for each in shown]
        if score != "f0.5" and any(spans):
            columns.append("range over raters")
            cells.append([" to ".join(number(value, digits=2) for value in span) for span in spans])
    has_range = any(answer.over_raters.values())
    notes = (
        LEADS,
        *([OVER_RATERS] if has_range else []),
        *([ESTIMATED] if answer.evaluation.sample else []),
        *undefined_notes(each[score] for each in shown for score in SCORES),
    )
    title = "All systems with 95 % intervals" + (" and ranges over raters" if has_range else "")
    return Sheet(title, tuple(columns), tuple(zip(*cells, strict=True)), notes, name="answer", links=links)


def headline_figure(answer: Answer) -> Figure:
    """Points with intervals, a pale bar behind them for the range over raters; panels side by side, or stacked."""
    panels = list(SCORES)
    wide = {"hconcat": [_panel(answer, score, has_names=score == panels[0]) for score in panels], "spacing": GAP}
    narrow = {"vconcat": [_panel(answer, score, is_narrow=True) for score in panels], "spacing": GAP}
    return Figure(
        name="headline",
        title=f"{listed(list(SCORES.values()))} of every system".capitalize().replace("f0.5", "F0.5"),
        words=_words(answer),
        spec=wide,
        narrow=narrow,
    )


def _words(answer: Answer) -> str:
    known = {each.system: each["f0.5"] for each in answer.systems if not isnan(each["f0.5"].value)}
    scores, best = {system: interval(score) for system, score in known.items()}, answer.first.system
    if not scores:
        words = "Recall and F0.5 are withheld; the note below the table says why."
    elif _is_ranked(answer.evaluation) and len(scores) > 1:
        words = f"{best} has the highest F0.5, {scores[best]}."
    else:
        words = "; ".join(f"{system} has F0.5 {score}" for system, score in scores.items()) + "."
    words += " Lines are 95 % intervals"
    if any(answer.over_raters.values()):
        words += ", pale bars the range over single raters"
    is_any_earlier = any(each.system in answer.replaced_by for each in answer.systems)
    return words + ("; hollow points are earlier versions." if is_any_earlier else ".")


def _panel(answer: Answer, score: str, *, has_names: bool = True, is_narrow: bool = False) -> Spec:
    """One score of every system; a hollow point for a version that was replaced."""
    titles = answer.titles
    look = series("system", titles)
    axis = {"labelFontSize": 13, "labelLimit": 200, "labels": has_names, "ticks": False, "domain": False}
    y = names_axis("system", None, titles, axis=axis)
    x = number_axis("value", "", share=True)
    x["axis"] = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".2~f", "grid": True, "domain": False, "ticks": False}
    colour = {"color": {**look["color"], "legend": None}}
    shape = {"shape": {**look["shape"], "legend": None}}
    place = {"y": y, "x": x}
    mark = {"type": "text", "dy": -15, "fontSize": 12, "fontWeight": 600}
    return {
        **data(list(_rows(answer, score))),
        "title": {"text": SCORES[score], "fontSize": 14, "fontWeight": 600, "anchor": "start", "frame": "group"},
        "width": NARROW_WIDTH if is_narrow else PANEL_WIDTH,
        "height": max(70, ROW_HEIGHT * len(titles)),
        "layer": [
            _bar(place, "least", "most", color=MUTED, opacity=0.25, strokeWidth=13),
            _bar({**place, **colour}, "low", "high", strokeWidth=2.5, opacity=1),
            _points({**place, **colour, **shape}, "!datum.is_earlier", filled=True),
            _points({**place, **colour, **shape}, "datum.is_earlier", filled=False, fill=PAPER, strokeWidth=2),
            {"mark": mark, "encoding": {**place, "text": {"field": "label"}}},
        ],
    }


def _rows(answer: Answer, score: str) -> Iterator[Row]:
    for title, each in zip(answer.titles, answer.systems, strict=True):
        least, most = answer.over_raters[each.system].get(score, (None, None))
        yield {
            "system": title,
            "is_earlier": each.system in answer.replaced_by,
            "label": number(each[score].value),
            **interval_columns(each[score]),
            "least": least,
            "most": most,
        }


def _bar(encoding: Mapping[str, Any], start: str, end: str, **mark: Any) -> dict[str, Any]:
    ends = {"x": {**encoding["x"], "field": start}, "x2": {"field": end}}
    return {"mark": {"type": "rule", "strokeCap": "butt", **mark}, "encoding": {**encoding, **ends}}


def _points(encoding: Mapping[str, Any], where: str, **mark: Any) -> dict[str, Any]:
    look = {"type": "point", "size": 110, "opacity": 1, **mark}
    return {"transform": [{"filter": where}], "mark": look, "encoding": dict(encoding)}
