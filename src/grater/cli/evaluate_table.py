"""Evaluations on a terminal, in eighty columns: systems, raters, weights, bins, parts, tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grater.cli.output import print_notes
from grater.evaluate.comparison import Comparison
from grater.evaluate.evaluation import Evaluation, Part
from grater.evaluate.standard import Scored, spread
from grater.evaluate.suggestions import Suggested
from grater.evaluate.verified import NO_RECALL, Verified
from grater.model import Interval
from grater.sheet import counted
from grater.signature import Signature

WIDTH = 80
MOST_RATERS = 40
WHOLE_NAME = 16
"""Names up to this long are never folded; numbers with their limits fold first."""
MOST_BAR = 40
NONE = "–"
LEAST_P = 0.0001
SHOWN = ("precision", "recall", "f0.5")
TITLES = ("precision", "recall", "F0.5")
UNITS = {
    "item": "items",
    "essay": "essays with all their items",
    "document": "documents with all their items",
    "rater": "raters with all their judgments, the items held fast",
    "item+rater": "items and raters together",
    "essay+rater": "essays with all their items, and raters, together",
    "document+rater": "documents with all their items, and raters, together",
}


def render(
    found: Evaluation, suggested: Sequence[Suggested], console: Console, *, weighted: bool, bins: bool
) -> None:
    """Print what was asked for."""
    for table in _tables(found, suggested, weighted=weighted, bins=bins):
        print_table(console, table)
    print_notes(console, [*_reasons(found.whole), _drawn(found.signature), str(found.signature)])


def render_verified(
    found: Sequence[Verified], signature: Signature, console: Console, parts: Mapping[str, Sequence[Verified]]
) -> None:
    for name, part in {"Flags that raters call errors": found, **parts}.items():
        table = _table(name, ["", "flags", "judged", "right", "precision", "95 % limits"])
        for each in part:
            counts = [f"{each.n_flagged:,}", f"{each.n_judged:,}", f"{each.hit:,.6g}"]
            table.add_row(Text(each.system), *counts, *_cells(each.precision))
        print_table(console, table)
    print_notes(console, [f"{NO_RECALL}.", _drawn(signature), str(signature)])


def render_comparison(found: Comparison, signature: Signature, console: Console, part: str = "") -> None:
    heading = f"{part}: " if part else ""
    title = (
        f"{heading}{len(found.systems)} systems on {counted(found.n_items, 'common item')}, best {found.score} first"
    )
    table = _table(title, ["", *TITLES, f"95 % limits of {found.score}", "group"])
    for each in found.systems:
        numbers = [number(each[name].value) for name in SHOWN]
        table.add_row(Text(each.system), *numbers, limits(each[found.score]), found.groups[each.system])
    print_table(console, table)
    print_table(console, _pairs(found))
    note = "Systems that share a letter cannot be told apart at 95 % (Holm)."
    corrected = ["Corrected for what raters get wrong; McNemar as judged."] * ("correction" in signature.options)
    left = [f"{found.n_left_out:,} items are left out: not judged, or not decided on by all."] * bool(
        found.n_left_out
    )
    print_notes(console, [note, *left, *corrected, _drawn(signature), str(signature)])


def _pairs(found: Comparison) -> Table:
    headers = ["", "diff.", "95 % limits", "boot. p", "random. p", "only one right", "McNemar mid-p"]
    table = _table(f"Differences of {found.score}; p after Holm", headers)
    for pair in found.pairs:
        test, counts = pair.test, pair.mcnemar
        p = [_p(test.holm["bootstrap"]), _p(test.holm["randomisation"])]
        apart = f"{counts.first:,} : {counts.second:,}"
        name = Text(f"{test.first} – {test.second}")
        table.add_row(name, *_cells(test.difference), *p, apart, _p(pair.mcnemar_holm))
    return table


def _tables(found: Evaluation, suggested: Sequence[Suggested], *, weighted: bool, bins: bool) -> Iterator[Table]:
    whole = found.whole
    yield _scores(
        f"Against {found.truth.name}, {counted(whole.n_items - whole.n_unjudged, 'item')}", whole.standard, whole
    )
    if found.correction and not found.correction.raters.reason:
        yield _scores("Corrected for what raters get wrong", found.corrected)
    if len(whole.by_rater) > 1:
        yield from _raters(whole, found.cases.systems)
    if weighted:
        yield _scores("Weighted by the share of raters", whole.weighted)
    if bins:
        yield from _bins(whole, found.cases.systems)
        yield _histogram(whole)
    for name, part in found.parts.items():
        yield _scores(f"{name}: {counted(part.n_items - part.n_unjudged, 'item')}", part.standard, part)
        if weighted:
            yield _scores(f"{name}, weighted", part.weighted)
    if suggested:
        yield _suggestions(suggested)


def _scores(title: str, systems: Sequence[Scored], part: Part | None = None) -> Table:
    table = _table(title, ["", "precision", "recall", "F0.5", "hits", "false", "misses"])
    for each in systems:
        counts = [f"{count:,.6g}" for count in each.counts.row()[:3]]
        table.add_row(Text(each.system), *(stacked(each[name]) for name in SHOWN), *counts)
    if part and part.n_unjudged:
        flags = ", ".join(f"{n:,} flagged by {system}" for system, n in part.flagged_unjudged.items())
        table.add_section()
        table.add_row("not judged", *[NONE] * 6)
        table.caption = f"not judged: {part.n_unjudged:,} items have no usable judgment; {flags}"
    return table


def _raters(part: Part, systems: Sequence[str]) -> Iterator[Table]:
    """Each rater in turn, and how far apart they are."""
    for place, system in enumerate(systems):
        table = _table(f"{system} against each rater", ["", "items", *TITLES])
        of_raters = {rater: scored[place] for rater, scored in part.by_rater.items()}
        for rater, scored in of_raters.items() if len(of_raters) <= MOST_RATERS else ():
            table.add_row(Text(rater), f"{scored.n:,}", *(stacked(scored[name]) for name in SHOWN))
        spreads = [spread([scored[name] for scored in of_raters.values()]) for name in SHOWN]
        table.add_section()
        ranges = [f"{number(each.low)} to {number(each.high)}" for each in spreads]
        table.add_row("lowest to highest", "", *ranges)
        table.add_row("mean (sd)", "", *(f"{number(each.mean)} ({number(each.sd)})" for each in spreads))
        yield table


def _bins(part: Part, systems: Sequence[str]) -> Iterator[Table]:
    for place, system in enumerate(systems):
        table = _table(
            f"{system} by agreement of raters", ["", "items", "error rate", "precision", "recall", "kappa"]
        )
        for each in part.bins:
            scored = each.systems[place]
            names = ("error_rate", "precision", "recall", "kappa")
            table.add_row(each.title, f"{scored.n:,}", *(stacked(scored[name]) for name in names))
        yield table


def _histogram(part: Part) -> Table:
    table = _table("Items by agreement of raters", ["", "items", ""])
    table.columns[2].justify = "left"
    most = max((n for _, _, n in part.histogram), default=0) or 1
    for low, high, n in part.histogram:
        table.add_row(f"{100 * low:g}-{100 * high:g} %", f"{n:,}", "█" * -(-n * MOST_BAR // most))
    return table


def _suggestions(suggested: Sequence[Suggested]) -> Table:
    names = {"some rater's": "any_rater", "mean share of raters": "graded", "recall": "recall"}
    names |= {"adjudicated": "adjudicated", "recall of adjudicated": "adjudicated_recall"}
    shown = {
        title: name
        for title, name in names.items()
        if any(not isnan(getattr(each, name).value) for each in suggested)
    }
    table = _table("Suggestions", ["", "judged", "blank", *shown])
    for each in suggested:
        numbers = [stacked(getattr(each, name)) for name in shown.values()]
        table.add_row(Text(each.system), f"{each.n:,}", f"{each.n_blank:,}", *numbers)
    return table


def _reasons(part: Part) -> list[str]:
    reasons = {
        each[name].undefined_because
        for each in (*part.standard, *part.weighted)
        for name in SHOWN
        if each[name].undefined_because
    }
    return [f"{NONE}: {reason}." for reason in sorted(reasons)]


def _drawn(signature: Signature) -> str:
    return f"95 % limits; drawn: {UNITS[signature.options['units']]}."


def stacked(score: Interval) -> str:
    return f"{number(score.value)}\n{limits(score)}"


def _cells(score: Interval) -> tuple[str, str]:
    return number(score.value), limits(score)


def number(value: float) -> str:
    return NONE if isnan(value) else f"{value:.3f}"


def limits(score: Interval) -> str:
    return NONE if isnan(score.low) else f"{score.low:.3f} to {score.high:.3f}"


def _p(value: float) -> str:
    if isnan(value):
        return NONE
    return f"{value:.4f}" if value >= LEAST_P else f"< {LEAST_P}"


def print_table(console: Console, table: Table) -> None:
    first = table.columns[0]
    first.no_wrap = max(len(str(cell)) for cell in first.cells) <= WHOLE_NAME
    console.print(table, width=min(WIDTH, console.width))


def _table(heading: str, headers: Sequence[str]) -> Table:
    table = Table(title=heading, title_justify="left", title_style="bold", box=SIMPLE, pad_edge=False, padding=(0, 1))
    table.add_column(headers[0], overflow="fold")
    for header in headers[1:]:
        table.add_column(header, justify="right", overflow="fold")
    return table
