"""The invariant checker.

Each rule is a query for forbidden states; a healthy study never has a violation, not even right after a power
failure. The rules read the tables directly and trust none of the code that writes them:

- slots, leases, submissions and judgments (P1-P4): nothing lost, doubled, issued twice, or asked of nobody;
- raters who were ejected (P6), and trust, counted again from every gold answer by its task's own rule;
- money in one currency per job; offsets inside the text, judgments about items of their unit (P7);
- the state of the work, rebuilt from the event log alone, is the state that is stored.

Every change to jobs, people, slots, leases, submissions, trust, gold, guidelines, assignments and adjudications
leaves an event from which it can be repeated. Drafts and sessions are not results and are not checked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import func, select
from sqlalchemy import text as sql

from grater.annotate import gold, jobs
from grater.annotate.judgments import answers_of
from grater.annotate.standing import of_job
from grater.annotate.store import events, schema
from grater.annotate.store.events import Event
from grater.annotate.store.transaction import Tx, body_hash

SENT = schema.submissions.c


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """`kind`: lost, doubled, over-issued, starved, orphan, trust, money, rebuilt, offsets."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


def stored_but_gone(tx: Tx) -> Iterator[str]:
    """Every acknowledged submission is stored."""
    there = {row.submission_id for row in tx.all(select(SENT.submission_id))}
    for event in events.all(tx):
        for submission_id in _stored_ids(event):
            if submission_id not in there:
                yield f"submission {submission_id} was stored (event {event.n}) and is gone"


def _stored_ids(event: Event) -> Collection[str]:
    """The submissions that an event reports as stored."""
    if event.verb == "submissions.imported":
        payload: Mapping[str, Any] = event.payload
        return list(payload["stored"])
    return (event.noun,) if event.verb == "submission.stored" else ()


def changed_bodies(tx: Tx) -> Iterator[str]:
    """A rater's answer is stored exactly as it was sent."""
    for row in tx.all(select(SENT.submission_id, SENT.body, SENT.body_hash)):
        if body_hash(row.body) != row.body_hash:
            yield f"submission {row.submission_id}: the stored body is not the one that was sent"


def stored_twice(tx: Tx) -> Iterator[str]:
    """Each submission id is stored only once."""
    n_stored = Counter(submission_id for event in events.all(tx) for submission_id in _stored_ids(event))
    for submission_id, n in n_stored.items():
        if n > 1:
            yield f"submission {submission_id} was stored {n} times"


