"""Which word fits: blanks filled by writer, raters and systems, and the system's word against the writer's.

T&C 2008, section 4: Table 2, and the accuracy by exact match corrected by what raters accept.

Also what a system's suggestions change in marked essays: with and without, and the bias
(`grater.measure.evaluation.offered`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isnan

from grater.measure.agreement.coded import known_essays
from grater.measure.agreement.coefficients import band_words
from grater.measure.evaluation.offered import FATE_WORDS, SuggestionEffect
from grater.measure.evaluation.selection import choice_study, cloze_study, corrected_accuracy
from grater.model import Interval
from grater.reporting.document import Section, interval, listed, percent_of
from grater.sheet import Sheet, counted, number
from grater.tables import Judgments, Table

KINDS = {
    "writer-rater": "between writer and rater",
    "writer-system": "between writer and system",
    "rater-rater": "between raters",
}
MARKED = "suggestions marked"


def cloze_section(
    judgments: Judgments, decisions: Table | None = None, *, places: Table | None = None, seed: int = 0
) -> Section:
    """The cloze test: the writer's words are the rater `writer`, those of systems the suggestions of `decisions`."""
    study = cloze_study(judgments, decisions=decisions, essays=known_essays(judgments, places), seed=seed)
    means = study.mean_kappa
    shown = ", ".join(f"{number(means[kind])} {whose}" for kind, whose in KINDS.items() if kind in means)
    words = f"{counted(max(pair.n for pair in study.pairs), 'blank')}: mean kappa {shown}."
    rows = tuple(
        (
            f"{pair.first} and {pair.second}",
            f"{pair.n:,}",
            interval(pair.agreement),
            interval(pair.kappa),
            band_words(pair.kappa),
        )
        for pair in study.pairs
    )
    columns = ("pair", "blanks", "agreement", "kappa", "band")
    pairs_sheet = Sheet(
        name="cloze", title="Agreement on the word in the blank (T&C 2008, Table 2)", columns=columns, rows=rows
    )
    return Section(
        name="cloze",
        title="Filled blanks",
        words=(words, study.scope.sentence),
        figures=(),
        sheets=(pairs_sheet,),
        signature=str(study.signature),
    )


def choice_section(
    judgments: Judgments, *, accuracy: Mapping[str, Interval] | None = None, places: Table | None = None
) -> Section:
    """The choice test; `accuracy` by exact match, of each system, is corrected by what raters accept."""
    study = choice_study(judgments, essays=known_essays(judgments, places))
    choices = study.choice
    rows = [(rater, interval(share)) for rater, share in choices.by_rater.items()]
    rows.append(("all agree", interval(choices.all_raters)))
    words = [
        f"Where system and writer differ ({counted(choices.n_items, 'item')}), the share for which every rater finds "
        f"the system’s word at least as good is {interval(choices.all_raters)}."
    ]
    for system, exact in (accuracy or {}).items():
        corrected = interval(corrected_accuracy(exact, choices.all_raters))
        words.append(
            f"{system} has the writer’s word in {interval(exact)} of blanks, an acceptable one in {corrected}."
        )
    sheet = Sheet(
        name="choice",
        title="The system’s word is as good or better (T&C 2008, section 4.2)",
        columns=("rater", "share of items"),
        rows=tuple(rows),
        notes=(f"{counted(choices.n_equally_bad, 'answer')} “equally bad” left out.",),
    )
    return Section(
        name="choice",
        title="The writer’s word or the system’s",
        words=(*words, study.scope.sentence),
        figures=(),
        sheets=(sheet,),
        signature=str(study.signature),
    )


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
        return f"{compared}: judged by people who saw its marks, the system’s precision would be {seen}."
    return f"{compared}. The difference, {interval(difference)}, may be chance."


def _fates(effect: SuggestionEffect) -> str:
    total = sum(effect.fates.values())
    parts = [f"{percent_of(n, total)} were {FATE_WORDS.get(fate, fate)}" for fate, n in effect.fates.items() if n]
    return (
        f"Of {total:,} suggestions shown, {listed(parts)}." if parts else "What became of the suggestions is unknown."
    )
