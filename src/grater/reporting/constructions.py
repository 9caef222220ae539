"""Articles and noun number: what raters accept without and with context (Lee et al. 2009, sections 4 and 5)."""

from __future__ import annotations

from dataclasses import replace

from grater.measure.agreement.constructions import (
    IN_CONTEXT,
    NO_CONTEXT,
    ConstructionStudy,
    Contrast,
    SeveralRight,
    construction_study,
)
from grater.measure.evaluation.selection import construction_scores
from grater.reporting.agreement import confusion_map
from grater.reporting.document import Section, interval, sentence
from grater.sheet import Sheet, counted, number, p_value
from grater.tables import Judgments, Table
from grater.uncertainty.bootstrap import Chance

EVERYBODY = "all"
STAGES = {NO_CONTEXT: "without context", IN_CONTEXT: "in context"}


def constructions_section(
    judgments: Judgments, items: Table, *, decisions: Table | None = None, chance: Chance | None = None
) -> Section:
    """Tables 4 and 5, several right constructions, what agreement depends on, and systems against all of these."""
    seed = chance.seed if chance else 0
    study = construction_study(judgments, items, seed=seed)
    figures = tuple(
        confusion_map(
            part.table, name=f"constructions-{part.name}", about=STAGES[part.name], source="Lee et al. 2009, Table 5"
        )
        for part in study.stages
    )
    rows = tuple(
        (row.rater, STAGES.get(row.stage, row.stage), f"{row.n:,}", interval(row.yes)) for row in study.freedom
    )
    freedom_sheet = Sheet(
        name="constructions-yes",
        title="Share of yes answers (Lee et al. 2009, Table 4)",
        columns=("rater", "stage", "answers", "yes"),
        rows=rows,
    )
    columns = ("rater", "nouns", "several accepted", "several best", "original accepted", "original best")
    several_sheet = Sheet(
        name="constructions-several",
        title="Several acceptable constructions, and the writer’s own",
        columns=columns,
        rows=tuple(map(_row, study.several)),
        notes=("Best: marked yes*, the rater’s first choice; original: the writer’s own construction.",),
    )
    sheets = [freedom_sheet, *([_stages_sheet(study)] if study.stages else []), several_sheet]
    if study.contrasts:
        sheets.append(_contrasts_sheet(study.contrasts))
    words = [*_words(study), study.scope.sentence]
    scores = construction_scores(decisions, judgments, items, chance=chance) if decisions is not None else None
    if scores is not None:
        sheets += [replace(sheet, name="constructions-systems") for sheet in scores.sheets()]
        words += map(sentence, scores.warnings)
    return Section(
        name="constructions",
        title="Articles and noun number",
        words=tuple(words),
        figures=figures,
        sheets=tuple(sheets),
        signature=str(study.signature),
    )


def _words(study: ConstructionStudy) -> list[str]:
    words = [
        f"{counted(study.n_places, 'noun')}, each in five constructions. "
        + " ".join(
            f"{STAGES[part.name].capitalize()}, two raters agree on {interval(part.observed)} of the answers (kappa "
            f"{interval(part.kappa)})."
            for part in study.stages
        )
    ]
    together = next((row for row in study.several if row.rater == EVERYBODY), None)
    if together is not None:
        words.append(
            f"In context, raters accept several constructions for {interval(together.several_yes)} of the nouns. A "
            "system scored against the writer’s own construction alone is underrated by at most that much."
        )
    return words


def _stages_sheet(study: ConstructionStudy) -> Sheet:
    rows = tuple(
        (STAGES.get(part.name, part.name), f"{part.table.n:,}", interval(part.observed), interval(part.kappa))
        for part in study.stages
    )
    return Sheet(
        name="constructions-agreement",
        title="Agreement by stage (Lee et al. 2009, Table 5)",
        columns=("stage", "answers", "agreement", "kappa"),
        rows=rows,
    )


def _row(several: SeveralRight) -> tuple[str, ...]:
    shares = (several.several_yes, several.several_starred, several.original_yes, several.original_starred)
    return several.rater, f"{several.n_places:,}", *map(interval, shares)


def _contrasts_sheet(contrasts: tuple[Contrast, ...]) -> Sheet:
    rows = tuple(
        (
            f"{_named(contrast.first.name)} or {_named(contrast.second.name)}",
            interval(contrast.first.kappa),
            interval(contrast.second.kappa),
            f"{number(contrast.paper.z)} (p {p_value(contrast.paper.p)})",
            p_value(contrast.ours.p),
        )
        for contrast in contrasts
    )
    note = "The paper’s z treats all answers as independent; our p resamples nouns or essays with all their answers."
    columns = ("first or second", "kappa of first", "kappa of second", "z (paper)", "p (ours)")
    return Sheet(
        name="constructions-contrasts", title="What agreement depends on", columns=columns, rows=rows, notes=(note,)
    )


def _named(part: str) -> str:
    return STAGES.get(part, part)
