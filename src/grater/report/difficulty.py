"""The hardest and the easiest items, and those that split only the crowd (T,C&M 2013, 5.4 and 5.5)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from grater.agreement.difficulty import Difficulty, ItemDifficulty, difficulty
from grater.report.document import Section, Sheet, interval, many, number, sentence
from grater.report.items import CONTENTIOUS, Texts
from grater.tables import Judgments, Table

MOST_SPLIT = 10


def difficulty_section(
    judgments: Judgments,
    *,
    experts: Judgments | None = None,
    items: Table | None = None,
    texts: Texts | None = None,
    listed: Collection[str] = (),
) -> Section:
    """The items on which raters part most, and those on which they agree; those `listed` further down are linked."""
    found = difficulty(judgments, experts, items)
    crowd = found.groups[0]
    share = interval(crowd.majority_share)
    words = [f"On an average item {share} of the raters side with the majority ({many(crowd.n_ranked, 'item')})."]
    sheets = [
        _sheet("hardest", "The hardest items", crowd.hardest, texts, listed),
        _sheet("easiest", "The easiest items", crowd.easiest, texts, listed),
    ]
    if experts is not None:
        words.append(_of_experts(found))
        if found.split:
            sheets.append(_split(found, texts, listed))
    words += map(sentence, found.warnings)
    return Section("difficulty", "Hard and easy items", tuple(words), (), tuple(sheets), str(found.signature))


def _of_experts(found: Difficulty) -> str:
    return (
        f"Experts are of one mind on {many(found.n_unanimous, 'item')}; on {len(found.split):,} of them the crowd is "
        "split."
    )


def _sheet(
    name: str, title: str, items: Sequence[ItemDifficulty], texts: Texts | None, listed: Collection[str]
) -> Sheet:
    rows = tuple(
        (_line(each.item, texts), each.majority, f"{each.n_judgments:,}", number(each.majority_share))
        for each in items
    )
    columns = ("item", "majority", "judgments", "share of the majority")
    return Sheet(name, title, columns, rows, links=_links([each.item for each in items], listed))


def _split(found: Difficulty, texts: Texts | None, listed: Collection[str]) -> Sheet:
    shown = found.split[:MOST_SPLIT]
    rows = tuple(
        (
            _line(each.crowd.item, texts),
            each.experts.majority,
            each.crowd.majority,
            f"{each.crowd.n_judgments:,}",
            number(each.crowd.majority_share),
        )
        for each in shown
    )
    columns = ("item", "experts say", "majority of the crowd", "judgments", "share of the majority")
    links = _links([each.crowd.item for each in shown], listed)
    return Sheet("only-crowd-split", "Experts agree, the crowd is split", columns, rows, links=links)


def _line(item: str, texts: Texts | None) -> str:
    return texts.line(item) if texts else item


def _links(items: Sequence[str], listed: Collection[str]) -> dict[tuple[int, int], str]:
    return {(row, 0): f"{CONTENTIOUS}-{item}" for row, item in enumerate(items) if item in listed}
