"""The state of the work, built again from the event log alone, to be held against the state that is stored.

Every change to jobs, people, slots, leases, submissions, trust, gold, guidelines, assignments and adjudications
leaves an event with what it takes to repeat it.  Drafts and sessions are no part of this: they are nobody's result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from sqlalchemy import func, select

from grater.store import schema
from grater.store.events import Event
from grater.store.transaction import Tx


@dataclass(slots=True)
class State:
    """What must come out the same from the events and from the tables, each thing by its id."""

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


def _slots(state: State, unit_id: str, payload: Mapping[str, Any]) -> None:
    state.slots |= {(unit_id, int(n)): to for n, to in payload["slots"].items()}


def _assigned(state: State, job_id: str, payload: Mapping[str, Any]) -> None:
    state.assignments |= dict.fromkeys(map(tuple, payload["pairs"]), job_id)


def _moved(state: State, job_id: str, payload: Mapping[str, Any]) -> None:
    for unit_id in payload["units"]:
        del state.assignments[unit_id, payload["from"]]
        state.assignments[unit_id, payload["to"]] = job_id


def _trust(state: State, job_id: str, payload: Mapping[str, Any]) -> None:
    state.trust[job_id, payload["person_id"]] = (payload["seen"], payload["right"], payload["state"])


def _person(state: State, person_id: str, payload: Mapping[str, Any]) -> None:
    role, mood = state.people.get(person_id, ("", "active"))
    state.people[person_id] = (payload.get("role", role), payload.get("state", mood))


def _gold(state: State, unit_id: str, payload: Mapping[str, Any]) -> None:
    state.gold[unit_id, payload["item_id"]] = payload["state"]


def _job(state: State, job_id: str, payload: Mapping[str, Any]) -> None:
    state.jobs[job_id] = payload.get("state", "draft")


def _version(name: str) -> Callable[[State, str, Mapping[str, Any]], None]:
    def change(state: State, noun: str, payload: Mapping[str, Any]) -> None:
        getattr(state, name)[noun] = payload["version"]

    return change


REST: Mapping[str, Callable[[State, str, Mapping[str, Any]], None]] = {
    "job.added": _job,
    "job.state": _job,
    "person.added": _person,
    "person.role": _person,
    "person.state": _person,
    "units.added": _units,
    "slots.changed": _slots,
    "assignments.added": _assigned,
    "assignments.moved": _moved,
    "trust.changed": _trust,
    "gold.added": _gold,
    "gold.state": _gold,
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
        trust={(row.job_id, row.person_id): (row.seen, row.right, row.state) for row in tx.all(select(schema.trust))},
        gold={(row.unit_id, row.item_id): row.state for row in tx.all(select(schema.gold))},
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


def differences(rebuilt: State, found: State) -> list[str]:
    """Everything in which the two differ, in words."""
    told = []
    for each in fields(State):
        ours, theirs = getattr(rebuilt, each.name), getattr(found, each.name)
        told += [
            f"{each.name} {key}: the events say {ours.get(key)}, the table {theirs.get(key)}"
            for key in sorted(ours.keys() | theirs.keys(), key=str)
            if ours.get(key) != theirs.get(key)
        ]
    return told
