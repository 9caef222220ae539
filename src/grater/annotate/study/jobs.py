"""Jobs of a study: added by a plan, opened and closed, given new guidelines, handed over; mistakes mended.

A job is added with its units, batches, annotators and guidelines in one transaction.  `MOVES` says which state may
follow which.  When somebody leaves before the end, what they have not done is assigned to another person.

Managers mend mistakes: jobs are renamed, archived, deleted; practice becomes work again; essays are deleted.
Whatever a person did stays, so a job or an essay is deleted only while nobody has judged it, and only by whoever
types `WORD`.  An archived job is out of sight; its judgments are in reports and exports as before.

*Preview*: what a job would be before it is made: its units, the hours of work in it, what it would cost.  Units are
counted as the job itself would choose them, and nothing is stored.  Hours rest on the median time of earlier
judgments of the same task in the study where there are `ENOUGH`; else on `SECONDS`, which are rough: a question about
one word takes a careful rater 15 to 40 seconds, and an essay some seconds per word.  Counting looks at every essay,
so the count is kept until something comes into the study.

What somebody did stays (P1): the triggers of the database refuse to delete the units of a job that has a submission
(`migrations`).  The log keeps what was deleted, by its ids and its name.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, count
from statistics import median
from typing import Any

from sqlalchemy import ColumnElement, Table, exists, func, select

from grater.annotate.store import Store, Tx, decisions, essays, events, items, jobs, people, progress, schema, units
from grater.annotate.store.jobs import Assignment, Guidelines, Job, JobState
from grater.annotate.store.people import Person
from grater.annotate.store.units import NewUnit
from grater.annotate.study.job_units import Batch, Wanted, batches, units_for
from grater.annotate.study.limits import LONGEST, require_name, require_number, require_text
from grater.annotate.study.terms import set_terms
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.marking import SUGGESTIONS
from grater.annotate.tasks.marking import TASK as MARKING
from grater.annotate.terms import KEY, money, terms_json, terms_of
from grater.errors import Conflict, NotFound, UsageError
from grater.model import Json
from grater.sheet import counted
from grater.uncertainty import generator

MOVES: Mapping[str, tuple[JobState, ...]] = {
    "draft": ("open",),
    "open": ("paused", "closed"),
    "paused": ("open", "closed"),
    "closed": ("open",),
}
"""The states that a manager may give a job, by the state that it has."""

NUMBERS = ("judgments", "most", "batch_size", "overlap_every", "delay_days", "lease_minutes", "suggested_share")
"""Of a plan, each with a limit."""

GIVEN_STATES = ("open", "paused", "closed")

LEASE_MINUTES = {"marking": 24 * 60.0}
DEFAULT_LEASE = 60.0
WORD = "delete"
"""What is typed before anything is deleted."""


@dataclass(frozen=True, slots=True)
class JobPlan:
    """`annotators` (by name) make an assigned job, each unit for `judgments` of them; without, anybody may take it.

    `most` is how many units are drawn at random from those that fit; None takes all.  `is_fresh` leaves out essays
    that a job of the same task has already.  `cents` of `currency` are paid for each judgment; None agrees on no pay.
    Without a `name` the job is called by its task.  `system` is whose suggestions `choice` and `verify` ask about,
    and whose marks `marking` offers, for a `suggested_share` of what each annotator gets.
    """

    name: str
    task: str
    judgments: int = 1
    title: str = ""
    kind: str | None = None
    system: str | None = None
    suggested_share: float = 1.0
    item_ids: Sequence[str] = ()
    essay_ids: Sequence[str] = ()
    most: int | None = None
    annotators: Sequence[str] = ()
    batch_size: int = 0
    overlap_every: int = 0
    delay_days: float = 3
    lease_minutes: float | None = None
    guidelines: str | None = None
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)
    options: Mapping[str, Json] = field(default_factory=dict, hash=False)
    seed: int = 0
    is_open: bool = True
    is_fresh: bool = False
    cents: int | None = None
    currency: str = "EUR"


def add_job(store: Store, plan: JobPlan, *, actor: str | None = None) -> Job:
    """Add a job by its plan; it is open for work unless the plan says otherwise."""
    with store.write() as tx:
        return plan_job(tx, plan, actor=actor)


def plan_job(tx: Tx, plan: JobPlan, *, actor: str | None = None) -> Job:
    """The same inside a transaction that has begun."""
    essays.hold(tx)
    plan = plan if plan.name else replace(plan, name=_free_name(tx, plan.task))
    # Refuse numbers and texts outside of their limits.
    require_name(plan.name)
    require_text("job.title", plan.title)
    for name in NUMBERS:
        require_number(f"job.{name}", getattr(plan, name))
    require_number("seed", plan.seed)
    if plan.guidelines is not None:
        require_guidelines(plan.guidelines)
    task = TASKS[plan.task]
    pages = _drawn(chains_for(tx, plan), plan)
    persons = {name: people.named(tx, name).person_id for name in plan.annotators}
    require_other_heads(tx, persons)
    job = jobs.add(
        tx,
        name=plan.name,
        task=task.name,
        title=plan.title or task.title,
        judgments=plan.judgments,
        access="assigned" if persons else "pool",
        lease_minutes=plan.lease_minutes or LEASE_MINUTES.get(task.name, DEFAULT_LEASE),
        options={"seed": plan.seed, **_condition(plan), **plan.options},
        actor=actor,
    )
    jobs.add_guidelines(tx, job.job_id, task.guidelines if plan.guidelines is None else plan.guidelines, actor=actor)
    _fill(tx, job, pages, plan, persons)
    if plan.cents is not None:
        set_terms(tx, job.job_id, {"pay": {"cents": plan.cents, "currency": plan.currency}}, actor=actor)
    return jobs.set_state(tx, job.job_id, "open", actor=actor) if plan.is_open else job


def _condition(plan: JobPlan) -> dict[str, Json]:
    """That annotators are offered a system's marks, as the job says it."""
    if plan.task != MARKING.name or not plan.system:
        return {}
    return {SUGGESTIONS: {"system": plan.system, "share": plan.suggested_share}}


