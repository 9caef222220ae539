"""The invariant checker: whether a study keeps its promises.

Each rule is a query for what must not be; a healthy study has no violation at any moment, not even right after the
machine lost its power.  The rules read the tables as they are and trust none of the code that writes them:

- slots, leases, submissions and judgments (P1-P4): nothing lost, doubled, issued twice, or asked of nobody;
- raters who were ejected (P6), and trust, counted again from every gold answer by its task's own rule;
- money in one currency per job; offsets inside the text, judgments about items of their unit (P7);
- the state of the work, rebuilt from the event log alone, is the state that is stored.

Every change to jobs, people, slots, leases, submissions, trust, gold, guidelines, assignments and adjudications
leaves an event with what it takes to repeat it.  Drafts and sessions are no part of this: they are nobody's result.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from sqlalchemy import Column, ColumnElement, ScalarSelect, and_, exists, func, select

from grater.annotate import jobs
from grater.annotate.judgments import answers_of
from grater.annotate.store import events, gold, schema
from grater.annotate.store.events import Event
from grater.annotate.store.ids import body_hash
from grater.annotate.store.transaction import Tx
from grater.annotate.store.trust import of_job


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """`kind`: lost, doubled, over-issued, starved, orphan, trust, money, rebuilt, offsets."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


COUNTING = ("valid", "untrusted")
IMPORTED = "submissions.imported"


def stored_but_gone(tx: Tx) -> Iterator[str]:
    """A submission that was acknowledged is there."""
    there = {row.submission_id for row in tx.all(select(schema.submissions.c.submission_id))}
    for event in events.all(tx):
        for submission_id in _stored_ids(event):
            if submission_id not in there:
                yield f"submission {submission_id} was stored (event {event.n}) and is gone"


def _stored_ids(event: Event) -> Collection[str]:
    """The submissions that an event says were stored."""
    if event.verb == IMPORTED:
        payload: Mapping[str, Any] = event.payload
        return list(payload["stored"])
    return (event.noun,) if event.verb == "submission.stored" else ()


def without_judgments(tx: Tx) -> Iterator[str]:
    """A submission has a judgment for every item of its unit."""
    n_items = _count(schema.unit_items.c.unit_id, schema.unit_items.c.unit_id == schema.submissions.c.unit_id)
    n_judged = _count(
        schema.judgments.c.submission_id, schema.judgments.c.submission_id == schema.submissions.c.submission_id
    )
    is_short = (n_judged == 0) | ((n_items > 0) & (n_judged != n_items))
    for row in tx.all(select(schema.submissions.c.submission_id, n_items, n_judged).where(is_short)):
        yield f"submission {row[0]} has {row[2]} judgments for {row[1]} items"


def changed_bodies(tx: Tx) -> Iterator[str]:
    """What a rater sent is what is stored."""
    for row in tx.all(
        select(schema.submissions.c.submission_id, schema.submissions.c.body, schema.submissions.c.body_hash)
    ):
        if body_hash(row.body) != row.body_hash:
            yield f"submission {row.submission_id}: the stored body is not the one that was sent"


def twice_by_one_rater(tx: Tx) -> Iterator[str]:
    """A rater has at most one judgment that counts for a unit."""
    both = (schema.submissions.c.unit_id, schema.submissions.c.person_id)
    query = select(*both, func.count()).where(schema.submissions.c.status.in_(COUNTING)).group_by(*both)
    for row in tx.all(query.having(func.count() > 1)):
        yield f"unit {row[0]}: person {row[1]} has {row[2]} judgments that count"


def stored_twice(tx: Tx) -> Iterator[str]:
    """One submission id was stored once."""
    n_stored = Counter(submission_id for event in events.all(tx) for submission_id in _stored_ids(event))
    for submission_id, n in n_stored.items():
        if n > 1:
            yield f"submission {submission_id} was stored {n} times"


def more_than_wanted(tx: Tx) -> Iterator[str]:
    """A unit has at most N valid judgments."""
    n_valid = _count(
        schema.submissions.c.unit_id,
        and_(schema.submissions.c.unit_id == schema.units.c.unit_id, schema.submissions.c.status == "valid"),
    )
    query = select(schema.units.c.unit_id, schema.units.c.wanted, n_valid).where(
        schema.units.c.role == "work", n_valid > schema.units.c.wanted
    )
    for row in tx.all(query):
        yield f"unit {row[0]}: {row[2]} valid judgments, {row[1]} wanted"


