"""The agreement of annotators on a terminal: the three criteria, then every pair (NUCLE, Table 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isnan

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grater.agreement.coefficients import band
from grater.agreement.edits import CorpusAgreement, EditAgreement
from grater.cli.output import number_table, print_notes
from grater.model import Interval

WIDTH = 80
MOST_ROWS = 60
NONE = "–"
TITLES = {"fleiss": "Fleiss kappa", "ac1": "Gwet AC1", "alpha": "Krippendorff alpha"}


def render_corpus(found: CorpusAgreement, console: Console) -> None:
    """Print everything that was found."""
    for table in (overall(found), *([pairs(found)] if len(found.raters) > 2 and not found.no_pairs else [])):
        console.print(table, width=min(WIDTH, console.width))
    print_notes(console, notes(found))


def overall(found: CorpusAgreement) -> Table:
    title = f"Agreement of {len(found.raters)} annotators on {found.n_units:,} {found.unit}s"
    table = number_table(title, ["", f"{found.unit}s", "", "95 % limits", "band"])
    for name, each in found.criteria.items():
        table.add_row(Text(name.capitalize(), style="bold"), f"{each.n_units:,}", "", "", "")
        table.add_row(
            "  observed", "", number(each.coefficients["observed"].value), limits(each.coefficients["observed"]), ""
        )
        if each.pairs:
            mean = "  Cohen kappa" if len(each.pairs) == 1 else f"  mean Cohen kappa of {_n_defined(each)} pairs"
            kappa = each.pairs[0].kappa if len(each.pairs) == 1 else each.mean_kappa
            table.add_row(mean, "", *_cells(kappa))
        for coefficient, title in TITLES.items():
            table.add_row(f"  {title}", "", *_cells(each.coefficients[coefficient]))
    return table


def pairs(found: CorpusAgreement) -> Table:
    """NUCLE, Table 3: the three kappas of every pair and their average."""
    table = number_table("Cohen kappa of every pair", ["", *found.criteria])
    rows = list(zip(*(each.pairs for each in found.criteria.values()), strict=True))
    for row in rows[:MOST_ROWS]:
        table.add_row(Text(" – ".join(row[0].raters)), *(_brief(pair.kappa) for pair in row))
    if len(rows) > MOST_ROWS:
        table.add_row(f"and {len(rows) - MOST_ROWS:,} more", *[""] * len(found.criteria))
    table.add_section()
    table.add_row("average", *(_brief(each.mean_kappa) for each in found.criteria.values()))
    return table


def notes(found: CorpusAgreement) -> Iterator[str]:
    """What a reader must know to read the numbers right."""
    yield (
        f"Counted in {found.unit}s of the {found.n_shared:,} of {found.n_essays:,} essays that at least two "
        "annotators read; classification and exact agreement on those that both marked."
    )
    if found.no_pairs:
        yield f"Pairs are not compared: {found.no_pairs}."
    for name, each in found.criteria.items():
        if each.n_undefined:
            yield f"{each.n_undefined:,} of {len(each.pairs):,} pairs have no {name} kappa and no part in its mean."
    for reason in sorted({interval.undefined_because for interval in _all(found) if interval.undefined_because}):
        yield f"{NONE}: {reason}."
    yield "Bands are those of Landis and Koch 1977."
    yield str(found.signature)


def corpus_frame(found: CorpusAgreement) -> pl.DataFrame:
    """Every number as a row: criterion, raters, coefficient, units, value, low, high, band."""
    rows = [_row(name, *line) for name, each in found.criteria.items() for line in _lines(each)]
    names = ["criterion", "raters", "coefficient", "units", "value", "low", "high", "band"]
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)


def _lines(each: EditAgreement) -> Iterator[tuple[str, str, int, Interval]]:
    for name, interval in each.coefficients.items():
        yield "all", name, each.n_units, interval
    if each.pairs:
        yield "mean of pairs", "kappa", each.n_units, each.mean_kappa
    for pair in each.pairs:
        raters = " – ".join(pair.raters)
        yield raters, "observed", pair.n, pair.observed
        yield raters, "kappa", pair.n, pair.kappa


def _row(criterion: str, raters: str, name: str, n: int, interval: Interval) -> tuple[object, ...]:
    numbers = [None if isnan(each) else each for each in (interval.value, interval.low, interval.high)]
    return criterion, raters, name, n, *numbers, "" if name == "observed" else band(interval.value)


def _all(found: CorpusAgreement) -> Iterable[Interval]:
    for each in found.criteria.values():
        yield from each.coefficients.values()
        yield from (pair.kappa for pair in each.pairs)


def _n_defined(each: EditAgreement) -> int:
    return len(each.pairs) - each.n_undefined


def _cells(interval: Interval) -> tuple[str, str, str]:
    return number(interval.value), limits(interval), band(interval.value)


def number(value: float) -> str:
    return NONE if isnan(value) else f"{value:.4f}"


def limits(interval: Interval) -> str:
    return NONE if isnan(interval.low) else f"{interval.low:.4f} to {interval.high:.4f}"


def _brief(interval: Interval) -> str:
    if isnan(interval.value):
        return NONE
    return f"{interval.value:.3f}" + ("" if isnan(interval.low) else f" ({interval.low:.3f}–{interval.high:.3f})")