def _free_name(tx: Tx, task: str) -> str:
    """The task's name, with a number where an earlier job has it."""
    taken = {job.name for job in jobs.all(tx)}
    numbered = (task if n == 1 else f"{task}-{n}" for n in count(1))
    return next(name for name in numbered if name not in taken)


def chains_for(tx: Tx, plan: JobPlan, *, is_preview: bool = False) -> list[list[NewUnit]]:
    """Every unit that a plan could ask about, with those that follow it."""
    wanted = Wanted(
        task=TASKS[plan.task].name,
        kind=plan.kind,
        system=plan.system,
        item_ids=plan.item_ids,
        essay_ids=plan.essay_ids,
        delay_days=plan.delay_days,
        payload=plan.payload,
        suggested_share=plan.suggested_share,
        is_preview=is_preview,
    )
    fitting = units_for(tx, wanted)
    chains: list[list[NewUnit]] = []
    for page in _fresh(tx, fitting, wanted.task) if plan.is_fresh else fitting:
        if page.follows:
            chains[-1].append(page)
        else:
            chains.append([page])
    return chains


def set_state(tx: Tx, job_id: str, state: str, *, actor: str | None = None) -> Job:
    """Open, pause or close a job; work that raters hold is still accepted."""
    if state not in GIVEN_STATES:
        raise UsageError(f"state: expected {', '.join(GIVEN_STATES)}, found {state[:20]!r}")
    job = jobs.get(tx, job_id)
    if job.archived_at is not None:
        raise Conflict(f"{job.name}: archived; restore it first")
    allowed = MOVES[job.state]
    new_state = next((name for name in allowed if name == state), None)
    if new_state is None:
        raise Conflict(f"state: expected {' or '.join(allowed)} after {job.state}, found {state!r}")
    return jobs.set_state(tx, job_id, new_state, actor=actor)


def add_guidelines(tx: Tx, job_id: str, markdown: str, *, actor: str | None = None) -> Guidelines:
    """Add a version of the guidelines, which later judgments refer to; the same text again adds none."""
    return jobs.add_guidelines(tx, job_id, require_guidelines(markdown), actor=actor)