QUERIES: Mapping[str, Mapping[str, str]] = {
    "lost": {
        "submission {} has {} judgments for {} items": """
            SELECT * FROM (
              SELECT s.submission_id,
                (SELECT count(*) FROM judgments j WHERE j.submission_id = s.submission_id) AS n_judged,
                (SELECT count(*) FROM unit_items i WHERE i.unit_id = s.unit_id) AS n_items
              FROM submissions s) AS counted
            WHERE n_judged = 0 OR (n_items > 0 AND n_judged <> n_items)""",
    },
    "doubled": {
        "unit {}: person {} has {} judgments that count": """
            SELECT unit_id, person_id, count(*) FROM submissions WHERE status IN ('valid', 'untrusted')
            GROUP BY unit_id, person_id HAVING count(*) > 1""",
    },
    "over-issued": {
        "unit {}: {} valid judgments, {} wanted": """
            SELECT u.unit_id, count(*), u.wanted FROM units u
            JOIN submissions s ON s.unit_id = u.unit_id AND s.status = 'valid'
            WHERE u.role = 'work' GROUP BY u.unit_id, u.wanted HAVING count(*) > u.wanted""",
        "unit {}, slot {}: {} valid judgments": """
            SELECT unit_id, n, count(*) FROM submissions WHERE status = 'valid' AND n IS NOT NULL
            GROUP BY unit_id, n HAVING count(*) > 1""",
        "unit {}, slot {}: held {} times": """
            SELECT unit_id, n, count(*) FROM leases WHERE state = 'held' AND n IS NOT NULL
            GROUP BY unit_id, n HAVING count(*) > 1""",
        "job {}: person {} holds {} leases at once": """
            SELECT job_id, person_id, count(*) FROM leases WHERE state = 'held'
            GROUP BY job_id, person_id, place HAVING count(*) > 1""",
    },
    "starved": {
        "unit {}: {} slots for {} judgments": """
            SELECT u.unit_id, count(s.n), u.wanted FROM units u LEFT JOIN slots s ON s.unit_id = u.unit_id
            GROUP BY u.unit_id, u.wanted HAVING count(s.n) < u.wanted""",
        "unit {}, slot {}: filled, but no valid judgment fills it": """
            SELECT unit_id, n FROM slots t WHERE state = 'filled' AND NOT EXISTS (
              SELECT 1 FROM submissions s WHERE s.unit_id = t.unit_id AND s.n = t.n AND s.status = 'valid')""",
        "submission {}: valid, but it fills no slot": """
            SELECT submission_id FROM submissions s JOIN units u ON u.unit_id = s.unit_id
            WHERE s.status = 'valid' AND u.role = 'work' AND NOT EXISTS (
              SELECT 1 FROM slots t WHERE t.unit_id = s.unit_id AND t.n = s.n AND t.state = 'filled')""",
        "submission {}: not valid, but it has a slot": """
            SELECT submission_id FROM submissions WHERE status <> 'valid' AND n IS NOT NULL""",
        # Somebody assigned can still answer: they have not, or they took their answer back and have the unit again.
        "unit {}: it needs judgments, and no assigned person is left to give one; assign somebody": """
            SELECT DISTINCT t.unit_id FROM slots t JOIN jobs ON jobs.job_id = t.job_id
            WHERE jobs.state = 'open' AND jobs.access = 'assigned' AND t.state = 'free' AND NOT EXISTS (
              SELECT 1 FROM assignments a JOIN people p ON p.person_id = a.person_id
              WHERE a.unit_id = t.unit_id AND p.state = 'active'
                AND NOT EXISTS (
                  SELECT 1 FROM trust
                  WHERE trust.job_id = a.job_id AND trust.person_id = a.person_id AND trust.state = 'ejected')
                AND (NOT EXISTS (
                    SELECT 1 FROM submissions s WHERE s.unit_id = a.unit_id AND s.person_id = a.person_id)
                  OR EXISTS (
                    SELECT 1 FROM leases l
                    WHERE l.unit_id = a.unit_id AND l.person_id = a.person_id AND l.place = 0 AND NOT EXISTS (
                      SELECT 1 FROM submissions s WHERE s.unit_id = l.unit_id AND s.person_id = l.person_id
                        AND (s.lease_id = l.lease_id OR s.status <> 'withdrawn')))))""",
    },
    "orphan": {
        "unit {}, slot {}: leased, but nobody holds it": """
            SELECT unit_id, n FROM slots t WHERE state = 'leased' AND NOT EXISTS (
              SELECT 1 FROM leases l WHERE l.unit_id = t.unit_id AND l.n = t.n AND l.state = 'held')""",
        "lease {}: held, but its slot is not leased": """
            SELECT lease_id FROM leases l WHERE state = 'held' AND n IS NOT NULL AND NOT EXISTS (
              SELECT 1 FROM slots t WHERE t.unit_id = l.unit_id AND t.n = l.n AND t.state = 'leased')""",
    },
    "trust": {
        "submission {}: valid, but person {} was ejected": """
            SELECT s.submission_id, s.person_id FROM submissions s
            JOIN trust ON trust.job_id = s.job_id AND trust.person_id = s.person_id
            WHERE trust.state = 'ejected' AND s.status = 'valid'""",
        "lease {}: held by person {}, who was ejected": """
            SELECT l.lease_id, l.person_id FROM leases l
            JOIN trust ON trust.job_id = l.job_id AND trust.person_id = l.person_id
            WHERE trust.state = 'ejected' AND l.state = 'held'""",
    },
    "money": {
        "job {}: paid in {} currencies": """
            SELECT job_id, count(DISTINCT currency) FROM payments
            GROUP BY job_id HAVING count(DISTINCT currency) > 1""",
    },
    "offsets": {
        "item {}: ends at {}, its essay at {}": """
            SELECT i.item_id, i."end", length(e.text) FROM items i JOIN essays e ON e.essay_id = i.essay_id
            WHERE i."end" > length(e.text)""",
        "essay {}: an edit ends at {}, the essay at {}": """
            SELECT d.essay_id, d."end", length(e.text) FROM edits d JOIN essays e ON e.essay_id = d.essay_id
            WHERE d."end" > length(e.text)""",
        "submission {}: judges item {}, which its unit does not have": """
            SELECT j.submission_id, j.item_id FROM judgments j JOIN submissions s ON s.submission_id = j.submission_id
            WHERE EXISTS (SELECT 1 FROM unit_items i WHERE i.unit_id = s.unit_id) AND NOT EXISTS (
              SELECT 1 FROM unit_items i WHERE i.unit_id = s.unit_id AND i.item_id = j.item_id)""",
    },
}
"""The violations: the words for each row that a query finds, by kind."""


