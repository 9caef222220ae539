"""Surplus work takes slots that have become free: what was done well need not be asked of somebody else.

After an ejection or a withdrawal a unit may have free slots again while late work on it lies there as surplus.  The
oldest surplus answers of raters who are in good standing, and have no other answer to the unit that counts, become
valid, as many as there are free slots.  So a unit still has at most N valid judgments, at most one a rater (P3).

Putting a rater out of a job, and taking one back: all of it in the caller's one transaction (P6).

Ejected: every valid judgment of theirs in the job becomes untrusted and its slot free for others (surplus work takes
it first), what they hold is revoked, their sessions end.  Reinstated: untrusted judgments take slots that are still
free; the rest are surplus.

What gold makes of a rater: the entry quiz passed or failed, put out, taken back; in the caller's transaction (P6).

The quiz is passed or failed as a whole, on the gold that is still active.  The answers of an attempt that failed are
withdrawn when another is allowed; after the last the rater is put out.  Below the minimum accuracy a rater is put out
at once.  `why` remembers how: `quiz`, `gold` or `manager`.  Whom a manager took back (`reinstated`) gold does not put
out again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlalchemy import exists, func, select

from grater.crowd.terms import terms_of
from grater.crowd.trust import TrustRule, is_below, passes_quiz
from grater.store import credentials, gold_schedule, jobs, leases, people, schema, slots, submissions, trust, units
from grater.store.jobs import Job
from grater.store.transaction import Record, Tx, chunks
from grater.store.trust import Trust


def promote(tx: Tx, unit_ids: Iterable[str], *, actor: str | None = None) -> int:
    """Fill free slots of these units with surplus work; give how many."""
    return sum(_promote(tx, some, actor) for some in chunks(sorted(set(unit_ids))))


def _promote(tx: Tx, unit_ids: list[str], actor: str | None) -> int:
    query = select(
        schema.submissions.c.submission_id,
        schema.submissions.c.job_id,
        schema.submissions.c.unit_id,
        schema.submissions.c.person_id,
    ).where(schema.submissions.c.unit_id.in_(unit_ids), schema.submissions.c.status == "surplus")
    found = tx.all(query.order_by(schema.submissions.c.at, tx.binary(schema.submissions.c.submission_id)))
    free = _n_free(tx, unit_ids) if found else Counter[str]()
    n_before = free.total()
    for row in found:
        if free[row.unit_id] > 0 and _may_count(tx, row):
            became = submissions.set_status(tx, row.submission_id, "valid", actor=actor, why="a slot became free")
            free[row.unit_id] -= became == "valid"
    return n_before - free.total()


def _may_count(tx: Tx, row: Record) -> bool:
    """In good standing, and no answer to the unit that counts; somebody who is just changing is left alone."""
    person = select(schema.people.c.person_id).where(schema.people.c.person_id == row.person_id)
    if tx.first(tx.locked(person, of=schema.people, skip=True)) is None:
        return False
    if trust.find(tx, row.job_id, row.person_id).state == "ejected":
        return False
    return tx.first(submissions.COUNTING, unit=row.unit_id, person=row.person_id) is None


def _n_free(tx: Tx, unit_ids: list[str]) -> Counter[str]:
    query = select(schema.slots.c.unit_id, func.count()).where(
        schema.slots.c.unit_id.in_(unit_ids), schema.slots.c.state == "free"
    )
    return Counter({row[0]: row[1] for row in tx.all(query.group_by(schema.slots.c.unit_id))})


def eject(tx: Tx, job_id: str, person_id: str, *, actor: str | None = None, why: str = "") -> int:
    """Give how many judgments lost their status."""
    people.lock(tx, person_id)
    trust.set_state(tx, job_id, person_id, "ejected", actor=actor, why=why)
    found = _with_status(tx, job_id, person_id, "valid")
    for submission_id in found:
        submissions.set_status(tx, submission_id, "untrusted", actor=actor, why=why)
    held = leases.held_by(tx, person_id, job_id=job_id)
    for lease in held:
        leases.close(tx, lease, "revoked", actor=actor)
    credentials.end_all_sessions(tx, person_id)
    promote(tx, [*_units_of(tx, found), *(lease.unit_id for lease in held)], actor=actor)
    return len(found)


def reinstate(tx: Tx, job_id: str, person_id: str, *, actor: str | None = None, why: str = "") -> tuple[int, int]:
    """Give how many judgments are valid again and how many came too late for a slot."""
    people.lock(tx, person_id)
    trust.set_state(tx, job_id, person_id, "trusted", actor=actor, why=why)
    found = [
        submissions.set_status(tx, submission_id, "valid", actor=actor, why=why)
        for submission_id in _with_status(tx, job_id, person_id, "untrusted")
    ]
    return found.count("valid"), found.count("surplus")


def _units_of(tx: Tx, submission_ids: list[str]) -> list[str]:
    found = [
        tx.all(select(schema.submissions.c.unit_id).where(schema.submissions.c.submission_id.in_(some)))
        for some in chunks(submission_ids)
    ]
    return [row.unit_id for rows in found for row in rows]


def _with_status(tx: Tx, job_id: str, person_id: str, status: str) -> list[str]:
    theirs = (
        (schema.submissions.c.job_id == job_id)
        & (schema.submissions.c.person_id == person_id)
        & (schema.submissions.c.status == status)
    )
    query = (
        select(schema.submissions.c.submission_id)
        .where(theirs)
        .order_by(schema.submissions.c.at, schema.submissions.c.submission_id)
    )
    return [row.submission_id for row in tx.all(query)]


BY_RULE = ("quiz", "gold")
REINSTATED = "reinstated"


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """An answer of a rater to gold; only `is_active` gold counts."""

    submission_id: str
    unit_id: str
    is_right: bool
    is_active: bool


def judge(tx: Tx, job: Job, person_id: str) -> Trust:
    """After an answer to gold: what becomes of the rater."""
    terms, now = terms_of(job.options), trust.find(tx, job.job_id, person_id)
    if terms.gold is None or now.state in ("ejected", "flagged"):
        return now
    if gold_schedule.is_in_quiz(terms, now.state):
        return _quiz(tx, job, person_id, terms.gold, now)
    if now.why != REINSTATED and is_below(terms.gold, seen=now.seen, right=now.right):
        put_out(tx, job, person_id, why="gold")
    return trust.find(tx, job.job_id, person_id)


def judge_again(tx: Tx, job: Job, person_id: str) -> Trust:
    """After gold changed its state: count anew, and take back whom the rules alone put out and now would not."""
    people.lock(tx, person_id)
    now = trust.recount(tx, job.job_id, person_id)
    rule = terms_of(job.options).gold
    if rule is None or now.state != "ejected" or now.why not in BY_RULE:
        return now
    if now.why == "quiz" and not _is_passed(rule, answers(tx, job.job_id, person_id)):
        return now
    if is_below(rule, seen=now.seen, right=now.right):
        return now
    take_back(tx, job, person_id, why="")
    return trust.find(tx, job.job_id, person_id)


def put_out(tx: Tx, job: Job, person_id: str, *, actor: str | None = None, why: str = "manager") -> int:
    """Eject a rater; what they held is asked of others.  Give how many judgments lost their status."""
    n_lost = eject(tx, job.job_id, person_id, actor=actor, why=why)
    _settle(tx, job, person_id, became="untrusted")
    return n_lost


def take_back(
    tx: Tx, job: Job, person_id: str, *, actor: str | None = None, why: str = REINSTATED
) -> tuple[int, int]:
    """Reinstate a rater; give how many judgments are valid again and how many came too late for a slot."""
    found = reinstate(tx, job.job_id, person_id, actor=actor, why=why)
    _settle(tx, job, person_id, became="valid")
    return found


def flag(tx: Tx, job_id: str, person_id: str, *, actor: str | None = None) -> Trust:
    """No more work for this rater here; what they did stays as it is."""
    people.lock(tx, person_id)
    jobs.get(tx, job_id)
    return trust.set_state(tx, job_id, person_id, "flagged", actor=actor, why="manager")


def answers(tx: Tx, job_id: str, person_id: str) -> list[GoldAnswer]:
    """Every answer to gold that counts, in the order in which they came."""
    is_active = exists().where(schema.gold.c.unit_id == schema.submissions.c.unit_id, schema.gold.c.state == "active")
    query = (
        select(
            schema.submissions.c.submission_id,
            schema.submissions.c.unit_id,
            schema.submissions.c.is_right,
            is_active.label("is_active"),
        )
        .join(schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id)
        .where(
            schema.submissions.c.job_id == job_id,
            schema.submissions.c.person_id == person_id,
            schema.submissions.c.status.in_(("valid", "untrusted")),
            schema.units.c.role == "gold",
        )
        .order_by(schema.submissions.c.at, tx.binary(schema.submissions.c.submission_id))
    )
    return [
        GoldAnswer(row.submission_id, row.unit_id, bool(row.is_right), bool(row.is_active)) for row in tx.all(query)
    ]


def _quiz(tx: Tx, job: Job, person_id: str, rule: TrustRule, now: Trust) -> Trust:
    given = answers(tx, job.job_id, person_id)
    if len(given) < rule.quiz:
        return trust.set_state(tx, job.job_id, person_id, "quiz")
    if _is_passed(rule, given):
        return trust.set_state(tx, job.job_id, person_id, "trusted")
    attempts = now.attempts + 1
    trust.set_state(tx, job.job_id, person_id, "quiz", attempts=attempts)
    if attempts >= rule.attempts:
        put_out(tx, job, person_id, why="quiz")
    else:
        for answer in given:
            submissions.set_status(tx, answer.submission_id, "withdrawn", why="another try at the quiz")
        trust.recount(tx, job.job_id, person_id)
    return trust.find(tx, job.job_id, person_id)


def _is_passed(rule: TrustRule, given: list[GoldAnswer]) -> bool:
    counted = [answer for answer in given[: rule.quiz] if answer.is_active]
    return passes_quiz(replace(rule, quiz=len(counted)), right=sum(answer.is_right for answer in counted))


def _settle(tx: Tx, job: Job, person_id: str, *, became: str) -> None:
    """After a rater's answers `became` untrusted or valid: ask for what is missing, tell of what is finished."""
    is_theirs = (schema.submissions.c.job_id == job.job_id) & (schema.submissions.c.person_id == person_id)
    may_count = schema.submissions.c.n.is_not(None) | schema.submissions.c.status.in_(("untrusted", "surplus"))
    found = tx.all(
        select(schema.submissions.c.unit_id, schema.submissions.c.status).where(is_theirs, may_count).distinct()
    )
    slots.settle(tx, job, [row.unit_id for row in found])
    units.log_finished(tx, [row.unit_id for row in found if row.status == became])