def require_guidelines(markdown: str) -> str:
    """Guidelines in Markdown with plain line ends; empty or overlong ones are refused."""
    text = markdown.replace("\r\n", "\n")
    if not 0 < len(text) <= LONGEST["job.guidelines"]:
        raise UsageError(
            f"guidelines: expected 1 to {LONGEST['job.guidelines']:,} characters of Markdown, found {len(text):,}"
        )
    return text


def _fresh(tx: Tx, pages: Sequence[NewUnit], task: str) -> list[NewUnit]:
    asked = units.essays_of_task(tx, task)
    left = [page for page in pages if page.essay_id not in asked]
    if not left:
        raise UsageError(f"no new essays: every essay is already in a job with the task {task!r}")
    return left


def _drawn(chains: list[list[NewUnit]], plan: JobPlan) -> list[list[NewUnit]]:
    """Units with those that follow them, `most` of them at random."""
    if plan.most is None or plan.most >= len(chains):
        return chains
    picked = generator(plan.seed, "units", plan.name).choice(len(chains), size=plan.most, replace=False)
    return [chains[number] for number in sorted(picked.tolist())]


def _fill(tx: Tx, job: Job, chains: list[list[NewUnit]], plan: JobPlan, persons: Mapping[str, str]) -> None:
    new: list[NewUnit] = []
    theirs: list[tuple[tuple[str, ...], int]] = []
    for batch in batches_for(plan, len(chains)):
        for number in batch.units:
            new += [
                replace(unit, batch=batch.number, overlap=batch.overlap, wanted=len(batch.people) or None)
                for unit in chains[number]
            ]
            theirs += [(batch.people, batch.number)] * len(chains[number])
    unit_ids = units.add_all(tx, job.job_id, new)
    assigned = [
        Assignment(unit_id, persons[name], number)
        for unit_id, (names, number) in zip(unit_ids, theirs, strict=True)
        for name in names
    ]
    if assigned:
        jobs.assign(tx, job.job_id, assigned)


def batches_for(plan: JobPlan, n_chains: int) -> list[Batch]:
    return batches(
        n_chains,
        rng=generator(plan.seed, "batches", plan.name),
        size=plan.batch_size,
        people=sorted(plan.annotators),
        each=plan.judgments if plan.annotators else 1,
        overlap_every=plan.overlap_every,
    )


def require_other_heads(tx: Tx, persons: Mapping[str, str]) -> None:
    """Nobody is asked alone and on a joint seat, or on two seats: the second would get no work, and units starve."""
    heads = {name: set(people.members(tx, person_id)) or {person_id} for name, person_id in persons.items()}
    for one, other in combinations(heads, 2):
        if heads[one] & heads[other]:
            raise UsageError(
                f"{one!r} and {other!r} cannot both work in a job: a person on the joint seat would be asked twice; "
                "choose one of the two"
            )


def hand_over_by_name(store: Store, *, job: str, giver: str, taker: str) -> int:
    """How many units of a job went from one named person to the other."""
    with store.write() as tx:
        return hand_over(tx, jobs.named(tx, job), people.named(tx, giver), people.named(tx, taker))


def hand_over(tx: Tx, job: Job, giver: Person, taker: Person, *, actor: str | None = None) -> int:
    """How many units went over; refused where there is nothing that could go."""
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


def visible_job(tx: Tx, job_id: str) -> Job:
    """Raters know of no drafts."""
    job = jobs.find(tx, job_id)
    if job is None or job.state == "draft":
        raise NotFound("there is no such job")
    return job


def rename_job(tx: Tx, job_id: str, *, name: str = "", title: str = "", actor: str | None = None) -> Job:
    """Another name or title; what is left empty stays.  Jobs that ask for this one first go by its new name."""
    job = jobs.get(tx, job_id)
    wanted, shown = require_name(name or job.name), require_text("job.title", title or job.title)
    if (wanted, shown) == (job.name, job.title):
        return job
    renamed = jobs.rename(tx, job_id, name=wanted, title=shown, actor=actor)
    for other in jobs.all(tx):
        terms = terms_of(other.options)
        if any(asked.job == job.name for asked in terms.qualifications):
            asked = tuple(
                replace(each, job=wanted) if each.job == job.name else each for each in terms.qualifications
            )
            changed = terms_json(replace(terms, qualifications=asked))
            jobs.set_options(tx, other.job_id, {KEY: changed}, actor=actor)
    return renamed


