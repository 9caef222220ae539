"""The units of a job: what each page asks about, and who does which of them.

`usage`, `error`, `cloze`: one item per page, prepositions of the essays where the study has no item of the kind yet.
`choice`: words where the one that a system would write there differs from the writer's, flagged or not (T&C 2008,
4.2).  `verify`: items where the suggestion of its flag does.  `construction`: the items of
one noun and stage together, the second stage after the first and a delay; nouns are chosen from the essays where the
study has no such item yet.  `marking`: a whole essay.  Of what the study knows of an item a unit gets only what its
page needs (P10).

Prepositions are the places that the detectors look at, and no others (`grater.detect.prepositions.candidates`), so
that an item that a rater judged is an item that a system decided on.  Nouns follow Lee et al. 2009, section 3.3:
sizes are the paper's, what the essays could not fill is reported, and a design whose essays have no noun of `LEAST`
phrases is refused; a plain job, which may be a trial, takes rarer nouns.

Batches are a pure plan, drawn by a seed.  Units are shuffled first, so that neither batch nor place tells where a
unit came from (P10).  Every k-th batch can be the same for all annotators, unannounced (T&C 2008, 5.2).  Otherwise
each batch goes to `k` of the annotators, chosen so that every pair works together as often as any other (NUCLE 2013,
section 3): greedily, the combination whose pairs, then whose people, have had the least so far, ties broken at
random.

Errors can be planted in a good essay, so that marking can be graded (docs/crowd-jobs.md).  Each planted edit says
what to write instead of the words in its span; the places of the errors are given in the new text, as the gold of the
marking task takes them: `120-124:Wcip`.  Such an essay is none of the study's own: systems do not decide on it, no
sample has it, and no other job asks about it unless it is named.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb

import numpy as np

from grater.annotate.store import Tx, decisions, essays, items
from grater.annotate.store.items import StudyItem
from grater.annotate.store.units import NewUnit
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.construction import CONSTRUCTIONS, IN_CONTEXT, NO_CONTEXT
from grater.annotate.tasks.marking import DEFAULT_TAGSET, payload_of, suggestion_of
from grater.annotate.tasks.task import Subject, subject_of
from grater.corpora.tagsets import TAGSETS
from grater.corpora.text.analysis import analyse
from grater.corpora.text.prepositions import canonical
from grater.detect.articles.design import NounPlace, item_rows, places_of, select
from grater.detect.prepositions.candidates import PREP, preposition_places
from grater.errors import UsageError
from grater.model import DELETE, Decision, Edit, Essay, Item, Json, Span, short_hash

MOST_COMBINATIONS = 20_000


@dataclass(frozen=True, slots=True)
class Batch:
    """Units (by number) for some annotators; nobody named means anybody."""

    number: int
    units: tuple[int, ...]
    people: tuple[str, ...] = ()
    overlap: bool = False


def batches(
    n_units: int,
    *,
    rng: np.random.Generator,
    size: int = 0,
    people: Sequence[str] = (),
    each: int = 1,
    overlap_every: int = 0,
) -> list[Batch]:
    """Cut units into batches of `size` (0: one for a pool, one unit each for annotators) and share them out."""
    if people and not 1 <= each <= len(people):
        raise UsageError(f"expected 1 to {len(people)} annotators for each unit, found {each}")
    if overlap_every and not people:
        raise UsageError("overlap sets are for named annotators; name them")
    order = rng.permutation(n_units).tolist()
    size = size or (1 if people else n_units) or 1
    cut = [tuple(order[start : start + size]) for start in range(0, n_units, size)]
    pairs: Counter[tuple[str, ...]] = Counter()
    load: Counter[str] = Counter()
    planned = []
    for number, units in enumerate(cut):
        overlap = bool(overlap_every) and (number + 1) % overlap_every == 0
        team = tuple(people) if overlap or not people else _team(people, each, pairs, load, rng)
        planned.append(Batch(number, units, team, overlap))
    return planned


def _team(
    people: Sequence[str], each: int, pairs: Counter[tuple[str, ...]], load: Counter[str], rng: np.random.Generator
) -> tuple[str, ...]:
    if comb(len(people), each) > MOST_COMBINATIONS:
        raise UsageError(f"{each} of {len(people)} annotators: too many combinations to balance; choose fewer")
    teams = list(combinations(sorted(people), each))
    ties = rng.random(len(teams))
    cost = [
        (sum(pairs[pair] for pair in combinations(team, 2)), sum(load[person] for person in team), ties[n])
        for n, team in enumerate(teams)
    ]
    team = teams[min(range(len(teams)), key=lambda n: cost[n])]
    pairs.update(combinations(team, 2))
    load.update(team)
    return team


IS_PLANTED = "planted"
"""The metadata of an essay that says so; raters never see any."""


def own_essays(tx: Tx) -> Iterator[Essay]:
    """The essays of the study, but for those with planted errors."""
    return (essay for essay in essays.all(tx) if IS_PLANTED not in essay.metadata)


def plant(essay: Essay, edits: Sequence[Edit]) -> tuple[Essay, tuple[str, ...]]:
    """The essay with the errors in it, under an id that tells nothing, and where they stand."""
    text, places, shift, last = essay.text, [], 0, 0
    for edit in sorted(edits, key=lambda each: each.span):
        if edit.span.start < last or edit.span.end > len(essay.text) or not edit.replacements:
            raise UsageError(f"{essay.essay_id}: expected errors to plant side by side, each with its words")
        wrong, start = edit.replacements[0], edit.span.start + shift
        if wrong == edit.span.of(essay.text):
            raise UsageError(f"{essay.essay_id}: expected words other than {wrong[:40]!r} to plant, found the same")
        text = text[:start] + wrong + text[edit.span.end + shift :]
        places.append(f"{start}-{start + len(wrong)}:{edit.tag}")
        shift += len(wrong) - len(edit.span)
        last = edit.span.end
    metadata = {**essay.metadata, IS_PLANTED: True}
    bare = replace(
        essay, essay_id=short_hash(text), text=text, edits=(), annotators=(), tokens=None, metadata=metadata
    )
    return bare, tuple(places)


CONSTRUCTION = "construction/"
LEAST = 30
PLACE = ("item", "essay", "start", "end", "kind")


def constructions_to_add(tx: Tx) -> list[StudyItem]:
    """Construction items that a job needs and the study lacks: of frequent nouns, else of what nouns there are."""
    if _known_constructions(tx):
        return []
    places = list(_places(tx))
    try:
        return _selected(places, seed=0, least=LEAST)[0]
    except UsageError:
        return _selected(places, seed=0, least=1)[0]


def construction_items(tx: Tx, *, seed: int, least: int = LEAST) -> tuple[list[str], list[str]]:
    """The ids of the study's construction items, chosen first where there are none, and what could not be filled."""
    known = _known_constructions(tx)
    if known:
        return known, []
    chosen, missing = _selected(list(_places(tx)), seed=seed, least=least)
    items.add_all(tx, chosen)
    return [each.item_id for each in chosen], missing


