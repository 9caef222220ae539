"""Sections about single tasks: constructions, blanks, choices, suggestions, and programs as raters.

Articles and noun number: what raters accept without and with context (Lee et al. 2009, sections 4 and 5).

Which word fits: blanks filled by writer, raters and systems, and the system's word against the writer's.  T&C 2008,
section 4: Table 2, and the accuracy by exact match corrected by what raters accept.  Also what a system's suggestions
change in marked essays: with and without, and the bias (`grater.measure.evaluation.offered`).

A program is measured as a rater, never taken as the truth: its verdicts are compared with the majority of people on
the items that both judged, ties left out.  Next to it is a person's result in the same comparison, each person
against the majority of the others: a program that agrees with people as well as they agree with each other could be
one of them.  Agreement on errors and on ok apart show a program that says ok to everything; a high agreement does
not, where errors are rare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan

import numpy as np
import polars as pl

from grater.measure.agreement.cohen import Confusion, between, cohen_kappa
from grater.measure.agreement.constructions import (
    IN_CONTEXT,
    NO_CONTEXT,
    ConstructionStudy,
    construction_scores,
    construction_study,
)
from grater.measure.agreement.summary import kappa_cells
from grater.measure.evaluation.offered import FATE_WORDS, SuggestionEffect
from grater.measure.evaluation.selection import choice_study, cloze_study, corrected_accuracy
from grater.measure.units import Essays, known_essays
from grater.model import Interval
from grater.reporting.agreement import confusion_map
from grater.reporting.document import Section, interval, percent_of, section_of, sentences
from grater.sheet import Sheet, count, counted, listed, number
from grater.tables import Judgments, Table

EVERYBODY = "all"
STAGES = {NO_CONTEXT: "without context", IN_CONTEXT: "in context"}


def constructions_section(judgments: Judgments, items: Table, *, decisions: Table | None = None) -> Section:
    """Tables 4 and 5, several right constructions, what agreement depends on, and systems against all of these."""
    study = construction_study(judgments, items)
    figures = [
        confusion_map(
            part.table,
            name=f"constructions-{part.name}",
            about=STAGES.get(part.name, part.name),
            source="Lee et al. 2009, Table 5",
        )
        for part in study.stages
    ]
    # The figures show the confusion tables.
    own = [sheet for sheet in study.sheets() if not sheet.name.startswith("confusion")]
    sheets = [replace(sheet, name=f"constructions-{sheet.name}") for sheet in own]
    scores = construction_scores(decisions, judgments, items) if decisions is not None else None
    if scores is not None:
        sheets += [replace(sheet, name="constructions-systems") for sheet in scores.sheets()]
    words, warnings = _constructions_words(study), [*study.warnings, *(scores.warnings if scores else ())]
    title = "Articles and noun number"
    return section_of(study, "constructions", title, words, figures=figures, sheets=sheets, warnings=warnings)


def _constructions_words(study: ConstructionStudy) -> list[str]:
    words = [
        f"{counted(study.n_places, 'noun')}, each in five constructions. "
        + " ".join(
            f"{STAGES[part.name].capitalize()}, two raters agree on {interval(part.observed)} of the answers (kappa "
            f"{interval(part.kappa)})."
            for part in study.stages
        )
    ]
    everybody = next((row for row in study.several if row.rater == EVERYBODY), None)
    if everybody is not None:
        words.append(
            f"In context, raters accept several constructions for {interval(everybody.several_yes)} of the nouns. A "
            "system scored against the writer’s own construction alone is underrated by at most that much."
        )
    return words


KINDS = {
    "writer-rater": "between writer and rater",
    "writer-system": "between writer and system",
    "rater-rater": "between raters",
}
MARKED = "suggestions marked"
UNKNOWN_FATES = "What became of the suggestions is unknown."


def cloze_section(judgments: Judgments, decisions: Table | None = None, *, places: Table | None = None) -> Section:
    """The cloze test: the writer's words are the rater `writer`, those of systems the suggestions of `decisions`."""
    study = cloze_study(judgments, decisions=decisions, essays=known_essays(judgments, places))
    means = study.mean_kappa
    shown = ", ".join(f"{number(means[kind])} {whose}" for kind, whose in KINDS.items() if kind in means)
    words = f"{counted(max(pair.n for pair in study.pairs), 'blank')}: mean kappa {shown}."
    return section_of(study, "cloze", "Filled blanks", [words], sheets=study.sheets())


def choice_section(
    judgments: Judgments, *, accuracy: Mapping[str, Interval] | None = None, places: Table | None = None
) -> Section:
    """The choice test; `accuracy` by exact match, of each system, is corrected by what raters accept."""
    study = choice_study(judgments, essays=known_essays(judgments, places))
    choices = study.choice
    words = [
        f"Where system and writer differ ({counted(choices.n_items, 'item')}), the share for which every rater finds "
        f"the system’s word at least as good is {interval(choices.all_raters)}."
    ]
    for system, exact in (accuracy or {}).items():
        corrected = interval(corrected_accuracy(exact, choices.all_raters))
        words.append(
            f"{system} has the writer’s word in {interval(exact)} of blanks, an acceptable one in {corrected}."
        )
    return section_of(study, "choice", "The writer’s word or the system’s", words, sheets=study.sheets())