def trust_recomputed(tx: Tx) -> Iterator[str]:
    """Stored counts of gold seen and gold right match the judgments."""
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
        select(SENT.submission_id, SENT.person_id, SENT.unit_id)
        .join(schema.units)
        .where(SENT.job_id == job_id, SENT.status.in_(("valid", "untrusted")), schema.units.c.role == "gold")
    )
    counts: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for row in tx.all(query):
        known = [answer for answer in gold.of_unit(tx, row.unit_id) if answer.state == "active"]
        is_right = gold.grade(task, answers_of(tx, row.submission_id), known)
        if is_right is not None:
            seen, right = counts[row.person_id]
            counts[row.person_id] = (seen + 1, right + is_right)
    return counts


State: TypeAlias = dict[str, dict[Any, Any]]
"""The values that events and tables must agree on, by table and id."""


def from_events(log: Iterable[Event]) -> State:
    """The state that the events alone add up to; events that change nothing of it are passed over."""
    state: State = defaultdict(dict)
    places: dict[str, tuple[str, int | None]] = {}  # the unit and slot of each lease

    def set_slot(unit_id: str, n: int | None, to: str) -> None:
        if n is not None:
            state["slots"][unit_id, n] = to

    def end_lease(lease_id: str, to: str) -> None:
        if lease_id in places:
            state["leases"][lease_id] = to
            set_slot(*places[lease_id], "free")

    for event in log:
        noun: str = event.noun
        sent: Mapping[str, Any] = event.payload
        match event.verb:
            case "job.added" | "job.state":
                state["jobs"][noun] = sent.get("state", "draft")
            case "job.deleted":
                gone = {noun, *sent["units"], *sent["leases"]}
                for table in ("jobs", "guidelines", "leases"):
                    state[table] = {key: to for key, to in state[table].items() if key not in gone}
                for table in ("slots", "gold", "trust", "assignments"):
                    state[table] = {key: to for key, to in state[table].items() if key[0] not in gone}
            case "guidelines.added":
                state["guidelines"][noun] = sent["version"]
            case "units.added":
                for unit_id, wanted in sent["wanted"].items():
                    state["slots"] |= {(unit_id, n): "free" for n in range(1, wanted + 1)}
            case "slots.changed":
                state["slots"] |= {(noun, int(n)): to for n, to in sent["slots"].items()}
            case "unit.work":
                state["gold"] = {key: to for key, to in state["gold"].items() if key[0] != noun}
            case "assignments.added":
                state["assignments"] |= dict.fromkeys(map(tuple, sent["pairs"]), noun)
            case "assignments.moved":
                for unit_id in sent["units"]:
                    del state["assignments"][unit_id, sent["from"]]
                    state["assignments"][unit_id, sent["to"]] = noun
            case "person.added" | "person.role" | "person.state":
                role, mood = state["people"].get(noun, ("", "active"))
                state["people"][noun] = (sent.get("role", role), sent.get("state", mood))
            case "lease.taken":
                state["leases"][noun] = "held"
                places[noun] = (sent["unit_id"], sent["n"])
                set_slot(*places[noun], "leased")
            case "lease.returned" | "lease.expired" | "lease.revoked":
                end_lease(noun, event.verb.removeprefix("lease."))
            case "submission.stored":
                if state["leases"].get(sent["lease_id"]) == "held":
                    end_lease(sent["lease_id"], "done")
                kept = (sent["unit_id"], sent["body_hash"], sent["judgments"])
                state["submissions"][noun] = (sent["status"], sent["n"], *kept)
                set_slot(sent["unit_id"], sent["n"], "filled")
            case "submissions.imported":
                for submission_id, (unit_id, _person_id, status, n, hash_of_body) in sent["stored"].items():
                    state["submissions"][submission_id] = (status, n, unit_id, hash_of_body, 1)
                    set_slot(unit_id, n, "filled")
            case "submission.status" if noun in state["submissions"]:
                _, n, unit_id, *rest = state["submissions"][noun]
                set_slot(unit_id, n, "free")
                set_slot(unit_id, sent["n"], "filled")
                state["submissions"][noun] = (sent["to"], sent["n"], unit_id, *rest)
            case "trust.changed":
                state["trust"][noun, sent["person_id"]] = (sent.get("returns", 0), sent["state"])
            case "gold.added" | "gold.state" | "gold.pool":
                before, pool = state["gold"].get((noun, sent["item_id"]), ("", "hidden"))
                state["gold"][noun, sent["item_id"]] = (sent.get("state", before), sent.get("pool", pool))
            case "adjudication.saved":
                state["adjudications"][noun] = sent["version"]
    return state