def _known_constructions(tx: Tx) -> list[str]:
    return [each.item_id for each in items.all(tx) if each.kind.startswith(CONSTRUCTION)]


def _selected(places: list[NounPlace], *, seed: int, least: int) -> tuple[list[StudyItem], list[str]]:
    design = select(places, least=least, seed=seed)
    if not design.places:
        raise UsageError(
            f"expected nouns with {least} phrases or more in the essays, found none; choose items from more text "
            "and import them"
        )
    missing = [f"{each.where}: wanted {each.wanted}, found {each.found}" for each in design.shortfalls]
    return [_item(row) for row in item_rows(design)], missing


def _places(tx: Tx) -> Iterator[NounPlace]:
    for essay in own_essays(tx):
        yield from places_of(essay.essay_id, analyse(essay))


def _item(row: Mapping[str, object]) -> StudyItem:
    item = Item(str(row["essay"]), Span(int(str(row["start"])), int(str(row["end"]))), str(row["kind"]))
    payload: dict[str, Json] = {
        name: value if isinstance(value, bool) else str(value) for name, value in row.items() if name not in PLACE
    }
    return items.of(item, payload=payload)


PREPOSITION, CHOICE = PREP, "choice"


def preposition_items(essay: Essay) -> Iterator[Item]:
    for sentence in analyse(essay):
        for place in preposition_places(sentence):
            yield Item(essay.essay_id, sentence.spans[place], PREPOSITION)


DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to ask about; empty means everything that fits the task.

    With `is_preview` nothing is stored: items that the study lacks are chosen as they would be.
    """

    task: str
    kind: str | None = None
    system: str | None = None
    item_ids: Collection[str] = ()
    essay_ids: Collection[str] = ()
    delay_days: float = 3
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)
    suggested_share: float = 1.0
    is_preview: bool = False


def units_for(tx: Tx, wanted: Wanted) -> list[NewUnit]:
    """The units of a job, each before those that follow it."""
    make: Mapping[Subject, Callable[[Tx, Wanted], list[NewUnit]]] = {
        "item": _single,
        "suggestion": _suggestions,
        "noun": _constructions,
        "essay": _essays,
    }
    new_units = make[subject_of(TASKS[wanted.task])](tx, wanted)
    if not new_units:
        raise UsageError(f"no units: the study has no items for the task {wanted.task!r}; import them first")
    return new_units


def _single(tx: Tx, wanted: Wanted) -> list[NewUnit]:
    kind = wanted.kind or TASKS[wanted.task].kind
    new: list[StudyItem] = []
    if kind == PREPOSITION and not _has_all(tx, wanted.item_ids):
        new = [items.of(item) for essay in own_essays(tx) for item in preposition_items(essay)]
    return [_one(each, {}, wanted) for each in _chosen(tx, wanted, kind, new)]


def _has_all(tx: Tx, item_ids: Collection[str]) -> bool:
    """Whether items are named, and the study has each of them: then no essay need be searched for more."""
    return bool(item_ids) and len(items.by_name(tx, list(item_ids))) == len(set(item_ids))


def _suggestions(tx: Tx, wanted: Wanted) -> list[NewUnit]:
    system = _system(tx, wanted)
    by_item = {each.item_id: each.suggestion for each in decisions.all(tx, system=system) if each.suggestion}
    if wanted.task == CHOICE:
        by_item |= decisions.best_words(tx, system)
    texts = {essay.essay_id: essay.text for essay in essays.all(tx)}
    return [
        _one(each, {"suggestion": by_item[each.item_id]}, wanted)
        for each in _chosen(tx, wanted, wanted.kind)
        if each.item_id in by_item and _differs(each, by_item[each.item_id], texts)
    ]


def _differs(each: StudyItem, suggestion: str | None, texts: Mapping[str, str]) -> bool:
    if each.item is None or suggestion is None:
        return False
    text = each.item.span.of(texts[each.item.essay_id])
    written = canonical(text) or text.lower()
    return ("" if suggestion == DELETE else suggestion.lower()) != written


def _chosen(tx: Tx, wanted: Wanted, kind: str | None, new: Sequence[StudyItem] = ()) -> list[StudyItem]:
    """The items that are asked for, of those that the study has and `new` ones."""
    ids, of_essays = set(wanted.item_ids), set(wanted.essay_ids)
    if not wanted.is_preview:
        items.add_all(tx, new)
    known = {each.item_id: each for each in items.all(tx, kind=kind)}
    return [
        each
        for each in (*known.values(), *(each for each in new if each.item_id not in known))
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
    new_units = []
    offered = _offered(tx, wanted) if wanted.system else None
    for essay in essays.all(tx) if wanted.essay_ids else own_essays(tx):
        if not wanted.essay_ids or essay.essay_id in wanted.essay_ids:
            item = Item(essay.essay_id, Span(0, len(essay.text)), TASKS["marking"].kind)
            if not wanted.is_preview:
                items.add_all(tx, [items.of(item)])
            payload = {**wanted.payload, **(offered(essay) if offered else {})}
            new_units.append(NewUnit(((item.item_id, {}),), essay.essay_id, payload=payload))
    return new_units


def _offered(tx: Tx, wanted: Wanted) -> Callable[[Essay], dict[str, Json]]:
    """What a unit keeps of a system's marks on its essay."""
    system = _system(tx, wanted)
    tags = TAGSETS[str(wanted.payload.get("tagset") or DEFAULT_TAGSET)]
    places = {each.item_id: each.item for each in items.all(tx) if each.item is not None}
    by_essay: dict[str, list[tuple[Item, Decision]]] = defaultdict(list)
    for decision in decisions.all(tx, system=system):
        item = places.get(decision.item_id)
        if decision.flagged and item is not None:
            by_essay[item.essay_id].append((item, decision))

    def of(essay: Essay) -> dict[str, Json]:
        flagged = sorted(by_essay.get(essay.essay_id, ()), key=lambda pair: pair[0].span)
        marks = [suggestion_of(item, decision, essay.text, tags) for item, decision in flagged]
        return payload_of(system, wanted.suggested_share, [mark for mark in marks if mark is not None])

    return of


