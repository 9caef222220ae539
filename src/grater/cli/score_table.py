"""Scores and ceilings on a terminal, in eighty columns: percentages with two decimals, as the field prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grater.cli.output import number_table, print_notes
from grater.evaluate.edits.ceiling import Ceiling
from grater.evaluate.edits.scores import ScoredCounts, Scores, SystemScores
from grater.evaluate.edits.tables import title
from grater.model import Interval
from grater.statistics.paired import PairTest

WIDTH = 80
MOST_PAIRS = 40
NONE = "–"
METRIC_TITLES = {"m2": "M2 (MaxMatch)", "errant": "ERRANT", "gleu": "GLEU"}


def print_scores(scores: Scores, console: Console) -> None:
    """The systems, the scores by type where there are any, the tests between systems, the signature."""
    _print(console, _systems(scores))
    for system in scores.systems:
        if system.by_type:
            _print(console, _types(system))
    if scores.pairs:
        _print(console, _pairs(scores))
    print_notes(console, _notes(scores))


def print_ceiling(found: Ceiling, console: Console) -> None:
    """A table for each number of references: people on average, each of them, the systems."""
    names = list(found.rows[0].scores)
    for size in sorted({row.n_references for row in found.rows}):
        many = "1 reference" if size == 1 else f"{size} references"
        table = number_table(
            f"{_metric(found.metric)} against {many}", ["", *map(title, names), "95 % limits", "of human", "sets"]
        )
        for row in (row for row in found.rows if row.n_references == size):
            if (
                row.kind == "system"
                and table.rows
                and not table.rows[-1].end_section
                and _is_first(found, row.name, size)
            ):
                table.add_section()
            shown = [number(row.scores[name].value) for name in names]
            style = "bold" if row.kind == "human" else ""
            limits_of = limits(row.scores[names[-1]])
            table.add_row(
                Text(row.name, style=style), *shown, limits_of, number(row.of_human.value), f"{row.n_subsets:,}"
            )
        _print(console, table)
    if found.n_left_out:
        print_notes(console, [f"{found.n_left_out:,} sentences that not everyone read are left out."])
    print_notes(console, [str(found.signature)])


def _is_first(found: Ceiling, name: str, size: int) -> bool:
    systems = [row.name for row in found.rows if row.kind == "system" and row.n_references == size]
    return systems[0] == name


def _systems(scores: Scores) -> Table:
    names = list(scores.systems[0].overall.scores)
    columns = list(scores.systems[0].overall.counts)
    shown = columns if len(columns) == 3 else []
    table = number_table(
        f"{_metric(scores.metric)}, {scores.systems[0].sentences.n_sentences:,} sentences",
        ["", *map(title, names), "95 % limits", *(column.upper() for column in shown), "group"],
    )
    for system in scores.systems:
        counts = [f"{system.overall.counts[column]:,}" for column in shown]
        table.add_row(Text(system.system), *_cells(system.overall), *counts, system.group)
    return table


def _types(system: SystemScores) -> Table:
    names = list(system.overall.scores)
    table = number_table(f"{system.system} by type", ["", *map(title, names), "95 % limits", "TP", "FP", "FN"])
    for name, scored in system.by_type.items():
        table.add_row(Text(name), *_cells(scored), *(f"{count:,}" for count in scored.counts.values()))
    return table


def _pairs(scores: Scores) -> Table:
    headers = ["", "diff.", "95 % limits", "bootstrap p", "Holm", "random. p", "Holm"]
    table = number_table(f"Differences of {title(scores.headline)}", headers)
    for pair in scores.pairs[:MOST_PAIRS]:
        table.add_row(Text(f"{pair.first} – {pair.second}"), number(pair.difference.value), *_test_cells(pair))
    if len(scores.pairs) > MOST_PAIRS:
        table.add_row(f"and {len(scores.pairs) - MOST_PAIRS:,} more (--json)", *[""] * 6)
    return table


def _test_cells(pair: PairTest) -> list[str]:
    p = [value for test in ("bootstrap", "randomisation") for value in (pair.p[test], pair.holm[test])]
    return [limits(pair.difference), *(NONE if isnan(value) else f"{value:.4f}" for value in p)]


def _notes(scores: Scores) -> Iterable[str]:
    if scores.pairs:
        test = scores.signature.options["test"]
        yield f"Systems that share a letter cannot be told apart at 95 % (paired {test}, Holm)."
    reasons = {
        score.undefined_because
        for system in scores.systems
        for score in system.overall.scores.values()
        if score.undefined_because
    }
    yield from (f"{NONE}: {reason}." for reason in sorted(reasons))
    yield str(scores.signature)


def _cells(scored: ScoredCounts) -> Sequence[str]:
    """Every score, and the limits of the last."""
    values = list(scored.scores.values())
    return [*(number(score.value) for score in values), limits(values[-1])]


def number(value: float) -> str:
    return NONE if isnan(value) else f"{100 * value:.2f}"


def limits(score: Interval) -> str:
    return NONE if isnan(score.low) else f"{100 * score.low:.2f} to {100 * score.high:.2f}"


def _metric(name: str) -> str:
    return METRIC_TITLES.get(name, name)


def _print(console: Console, table: Table) -> None:
    console.print(table, width=min(WIDTH, console.width))
