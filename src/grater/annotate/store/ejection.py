"""Ejection and what leads to it: the entry quiz, gold missed too often, a manager's word; and the way back.

The quiz is passed or failed as a whole, on the gold that is still active.  The answers of an attempt that failed are
withdrawn when another is allowed; after the last one the rater is ejected.  Below the minimum accuracy a rater is
ejected at once.  `why` remembers how: `quiz`, `gold` or `manager`.  A rater whom a manager reinstated is not ejected
by gold again.

Ejected: every valid judgment of theirs in the job becomes untrusted and its slot free for others, what they hold is
revoked, their sessions and tokens end.  Reinstated: untrusted judgments take slots that are still free; the rest are
surplus.  All of it happens in the caller's one transaction (P6).

Surplus work takes the slots that an ejection frees, before anybody else is asked: the oldest surplus answers of
raters who are not ejected, and have no other answer to the unit that counts, become valid.  So a unit still has at
most N valid judgments, at most one per rater (P3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import exists, func, select

from grater.annotate import credentials, jobs, people, units
from grater.annotate.jobs import Job
from grater.annotate.store import gold, leases, schema, submissions, trust
from grater.annotate.store.transaction import Record, Tx, chunks
from grater.annotate.store.trust import Trust
from grater.annotate.terms import TrustRule, is_below, passes_quiz, terms_of

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
    terms, current = terms_of(job.options), trust.find(tx, job.job_id, person_id)
    if terms.gold is None or current.state in trust.OUT:
        return current
    if gold.is_in_quiz(terms, current.state):
        rule = terms.gold
        answers = gold_answers(tx, job.job_id, person_id)
        if len(answers) < rule.quiz:
            return trust.set_state(tx, job.job_id, person_id, "quiz")
        if _is_passed(rule, answers):
            return trust.set_state(tx, job.job_id, person_id, "trusted")
        attempts = current.attempts + 1
        trust.set_state(tx, job.job_id, person_id, "quiz", attempts=attempts)
        if attempts >= rule.attempts:
            eject(tx, job, person_id, why="quiz")
        else:
            for answer in answers:
                submissions.set_status(tx, answer.submission_id, "withdrawn", why="another try at the quiz")
            trust.recount(tx, job.job_id, person_id)
        return trust.find(tx, job.job_id, person_id)
    if current.why != REINSTATED and is_below(terms.gold, seen=current.seen, right=current.right):
        eject(tx, job, person_id, why="gold")
    return trust.find(tx, job.job_id, person_id)


def judge_again(tx: Tx, job: Job, person_id: str) -> Trust:
    """After gold changed its state: count again, and reinstate whom the rules alone ejected and now would not."""
    people.lock(tx, person_id)
    current = trust.recount(tx, job.job_id, person_id)
    rule = terms_of(job.options).gold
    if rule is None or current.state != "ejected" or current.why not in BY_RULE:
        return current
    if current.why == "quiz" and not _is_passed(rule, gold_answers(tx, job.job_id, person_id)):
        return current
    if is_below(rule, seen=current.seen, right=current.right):
        return current
    reinstate(tx, job, person_id, why="")
    return trust.find(tx, job.job_id, person_id)


def eject(tx: Tx, job: Job, person_id: str, *, actor: str | None = None, why: str = "manager") -> int:
    """Eject a rater; what they held is asked of others.  Return the number of judgments that lost their status."""
    people.lock(tx, person_id)
    trust.set_state(tx, job.job_id, person_id, "ejected", actor=actor, why=why)
    valid = _with_status(tx, job.job_id, person_id, "valid")
    for row in valid:
        submissions.set_status(tx, row.submission_id, "untrusted", actor=actor, why=why)
    held = leases.held_by(tx, person_id, job_id=job.job_id)
    for lease in held:
        leases.close(tx, lease, "revoked", actor=actor)
    credentials.end_access(tx, person_id, actor=actor)
    _promote_surplus(tx, [row.unit_id for row in valid] + [lease.unit_id for lease in held], actor)
    _settle(tx, job, person_id, became="untrusted")
    return len(valid)


def reinstate(
    tx: Tx, job: Job, person_id: str, *, actor: str | None = None, why: str = REINSTATED
) -> tuple[int, int]:
    """Reinstate a rater; return the numbers of judgments that are valid again and that came too late for a slot."""
    people.lock(tx, person_id)
    trust.set_state(tx, job.job_id, person_id, "trusted", actor=actor, why=why)
    statuses = [
        submissions.set_status(tx, row.submission_id, "valid", actor=actor, why=why)
        for row in _with_status(tx, job.job_id, person_id, "untrusted")
    ]
    _settle(tx, job, person_id, became="valid")
    return statuses.count("valid"), statuses.count("surplus")


def flag(tx: Tx, job_id: str, person_id: str, *, actor: str | None = None) -> Trust:
    """No more work for this rater here; what they did stays as it is."""
    people.lock(tx, person_id)
    jobs.get(tx, job_id)
    return trust.set_state(tx, job_id, person_id, "flagged", actor=actor, why="manager")


def gold_answers(tx: Tx, job_id: str, person_id: str) -> list[GoldAnswer]:
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
        GoldAnswer(
            submission_id=row.submission_id,
            unit_id=row.unit_id,
            is_right=bool(row.is_right),
            is_active=bool(row.is_active),
        )
        for row in tx.all(query)
    ]


def _is_passed(rule: TrustRule, answers: list[GoldAnswer]) -> bool:
    counted = [answer for answer in answers[: rule.quiz] if answer.is_active]
    return passes_quiz(replace(rule, quiz=len(counted)), right=sum(answer.is_right for answer in counted))


def _settle(tx: Tx, job: Job, person_id: str, *, became: str) -> None:
    """After a rater's answers `became` untrusted or valid: ask for what is missing, log what is finished."""
    may_count = schema.submissions.c.n.is_not(None) | schema.submissions.c.status.in_(("untrusted", "surplus"))
    query = select(schema.submissions.c.unit_id, schema.submissions.c.status).where(
        schema.submissions.c.job_id == job.job_id, schema.submissions.c.person_id == person_id, may_count
    )
    rows = tx.all(query.distinct())
    units.settle_slots(tx, job, [row.unit_id for row in rows])
    units.log_finished(tx, [row.unit_id for row in rows if row.status == became])