def slot_filled_twice(tx: Tx) -> Iterator[str]:
    """A slot has at most one valid judgment."""
    slot = (schema.submissions.c.unit_id, schema.submissions.c.n)
    query = select(*slot, func.count()).where(
        schema.submissions.c.status == "valid", schema.submissions.c.n.is_not(None)
    )
    for row in tx.all(query.group_by(*slot).having(func.count() > 1)):
        yield f"unit {row[0]}, slot {row[1]}: {row[2]} valid judgments"


def slot_leased_twice(tx: Tx) -> Iterator[str]:
    """A slot is in one rater's hands, and a rater has one lease at a time in a place of a job."""
    slot = (schema.leases.c.unit_id, schema.leases.c.n)
    query = select(*slot, func.count()).where(schema.leases.c.state == "held", schema.leases.c.n.is_not(None))
    for row in tx.all(query.group_by(*slot).having(func.count() > 1)):
        yield f"unit {row[0]}, slot {row[1]}: held {row[2]} times"
    hand = (schema.leases.c.job_id, schema.leases.c.person_id, schema.leases.c.place)
    held = select(*hand, func.count()).where(schema.leases.c.state == "held").group_by(*hand).having(func.count() > 1)
    for row in tx.all(held):
        yield f"job {row[0]}: person {row[1]} holds {row[3]} leases at once"


def slots_missing(tx: Tx) -> Iterator[str]:
    """A unit has a slot for each judgment that it wants."""
    n_slots = _count(schema.slots.c.unit_id, schema.slots.c.unit_id == schema.units.c.unit_id)
    query = select(schema.units.c.unit_id, schema.units.c.wanted, n_slots).where(n_slots < schema.units.c.wanted)
    for row in tx.all(query):
        yield f"unit {row[0]}: {row[2]} slots for {row[1]} judgments"


def filled_by_nothing(tx: Tx) -> Iterator[str]:
    """A slot that is filled has its valid judgment, or nobody would ever be asked again."""
    filler = exists().where(
        schema.submissions.c.unit_id == schema.slots.c.unit_id,
        schema.submissions.c.n == schema.slots.c.n,
        schema.submissions.c.status == "valid",
    )
    for row in tx.all(
        select(schema.slots.c.unit_id, schema.slots.c.n).where(schema.slots.c.state == "filled", ~filler)
    ):
        yield f"unit {row[0]}, slot {row[1]}: filled, but no valid judgment fills it"


def valid_without_slot(tx: Tx) -> Iterator[str]:
    """A valid judgment of a work unit fills a slot, and no other status does."""
    slot = exists().where(
        schema.slots.c.unit_id == schema.submissions.c.unit_id,
        schema.slots.c.n == schema.submissions.c.n,
        schema.slots.c.state == "filled",
    )
    query = select(schema.submissions.c.submission_id).join(
        schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id
    )
    for row in tx.all(query.where(schema.submissions.c.status == "valid", schema.units.c.role == "work", ~slot)):
        yield f"submission {row[0]}: valid, but it fills no slot"
    for row in tx.all(query.where(schema.submissions.c.status != "valid", schema.submissions.c.n.is_not(None))):
        yield f"submission {row[0]}: not valid, but it has a slot"


def nobody_left(tx: Tx) -> Iterator[str]:
    """In an open job, a free slot of an assigned unit has an assigned person who can still fill it."""
    done = exists().where(
        schema.submissions.c.unit_id == schema.assignments.c.unit_id,
        schema.submissions.c.person_id == schema.assignments.c.person_id,
    )
    again = _has_it_again()
    out = exists().where(
        schema.trust.c.job_id == schema.assignments.c.job_id,
        schema.trust.c.person_id == schema.assignments.c.person_id,
        schema.trust.c.state == "ejected",
    )
    able = exists(
        select(schema.assignments.c.person_id)
        .join(schema.people, schema.people.c.person_id == schema.assignments.c.person_id)
        .where(schema.assignments.c.unit_id == schema.slots.c.unit_id, schema.people.c.state == "active", ~out)
        .where(~done | again)
    )
    query = (
        select(schema.slots.c.unit_id)
        .join(schema.jobs, schema.jobs.c.job_id == schema.slots.c.job_id)
        .where(
            schema.jobs.c.state == "open", schema.jobs.c.access == "assigned", schema.slots.c.state == "free", ~able
        )
        .distinct()
    )
    for row in tx.all(query):
        yield f"unit {row[0]}: judgments are wanted, and no assigned person is left to give one; assign somebody"