def archive_job(tx: Tx, job_id: str, is_archived: bool, *, actor: str | None = None) -> Job:
    """Take a job out of sight, or bring it back; nobody may be at work in it."""
    job = jobs.get(tx, job_id)
    if is_archived and job.state not in ("draft", "closed"):
        raise Conflict(f"{job.name}: the job is {job.state}; close it first")
    return jobs.set_archived(tx, job_id, is_archived, actor=actor)


def delete_job(tx: Tx, job_id: str, *, word: str, actor: str | None = None) -> Job:
    require_word(word)
    job = jobs.get(tx, job_id)
    remove_job(tx, job_id, actor=actor)
    return job


def delete_essay(tx: Tx, essay_id: str, *, word: str, actor: str | None = None) -> None:
    require_word(word)
    remove_essay(tx, essay_id, actor=actor)


def back_to_work(tx: Tx, unit_id: str, *, actor: str | None = None) -> Job:
    """Make a gold or practice unit that nobody has met part of the work again; returns its job."""
    return_to_work(tx, unit_id, actor=actor)
    return units.get(tx, unit_id).job


def require_word(word: str) -> None:
    if word.strip().lower() != WORD:
        raise UsageError(f"type the word {WORD!r} to delete it permanently; found {word[:20]!r}")


# What a job would be before it is made


SECONDS = {"usage": 36.0, "cloze": 20.0, "choice": 16.0, "error": 24.0, "construction": 40.0, "verify": 16.0}
SECONDS_A_WORD = 3.0
ENOUGH = 20
MOST_LOOKED_AT = 2_000
MOST_KEPT = 50
AN_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class JobPreview:
    """`judgments` are wanted in all; `is_measured` where the seconds were measured in this study."""

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
        """`about 9 hours`, `about 20 minutes`."""
        if self.hours >= 1.5:
            return f"about {self.hours:,.0f} hours"
        return f"about {counted(max(1, round(self.hours * 60)), 'minute')}"

    @property
    def cost(self) -> str:
        """Empty where no pay is agreed."""
        return "" if self.cents is None else money(self.judgments * self.cents, self.currency)

    @property
    def words(self) -> str:
        parts = [counted(self.units, "unit"), counted(self.judgments, "judgment"), f"{self.time} of work"]
        return ", ".join([*parts, *([self.cost] if self.cost else [])])


@dataclass(frozen=True, slots=True)
class Fitting:
    """The units that fit a plan: how long each chain is, and the words of an average essay."""

    lengths: tuple[int, ...]
    n_words: float


@dataclass(slots=True, eq=False)
class Previews:
    """Previews of one process, which keeps the last counts."""

    _kept: dict[Hashable, Fitting] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, tx: Tx, plan: JobPlan) -> JobPreview:
        """What the plan would make; a plan that cannot be carried out is refused as when the job is made."""
        lengths, n_words = self._lengths(tx, plan)
        drawn = lengths if plan.most is None else lengths[: plan.most]
        seconds, is_measured = _seconds(tx, plan.task, n_words)
        return JobPreview(
            units=sum(drawn),
            judgments=_judgments(plan, drawn),
            seconds_each=seconds,
            is_measured=is_measured,
            cents=plan.cents,
            currency=plan.currency,
        )

    def _lengths(self, tx: Tx, plan: JobPlan) -> tuple[tuple[int, ...], float]:
        state = (essays.count(tx), items.count(tx), decisions.count(tx), len(jobs.all(tx)))
        asked = (plan.task, plan.kind, plan.system, tuple(plan.item_ids), tuple(plan.essay_ids), plan.is_fresh)
        with self._lock:
            kept = self._kept.get((state, asked))
        if kept is None:
            chains = chains_for(tx, plan, is_preview=True)
            n_words, n_essays = 0, 0
            for essay in essays.all(tx) if plan.task == "marking" else ():
                n_words, n_essays = n_words + len(essay.text.split()), n_essays + 1
            kept = Fitting(tuple(map(len, chains)), n_words / n_essays if n_essays else 0.0)
            with self._lock:
                while len(self._kept) >= MOST_KEPT:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[state, asked] = kept
        return kept.lengths, kept.n_words


