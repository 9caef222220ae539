"""The errors that correctors find and miss, and those that remain in their output.

Precision, by type, and the edits that break something are in the systems' own section, since edits are items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grater.measure.corrections.recall import Recall, Remaining
from grater.reporting.document import Figure, ItemList, Row, Section, section_of
from grater.reporting.drawing import forest, interval_columns, number_axis
from grater.sheet import counted, interval


@dataclass(frozen=True, slots=True, eq=False)
class Correctors:
    """Recall from marked source sentences with the errors that each system missed, and errors left in its output."""

    recall: Recall | None = None
    remaining: Remaining | None = None
    missed: tuple[ItemList, ...] = ()


def corrector_sections(known: Correctors) -> Iterator[Section]:
    if known.recall is not None:
        yield _recall_section(known.recall)
    if known.remaining is not None:
        yield _remaining_section(known.remaining)


def _recall_section(result: Recall) -> Section:
    rows: list[Row] = [
        {"system": each.system, "group": each.group, **interval_columns(each.recall)} for each in result.systems
    ]
    shown = "; ".join(f"{each.system} {interval(each.recall)}" for each in result.systems)
    marks = counted(result.n_verified, "verified error")
    words = f"Of the errors in the source sentences, systems correct: {shown} ({marks})."
    figure = Figure("recall", "Share of the errors that each system corrects", words, forest(rows, _axis("recall")))
    title = "What correctors find and miss"
    return section_of(result, "recall", title, [words], figures=[figure], sheets=result.sheets())


def _remaining_section(result: Remaining) -> Section:
    rows: list[Row] = [
        {"system": each.system, "group": "", **interval_columns(each.errors)} for each in result.systems
    ]
    shown = "; ".join(f"{each.system} {interval(each.errors, digits=2)}" for each in result.systems)
    words = f"Errors that remain per 100 words of corrected text: {shown}."
    title = "Remaining errors"
    figure = Figure("remaining", "Errors left per 100 words", words, forest(rows, _axis("errors per 100 words")))
    return section_of(result, "remaining", title, [words], figures=[figure], sheets=result.sheets())


def _axis(title: str) -> dict[str, object]:
    return dict(number_axis("value", title))
