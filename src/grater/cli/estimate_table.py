"""Estimates from a sample on a terminal, in eighty columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grater.cli.evaluate_table import UNITS
from grater.cli.output import print_notes
from grater.evaluate.sampled import Sampled, SystemEstimate
from grater.evaluate.sampled.correction import CorrectedEstimate, CorrectedSample
from grater.evaluate.sampled.estimates import Difference
from grater.model import Interval
from grater.sampling.plan import more_needed
from grater.statistics.stratified import Scores

WIDTH = 80
NONE = "–"


def render(found: Sampled, console: Console, correction: CorrectedSample | None = None) -> None:
    """Print each system as judged and corrected, the differences between systems, and how it was all made."""
    width = min(WIDTH, console.width)
    by_system = {each.system: each for each in correction.systems} if correction else {}
    for estimate in found.systems:
        console.print(_system(estimate), width=width)
        if estimate.system in by_system:
            console.print(_corrected(estimate, by_system[estimate.system]), width=width)
    if found.differences:
        console.print(_differences("Differences, on the same items", found.differences), width=width)
        if correction and not correction.raters.reason:
            title = "Differences, corrected for rater error"
            console.print(_differences(title, correction.differences), width=width)
    for name, part in found.parts.items():
        for estimate in part.systems:
            console.print(_system(estimate, f"{name}: "), width=width)
    judged = f"{found.n_judged:,} of {found.n_drawn:,} drawn items judged, {found.n_items:,.0f} in the corpus"
    console.print(Text(judged), width=width)
    units = UNITS[found.signature.options["units"]]
    console.print(Text(f"95 % limits; in doubt, or drawn again: {units}."), width=width)
    if correction:
        console.print(Text(_raters(correction)), width=width)
    print_notes(console, [str(found.signature), *([str(correction.signature)] if correction else [])])


def progress(found: Sampled, width: float, *, fpc: bool) -> Iterator[str]:
    """How far the work is: `after 180 judgments recall is .34 [.27, .42]; 120 more bring the width to .10`."""
    for estimate in found.systems:
        recall = estimate.scores.recall
        seen = f"recall is {_number(recall.value)} {_limits(recall)}"
        so_far = f"{estimate.system}: after {found.n_judged:,} judgments {seen}"
        more = more_needed(estimate.strata, width, fpc=fpc)
        if isnan(recall.value) or more is None:
            yield f"{so_far}; no number of judgments is known to bring the width to {width:.2f}"
        elif more == 0:
            yield f"{so_far}; it is within a width of {width:.2f}"
        else:
            yield f"{so_far}; {more:,} more bring the width to {width:.2f}"


def _system(estimate: SystemEstimate, part: str = "") -> Table:
    table = _table(f"{part}{estimate.system}, from a sample", ["", "value", "limits", "paper's limits"])
    for name, ours, paper in _rows(estimate.scores, estimate.paper):
        table.add_row(name, _number(ours.value), _limits(ours), _limits(paper))
    for name in ("hit", "false_alarm", "miss"):
        total, paper = getattr(estimate.scores, name), getattr(estimate.paper, name)
        table.add_row(name.replace("_", " "), _count(total.value), _counts(total), _counts(paper))
    return table


def _corrected(estimate: SystemEstimate, corrected: CorrectedEstimate) -> Table:
    table = _table(f"{estimate.system}, corrected for rater error", ["", "as judged", "corrected", "limits"])
    pairs = [
        ("precision", estimate.scores.precision, corrected.precision),
        ("recall", estimate.scores.recall, corrected.recall),
        *((f"F{beta:g}", estimate.scores.f[beta], each) for beta, each in corrected.f.items()),
    ]
    for name, judged, each in pairs:
        table.add_row(
            name, _number(judged.value), _number(each.value), NONE if each.undefined_because else _limits(each)
        )
    for name in ("hit", "miss"):
        each = getattr(corrected, name)
        table.add_row(name, _count(getattr(estimate.scores, name).value), _count(each.value), _counts(each))
    return table


def _raters(correction: CorrectedSample) -> str:
    raters = correction.raters
    shares = [("sensitivity", raters.sensitivity, raters.n_errors), ("specificity", raters.specificity, raters.n_ok)]
    said = [f"{name} {_number(each.value)} {_limits(each)} on {n:,}" for name, each, n in shares]
    return f"raters: {'; '.join(said)} gold items"


def _rows(ours: Scores, paper: Scores) -> Iterator[tuple[str, Interval, Interval]]:
    yield "precision", ours.precision, paper.precision
    yield "recall", ours.recall, paper.recall
    for beta in ours.f:
        yield f"F{beta:g}", ours.f[beta], paper.f[beta]


def _differences(title: str, pairs: Sequence[Difference]) -> Table:
    table = _table(title, ["first", "second", "", "value", "limits"])
    for pair in pairs:
        scores = [("precision", pair.precision), ("recall", pair.recall)]
        for name, each in [*scores, *((f"F{beta:g}", each) for beta, each in pair.f.items())]:
            table.add_row(*map(Text, pair.systems), name, _number(each.value), _limits(each))
    return table


def _number(value: float) -> str:
    return NONE if isnan(value) else f"{value:.4f}"


def _limits(interval: Interval) -> str:
    return interval.undefined_because or NONE if isnan(interval.low) else f"[{interval.low:.4f}, {interval.high:.4f}]"


def _count(value: float) -> str:
    return NONE if isnan(value) else f"{value:,.0f}"


def _counts(interval: Interval) -> str:
    return NONE if isnan(interval.low) else f"[{interval.low:,.0f}, {interval.high:,.0f}]"


def _table(title: str, headers: list[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE, pad_edge=False, padding=(0, 1))
    for place, header in enumerate(headers):
        table.add_column(Text(header), justify="left" if place == 0 else "right", overflow="fold")
    return table
