"""Articles and noun number: what raters accept without and with context (Lee et al. 2009, sections 4 and 5)."""

from __future__ import annotations

from grater.agreement.constructions import (
    IN_CONTEXT,
    NO_CONTEXT,
    ConstructionStudy,
    Contrast,
    SeveralRight,
    construction_study,
)
from grater.report.agreement import confusion_map
from grater.report.document import Section, Sheet, interval, many, number
from grater.tables import Judgments, Table

EVERYBODY = "all"
STAGES = {NO_CONTEXT: "without context", IN_CONTEXT: "in context"}


def constructions_section(judgments: Judgments, items: Table, *, seed: int = 0) -> Section:
    """Tables 4 and 5, several right constructions, and what agreement depends on."""
    found = construction_study(judgments, items, seed=seed)
    figures = tuple(
        confusion_map(
            part.table, name=f"constructions-{part.name}", about=STAGES[part.name], source="Lee et al. 2009, Table 5"
        )
        for part in found.stages
    )
    sheets = [_freedom_sheet(found), *([_stages_sheet(found)] if found.stages else []), _several_sheet(found)]
    if found.contrasts:
        sheets.append(_contrasts_sheet(found.contrasts))
    return Section(
        "constructions",
        "Which articles and numbers a noun can take",
        tuple(_words(found)),
        figures,
        tuple(sheets),
        str(found.signature),
    )


def _words(found: ConstructionStudy) -> list[str]:
    words = [
        f"{many(found.n_places, 'noun')}, each in five constructions. "
        + " ".join(
            f"{STAGES[part.name].capitalize()} two raters agree in {interval(part.observed)} of the answers, "
            f"kappa {interval(part.kappa)}."
            for part in found.stages
        )
    ]
    together = next((each for each in found.several if each.rater == EVERYBODY), None)
    if together is not None:
        words.append(
            f"In context raters accept several constructions of a noun in {interval(together.several_yes)} of the "
            "cases. A system that is scored against the writer's own alone is underrated by as much, at the most."
        )
    return words


def _freedom_sheet(found: ConstructionStudy) -> Sheet:
    rows = tuple((each.rater, each.stage, f"{each.n:,}", interval(each.yes)) for each in found.freedom)
    return Sheet(
        "constructions-yes",
        "How freely raters say yes (Lee et al. 2009, Table 4)",
        ("rater", "stage", "answers", "yes"),
        rows,
    )


def _stages_sheet(found: ConstructionStudy) -> Sheet:
    rows = tuple(
        (part.name, f"{part.table.n:,}", interval(part.observed), interval(part.kappa)) for part in found.stages
    )
    return Sheet(
        "constructions-agreement",
        "Agreement by stage (Lee et al. 2009, Table 5)",
        ("stage", "answers", "agreement", "kappa"),
        rows,
    )


def _several_sheet(found: ConstructionStudy) -> Sheet:
    columns = ("rater", "nouns", "several yes", "several yes*", "original yes", "original yes*")
    return Sheet(
        "constructions-several",
        "Several right constructions, and the writer's own",
        columns,
        tuple(map(_row, found.several)),
    )


def _row(each: SeveralRight) -> tuple[str, ...]:
    shares = (each.several_yes, each.several_starred, each.original_yes, each.original_starred)
    return each.rater, f"{each.n_places:,}", *map(interval, shares)


def _contrasts_sheet(contrasts: tuple[Contrast, ...]) -> Sheet:
    rows = tuple(
        (
            f"{each.first.name} against {each.second.name}",
            interval(each.first.kappa),
            interval(each.second.kappa),
            f"{number(each.paper.z)}, p {number(each.paper.p, digits=3)}",
            f"p {number(each.ours.p, digits=3)}",
        )
        for each in contrasts
    )
    note = "The paper's z takes all answers for independent; ours compares the same nouns, resampled together."
    columns = ("what", "kappa", "other kappa", "paper's z", "ours")
    return Sheet("constructions-contrasts", "What agreement depends on", columns, rows, note)