def _system(tx: Tx, wanted: Wanted) -> str:
    """The system whose suggestions a task shows: the one that is named, or the only one of the study."""
    known = decisions.system_names(tx)
    if not known:
        raise UsageError(
            f"the task {wanted.task!r} needs a system's suggestions, and no system has decisions on the essays yet: "
            "run one, or import its decisions"
        )
    system = wanted.system or (known[0] if len(known) == 1 else None)
    if system is None or system not in known:
        raise UsageError(f"expected one of the study's systems ({', '.join(known)}), found {wanted.system or 'none'}")
    return system


def _constructions(tx: Tx, wanted: Wanted) -> list[NewUnit]:
    """One unit per noun and stage; a noun's second stage comes in the list after its first."""
    nouns: dict[tuple[str, int, int], dict[str, list[StudyItem]]] = defaultdict(lambda: defaultdict(list))
    new = () if wanted.item_ids else constructions_to_add(tx)
    for each in _chosen(tx, wanted, None, new):
        base, stage, _ = (*each.kind.split("/"), "", "")[:3]
        if base == "construction" and each.item is not None:
            place = (each.item.essay_id, each.item.span.start, each.item.span.end)
            nouns[place][stage].append(each)
    return [unit for place, stages in sorted(nouns.items()) for unit in _stages(place, stages, wanted)]


def _stages(place: tuple[str, int, int], stages: Mapping[str, list[StudyItem]], wanted: Wanted) -> list[NewUnit]:
    new_units: list[NewUnit] = []
    for stage in (NO_CONTEXT, IN_CONTEXT):
        asked = stages.get(stage, [])
        if not asked:
            continue
        if len(asked) != len(CONSTRUCTIONS):
            raise UsageError(f"noun at {place}: expected {len(CONSTRUCTIONS)} items for {stage}, found {len(asked)}")
        name = f"{'|'.join(map(str, place))}|{stage}"
        follows = new_units[0].name if new_units else ""
        delay_ms = int(wanted.delay_days * DAY_MS) if follows else 0
        asked_for = tuple((each.item_id, shown(each)) for each in asked)
        new_units.append(
            NewUnit(
                items=asked_for,
                essay_id=place[0],
                role="work",
                stage=stage,
                name=name,
                follows=follows,
                delay_ms=delay_ms,
                payload=wanted.payload,
            )
        )
    return new_units