def _has_it_again() -> ColumnElement[bool]:
    """An assigned person took their answer back and has not given another; the unit is their next one."""
    answer = schema.submissions.alias("answer")
    theirs = (answer.c.unit_id == schema.leases.c.unit_id) & (answer.c.person_id == schema.leases.c.person_id)
    is_answer = (answer.c.lease_id == schema.leases.c.lease_id) | (answer.c.status != "withdrawn")
    return exists().where(
        schema.leases.c.unit_id == schema.assignments.c.unit_id,
        schema.leases.c.person_id == schema.assignments.c.person_id,
        schema.leases.c.place == 0,
        ~exists().where(theirs, is_answer),
    )


def leased_by_nobody(tx: Tx) -> Iterator[str]:
    """A slot that is leased is in somebody's hands."""
    holder = exists().where(
        schema.leases.c.unit_id == schema.slots.c.unit_id,
        schema.leases.c.n == schema.slots.c.n,
        schema.leases.c.state == "held",
    )
    for row in tx.all(
        select(schema.slots.c.unit_id, schema.slots.c.n).where(schema.slots.c.state == "leased", ~holder)
    ):
        yield f"unit {row[0]}, slot {row[1]}: leased, but nobody holds it"


def lease_without_slot(tx: Tx) -> Iterator[str]:
    """A lease that is held has its slot."""
    slot = exists().where(
        schema.slots.c.unit_id == schema.leases.c.unit_id,
        schema.slots.c.n == schema.leases.c.n,
        schema.slots.c.state == "leased",
    )
    query = select(schema.leases.c.lease_id).where(
        schema.leases.c.state == "held", schema.leases.c.n.is_not(None), ~slot
    )
    for row in tx.all(query):
        yield f"lease {row[0]}: held, but its slot is not leased"


def _count(column: Column[str], condition: ColumnElement[bool]) -> ScalarSelect[int]:
    return select(func.count(column)).where(condition).scalar_subquery()


def ejected_but_counting(tx: Tx) -> Iterator[str]:
    """Nothing of a rater who was ejected counts in that job."""
    query = select(schema.submissions.c.submission_id, schema.submissions.c.person_id).join(
        schema.trust,
        (schema.trust.c.job_id == schema.submissions.c.job_id)
        & (schema.trust.c.person_id == schema.submissions.c.person_id),
    )
    for row in tx.all(query.where(schema.trust.c.state == "ejected", schema.submissions.c.status == "valid")):
        yield f"submission {row[0]}: valid, but person {row[1]} was ejected"


def ejected_but_holding(tx: Tx) -> Iterator[str]:
    """A rater who was ejected holds nothing in that job."""
    out = exists().where(
        schema.trust.c.job_id == schema.leases.c.job_id,
        schema.trust.c.person_id == schema.leases.c.person_id,
        schema.trust.c.state == "ejected",
    )
    for row in tx.all(
        select(schema.leases.c.lease_id, schema.leases.c.person_id).where(schema.leases.c.state == "held", out)
    ):
        yield f"lease {row[0]}: held by person {row[1]}, who was ejected"


def currencies_mixed(tx: Tx) -> Iterator[str]:
    """A job is paid in one currency."""
    n_currencies = func.count(schema.payments.c.currency.distinct())
    query = select(schema.payments.c.job_id, n_currencies).group_by(schema.payments.c.job_id).having(n_currencies > 1)
    for row in tx.all(query):
        yield f"job {row[0]}: paid in {row[1]} currencies"


def items_outside(tx: Tx) -> Iterator[str]:
    """An item ends before its essay does."""
    query = select(schema.items.c.item_id, schema.items.c.end, func.length(schema.essays.c.text)).join(
        schema.essays, schema.essays.c.essay_id == schema.items.c.essay_id
    )
    for row in tx.all(query.where(schema.items.c.end > func.length(schema.essays.c.text))):
        yield f"item {row[0]}: ends at {row[1]}, its essay at {row[2]}"


