"""The nouns of a construction study, chosen from the study's own essays (Lee et al. 2009, section 3.3).

A study that has construction items already, as from `grater nouns select` with other sizes, keeps them.  Sizes are
the paper's; what the essays could not fill is told, and a design whose essays have no noun of `LEAST` phrases is
refused.  A plain job, which may be a trial, takes rarer nouns then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from grater.detect.articles.design import Place, item_rows, places_of, select
from grater.errors import UsageError
from grater.model import Item, Json, Span
from grater.store import Tx, items
from grater.store.items import StudyItem
from grater.study.crowd_planting import own_essays
from grater.text.analysis import analyse

KIND = "construction/"
LEAST = 30
PLACE = ("item", "essay", "start", "end", "kind")


def require_constructions(tx: Tx) -> None:
    """Construction items for a job: those of the study, else of its frequent nouns, else of what nouns there are."""
    try:
        construction_items(tx, seed=0)
    except UsageError:
        construction_items(tx, seed=0, least=1)


def construction_items(tx: Tx, *, seed: int, least: int = LEAST) -> tuple[list[str], list[str]]:
    """The ids of the study's construction items, chosen first where there are none, and what could not be filled."""
    known = [each.item_id for each in items.all(tx) if each.kind.startswith(KIND)]
    if known:
        return known, []
    places = list(_places(tx))
    design = select(places, least=least, seed=seed)
    if not design.places:
        raise UsageError(
            f"expected nouns with {least} phrases or more in the essays, found none; choose items from more text "
            "with grater nouns select, and import them"
        )
    chosen = [_item(row) for row in item_rows(design)]
    items.add_all(tx, chosen)
    missing = [f"{each.where}: wanted {each.wanted}, found {each.found}" for each in design.shortfalls]
    return [each.item_id for each in chosen], missing


def _places(tx: Tx) -> Iterator[Place]:
    for essay in own_essays(tx):
        yield from places_of(essay.essay_id, analyse(essay))


def _item(row: Mapping[str, object]) -> StudyItem:
    item = Item(str(row["essay"]), Span(int(str(row["start"])), int(str(row["end"]))), str(row["kind"]))
    payload: dict[str, Json] = {
        name: value if isinstance(value, bool) else str(value) for name, value in row.items() if name not in PLACE
    }
    return items.of(item, payload=payload)
