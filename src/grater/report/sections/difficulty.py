"""The hardest and the easiest items (T,C&M 2013, 5.4 and 5.5)."""

from __future__ import annotations

from grater.agreement.difficulty import ItemDifficulty, difficulty
from grater.report.figure import Section, Sheet
from grater.report.words import interval, many, number
from grater.tables import Judgments, Table


def difficulty_section(judgments: Judgments, *, items: Table | None = None) -> Section:
    """The items on which raters part most, and those on which they agree."""
    found = difficulty(judgments, items=items)
    crowd = found.groups[0]
    names = _names(items)
    share = interval(crowd.majority_share)
    words = f"On an average item {share} of the raters side with the majority ({many(crowd.n_ranked, 'item')})."
    sheets = (
        _sheet("hardest", "The hardest items", crowd.hardest, names),
        _sheet("easiest", "The easiest items", crowd.easiest, names),
    )
    return Section("difficulty", "Hard and easy items", (words, *found.warnings), (), sheets, str(found.signature))


def _names(items: Table | None) -> dict[str, str]:
    if items is None or "target" not in items.frame.columns:
        return {}
    return {
        str(item): str(target)
        for item, target in items.frame.select("item", "target").iter_rows()
        if target is not None
    }


def _sheet(name: str, title: str, items: tuple[ItemDifficulty, ...], names: dict[str, str]) -> Sheet:
    rows = tuple(
        (
            names.get(each.item, each.item),
            each.majority,
            f"{each.n_judgments:,}",
            number(each.majority_share),
            number(each.entropy),
        )
        for each in items
    )
    return Sheet(name, title, ("item", "majority", "judgments", "share of the majority", "entropy, bits"), rows)
