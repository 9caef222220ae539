"""What gold makes of a rater: the entry quiz passed or failed, put out, taken back; in the caller's transaction (P6).

The quiz is passed or failed as a whole, on the gold that is still active.  The answers of an attempt that failed are
withdrawn when another is allowed; after the last the rater is put out.  Below the minimum accuracy a rater is put out
at once.  `why` remembers how: `quiz`, `gold` or `manager`.  Whom a manager took back (`reinstated`) gold does not put
out again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import exists, select

from grater.crowd.terms import terms_of
from grater.crowd.trust import TrustRule, is_below, passes_quiz
from grater.store import asking, ejection, finishing, jobs, people, schema, submissions, trust, turns
from grater.store.jobs import Job
from grater.store.transaction import Tx
from grater.store.trust import Trust

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
    if turns.is_in_quiz(terms, now.state):
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
    n_lost = ejection.eject(tx, job.job_id, person_id, actor=actor, why=why)
    _settle(tx, job, person_id, became="untrusted")
    return n_lost


def take_back(
    tx: Tx, job: Job, person_id: str, *, actor: str | None = None, why: str = REINSTATED
) -> tuple[int, int]:
    """Reinstate a rater; give how many judgments are valid again and how many came too late for a slot."""
    found = ejection.reinstate(tx, job.job_id, person_id, actor=actor, why=why)
    _settle(tx, job, person_id, became="valid")
    return found


def flag(tx: Tx, job_id: str, person_id: str, *, actor: str | None = None) -> Trust:
    """No more work for this rater here; what they did stays as it is."""
    people.lock(tx, person_id)
    jobs.the(tx, job_id)
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
    asking.settle(tx, job, [row.unit_id for row in found])
    finishing.tell(tx, [row.unit_id for row in found if row.status == became])
