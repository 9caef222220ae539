"""Creating a job: its plan, its units, their assignment, and a preview of the cost.

A job is added with its units, batches, annotators and guidelines in one transaction. If somebody leaves early, their
remaining units are assigned to another person.

`usage`, `error`, `cloze`: one item per page, by default prepositions of the essays if the study has no item of the
kind yet. `choice`: places where a system would write another word than the writer, flagged or not (T&C 2008, 4.2).
`verify`: flagged items with a suggestion that differs from the writer's word. `rank`, `fate`, `remaining`: corrected
sentences (`corrected`); every sentence is ranked once before any is ranked again. `construction`: the items of one
noun and stage, with a delay between the stages; nouns are chosen from the essays if the study has no such item yet.
`marking`: a whole essay. A unit gets only the data of an item that its page needs (P10).

Prepositions are exactly the places that the detectors look at (`grater.detect.prepositions.candidates`), so every
judged item has decisions. Nouns follow Lee et al. 2009, section 3.3: sizes are the paper's, shortfalls are reported,
and a design is refused if the essays have no noun with `LEAST` phrases; a plain job, which may be a trial, accepts
rarer nouns.

Batches are planned from a seed. Units are shuffled first, so that neither batch nor position reveals where a unit
came from (P10). Every k-th batch can be the same for all annotators, unannounced (T&C 2008, 5.2). Otherwise each
batch goes to `k` of the annotators, chosen so that all pairs share equally many batches (NUCLE 2013, section 3):
greedily, the combination whose pairs, then whose people, have had the fewest so far, with ties broken at random.

A *preview* shows a job before it is created. Units are counted as the job itself would choose them, and nothing is
stored. Hours use the median time of at least `ENOUGH` earlier judgments of the same task in the study, else the rough
values in `SECONDS`: a question about one word takes a careful rater 15 to 40 seconds, an essay a few seconds per
word. Counting reads every essay, so the count is cached until something is added to the study.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, count
from math import comb
from statistics import median
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field

from grater.annotate import content, corrected, jobs, people, progress, units
from grater.annotate.content import StudyItem, own_essays
from grater.annotate.jobs import Assignment, Job, Markdown
from grater.annotate.people import Person
from grater.annotate.protocol import set_terms
from grater.annotate.requests import LARGEST, Body, example, require_name
from grater.annotate.store import Store, Tx
from grater.annotate.store.transaction import DAY
from grater.annotate.tables import MARK
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.construction import CONSTRUCTIONS, IN_CONTEXT, NO_CONTEXT
from grater.annotate.tasks.error import ASKS, QUESTIONS
from grater.annotate.tasks.error import TASK as ERROR_TASK
from grater.annotate.tasks.marking import DEFAULT_TAGSET, SUGGESTIONS, payload_of, suggestion_of
from grater.annotate.tasks.marking import TASK as MARKING
from grater.annotate.tasks.rank import MOST, PAIRS
from grater.annotate.tasks.task import Subject, guidelines_of, subject_of
from grater.annotate.terms import money
from grater.annotate.units import NewUnit
from grater.corpora.tagsets import TAGSETS
from grater.corpora.text.analysis import analyse
from grater.corpora.text.prepositions import canonical
from grater.detect.articles.design import item_rows, places_of, select
from grater.detect.prepositions.candidates import PREP, preposition_places
from grater.errors import UsageError
from grater.model import DELETE, EDIT, Decision, Essay, Item, Json, Span
from grater.sheet import counted, duration
from grater.uncertainty import generator

LEASE_MINUTES = {"marking": 24 * 60.0}
DEFAULT_LEASE = 60.0


class NewJob(Body):
    """As on the form for a new job; without a name, it is named after its task.

    Units are made from the items of a `kind` (the task's own by default), from those that a `system` flagged, from
    `item_ids`, from a `sample`, or for marking from essays (`essay_ids`, or all); at most `most` of them, at random.
    `annotators` are names: each unit goes to `judgments` of them; without names, anybody may take it.
    """

    model_config = ConfigDict(frozen=True) | example(
        name="prepositions", task="error", title="Is it an error?", judgments=3, open=False
    )
    name: Annotated[str, AfterValidator(lambda name: name and require_name(name))] = Field(max_length=80)
    task: str
    title: str = Field(default="", max_length=80)
    judgments: int = Field(default=1, ge=1, le=100, description="Wanted for each unit.")
    kind: str | None = None
    system: str | None = Field(
        default=None, description="Whose suggestions choice and verify ask about, and marking offers."
    )
    suggested_share: float = Field(
        default=1,
        gt=0,
        le=1,
        description="Marking with a system: the share of essays for which an annotator sees its marks.",
    )
    sample: str | None = Field(default=None, description="The items of this sample that nobody has judged yet.")
    item_ids: tuple[str, ...] = ()
    essay_ids: tuple[str, ...] = ()
    most: int | None = Field(default=None, ge=1, le=1_000_000)
    fresh: bool = Field(default=False, description="Only essays that no job of this task asks about yet.")
    annotators: tuple[str, ...] = ()
    batch_size: int = Field(default=0, ge=0, le=1_000_000)
    overlap_every: int = Field(default=0, ge=0, le=1_000_000, description="Every k-th batch is the same for all.")
    delay_days: float = Field(default=3, ge=0, le=365, description="Between the two stages of constructions.")
    lease_minutes: float | None = Field(default=None, gt=0, le=43_200)
    guidelines: Markdown | None = Field(default=None, description="In Markdown; the task's own by default.")
    asks: str | None = Field(
        default=None, description="Error: the kind of error to ask about, if not that of the items."
    )
    grey: bool = Field(default=False, description="Constructions: offer the grey answer.")
    pairs: bool = Field(default=False, description="Rank: two corrections at a time instead of up to five.")
    tagset: str | None = Field(default=None, description="Marking: the tags to mark with, NUCLE's by default.")
    seed: int = Field(default=0, ge=0, le=LARGEST)
    open: bool = Field(default=True, description="False leaves a draft that raters do not see.")
    cents: int | None = Field(default=None, ge=0, le=1_000_000, description="Pay per judgment; null agrees on none.")

    @property
    def payload(self) -> dict[str, Json]:
        """The options that determine how every unit is shown."""
        return {name: looks for name in (ASKS, "grey", PAIRS, "tagset") if (looks := getattr(self, name))}


def add_job(store: Store, plan: NewJob, *, actor: str | None = None) -> Job:
    with store.write() as tx:
        return plan_job(tx, plan, actor=actor)


def _asked(tx: Tx, new: Sequence[NewUnit]) -> set[str]:
    """The kinds that units ask about: those of their items, unless a unit names another."""
    known = content.items_of(tx, [item_id for unit in new for item_id, _ in unit.items])
    return {
        str(unit.payload.get(ASKS) or each.item.kind)
        for unit in new
        for item_id, _ in unit.items
        if (each := known[item_id]).item
    }


def plan_job(
    tx: Tx,
    plan: NewJob,
    *,
    options: Mapping[str, Json] | None = None,
    actor: str | None = None,
) -> Job:
    """Add a job with its units; `options` are added to those of the job."""
    content.hold(tx)
    if not plan.name:  # the task's, with a number where an earlier job has it
        taken = {job.name for job in jobs.all(tx)}
        numbered = (plan.task if n == 1 else f"{plan.task}-{n}" for n in count(1))
        plan = plan.model_copy(update={"name": next(name for name in numbered if name not in taken)})
    task = TASKS[plan.task]
    chains = chains_for(tx, plan)
    if plan.most is not None and plan.most < len(chains):
        picked = generator(plan.seed, "units", plan.name).choice(len(chains), size=plan.most, replace=False)
        chains = [chains[number] for number in sorted(picked.tolist())]
    persons = {name: people.named(tx, name).person_id for name in plan.annotators}
    require_other_heads(tx, persons)
    offers: dict[str, Json] = {}
    if task.name == MARKING.name and plan.system:
        offers = {SUGGESTIONS: {"system": plan.system, "share": plan.suggested_share}}
    job = jobs.add(
        tx,
        name=plan.name,
        task=task.name,
        title=plan.title or task.title,
        judgments=plan.judgments,
        access="assigned" if persons else "pool",
        lease_minutes=plan.lease_minutes or LEASE_MINUTES.get(task.name, DEFAULT_LEASE),
        options={"seed": plan.seed, **offers, **(options or {})},
        actor=actor,
    )
    new: list[NewUnit] = []
    theirs: list[tuple[tuple[str, ...], int]] = []
    spread = subject_of(task) == "ranking" and not persons and not plan.batch_size
    for batch in batches(plan, len(chains)):
        placed: dict[str, Any] = {"batch": batch.number, "overlap": batch.overlap, "spread": spread}
        placed["wanted"] = len(batch.people) or None
        for unit in (unit for number in batch.units for unit in chains[number]):
            new.append(replace(unit, **placed))
            theirs.append((batch.people, batch.number))
    unit_ids = units.add_all(tx, job.job_id, new)
    markdown = guidelines_of(task, _asked(tx, new)) if plan.guidelines is None else plan.guidelines
    jobs.add_guidelines(tx, job.job_id, markdown, actor=actor)
    assigned = [
        Assignment(unit_id, persons[name], number)
        for unit_id, (names, number) in zip(unit_ids, theirs, strict=True)
        for name in names
    ]
    if assigned:
        jobs.assign(tx, job.job_id, assigned)
    if plan.cents is not None:
        set_terms(tx, job.job_id, {"pay": {"cents": plan.cents}}, actor=actor)
    return jobs.set_state(tx, job.job_id, "open", actor=actor) if plan.open else job


def chains_for(tx: Tx, plan: NewJob, *, is_preview: bool = False) -> list[list[NewUnit]]:
    """Every unit that a plan could ask about, followed by its later stages.

    A preview stores nothing, but chooses missing items in the same way.
    """
    if plan.asks and (plan.task != ERROR_TASK.name or plan.asks not in QUESTIONS):
        raise UsageError(f"asks: expected the task error and one of {', '.join(QUESTIONS)}, found {plan.asks!r}")
    fitting = MAKERS[subject_of(TASKS[plan.task])](tx, plan, is_preview)
    if not fitting:
        raise UsageError(f"no units: the study has no items for the task {plan.task!r}; import them first")
    if plan.fresh:
        asked = units.essays_of_task(tx, plan.task)
        fitting = [page for page in fitting if page.essay_id not in asked]
        if not fitting:
            raise UsageError(f"no new essays: every essay is already in a job with the task {plan.task!r}")
    chains: list[list[NewUnit]] = []
    for page in fitting:
        if page.follows:
            chains[-1].append(page)
        else:
            chains.append([page])
    return chains


def require_other_heads(tx: Tx, persons: Mapping[str, str]) -> None:
    """Refuse to ask anybody twice, alone and on a joint seat or on two seats, because units would starve."""
    heads = {name: set(people.members(tx, person_id)) or {person_id} for name, person_id in persons.items()}
    for one, other in combinations(heads, 2):
        if heads[one] & heads[other]:
            raise UsageError(
                f"{one!r} and {other!r} cannot both work in a job: a person on the joint seat would be asked twice; "
                "choose one of the two"
            )


def hand_over(tx: Tx, job: Job, giver: Person, taker: Person, *, actor: str | None = None) -> int:
    """Reassign units and return their number; refused if there are none to reassign."""
    job = jobs.lock(tx, job.job_id)
    if job.access != "assigned":
        raise UsageError(f"{job.name}: its units are not assigned to anyone, so they cannot be reassigned")
    if taker.state != "active":
        raise UsageError(f"{taker.name!r} has no access to the study and cannot take over units")
    here = {each.person_id for each in jobs.assignments_of(tx, job.job_id)} | {giver.person_id, taker.person_id}
    require_other_heads(tx, {people.get(tx, person_id).name: person_id for person_id in sorted(here)})
    n_units = jobs.move_assignments(tx, job.job_id, giver=giver.person_id, taker=taker.person_id, actor=actor)
    if not n_units:
        raise UsageError(f"{job.name}: {giver.name!r} has no units left that {taker.name!r} does not already have")
    return n_units


MOST_COMBINATIONS = 20_000


@dataclass(frozen=True, slots=True)
class Batch:
    """Units (by number) for some annotators, or for anybody."""

    number: int
    units: tuple[int, ...]
    people: tuple[str, ...] = ()
    overlap: bool = False


def batches(plan: NewJob, n_units: int) -> list[Batch]:
    """Cut units into batches (of one unit each for annotators, one batch for a pool) and distribute them."""
    named, each = sorted(plan.annotators), plan.judgments
    if named and each > len(named):
        raise UsageError(f"expected 1 to {len(named)} annotators for each unit, found {each}")
    if plan.overlap_every and not named:
        raise UsageError("overlap sets are for named annotators; name them")
    rng = generator(plan.seed, "batches", plan.name or plan.task)
    order = rng.permutation(n_units).tolist()
    size = plan.batch_size or (1 if named else n_units) or 1
    pairs: Counter[tuple[str, ...]] = Counter()
    load: Counter[str] = Counter()
    planned = []
    for number, begin in enumerate(range(0, n_units, size)):
        overlap = bool(plan.overlap_every) and (number + 1) % plan.overlap_every == 0
        team = tuple(named) if overlap or not named else _team(named, each, pairs, load, rng)
        planned.append(Batch(number, tuple(order[begin : begin + size]), team, overlap))
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


# What each page asks about


CONSTRUCTION = "construction/"
LEAST = 30
PLACE = ("item", "essay", "start", "end", "kind")


def construction_items(tx: Tx, *, seed: int) -> tuple[list[str], list[str]]:
    """The ids of the study's construction items, chosen now if there are none, and shortfalls."""
    if known := _known_constructions(tx):
        return known, []
    chosen, missing = _selected(tx, seed=seed, least=(LEAST,))
    content.add_items(tx, chosen)
    return [each.item_id for each in chosen], missing


def _known_constructions(tx: Tx) -> list[str]:
    return [each.item_id for each in content.all_items(tx) if each.kind.startswith(CONSTRUCTION)]


def _selected(tx: Tx, *, seed: int, least: Sequence[int]) -> tuple[list[StudyItem], list[str]]:
    """Items of nouns with at least `least` phrases in the essays, or with the next lower number if there are none."""
    places = [place for essay in own_essays(tx) for place in places_of(essay.essay_id, analyse(essay))]
    design = next((found for n in least if (found := select(places, least=n, seed=seed)).places), None)
    if design is None:
        raise UsageError(
            f"expected nouns with {least[-1]} phrases or more in the essays, found none; choose items from more text "
            "and import them"
        )
    chosen = []
    for row in item_rows(design):
        item = Item(str(row["essay"]), Span(int(str(row["start"])), int(str(row["end"]))), str(row["kind"]))
        rest = {name: value for name, value in row.items() if name not in PLACE}
        payload: dict[str, Json] = {
            name: value if isinstance(value, bool) else str(value) for name, value in rest.items()
        }
        chosen.append(content.study_item(item, payload=payload))
    return chosen, [f"{each.where}: {each.found} instead of {each.wanted}" for each in design.shortfalls]


PREPOSITION, CHOICE = PREP, "choice"


def preposition_items(essay: Essay) -> Iterator[Item]:
    for sentence in analyse(essay):
        for place in preposition_places(sentence):
            yield Item(essay.essay_id, sentence.spans[place], PREPOSITION)


def _single(tx: Tx, plan: NewJob, is_preview: bool) -> list[NewUnit]:
    kind, named = plan.kind or TASKS[plan.task].kind, set(plan.item_ids)
    new: list[StudyItem] = []
    # Where items are named and the study has each of them, no essay need be searched for more.
    if kind == PREPOSITION and not (named and len(content.items_by_name(tx, list(named))) == len(named)):
        new = [content.study_item(item) for essay in own_essays(tx) for item in preposition_items(essay)]
    elif kind == MARK:
        new = [content.study_item(mark.item) for mark in corrected.marks(tx)]
    return [_one(each, item, {}, plan) for each, item in _chosen(tx, plan, kind, new, is_preview=is_preview)]


def _suggestions(tx: Tx, plan: NewJob, is_preview: bool) -> list[NewUnit]:
    system = _system(tx, plan)
    by_item = {each.item_id: each.suggestion for each in content.all_decisions(tx, system=system) if each.suggestion}
    if plan.task == CHOICE:
        by_item |= content.best_words(tx, system)
    texts = {essay.essay_id: essay.text for essay in content.all_essays(tx)}
    pages = []
    for each, item in _chosen(tx, plan, plan.kind, is_preview=is_preview):
        suggestion, written = by_item.get(each.item_id), item.span.of(texts[item.essay_id])
        if suggestion is None:
            continue
        is_same = ("" if suggestion == DELETE else suggestion.lower()) == (canonical(written) or written.lower())
        if item.kind == EDIT or not is_same:
            pages.append(_one(each, item, {"suggestion": suggestion}, plan))
    return pages


def _chosen(
    tx: Tx, plan: NewJob, kind: str | None, new: Sequence[StudyItem] = (), *, is_preview: bool
) -> list[tuple[StudyItem, Item]]:
    """The items to ask about, from those of the study and `new` ones."""
    ids, of_essays = set(plan.item_ids), set(plan.essay_ids)
    if not is_preview:
        content.add_items(tx, new)
    known = {each.item_id: each for each in content.all_items(tx, kind=kind)}
    return [
        (each, each.item)
        for each in (*known.values(), *(each for each in new if each.item_id not in known))
        if each.item is not None
        and (not ids or each.item_id in ids or each.outside_id in ids)
        and (not of_essays or each.item.essay_id in of_essays)
    ]


def _one(each: StudyItem, item: Item, payload: Mapping[str, Json], plan: NewJob) -> NewUnit:
    return NewUnit(((each.item_id, payload),), item.essay_id, payload=plan.payload)


def _essays(tx: Tx, plan: NewJob, is_preview: bool) -> list[NewUnit]:
    system = _system(tx, plan) if plan.system else ""
    flagged: dict[str, list[tuple[Item, Decision]]] = defaultdict(list)
    places = {each.item_id: each.item for each in content.all_items(tx) if each.item is not None} if system else {}
    for decision in content.all_decisions(tx, system=system) if system else ():
        item = places.get(decision.item_id)
        if decision.flagged and item is not None:
            flagged[item.essay_id].append((item, decision))
    tags = TAGSETS[str(plan.payload.get("tagset") or DEFAULT_TAGSET)]
    pages = []
    for essay in content.all_essays(tx) if plan.essay_ids else own_essays(tx):
        if plan.essay_ids and essay.essay_id not in plan.essay_ids:
            continue
        whole = Item(essay.essay_id, Span(0, len(essay.text)), MARKING.kind)
        if not is_preview:
            content.add_items(tx, [content.study_item(whole)])
        payload = dict(plan.payload)
        if system:  # what a unit keeps of the system's marks on its essay
            found = sorted(flagged.get(essay.essay_id, ()), key=lambda pair: pair[0].span)
            marks = [suggestion_of(item, decision, essay.text, tags) for item, decision in found]
            payload |= payload_of(system, plan.suggested_share, [mark for mark in marks if mark is not None])
        pages.append(NewUnit(((whole.item_id, {}),), essay.essay_id, payload=payload))
    return pages


def _system(tx: Tx, plan: NewJob) -> str:
    """The system whose suggestions a task shows: the named one, or the study's only one."""
    known = content.system_names(tx)
    if not known:
        raise UsageError(
            f"the task {plan.task!r} needs a system's suggestions, and no system has decisions on the essays yet: "
            "run one, or import its decisions"
        )
    system = plan.system or (known[0] if len(known) == 1 else None)
    if system is None or system not in known:
        raise UsageError(f"expected one of the study's systems ({', '.join(known)}), found {plan.system or 'none'}")
    return system


def _constructions(tx: Tx, plan: NewJob, is_preview: bool) -> list[NewUnit]:
    """One unit per noun and stage, the second stage after the first."""
    nouns: dict[tuple[str, int, int], dict[str, list[StudyItem]]] = defaultdict(lambda: defaultdict(list))
    new: Sequence[StudyItem] = ()
    if not plan.item_ids and not _known_constructions(tx):  # frequent nouns, else what nouns there are
        new, _ = _selected(tx, seed=0, least=(LEAST, 1))
    for each, item in _chosen(tx, plan, None, new, is_preview=is_preview):
        base, stage, _ = (*each.kind.split("/"), "", "")[:3]
        if base == "construction":
            nouns[item.essay_id, item.span.start, item.span.end][stage].append(each)
    return [page for place, stages in sorted(nouns.items()) for page in _stages(place, stages, plan)]


def _stages(place: tuple[str, int, int], stages: Mapping[str, list[StudyItem]], plan: NewJob) -> list[NewUnit]:
    pages: list[NewUnit] = []
    for stage in (NO_CONTEXT, IN_CONTEXT):
        asked = stages.get(stage, [])
        if not asked:
            continue
        if len(asked) != len(CONSTRUCTIONS):
            raise UsageError(f"noun at {place}: expected {len(CONSTRUCTIONS)} items for {stage}, found {len(asked)}")
        pages.append(
            NewUnit(
                items=tuple((each.item_id, content.shown(each)) for each in asked),
                essay_id=place[0],
                stage=stage,
                name=f"{'|'.join(map(str, place))}|{stage}",
                follows=pages[0].name if pages else "",
                delay_ms=int(plan.delay_days * DAY) if pages else 0,
                payload=plan.payload,
            )
        )
    return pages


def _corrections(tx: Tx, plan: NewJob, is_preview: bool) -> list[NewUnit]:
    """Units about corrected sentences: corrections to rank, a mark's fates, or one correction."""
    kind, essay_ids, system = plan.kind or EDIT, plan.essay_ids, plan.system or ""
    match subject_of(TASKS[plan.task]):
        case "ranking":
            most = 2 if plan.pairs else MOST
            found = corrected.rankings(tx, kind=kind, essay_ids=essay_ids, seed=plan.seed, most=most)
        case "mark":
            found = corrected.fates(tx, kind=kind, essay_ids=essay_ids, system=system)
        case _:
            found = corrected.remaining(tx, kind=kind, essay_ids=essay_ids, system=system)
    pages = []
    for essay, items in found:
        if not is_preview:
            content.add_items(tx, [content.study_item(item, payload={"words": text}) for item, text in items])
        asked = tuple((item.item_id, {"words": text}) for item, text in items)
        pages.append(NewUnit(asked, essay.essay_id, payload=plan.payload))
    return pages


MAKERS: Mapping[Subject, Callable[[Tx, NewJob, bool], list[NewUnit]]] = {
    "item": _single,
    "suggestion": _suggestions,
    "noun": _constructions,
    "essay": _essays,
    "ranking": _corrections,
    "mark": _corrections,
    "corrected": _corrections,
}
"""The units of a job, each before those that follow it, by what a task is about."""


# What a job would be before it is made


SECONDS = {"usage": 36.0, "cloze": 20.0, "choice": 16.0, "error": 24.0, "construction": 40.0, "verify": 16.0}
SECONDS |= {"rank": 40.0, "fate": 20.0, "remaining": 30.0}
SECONDS_A_WORD = 3.0
ENOUGH = 20
MOST_LOOKED_AT = 2_000
MOST_KEPT = 50
AN_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class JobPreview:
    """`judgments` is the total wanted; `is_measured` if the seconds were measured in this study."""

    units: int
    judgments: int
    seconds_each: float
    is_measured: bool
    cents: int | None = None
    currency: str = "EUR"

    @property
    def hours(self) -> float:
        return self.judgments * self.seconds_each / AN_HOUR

    @property
    def time(self) -> str:
        return f"about {duration(self.hours)}"

    @property
    def cost(self) -> str:
        """Empty without agreed pay."""
        return "" if self.cents is None else money(self.judgments * self.cents, self.currency)

    @property
    def words(self) -> str:
        parts = [counted(self.units, "unit"), counted(self.judgments, "judgment"), f"{self.time} of work"]
        return ", ".join([*parts, *([self.cost] if self.cost else [])])


def seconds_each(tx: Tx, task: str, *, n_words: float = 0.0) -> tuple[float, bool]:
    """The time per judgment, for an essay of a given length, and whether it was measured in this study."""
    measured = progress.seconds_of_task(tx, task, most=MOST_LOOKED_AT)
    if len(measured) >= ENOUGH:
        return median(measured), True
    return SECONDS_A_WORD * n_words if task == "marking" else SECONDS.get(task, SECONDS["error"]), False


@dataclass(slots=True, eq=False)
class Previews:
    """Previews of one process, with cached counts: the length of each chain and of an average essay."""

    _kept: dict[Hashable, tuple[list[int], float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, tx: Tx, plan: NewJob) -> JobPreview:
        """The units that the plan would create; an impossible plan is refused as it would be for the job."""
        state = (content.n_essays(tx), content.n_items(tx), content.n_decisions(tx), len(jobs.all(tx)))
        asked = (state, plan.task, plan.kind, plan.system, plan.item_ids, plan.essay_ids, plan.fresh)
        with self._lock:
            kept = self._kept.get(asked)
        if kept is None:
            lengths = [len(chain) for chain in chains_for(tx, plan, is_preview=True)]
            words = [len(essay.text.split()) for essay in content.all_essays(tx)] if plan.task == "marking" else []
            kept = lengths, sum(words) / len(words) if words else 0.0
            with self._lock:
                while len(self._kept) >= MOST_KEPT:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[asked] = kept
        lengths, n_words = kept[0][: plan.most], kept[1]
        n_judgments = plan.judgments * sum(lengths)
        if plan.annotators:
            shared = batches(plan, len(lengths))
            n_judgments = sum(len(batch.people) * lengths[number] for batch in shared for number in batch.units)
        seconds, is_measured = seconds_each(tx, plan.task, n_words=n_words)
        return JobPreview(
            units=sum(lengths),
            judgments=n_judgments,
            seconds_each=seconds,
            is_measured=is_measured,
            cents=plan.cents,
        )
