"""Which units a job of each task has: what one page asks about.

`usage`, `error`, `cloze`: one item a page, prepositions found in the essays where no item of the kind is there yet.
`choice`, `verify`: items where a system's suggestion differs from the writer's word.  `construction`: the items of
one noun and stage together, the second stage after the first and a delay; nouns are chosen from the essays where no
such item is there yet.  `marking`: a whole essay.  Of what the
study knows of an item a unit gets only what its page needs (P10).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from grater.errors import UsageError
from grater.model import DELETE, Item, Json, Span
from grater.store import Tx, decisions, essays, items
from grater.store.items import StudyItem
from grater.store.units import NewUnit
from grater.study.crowd_planting import own_essays
from grater.study.nouns import require_constructions
from grater.study.prepositions import KIND, preposition_items
from grater.tasks import TASKS
from grater.tasks.construction import CONSTRUCTIONS, IN_CONTEXT, NO_CONTEXT

DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to ask about; empty means everything that fits the task."""

    task: str
    kind: str | None = None
    system: str | None = None
    item_ids: Collection[str] = ()
    essay_ids: Collection[str] = ()
    delay_days: float = 3
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)


def units_for(tx: Tx, wanted: Wanted) -> list[NewUnit]:
    """The units of a job, each before those that follow it."""
    make: Callable[[Tx, Wanted], list[NewUnit]] = {
        "marking": _essays,
        "construction": _constructions,
        "choice": _suggestions,
        "verify": _suggestions,
    }.get(wanted.task, _single)
    found = make(tx, wanted)
    if not found:
        raise UsageError(f"nothing to ask: the study has no items for the task {wanted.task!r}; import them first")
    return found


def _single(tx: Tx, wanted: Wanted) -> list[NewUnit]:
    kind = wanted.kind or TASKS[wanted.task].kind
    if kind == KIND:
        found = (items.of(item) for essay in own_essays(tx) for item in preposition_items(essay))
        items.add_all(tx, found)
    return [_one(each, {}, wanted) for each in _chosen(tx, wanted, kind)]


def _suggestions(tx: Tx, wanted: Wanted) -> list[NewUnit]:
    known = decisions.names(tx)
    if not known:
        raise UsageError(
            f"the task {wanted.task!r} is about what a system suggests, and no system has decided on the essays yet: "
            "run one under Systems and samples, by grater study decide, or import its decisions"
        )
    system = wanted.system or (known[0] if len(known) == 1 else None)
    if system is None or system not in known:
        raise UsageError(f"expected one of the study's systems ({', '.join(known)}), found {wanted.system or 'none'}")
    by_item = {each.item_id: each.suggestion for each in decisions.all(tx, system=system) if each.suggestion}
    texts = {essay.essay_id: essay.text for essay in essays.all(tx)}
    return [
        _one(each, {"suggestion": by_item[each.item_id]}, wanted)
        for each in _chosen(tx, wanted, wanted.kind)
        if each.item_id in by_item and _differs(each, by_item[each.item_id], texts)
    ]


def _differs(each: StudyItem, suggestion: str | None, texts: Mapping[str, str]) -> bool:
    if each.item is None or suggestion is None:
        return False
    written = each.item.span.of(texts[each.item.essay_id]).lower()
    return ("" if suggestion == DELETE else suggestion.lower()) != written


def _chosen(tx: Tx, wanted: Wanted, kind: str | None) -> list[StudyItem]:
    ids, of_essays = set(wanted.item_ids), set(wanted.essay_ids)
    return [
        each
        for each in items.all(tx, kind=kind)
        if each.item is not None
        and (not ids or each.item_id in ids or each.outside_id in ids)
        and (not of_essays or each.item.essay_id in of_essays)
    ]


def shown(each: StudyItem) -> dict[str, Json]:
    """Of an item's further columns those that a page may need: the words of a construction, a suggestion."""
    return {name: each.payload[name] for name in ("words", "suggestion") if name in each.payload}


def _one(each: StudyItem, payload: Mapping[str, Json], wanted: Wanted) -> NewUnit:
    essay_id = each.item.essay_id if each.item else None
    return NewUnit(((each.item_id, payload),), essay_id, payload=wanted.payload)


def _essays(tx: Tx, wanted: Wanted) -> list[NewUnit]:
    found = []
    for essay in essays.all(tx) if wanted.essay_ids else own_essays(tx):
        if not wanted.essay_ids or essay.essay_id in wanted.essay_ids:
            item = Item(essay.essay_id, Span(0, len(essay.text)), TASKS["marking"].kind)
            items.add_all(tx, [items.of(item)])
            found.append(NewUnit(((item.item_id, {}),), essay.essay_id, payload=wanted.payload))
    return found


def _constructions(tx: Tx, wanted: Wanted) -> list[NewUnit]:
    """One unit per noun and stage; a noun's second stage comes in the list after its first."""
    nouns: dict[tuple[str, int, int], dict[str, list[StudyItem]]] = defaultdict(lambda: defaultdict(list))
    if not wanted.item_ids:
        require_constructions(tx)
    for each in _chosen(tx, wanted, None):
        base, stage, _ = (*each.kind.split("/"), "", "")[:3]
        if base == "construction" and each.item is not None:
            place = (each.item.essay_id, each.item.span.start, each.item.span.end)
            nouns[place][stage].append(each)
    return [unit for place, stages in sorted(nouns.items()) for unit in _stages(place, stages, wanted)]


def _stages(place: tuple[str, int, int], stages: Mapping[str, list[StudyItem]], wanted: Wanted) -> list[NewUnit]:
    found: list[NewUnit] = []
    for stage in (NO_CONTEXT, IN_CONTEXT):
        asked = stages.get(stage, [])
        if not asked:
            continue
        if len(asked) != len(CONSTRUCTIONS):
            raise UsageError(f"noun at {place}: expected {len(CONSTRUCTIONS)} items for {stage}, found {len(asked)}")
        name = f"{'|'.join(map(str, place))}|{stage}"
        follows = found[0].name if found else ""
        delay_ms = int(wanted.delay_days * DAY_MS) if follows else 0
        asked_for = tuple((each.item_id, shown(each)) for each in asked)
        found.append(NewUnit(asked_for, place[0], "work", stage, name, follows, delay_ms, payload=wanted.payload))
    return found
