"""What a system's suggestions change in marked essays: with and without, and the bias (`grater.evaluate.offered`)."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

from grater.evaluate.offered import SuggestionEffect
from grater.report.document import Section, interval, percent_of

MARKED = "suggestions marked"


def suggestions_section(effect: SuggestionEffect) -> Section:
    """Agreement and scores with and without suggestions, and what became of them."""
    sheets = effect.sheets()
    return Section(
        name="suggestions",
        title="What suggestions change",
        words=(_bias(effect), _fates(effect)),
        sheets=tuple(replace(sheet, name=f"suggestions-{sheet.name}", signature="") for sheet in sheets),
        signature=str(effect.signature),
    )


def _bias(effect: SuggestionEffect) -> str:
    scores, difference = effect.scores[MARKED], effect.differences[MARKED]
    shown = f"Annotators who were shown a system’s marks marked {interval(scores['with'])} of the suggested places"
    if isnan(difference.value):
        return f"{shown}; nobody marked the same essays without them, so the bias is unknown."
    return (
        f"{shown}, those who were not {interval(scores['without'])}: a score by people who saw the marks is too high "
        f"by {interval(difference)}."
    )


def _fates(effect: SuggestionEffect) -> str:
    total = sum(effect.fates.values())
    parts = [f"{percent_of(n, total)} {fate}" for fate, n in effect.fates.items() if n]
    return f"Of {total:,} suggestions shown: {', '.join(parts)}." if parts else "No fate of a suggestion is known."