def suggestions_section(effect: SuggestionEffect) -> Section:
    """Agreement and scores with and without suggestions, and what became of them."""
    total = sum(effect.fates.values())
    parts = [f"{percent_of(n, total)} were {FATE_WORDS.get(fate, fate)}" for fate, n in effect.fates.items() if n]
    fates = f"Of {total:,} suggestions shown, {listed(parts)}." if parts else UNKNOWN_FATES
    return Section(
        name="suggestions",
        title="Effect of suggestions",
        words=(_bias(effect), fates),
        sheets=tuple(replace(sheet, name=f"suggestions-{sheet.name}", signature="") for sheet in effect.sheets()),
        signature=str(effect.signature),
        warnings=sentences(effect.warnings),
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


ERROR, OK = "error", "ok"
ALL = "all"
PERSON = "a person, against the other people"
FEW = 30


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """One rater against the majority of people, on items of one kind."""

    rater: str
    kind: str
    table: Confusion

    def row(self) -> tuple[str, ...]:
        rows = np.indices(self.table.cells.shape)[0]
        is_same = np.eye(len(rows), dtype=bool)
        on_errors, on_ok = (interval(self.table.share(is_same & (rows == row), rows == row)) for row in (0, 1))
        agreement = (interval(self.table.observed), *kappa_cells(cohen_kappa(self.table)))
        return (self.rater, self.kind, count(self.table.n), *agreement, on_errors, on_ok)


def programs_section(
    people: Judgments, programs: Judgments, *, items: Table | None = None, places: Table | None = None
) -> Section | None:
    """Every program on all items and on those of each kind; None where no item was judged by both."""
    essays = known_essays(people, places)
    votes = _votes(people)
    kinds = dict(items.frame.select(pl.col("item", "kind").cast(pl.String)).iter_rows()) if items is not None else {}
    # The majority of people on each item; a tie is none.
    n_error = (pl.col("label") == ERROR).sum()
    counts = votes.group_by("item").agg(n_error=n_error, n=pl.len()).filter(2 * pl.col("n_error") != pl.col("n"))
    most = pl.when(2 * pl.col("n_error") > pl.col("n")).then(pl.lit(ERROR)).otherwise(pl.lit(OK))
    majority = counts.select("item", most=most)
    own = _votes(programs)
    compared = [
        each
        for rater in sorted(own["rater"].unique().to_list())
        for each in _compared(rater, own.filter(rater=rater), majority, kinds, essays)
    ]
    if not compared:
        return None
    compared += _compared(PERSON, _against_others(votes), None, kinds, essays)
    columns = ("program", "items", "n", "agreement", "kappa", "band", "on errors", "on ok")
    rows = tuple(each.row() for each in compared)
    sheet = Sheet("Programs against the majority of people", columns, rows, name="programs")
    return Section(
        name="programs",
        title="Programs as raters",
        words=tuple(_programs_words(compared)),
        sheets=(sheet,),
        scope=essays.scope_of(own["item"]).sentence,
    )


def _votes(judgments: Judgments) -> pl.DataFrame:
    frame = judgments.frame.select(pl.col("item", "rater", "label").cast(pl.String))
    return frame.filter(pl.col("label").is_in([ERROR, OK]))


def _against_others(votes: pl.DataFrame) -> pl.DataFrame:
    """Each judgment of a person with the majority of the other people on the item."""
    is_error = pl.col("label") == ERROR
    others = is_error.sum().over("item") - is_error.cast(pl.UInt32)
    n_others = pl.len().over("item") - 1
    most = pl.when(2 * others > n_others).then(pl.lit(ERROR)).otherwise(pl.lit(OK))
    return votes.with_columns(most=most, others=others, n=n_others).filter(2 * pl.col("others") != pl.col("n"))


def _compared(
    rater: str, own: pl.DataFrame, majority: pl.DataFrame | None, kinds: Mapping[str, str], essays: Essays
) -> Iterator[Compared]:
    both = own if majority is None else own.join(majority, on="item")
    if not len(both):
        return
    yield Compared(rater, ALL, _table(both, rater, essays))
    named = both.with_columns(kind=pl.col("item").replace_strict(kinds, default="", return_dtype=pl.String))
    for kind in sorted(name for name in named["kind"].unique().to_list() if name):
        yield Compared(rater, kind, _table(named.filter(kind=kind), rater, essays))


def _table(both: pl.DataFrame, rater: str, essays: Essays) -> Confusion:
    """Rows are the majority's verdicts, columns the rater's; a person may be in it with one item several times."""
    most, label = ((both[column] == OK).cast(pl.Int32).to_numpy() for column in ("most", "label"))
    return between(most, label, (ERROR, OK), ("people", rater), unit_of=essays.codes(both["item"]), unit=essays.unit)


def _programs_words(compared: Sequence[Compared]) -> Iterator[str]:
    people = next((each for each in compared if each.rater == PERSON and each.kind == ALL), None)
    for each in compared:
        if each.kind == ALL and each.rater != PERSON:
            also = f"; a person agrees with the other people on {interval(people.table.observed)}" if people else ""
            few = f" With only {each.table.n} items, little can be concluded." if each.table.n < FEW else ""
            agrees = f"{each.rater} agrees with the majority of people on {interval(each.table.observed)}"
            yield f"{agrees} of {each.table.n:,} items{also}.{few}"
    yield "Programs are compared as raters: unless requested, their judgments do not count in the scores of systems."