def _with_status(tx: Tx, job_id: str, person_id: str, status: str) -> Sequence[Record]:
    query = select(schema.submissions.c.submission_id, schema.submissions.c.unit_id).where(
        schema.submissions.c.job_id == job_id,
        schema.submissions.c.person_id == person_id,
        schema.submissions.c.status == status,
    )
    return tx.all(query.order_by(schema.submissions.c.at, schema.submissions.c.submission_id))


def _promote_surplus(tx: Tx, unit_ids: Iterable[str], actor: str | None) -> None:
    """Fill free slots of these units with surplus work."""
    for portion in chunks(sorted(set(unit_ids))):
        query = select(
            schema.submissions.c.submission_id,
            schema.submissions.c.job_id,
            schema.submissions.c.unit_id,
            schema.submissions.c.person_id,
        ).where(schema.submissions.c.unit_id.in_(portion), schema.submissions.c.status == "surplus")
        surplus = tx.all(query.order_by(schema.submissions.c.at, tx.binary(schema.submissions.c.submission_id)))
        n_free = _n_free_slots(tx, portion) if surplus else Counter[str]()
        for row in surplus:
            if n_free[row.unit_id] > 0 and _may_count(tx, row):
                status = submissions.set_status(tx, row.submission_id, "valid", actor=actor, why="a slot became free")
                n_free[row.unit_id] -= status == "valid"


def _may_count(tx: Tx, surplus: Record) -> bool:
    """Not ejected, and no answer to the unit that counts; a person who is locked by another change is left alone."""
    person = select(schema.people.c.person_id).where(schema.people.c.person_id == surplus.person_id)
    if tx.first(tx.locked(person, of=schema.people, skip=True)) is None:
        return False
    if trust.find(tx, surplus.job_id, surplus.person_id).state == "ejected":
        return False
    return tx.first(submissions.COUNTING, unit=surplus.unit_id, person=surplus.person_id) is None


def _n_free_slots(tx: Tx, unit_ids: list[str]) -> Counter[str]:
    query = select(schema.slots.c.unit_id, func.count().label("n_free")).where(
        schema.slots.c.unit_id.in_(unit_ids), schema.slots.c.state == "free"
    )
    return Counter({row.unit_id: row.n_free for row in tx.all(query.group_by(schema.slots.c.unit_id))})
