"""Agreement on a terminal, in eighty columns: coefficients, pairs, the table of two raters, parts, tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grater.agreement.coefficients import band
from grater.agreement.compare import Comparison
from grater.agreement.groups import Groups, headline
from grater.agreement.summary import Agreement, PairAgreement
from grater.cli.output import number_table, print_notes
from grater.model import Interval

WIDTH = 80
MOST_ROWS = 40
MOST_LABELS = 8
NONE = "–"
TITLES = {
    "observed": "Observed agreement",
    "fleiss": "Fleiss kappa",
    "alpha": "Krippendorff alpha",
    "ac1": "Gwet AC1",
    "ac2": "Gwet AC2",
    "s": "Bennett S",
}
TITLE_OF_TWO = {"fleiss": "Scott pi (Fleiss kappa)"}


def render(
    whole: Agreement, groups: Sequence[Groups], comparisons: Mapping[str, Comparison], console: Console
) -> None:
    """Print everything that was found."""
    for table in tables(whole, groups, comparisons):
        console.print(table, width=min(WIDTH, console.width))
    print_notes(console, notes(whole))


def tables(whole: Agreement, groups: Sequence[Groups], comparisons: Mapping[str, Comparison]) -> Iterator[Table]:
    yield overall(whole)
    if len(whole.pairs) == 1 and len(whole.labels) <= MOST_LABELS:
        yield face_to_face(whole.pairs[0])
    if whole.pairs and whole.pairs[0].disagreements:
        yield disagreement(whole.pairs)
    if len(whole.pairs) > 1:
        yield pairs(whole)
    for each in groups:
        yield parts(each, whole)
    if comparisons or any(each.tests for each in groups):
        yield tests(groups, comparisons)


def overall(whole: Agreement) -> Table:
    """The coefficients, with kappa first where there are two raters."""
    table = number_table(f"Agreement of {_n_raters(whole)} on {whole.counts.n_compared:,} items", ["", "", *HEADERS])
    if len(whole.pairs) == 1:
        table.add_row("Cohen kappa", *_cells(whole.pairs[0].kappa))
    elif whole.mean:
        table.add_row(f"Mean Cohen kappa of {whole.mean.n_pairs} pairs", *_cells(whole.mean.kappa))
    titles = TITLES | (TITLE_OF_TWO if len(whole.raters) == 2 else {})
    for name, interval in whole.coefficients.items():
        table.add_row(titles[name], *_cells(interval, with_band=name != "observed"))
    return table


def face_to_face(pair: PairAgreement) -> Table:
    """T&C 2008, Table 3: rows are the first rater's labels."""
    first, second = pair.table.raters
    table = number_table("Who said what", [f"{first}↓ {second}→", *pair.table.labels])
    for label, row in zip(pair.table.labels, pair.table.cells.tolist(), strict=True):
        table.add_row(Text(label), *(f"{cell:,}" for cell in row))
    return table


def disagreement(found: Sequence[PairAgreement]) -> Table:
    """T&C 2008, 5.2: errors of one rater that are OK to another."""
    table = number_table("Errors of one rater that are OK to the other", ["", "", "rate", "95 % limits"])
    for each in [each for pair in found for each in pair.disagreements][:MOST_ROWS]:
        name = Text(f"{each.rater}, to {each.other}")
        table.add_row(name, f"{each.n_ok:,}/{each.n:,}", number(each.rate.value), limits(each.rate))
    return table


def pairs(whole: Agreement) -> Table:
    table = number_table("Pairs of raters", ["", "items", "observed", "kappa", *HEADERS])
    for pair in whole.pairs[:MOST_ROWS]:
        shown = [f"{pair.table.n:,}", number(pair.table.observed.value), *_cells(pair.kappa)]
        table.add_row(Text(" – ".join(pair.table.raters)), *shown)
    if len(whole.pairs) > MOST_ROWS:
        table.add_row(f"and {len(whole.pairs) - MOST_ROWS:,} more", *[""] * 5)
    return table


