"""What a system's suggestions change in marked essays: with and without, and the bias (`grater.evaluate.offered`)."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

from grater.evaluate.offered import FATE_WORDS, SuggestionEffect
from grater.report.document import Section, interval, listed, percent_of

MARKED = "suggestions marked"


def suggestions_section(effect: SuggestionEffect) -> Section:
    """Agreement and scores with and without suggestions, and what became of them."""
    sheets = effect.sheets()
    return Section(
        name="suggestions",
        title="Effect of suggestions",
        words=(_bias(effect), _fates(effect)),
        sheets=tuple(replace(sheet, name=f"suggestions-{sheet.name}", signature="") for sheet in sheets),
        signature=str(effect.signature),
    )


def _bias(effect: SuggestionEffect) -> str:
    scores, difference = effect.scores[MARKED], effect.differences[MARKED]
    shown = f"Annotators who saw a system’s suggestions marked {interval(scores['with'])} of the suggested places"
    if isnan(difference.value):
        return f"{shown}; nobody marked these essays without suggestions, so the bias is unknown."
    compared = f"{shown}, those who did not {interval(scores['without'])}"
    if difference.low > 0:
        seen = f"{interval(difference)} too high"
        return f"{compared}: judged by people who saw its marks, the system’s precision would come out {seen}."
    return f"{compared}. The difference, {interval(difference)}, may be chance."


def _fates(effect: SuggestionEffect) -> str:
    total = sum(effect.fates.values())
    parts = [f"{percent_of(n, total)} were {FATE_WORDS.get(fate, fate)}" for fate, n in effect.fates.items() if n]
    return (
        f"Of {total:,} suggestions shown, {listed(parts)}." if parts else "What became of the suggestions is unknown."
    )