def _judgments(plan: JobPlan, lengths: tuple[int, ...]) -> int:
    if not plan.annotators:
        return plan.judgments * sum(lengths)
    planned = batches_for(replace(plan, name=plan.name or plan.task), len(lengths))
    return sum(len(batch.people) * lengths[number] for batch in planned for number in batch.units)


def _seconds(tx: Tx, task: str, n_words: float) -> tuple[float, bool]:
    measured = progress.seconds_of_task(tx, task, most=MOST_LOOKED_AT)
    if len(measured) >= ENOUGH:
        return median(measured), True
    return (SECONDS_A_WORD * n_words if task == "marking" else SECONDS.get(task, SECONDS["error"])), False


def is_met(tx: Tx, unit_id: str) -> bool:
    traces = (schema.submissions.c.unit_id == unit_id, schema.leases.c.unit_id == unit_id)
    return any(tx.value(select(exists().where(trace))) for trace in traces)


def unmet_items(tx: Tx, job_id: str) -> list[tuple[str, str]]:
    """The item and the unit of every work unit of one item that nobody has been given, in their order."""
    traces = (schema.leases.c.unit_id, schema.submissions.c.unit_id)
    is_met = [exists().where(trace == schema.units.c.unit_id) for trace in traces]
    query = (
        select(func.min(schema.unit_items.c.item_id).label("item_id"), schema.units.c.unit_id)
        .join(schema.unit_items, schema.unit_items.c.unit_id == schema.units.c.unit_id)
        .where(schema.units.c.job_id == job_id, schema.units.c.role == "work", *(~each for each in is_met))
        .group_by(schema.units.c.unit_id, schema.units.c.position)
        .having(func.count() == 1)
        .order_by(schema.units.c.position)
    )
    return [(row.item_id, row.unit_id) for row in tx.all(query)]


def reasons_to_keep(tx: Tx, job_id: str) -> list[str]:
    """What people left in a job, which cannot be deleted then."""
    of_units = select(schema.units.c.unit_id).where(schema.units.c.job_id == job_id)
    of_panels = select(schema.panels.c.panel_id).where(schema.panels.c.job_id == job_id)
    traces: dict[str, ColumnElement[bool]] = {
        "judgments": schema.submissions.c.job_id == job_id,
        "decisions of adjudicators": schema.adjudications.c.unit_id.in_(of_units),
        "payments": schema.payments.c.job_id == job_id,
        "messages": schema.messages.c.job_id == job_id,
        "reviews": schema.reviews.c.job_id == job_id,
        "raters of a panel": schema.panel_places.c.panel_id.in_(of_panels),
    }
    return [words for words, trace in traces.items() if tx.value(select(exists().where(trace)))]


def remove_job(tx: Tx, job_id: str, *, actor: str | None = None) -> None:
    """Delete a job in which nobody has left anything, with its units, guidelines and invitations that wait."""
    _wait_for_everybody(tx, job_id)
    job = jobs.lock(tx, job_id)
    kept = reasons_to_keep(tx, job_id)
    if kept:
        raise Conflict(f"{job.name}: has {' and '.join(kept)}, which are kept; close and archive it instead")
    unit_ids = [row.unit_id for row in tx.all(_of_job(schema.units.c.unit_id, schema.units, job_id))]
    lease_ids = [row.lease_id for row in tx.all(_of_job(schema.leases.c.lease_id, schema.leases, job_id))]
    of_units = _of_job(schema.units.c.unit_id, schema.units, job_id)
    for table in (schema.gold, schema.drafts, schema.findings, schema.unit_items):
        tx.execute(table.delete().where(table.c.unit_id.in_(of_units)))
    for table in (schema.assignments, schema.last_answers, schema.leases, schema.slots, schema.trust):
        tx.execute(table.delete().where(table.c.job_id == job_id))
    tx.execute(schema.units.delete().where(schema.units.c.job_id == job_id, schema.units.c.follows.is_not(None)))
    for table in (schema.units, schema.guidelines, schema.panels):
        tx.execute(table.delete().where(table.c.job_id == job_id))
    waiting = schema.invitations.update().where(schema.invitations.c.job_id == job_id)
    tx.execute(waiting.values(job_id=None))
    tx.execute(schema.jobs.delete().where(schema.jobs.c.job_id == job_id))
    gone = {"name": job.name, "task": job.task, "units": unit_ids, "leases": lease_ids}
    events.write(tx, actor, "job.deleted", job_id, gone)