def edits_outside(tx: Tx) -> Iterator[str]:
    """An edit ends before its essay does."""
    query = select(schema.edits.c.essay_id, schema.edits.c.end, func.length(schema.essays.c.text)).join(
        schema.essays, schema.essays.c.essay_id == schema.edits.c.essay_id
    )
    for row in tx.all(query.where(schema.edits.c.end > func.length(schema.essays.c.text))):
        yield f"essay {row[0]}: an edit ends at {row[1]}, the essay at {row[2]}"


def judged_elsewhere(tx: Tx) -> Iterator[str]:
    """A judgment is about an item of the unit that was shown."""
    shown = exists().where(
        schema.unit_items.c.unit_id == schema.submissions.c.unit_id,
        schema.unit_items.c.item_id == schema.judgments.c.item_id,
    )
    has_items = exists().where(schema.unit_items.c.unit_id == schema.submissions.c.unit_id)
    query = select(schema.judgments.c.submission_id, schema.judgments.c.item_id).join(
        schema.submissions, schema.submissions.c.submission_id == schema.judgments.c.submission_id
    )
    for row in tx.all(query.where(has_items, ~shown)):
        yield f"submission {row[0]}: judges item {row[1]}, which its unit does not have"


def trust_recomputed(tx: Tx) -> Iterator[str]:
    """Gold seen and gold right, from the judgments themselves, are what is stored."""
    for job in jobs.all(tx):
        fresh = _from_scratch(tx, job.job_id, job.task)
        stored = {trust.person_id: (trust.seen, trust.right) for trust in of_job(tx, job.job_id)}
        for person_id in sorted(fresh.keys() | stored.keys()):
            (seen, right), (n_seen, n_right) = stored.get(person_id, (0, 0)), fresh.get(person_id, (0, 0))
            if (seen, right) != (n_seen, n_right):
                message = f"{right} of {seen} right is stored, {n_right} of {n_seen} found"
                yield f"job {job.name}, person {person_id}: {message}"


def _from_scratch(tx: Tx, job_id: str, task: str) -> dict[str, tuple[int, int]]:
    query = (
        select(schema.submissions.c.submission_id, schema.submissions.c.person_id, schema.submissions.c.unit_id)
        .join(schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id)
        .where(
            schema.submissions.c.job_id == job_id,
            schema.submissions.c.status.in_(("valid", "untrusted")),
            schema.units.c.role == "gold",
        )
    )
    counts: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for row in tx.all(query):
        known = [answer for answer in gold.of_unit(tx, row.unit_id) if answer.state == "active"]
        is_right = gold.grade(task, answers_of(tx, row.submission_id), known)
        if is_right is not None:
            seen, right = counts[row.person_id]
            counts[row.person_id] = (seen + 1, right + is_right)
    return counts


@dataclass(slots=True)
class State:
    """What must come out the same from the events and from the tables, all by id."""

    jobs: dict[str, Any] = field(default_factory=dict)
    people: dict[str, Any] = field(default_factory=dict)
    slots: dict[tuple[str, int], Any] = field(default_factory=dict)
    leases: dict[str, Any] = field(default_factory=dict)
    submissions: dict[str, Any] = field(default_factory=dict)
    trust: dict[tuple[str, str], Any] = field(default_factory=dict)
    gold: dict[tuple[str, str], Any] = field(default_factory=dict)
    guidelines: dict[str, Any] = field(default_factory=dict)
    assignments: dict[tuple[str, str], Any] = field(default_factory=dict)
    adjudications: dict[str, Any] = field(default_factory=dict)


def from_events(log: Iterable[Event]) -> State:
    state = State()
    places: dict[str, tuple[str, int | None]] = {}
    for event in log:
        if event.verb.startswith("lease."):
            _lease(state, event, places)
        elif event.verb.startswith("submission."):
            _submission(state, event, places)
        elif event.verb in REST:
            REST[event.verb](state, event.noun, event.payload)
    return state


def _lease(state: State, event: Event, places: dict[str, tuple[str, int | None]]) -> None:
    what = event.verb.removeprefix("lease.")
    if what == "taken":
        payload: Mapping[str, Any] = event.payload
        places[event.noun] = (payload["unit_id"], payload["n"])
    if event.noun in places:
        state.leases[event.noun] = "held" if what == "taken" else what
        _slot(state, *places[event.noun], "leased" if what == "taken" else "free")


