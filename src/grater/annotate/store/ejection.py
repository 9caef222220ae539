"""Ejection and what leads to it: the entry quiz, gold missed too often, a manager's word; and the way back.

The quiz is passed or failed as a whole, on as many questions that count as the rule says: one that is suspended is
replaced by another.  The answers of an attempt that failed are withdrawn when another is allowed, and the quiz has
questions for it; after the last one the rater is ejected.  Below the minimum accuracy a rater is ejected at once.
`why` remembers how: `quiz`, `gold` or `manager`.  A rater whom a manager reinstated is not ejected by gold again, but
who failed the quiz has to pass it.

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

from sqlalchemy import exists, func, select

from grater.annotate import credentials, jobs, people, units
from grater.annotate.jobs import Job
from grater.annotate.store import gold, leases, queue, schema, submissions, trust
from grater.annotate.store.transaction import Record, Tx, chunks
from grater.annotate.store.trust import GoldAnswer, Trust
from grater.annotate.terms import TrustRule, is_below, passes_quiz, terms_of
from grater.errors import Conflict

BY_RULE = ("quiz", "gold")
REINSTATED = "reinstated"


def judge(tx: Tx, job: Job, person_id: str, *, has_gold_changed: bool = False) -> Trust:
    """Count a rater's gold anew and draw the consequences: after an answer, or after gold has changed its state.

    Only changed gold reinstates, those whom the rules alone ejected and now would not; and it ejects nobody.
    """
    answers = trust.gold_answers(tx, job.job_id, person_id)
    current = trust.recount(tx, job.job_id, person_id, answers)
    terms, is_ejected = terms_of(job.options), current.state == "ejected"
    rule = terms.gold
    is_final = current.state == "flagged" or (is_ejected and not (has_gold_changed and current.why in BY_RULE))
    if rule is None or is_final:
        return current
    if gold.is_in_quiz(terms, "quiz" if is_ejected and current.why == "quiz" else current.state):
        return _judge_quiz(tx, job, rule, current, answers)
    is_out = current.why != REINSTATED and is_below(rule, seen=current.seen, right=current.right)
    if is_out == is_ejected:
        return current
    if is_out and not has_gold_changed:
        eject(tx, job, person_id, why="gold")
        # Who is ejected knows that the last question was gold: it rests, so that telling others is of no use.
        last = schema.gold.update().where(schema.gold.c.unit_id == answers[-1].unit_id)
        tx.execute(last.values(revealed=schema.gold.c.revealed + 1))
    elif is_ejected:
        _restore(tx, job, person_id, "trusted", actor=None)
    return trust.find(tx, job.job_id, person_id)


def _judge_quiz(tx: Tx, job: Job, rule: TrustRule, current: Trust, answers: Sequence[GoldAnswer]) -> Trust:
    """The verdict on a whole quiz; gold that no longer counts leaves a question to be answered in its place."""
    person_id, is_ejected = current.person_id, current.state == "ejected"
    counted = [answer for answer in answers if answer.is_active and answer.pool == "quiz"][: rule.quiz]
    is_passed = len(counted) == rule.quiz and passes_quiz(rule, right=sum(answer.is_right for answer in counted))
    if is_passed or len(counted) < rule.quiz:
        state = "trusted" if is_passed else "quiz"
        if is_ejected:
            _restore(tx, job, person_id, state, actor=None)
        elif current.state != state:
            trust.set_state(tx, job.job_id, person_id, state)
    elif not is_ejected:
        trust.set_state(tx, job.job_id, person_id, "quiz", attempts=current.attempts + 1)
        if current.attempts + 1 < rule.attempts and queue.n_unseen_quiz(tx, job, person_id) >= rule.quiz:
            _withdraw_quiz(tx, job, person_id, answers)
        else:
            eject(tx, job, person_id, why="quiz")
    return trust.find(tx, job.job_id, person_id)


def _withdraw_quiz(tx: Tx, job: Job, person_id: str, answers: Sequence[GoldAnswer], actor: str | None = None) -> None:
    for answer in answers:
        submissions.set_status(tx, answer.submission_id, "withdrawn", actor=actor, why="another try at the quiz")
    trust.recount(tx, job.job_id, person_id)


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


def reinstate(tx: Tx, job: Job, person_id: str, *, actor: str | None = None) -> tuple[int, int]:
    """Reinstate a rater; return the numbers of judgments that are valid again and that came too late for a slot.

    Who failed the quiz, or never got beyond it, is led back to it, with one attempt.
    """
    people.lock(tx, person_id)
    rule, why = terms_of(job.options).gold, trust.find(tx, job.job_id, person_id).why
    if rule is None or not rule.quiz or (why != "quiz" and _has_worked(tx, job.job_id, person_id)):
        return _restore(tx, job, person_id, "trusted", actor=actor, why=REINSTATED)
    if queue.n_unseen_quiz(tx, job, person_id) < rule.quiz:
        raise Conflict(
            f"{job.name}: a rater who has not passed the quiz must pass it, and it has fewer than {rule.quiz} "
            "questions that this rater has not seen; make more gold first"
        )
    back = _restore(tx, job, person_id, "quiz", actor=actor, attempts=rule.attempts - 1)
    _withdraw_quiz(tx, job, person_id, trust.gold_answers(tx, job.job_id, person_id), actor)
    return back


def _has_worked(tx: Tx, job_id: str, person_id: str) -> bool:
    work = select(schema.units.c.unit_id).where(schema.units.c.job_id == job_id, schema.units.c.role == "work")
    mine = exists().where(schema.submissions.c.person_id == person_id, schema.submissions.c.unit_id.in_(work))
    return bool(tx.value(select(mine)))


def _restore(
    tx: Tx, job: Job, person_id: str, state: str, *, actor: str | None, why: str = "", **more: int
) -> tuple[int, int]:
    people.lock(tx, person_id)
    trust.set_state(tx, job.job_id, person_id, state, actor=actor, why=why, **more)
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