def _wait_for_everybody(tx: Tx, job_id: str) -> None:
    """Let those end who take or answer a unit just now; who comes later waits, and finds the job as it is then.

    Whatever a rater does begins with a lock on the person.  With everybody locked first, no rater holds anything that
    the change waits for while they wait for it.  Managers who change units lock the job before any of them.
    SQLite has one writer anyway.
    """
    if tx.is_postgres:
        people.lock_all(tx)
        tx.value(select(schema.jobs.c.job_id).where(schema.jobs.c.job_id == job_id).with_for_update())


def _of_job(column: Any, table: Table, job_id: str) -> Any:
    return select(column).where(table.c.job_id == job_id)


def return_to_work(tx: Tx, unit_id: str, *, actor: str | None = None) -> None:
    """Ask about a gold or practice unit as about any other; refused where somebody has met it with its answer.

    A rater who takes gold holds no lock on it, so everybody is waited for.
    """
    unit = units.get(tx, unit_id)
    if unit.role == "work":
        return
    _wait_for_everybody(tx, unit.job.job_id)
    if is_met(tx, unit_id):
        raise Conflict("somebody has met this unit, and knows what was expected: it stays as it is")
    wanted = _wanted(tx, unit.job, unit_id)
    if not wanted:
        raise Conflict("the annotators of this job are named, and nobody is assigned to this unit: it stays as it is")
    tx.execute(schema.gold.delete().where(schema.gold.c.unit_id == unit_id))
    tx.execute(schema.units.update().where(schema.units.c.unit_id == unit_id).values(role="work"))
    events.write(tx, actor, "unit.work", unit_id)
    units.open_slots(tx, unit.job, unit_id, wanted)


def _wanted(tx: Tx, job: jobs.Job, unit_id: str) -> int:
    if job.access != "assigned":
        return job.judgments
    return len(tx.all(select(schema.assignments.c.person_id).where(schema.assignments.c.unit_id == unit_id)))


def remove_essay(tx: Tx, essay_id: str, *, actor: str | None = None) -> None:
    """Delete an essay that no job asks about and no sample holds, with its items and what systems decided on them."""
    essays.hold(tx)
    if tx.value(select(schema.essays.c.essay_id).where(schema.essays.c.essay_id == essay_id)) is None:
        raise NotFound("there is no such essay in this study")
    of_essay = select(schema.items.c.item_id).where(schema.items.c.essay_id == essay_id)
    traces: dict[str, ColumnElement[bool]] = {
        "a job asks about it": schema.units.c.essay_id == essay_id,
        "a job asks about a place in it": schema.unit_items.c.item_id.in_(of_essay),
        "a sample holds a place in it": schema.sample_items.c.item_id.in_(of_essay),
        "a place in it is judged": schema.judgments.c.item_id.in_(of_essay),
    }
    kept = [words for words, trace in traces.items() if tx.value(select(exists().where(trace)))]
    if kept:
        raise Conflict(f"the essay stays: {kept[0]}")
    tx.execute(schema.decisions.delete().where(schema.decisions.c.item_id.in_(of_essay)))
    for table in (schema.items, schema.edits, schema.annotators, schema.essays):
        tx.execute(table.delete().where(table.c.essay_id == essay_id))
    events.write(tx, actor, "essay.deleted", essay_id)