def _submission(state: State, event: Event, places: Mapping[str, tuple[str, int | None]]) -> None:
    payload: Mapping[str, Any] = event.payload
    if event.verb == "submission.stored":
        _answer_lease(state, payload["lease_id"], places)
        kept = (payload["unit_id"], payload["body_hash"], payload["judgments"])
        state.submissions[event.noun] = (payload["status"], payload["n"], *kept)
        _slot(state, payload["unit_id"], payload["n"], "filled")
    elif event.verb == "submission.status" and event.noun in state.submissions:
        _, n, *rest = state.submissions[event.noun]
        _slot(state, rest[0], n, "free")
        _slot(state, rest[0], payload["n"], "filled")
        state.submissions[event.noun] = (payload["to"], payload["n"], *rest)


def _answer_lease(state: State, lease_id: str | None, places: Mapping[str, tuple[str, int | None]]) -> None:
    if lease_id is not None and state.leases.get(lease_id) == "held":
        state.leases[lease_id] = "done"
        _slot(state, *places[lease_id], "free")


def _slot(state: State, unit_id: str, n: int | None, to: str) -> None:
    if n is not None:
        state.slots[unit_id, n] = to


def _units(state: State, _job_id: str, payload: Mapping[str, Any]) -> None:
    for unit_id, wanted in payload["wanted"].items():
        state.slots |= {(unit_id, n): "free" for n in range(1, wanted + 1)}


def _imported(state: State, _job_id: str, payload: Mapping[str, Any]) -> None:
    for submission_id, (unit_id, _person_id, status, n, hash_of_body) in payload["stored"].items():
        state.submissions[submission_id] = (status, n, unit_id, hash_of_body, 1)
        _slot(state, unit_id, n, "filled")


def _slots(state: State, unit_id: str, payload: Mapping[str, Any]) -> None:
    state.slots |= {(unit_id, int(n)): to for n, to in payload["slots"].items()}


def _assigned(state: State, job_id: str, payload: Mapping[str, Any]) -> None:
    state.assignments |= dict.fromkeys(map(tuple, payload["pairs"]), job_id)


def _moved(state: State, job_id: str, payload: Mapping[str, Any]) -> None:
    for unit_id in payload["units"]:
        del state.assignments[unit_id, payload["from"]]
        state.assignments[unit_id, payload["to"]] = job_id


def _trust(state: State, job_id: str, payload: Mapping[str, Any]) -> None:
    state.trust[job_id, payload["person_id"]] = (payload.get("returns", 0), payload["state"])


def _person(state: State, person_id: str, payload: Mapping[str, Any]) -> None:
    role, mood = state.people.get(person_id, ("", "active"))
    state.people[person_id] = (payload.get("role", role), payload.get("state", mood))


def _gold(state: State, unit_id: str, payload: Mapping[str, Any]) -> None:
    before, pool = state.gold.get((unit_id, payload["item_id"]), ("", "hidden"))
    state.gold[unit_id, payload["item_id"]] = (payload.get("state", before), payload.get("pool", pool))


def _job(state: State, job_id: str, payload: Mapping[str, Any]) -> None:
    state.jobs[job_id] = payload.get("state", "draft")


def _deleted(state: State, job_id: str, payload: Mapping[str, Any]) -> None:
    gone, leases = set(payload["units"]), set(payload["leases"])
    state.jobs.pop(job_id)
    state.guidelines.pop(job_id, None)
    state.slots = {place: to for place, to in state.slots.items() if place[0] not in gone}
    state.gold = {place: to for place, to in state.gold.items() if place[0] not in gone}
    state.leases = {lease: to for lease, to in state.leases.items() if lease not in leases}
    state.trust = {place: to for place, to in state.trust.items() if place[0] != job_id}
    state.assignments = {place: to for place, to in state.assignments.items() if to != job_id}


def _work_again(state: State, unit_id: str, _payload: Mapping[str, Any]) -> None:
    state.gold = {place: to for place, to in state.gold.items() if place[0] != unit_id}


def _version(name: str) -> Callable[[State, str, Mapping[str, Any]], None]:
    def change(state: State, noun: str, payload: Mapping[str, Any]) -> None:
        getattr(state, name)[noun] = payload["version"]

    return change