def parts(groups: Groups, whole: Agreement) -> Table:
    """Each part's headline, the range and the whole."""
    name, combined = headline(whole)
    table = number_table(f"By {groups.by}", ["", "items", "observed", name, *HEADERS])
    for part, found in groups.parts.items():
        observed, number_of = found.coefficients["observed"], headline(found)[1]
        table.add_row(Text(part), f"{found.counts.n_compared:,}", number(observed.value), *_cells(number_of))
    low, high = groups.range
    table.add_section()
    table.add_row("range", "", "", number(low), f"to {number(high)}", "")
    table.add_row("combined", f"{whole.counts.n_compared:,}", "", *_cells(combined))
    return table


def tests(groups: Sequence[Groups], comparisons: Mapping[str, Comparison]) -> Table:
    table = number_table("Differences", ["", "items", "difference", "95 % limits", "z", "p", "by"])
    found = {f"{test.first} – {test.second}": test.comparison for each in groups for test in each.tests}
    for name, comparison in {**found, **comparisons}.items():
        test = comparison.test
        shown = [number(test.difference.value), limits(test.difference), number(test.z), number(test.p)]
        table.add_row(Text(name), f"{comparison.n_items:,}", *shown, f"{comparison.coefficient}, {test.method}")
    return table


def notes(whole: Agreement) -> Iterator[str]:
    """What a reader must know to read the numbers right."""
    n_left_out = whole.counts.n_left_out
    if n_left_out:
        yield f"{n_left_out:,} of {whole.n_items:,} items have one judgment only and take no part."
    if whole.no_pairs:
        yield f"Pairs are not compared: {whole.no_pairs}."
    for reason in sorted({interval.undefined_because for interval in _all(whole) if interval.undefined_because}):
        yield f"{NONE}: {reason}."
    yield "Bands are those of Landis and Koch 1977."
    yield str(whole.signature)


def flat(whole: Agreement, groups: Sequence[Groups]) -> pl.DataFrame:
    """Every number as a row: part, raters, coefficient, items, value, low, high, band."""
    rows = [_row("", *line) for line in _lines(whole)]
    rows += [_row(name, *line) for each in groups for name, found in each.parts.items() for line in _lines(found)]
    names = ["part", "raters", "coefficient", "items", "value", "low", "high", "band"]
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)


def _lines(found: Agreement) -> Iterator[tuple[str, str, int, Interval]]:
    for name, interval in found.coefficients.items():
        yield "all", name, found.counts.n_compared, interval
    for pair in found.pairs:
        raters = " – ".join(pair.table.raters)
        yield raters, "observed", pair.table.n, pair.table.observed
        yield raters, "kappa", pair.table.n, pair.kappa


def _row(part: str, raters: str, name: str, n: int, interval: Interval) -> tuple[object, ...]:
    numbers = [None if isnan(each) else each for each in (interval.value, interval.low, interval.high)]
    return part, raters, name, n, *numbers, "" if name == "observed" else band(interval.value)


HEADERS = ("95 % limits", "band")


def _all(whole: Agreement) -> list[Interval]:
    mean = [whole.mean.kappa] if whole.mean else []
    return [*whole.coefficients.values(), *(pair.kappa for pair in whole.pairs), *mean]


def _cells(interval: Interval, *, with_band: bool = True) -> tuple[str, str, str]:
    return number(interval.value), limits(interval), band(interval.value) if with_band else ""


def _n_raters(whole: Agreement) -> str:
    return "1 rater" if len(whole.raters) == 1 else f"{len(whole.raters):,} raters"


def number(value: float) -> str:
    return NONE if isnan(value) else f"{value:.4f}"


def limits(interval: Interval) -> str:
    return NONE if isnan(interval.low) else f"{interval.low:.4f} to {interval.high:.4f}"
