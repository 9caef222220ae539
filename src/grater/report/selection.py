"""Which word fits: blanks filled by writer, raters and systems, and the system's word against the writer's.

T&C 2008, section 4: Table 2, and the accuracy by exact match corrected by what raters accept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grater.agreement.coefficients import band
from grater.agreement.essays import known_essays
from grater.evaluate.selection import ClozePair, choice_study, cloze_study, corrected_accuracy
from grater.model import Interval
from grater.report.document import Section, interval
from grater.sheet import Sheet, counted, number
from grater.tables import Judgments, Table

KINDS = {
    "writer-rater": "of the writer with a rater",
    "writer-system": "with the system",
    "rater-rater": "of two raters",
}


def cloze_section(
    judgments: Judgments, decisions: Table | None = None, *, places: Table | None = None, seed: int = 0
) -> Section:
    """The cloze test: the writer's words are the rater `writer`, those of systems the suggestions of `decisions`."""
    study = cloze_study(judgments, decisions=decisions, essays=known_essays(judgments, places), seed=seed)
    means = study.mean_kappa
    shown = ", ".join(f"{number(means[kind])} {whose}" for kind, whose in KINDS.items() if kind in means)
    words = f"{counted(max(pair.n for pair in study.pairs), 'blank')} filled: mean kappa {shown}."
    return Section(
        name="cloze",
        title="Which word fits",
        words=(words, study.scope.sentence),
        figures=(),
        sheets=(_pairs_sheet(study.pairs),),
        signature=str(study.signature),
    )


def _pairs_sheet(pairs: Sequence[ClozePair]) -> Sheet:
    rows = tuple(
        (
            f"{pair.first} and {pair.second}",
            f"{pair.n:,}",
            interval(pair.agreement),
            interval(pair.kappa),
            band(pair.kappa.value),
        )
        for pair in pairs
    )
    columns = ("who", "blanks", "agreement", "kappa", "which is")
    return Sheet(name="cloze", title="Who filled the blank alike (T&C 2008, Table 2)", columns=columns, rows=rows)


def choice_section(
    judgments: Judgments, *, accuracy: Mapping[str, Interval] | None = None, places: Table | None = None
) -> Section:
    """The choice test; `accuracy` by exact match, of each system, is corrected by what raters accept."""
    study = choice_study(judgments, essays=known_essays(judgments, places))
    choices = study.choice
    rows = [(rater, interval(share)) for rater, share in choices.by_rater.items()]
    rows.append(("all of them", interval(choices.all_raters)))
    words = [
        f"Where system and writer differ ({counted(choices.n_items, 'item')}), every rater finds the system's word "
        f"at least as good in {interval(choices.all_raters)}."
    ]
    for system, exact in (accuracy or {}).items():
        corrected = interval(corrected_accuracy(exact, choices.all_raters))
        words.append(f"{system} matches the writer in {interval(exact)}; by what raters accept that is {corrected}.")
    sheet = Sheet(
        name="choice",
        title="The system's word is equal or better (T&C 2008, section 4.2)",
        columns=("rater", "share of the items"),
        rows=tuple(rows),
        notes=(f"{choices.n_equally_bad:,} answers call both equally bad and are left out.",),
    )
    return Section(
        name="choice",
        title="Whose word is better",
        words=(*words, study.scope.sentence),
        figures=(),
        sheets=(sheet,),
        signature=str(study.signature),
    )