REST: Mapping[str, Callable[[State, str, Mapping[str, Any]], None]] = {
    "job.added": _job,
    "job.state": _job,
    "job.deleted": _deleted,
    "unit.work": _work_again,
    "person.added": _person,
    "person.role": _person,
    "person.state": _person,
    "units.added": _units,
    IMPORTED: _imported,
    "slots.changed": _slots,
    "assignments.added": _assigned,
    "assignments.moved": _moved,
    "trust.changed": _trust,
    "gold.added": _gold,
    "gold.state": _gold,
    "gold.pool": _gold,
    "guidelines.added": _version("guidelines"),
    "adjudication.saved": _version("adjudications"),
}
"""What each event changes; events that are not named here change nothing that is rebuilt."""


def stored(tx: Tx) -> State:
    """The same state, as the tables have it."""
    n_judgments = (
        select(schema.judgments.c.submission_id, func.count().label("k"))
        .group_by(schema.judgments.c.submission_id)
        .subquery()
    )
    sent = select(schema.submissions, func.coalesce(n_judgments.c.k, 0).label("k")).outerjoin(
        n_judgments, n_judgments.c.submission_id == schema.submissions.c.submission_id
    )
    return State(
        jobs={row.job_id: row.state for row in tx.all(select(schema.jobs.c.job_id, schema.jobs.c.state))},
        people={
            row[0]: (row[1], row[2])
            for row in tx.all(select(schema.people.c.person_id, schema.people.c.role, schema.people.c.state))
        },
        slots={(row.unit_id, row.n): row.state for row in tx.all(select(schema.slots))},
        leases={row.lease_id: row.state for row in tx.all(select(schema.leases.c.lease_id, schema.leases.c.state))},
        submissions={
            row.submission_id: (row.status, row.n, row.unit_id, row.body_hash, row.k) for row in tx.all(sent)
        },
        trust={(row.job_id, row.person_id): (row.returns, row.state) for row in tx.all(select(schema.trust))},
        gold={(row.unit_id, row.item_id): (row.state, row.pool) for row in tx.all(select(schema.gold))},
        guidelines=_newest(
            tx, select(schema.guidelines.c.job_id, func.max(schema.guidelines.c.version)).group_by("job_id")
        ),
        assignments={(row.unit_id, row.person_id): row.job_id for row in tx.all(select(schema.assignments))},
        adjudications=_newest(
            tx, select(schema.adjudications.c.unit_id, func.max(schema.adjudications.c.version)).group_by("unit_id")
        ),
    )


def _newest(tx: Tx, query: Any) -> dict[str, Any]:
    return {row[0]: row[1] for row in tx.all(query)}


def differences(rebuilt: State, stored: State) -> Iterator[str]:
    """Everything in which the two differ, in words."""
    for noun in fields(State):
        ours, theirs = getattr(rebuilt, noun.name), getattr(stored, noun.name)
        for key in sorted(ours.keys() | theirs.keys(), key=str):
            if ours.get(key) != theirs.get(key):
                yield f"{noun.name} {key}: the events say {ours.get(key)}, the table {theirs.get(key)}"


def _rebuilt(tx: Tx) -> Iterator[str]:
    """The state built from the events is the state."""
    yield from differences(from_events(events.all(tx)), stored(tx))


RULES: Mapping[str, tuple[Callable[[Tx], Iterator[str]], ...]] = {
    "lost": (stored_but_gone, without_judgments, changed_bodies),
    "doubled": (twice_by_one_rater, stored_twice),
    "over-issued": (more_than_wanted, slot_filled_twice, slot_leased_twice),
    "starved": (slots_missing, filled_by_nothing, valid_without_slot, nobody_left),
    "orphan": (leased_by_nobody, lease_without_slot),
    "trust": (trust_recomputed, ejected_but_counting, ejected_but_holding),
    "money": (currencies_mixed,),
    "offsets": (items_outside, edits_outside, judged_elsewhere),
    "rebuilt": (_rebuilt,),
}


def violations(tx: Tx) -> list[Violation]:
    """Everything that breaks a promise."""
    return [Violation(kind, text) for kind, rules in RULES.items() for rule in rules for text in rule(tx)]