COMPARED: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "jobs": (["job_id"], ["state"]),
    "people": (["person_id"], ["role", "state"]),
    "slots": (["unit_id", "n"], ["state"]),
    "leases": (["lease_id"], ["state"]),
    "trust": (["job_id", "person_id"], ["returns", "state"]),
    "gold": (["unit_id", "item_id"], ["state", "pool"]),
    "guidelines": (["job_id"], ["version"]),
    "assignments": (["unit_id", "person_id"], ["job_id"]),
    "adjudications": (["unit_id"], ["version"]),
}
"""The columns of the id and those that are compared, by table; the last row of an id counts, the newest version."""


def stored(tx: Tx) -> State:
    """The state according to the tables."""
    n_judgments = (
        select(schema.judgments.c.submission_id, func.count().label("k"))
        .group_by(schema.judgments.c.submission_id)
        .subquery()
    )
    sent = select(schema.submissions, func.coalesce(n_judgments.c.k, 0).label("k")).outerjoin(
        n_judgments, n_judgments.c.submission_id == SENT.submission_id
    )
    state: State = {
        "submissions": {
            row.submission_id: (row.status, row.n, row.unit_id, row.body_hash, row.k) for row in tx.all(sent)
        }
    }
    for name, (ids, values) in COMPARED.items():
        table = schema.METADATA.tables[name]
        query = select(*(table.c[column] for column in (*ids, *values))).order_by(*table.primary_key.columns)
        state[name] = {_plain(row[: len(ids)]): _plain(row[len(ids) :]) for row in tx.all(query)}
    return state


def _plain(cells: Sequence[Any]) -> Any:
    """Several cells as they are, the only one by itself."""
    return cells[0] if len(cells) == 1 else tuple(cells)


def differences(rebuilt: State, stored: State) -> Iterator[str]:
    """The differences between the two states, in words."""
    for name, theirs in stored.items():
        ours = rebuilt.get(name, {})
        for key in sorted(ours.keys() | theirs.keys(), key=str):
            if ours.get(key) != theirs.get(key):
                yield f"{name} {key}: {ours.get(key)} by the events, {theirs.get(key)} in the table"


RULES: Mapping[str, tuple[Callable[[Tx], Iterator[str]], ...]] = {
    "lost": (stored_but_gone, changed_bodies),
    "doubled": (stored_twice,),
    "trust": (trust_recomputed,),
    "rebuilt": (lambda tx: differences(from_events(events.all(tx)), stored(tx)),),
}
"""Checks that a query alone cannot do."""


def violations(tx: Tx) -> list[Violation]:
    found = [
        Violation(kind, words.format(*row))
        for kind, queries in QUERIES.items()
        for words, query in queries.items()
        for row in tx.all(sql(query))
    ]
    return found + [Violation(kind, words) for kind, rules in RULES.items() for rule in rules for words in rule(tx)]
