"""The consequences of trust: the entry quiz, ejection and reinstatement, and the suspension of doubtful gold.

The quiz is passed or failed as a whole, on the rule's number of valid questions; suspended ones are replaced. The
answers of a failed attempt are withdrawn if another is allowed and the quiz has questions left; after the last
attempt the rater is ejected. A rater who falls below the minimum accuracy is ejected at once. `why` records the
cause: `quiz`, `gold` or `manager`. A rater reinstated by a manager is not ejected by gold again, but must still pass
a failed quiz.

Ejection makes every valid judgment of the rater in the job untrusted, frees its slot, revokes the rater's leases, and
ends their sessions and tokens. On reinstatement, untrusted judgments take slots that are still free; the others
become surplus. Everything happens in the caller's transaction (P6).

Surplus work takes the slots that an ejection frees before new judgments are requested: the oldest surplus answers of
raters who are not ejected, and have no other answer to the unit that counts, become valid. A unit still has at most N
valid judgments, at most one per rater (P3).

Gold missed by more than half of the reliable raters who saw it, and by at least five, is suspended automatically
(P15: raters who fail other gold, were ejected, or share an address do not count). A manager may forgive it
permanently, suspend it, or make it active again. Each change recomputes the trust of everyone who answered it. Raters
whom the rules ejected but now would not are reinstated; such a change ejects nobody, only a later answer does.

After the job is closed, raters may dispute missed gold; a manager grants the dispute, which forgives the gold, or
gives a reason. Earlier, raters do not learn what they missed, because they could tell others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import cast

from sqlalchemy import ColumnElement, ScalarSelect, and_, bindparam, exists, func, literal_column, select, true

from grater.annotate import credentials, gold, jobs, judgments, leases, people, standing, units
from grater.annotate.gold import Gold
from grater.annotate.jobs import Job
from grater.annotate.requests import Moment
from grater.annotate.standing import GoldAnswer, Trust
from grater.annotate.store import events, schema
from grater.annotate.store.database import Store
from grater.annotate.store.transaction import ONE, Record, Tx, chunks, new_id
from grater.annotate.terms import TrustRule, gold_rate, is_below, is_reliable, is_suspect, passes_quiz, terms_of
from grater.errors import BadInput, Conflict, NotFound, Problem
from grater.sheet import counted

SENT, UNIT, TRUST = schema.submissions.c, schema.units.c, schema.trust.c
KNOWN, DISPUTE = schema.gold.c, schema.disputes.c

BY_RULE = ("quiz", "gold")
REINSTATED = "reinstated"


def judge(tx: Tx, job: Job, person_id: str, *, has_gold_changed: bool = False) -> Trust:
    """Recompute a rater's gold and apply the consequences: after an answer, or after gold has changed its state.

    Only changed gold reinstates, and only raters whom the rules ejected and now would not; it ejects nobody.
    """
    answers = standing.gold_answers(tx, job.job_id, person_id)
    current = standing.recount(tx, job.job_id, person_id, answers)
    terms, is_ejected = terms_of(job.options), current.state == "ejected"
    rule = terms.gold
    is_final = current.state == "flagged" or (is_ejected and not (has_gold_changed and current.why in BY_RULE))
    if rule is None or is_final:
        return current
    if terms.is_in_quiz("quiz" if is_ejected and current.why == "quiz" else current.state):
        return _judge_quiz(tx, job, rule, current, answers)
    is_out = current.why != REINSTATED and is_below(rule, seen=current.seen, right=current.right)
    if is_out == is_ejected:
        return current
    if is_out and not has_gold_changed:
        eject(tx, job, person_id, why="gold")
        # Who is ejected knows that the last question was gold: it rests, so that telling others is of no use.
        last = schema.gold.update().where(KNOWN.unit_id == answers[-1].unit_id)
        tx.execute(last.values(revealed=KNOWN.revealed + 1))
    elif is_ejected:
        _restore(tx, job, person_id, "trusted", actor=None)
    return standing.find(tx, job.job_id, person_id)


def show_miss(tx: Tx, job: Job, unit_id: str, rater: Trust) -> bool:
    """Whether a rater who missed gold is shown the expected answer; if so, the gold is retired.

    Only raters who do well on gold see it, and half of the hidden gold is never shown: otherwise raters could use it
    up by missing on purpose (P15).
    """
    rule = terms_of(job.options).gold
    if rule is None or not rule.shows_misses or rater.state not in ("new", "trusted"):
        return False
    if not is_reliable(rule, seen=rater.seen, right=rater.right):
        return False
    active = {row.unit_id: row.pool for row in tx.all(gold.OF_JOB, job=job.job_id) if row.state == "active"}
    pools = Counter(active.values())
    if active.get(unit_id) == "hidden" and pools["shown"] < pools["hidden"] - 1:
        gold.set_pool(tx, unit_id, "shown")
        return True
    return active.get(unit_id) == "shown"


def _judge_quiz(tx: Tx, job: Job, rule: TrustRule, current: Trust, answers: Sequence[GoldAnswer]) -> Trust:
    """Judge a complete quiz; a question whose gold no longer counts is replaced."""
    person_id, is_ejected = current.person_id, current.state == "ejected"
    counted = [answer for answer in answers if answer.is_active and answer.pool == "quiz"][: rule.quiz]
    is_passed = len(counted) == rule.quiz and passes_quiz(rule, right=sum(answer.is_right for answer in counted))
    if is_passed or len(counted) < rule.quiz:
        state = "trusted" if is_passed else "quiz"
        if is_ejected:
            _restore(tx, job, person_id, state, actor=None)
        elif current.state != state:
            standing.change(tx, job.job_id, person_id, state=state)
    elif not is_ejected:
        standing.change(tx, job.job_id, person_id, state="quiz", attempts=current.attempts + 1)
        if current.attempts + 1 < rule.attempts and leases.n_unseen_quiz(tx, job, person_id) >= rule.quiz:
            _withdraw_quiz(tx, job, person_id, answers)
        else:
            eject(tx, job, person_id, why="quiz")
    return standing.find(tx, job.job_id, person_id)


def _withdraw_quiz(tx: Tx, job: Job, person_id: str, answers: Sequence[GoldAnswer], actor: str | None = None) -> None:
    for answer in answers:
        judgments.set_status(tx, answer.submission_id, "withdrawn", actor=actor, why="another try at the quiz")
    standing.recount(tx, job.job_id, person_id)


def eject(tx: Tx, job: Job, person_id: str, *, actor: str | None = None, why: str = "manager") -> int:
    """Eject a rater and free their work for others; return the number of judgments that lost their status."""
    people.lock(tx, person_id)
    standing.change(tx, job.job_id, person_id, state="ejected", actor=actor, why=why)
    valid = _with_status(tx, job.job_id, person_id, "valid")
    for row in valid:
        judgments.set_status(tx, row.submission_id, "untrusted", actor=actor, why=why)
    held = leases.held_by(tx, person_id, job_id=job.job_id)
    for lease in held:
        leases.close(tx, lease, "revoked", actor=actor)
    credentials.end_access(tx, person_id, actor=actor)
    _promote_surplus(tx, [row.unit_id for row in valid] + [lease.unit_id for lease in held], actor)
    _settle(tx, job, person_id, became="untrusted")
    return len(valid)


def reinstate(tx: Tx, job: Job, person_id: str, *, actor: str | None = None) -> tuple[int, int]:
    """Reinstate a rater; return how many judgments are valid again, and how many came too late for a slot.

    Raters who failed or never finished the quiz return to it, with one attempt.
    """
    people.lock(tx, person_id)
    rule, why = terms_of(job.options).gold, standing.find(tx, job.job_id, person_id).why
    work = select(UNIT.unit_id).where(UNIT.job_id == job.job_id, UNIT.role == "work")
    answered = (SENT.person_id == person_id) & SENT.unit_id.in_(work)
    if rule is None or not rule.quiz or (why != "quiz" and tx.value(select(exists().where(answered)))):
        return _restore(tx, job, person_id, "trusted", actor=actor, why=REINSTATED)
    if leases.n_unseen_quiz(tx, job, person_id) < rule.quiz:
        raise Conflict(
            f"{job.name}: a rater who has not passed the quiz must pass it, and it has fewer than {rule.quiz} "
            "questions that this rater has not seen; make more gold first"
        )
    back = _restore(tx, job, person_id, "quiz", actor=actor, attempts=rule.attempts - 1)
    _withdraw_quiz(tx, job, person_id, standing.gold_answers(tx, job.job_id, person_id), actor)
    return back


def _restore(
    tx: Tx, job: Job, person_id: str, state: str, *, actor: str | None, why: str = "", **more: int
) -> tuple[int, int]:
    people.lock(tx, person_id)
    standing.change(tx, job.job_id, person_id, state=state, actor=actor, why=why, **more)
    statuses = [
        judgments.set_status(tx, row.submission_id, "valid", actor=actor, why=why)
        for row in _with_status(tx, job.job_id, person_id, "untrusted")
    ]
    _settle(tx, job, person_id, became="valid")
    return statuses.count("valid"), statuses.count("surplus")


def flag(tx: Tx, job_id: str, person_id: str, *, actor: str | None = None) -> Trust:
    """Give this rater no more work here; their judgments stay unchanged."""
    people.lock(tx, person_id)
    jobs.get(tx, job_id)
    return standing.change(tx, job_id, person_id, state="flagged", actor=actor, why="manager")


def _settle(tx: Tx, job: Job, person_id: str, *, became: str) -> None:
    """After a rater's answers `became` untrusted or valid, request what is missing and log finished units."""
    may_count = SENT.n.is_not(None) | SENT.status.in_(("untrusted", "surplus"))
    query = select(SENT.unit_id, SENT.status).where(SENT.job_id == job.job_id, SENT.person_id == person_id, may_count)
    rows = tx.all(query.distinct())
    units.settle_slots(tx, job, [row.unit_id for row in rows])
    units.log_finished(tx, [row.unit_id for row in rows if row.status == became])


def _with_status(tx: Tx, job_id: str, person_id: str, status: str) -> Sequence[Record]:
    query = select(SENT.submission_id, SENT.unit_id).where(
        SENT.job_id == job_id, SENT.person_id == person_id, SENT.status == status
    )
    return tx.all(query.order_by(SENT.at, SENT.submission_id))


def _promote_surplus(tx: Tx, unit_ids: Iterable[str], actor: str | None) -> None:
    for portion in chunks(sorted(set(unit_ids))):
        query = select(SENT.submission_id, SENT.job_id, SENT.unit_id, SENT.person_id).where(
            SENT.unit_id.in_(portion), SENT.status == "surplus"
        )
        surplus = tx.all(query.order_by(SENT.at, tx.binary(SENT.submission_id)))
        free = select(schema.slots.c.unit_id).where(
            schema.slots.c.unit_id.in_(portion), schema.slots.c.state == "free"
        )
        n_free = Counter(row.unit_id for row in tx.all(free)) if surplus else Counter[str]()
        for row in surplus:
            if n_free[row.unit_id] > 0 and _may_count(tx, row):
                status = judgments.set_status(tx, row.submission_id, "valid", actor=actor, why="a slot became free")
                n_free[row.unit_id] -= status == "valid"


def _may_count(tx: Tx, surplus: Record) -> bool:
    """The rater is not ejected, has no other counting answer to the unit, and is not locked by another change."""
    person = select(schema.people.c.person_id).where(schema.people.c.person_id == surplus.person_id)
    if tx.first(tx.locked(person, of=schema.people, skip=True)) is None:
        return False
    if standing.find(tx, surplus.job_id, surplus.person_id).state == "ejected":
        return False
    return tx.first(judgments.COUNTING, unit=surplus.unit_id, person=surplus.person_id) is None


LONGEST_DISPUTE = 2000
"""Characters of what a rater disputes, and of the answer."""


@dataclass(frozen=True, slots=True)
class GoldRecord:
    unit_id: str
    known: tuple[Gold, ...]
    seen: int
    missed: int
    disputes: int
    viewings: int

    @property
    def state(self) -> str:
        return self.known[0].state

    @property
    def pool(self) -> str:
        return self.known[0].pool

    @property
    def is_trouble(self) -> bool:
        return self.state != "active" or self.disputes > 0 or 2 * self.missed > self.seen


@dataclass(frozen=True, slots=True)
class Dispute:
    """A rater disputes a known answer; `answer` is the reply."""

    dispute_id: str
    submission_id: str
    person_id: str
    text: str
    state: str
    answer: str
    decided_by: str | None
    at: Moment
    decided_at: Moment | None
    unit_id: str


def _n(*where: ColumnElement[bool]) -> ScalarSelect[int]:
    """The number of answers to a unit that meet a condition."""
    query = select(func.count()).where(SENT.unit_id == UNIT.unit_id, *where)
    return query.correlate(schema.units).scalar_subquery()


IS_COUNTED = SENT.status.in_(("valid", "untrusted"))
IS_DISPUTED = exists().where(DISPUTE.submission_id == SENT.submission_id, DISPUTE.state == "open")
RECORDS = gold.OF_JOB.with_only_columns(
    schema.gold,
    gold.N_MET.label("n_met"),
    _n(IS_COUNTED).label("n_seen"),
    _n(IS_COUNTED, SENT.is_right.is_(False)).label("n_missed"),
    _n(IS_DISPUTED).label("n_disputes"),
).order_by(UNIT.position)

OF_LEASE = (
    select(KNOWN.item_id)
    .join(schema.leases, schema.leases.c.unit_id == KNOWN.unit_id)
    .where(schema.leases.c.lease_id == bindparam("lease"))
    .order_by(KNOWN.item_id)
)

VOTES = (
    select(SENT.person_id, SENT.is_right, TRUST.seen, TRUST.right)
    .distinct()
    .join(schema.gold, KNOWN.unit_id == SENT.unit_id)
    .join(schema.trust, and_(TRUST.job_id == SENT.job_id, TRUST.person_id == SENT.person_id))
    .where(
        SENT.unit_id == bindparam("unit"),
        SENT.status == literal_column("'valid'"),
        KNOWN.state == literal_column("'active'"),
        TRUST.state.in_((literal_column("'trusted'"), literal_column("'new'"))),
    )
    .order_by(SENT.person_id)
)
"""Those who were ejected or flagged, or are in the quiz, have no vote; in a job without a quiz raters stay `new`."""

FRESH = (
    gold.OF_JOB.with_only_columns(KNOWN.unit_id)
    .where(
        KNOWN.state == literal_column("'active'"),
        KNOWN.pool == literal_column("'hidden'"),
        KNOWN.revealed == literal_column("0"),
        bindparam("most") > gold.N_MET,
    )
    .limit(ONE)
)
"""Hidden gold that does not rest."""

_votes = VOTES.order_by(None).subquery("votes")
REVIEW = select(
    func.count().label("n_seen"),
    func.count().filter(_votes.c.is_right.is_not(true())).label("n_missed"),
    exists(FRESH).label("is_fresh"),
).select_from(_votes)
"""All that an answer may have changed for gold, by one query."""

DISPUTES = select(schema.disputes, SENT.unit_id).join(schema.submissions)


def gold_records(tx: Tx, job_id: str) -> list[GoldRecord]:
    """The gold of a job, most missed first."""
    by_unit: dict[str, list[Record]] = defaultdict(list)
    for row in tx.all(RECORDS, job=job_id):
        by_unit[row.unit_id].append(row)
    records = [
        GoldRecord(
            unit_id=unit_id,
            known=tuple(map(gold.read, rows)),
            seen=rows[0].n_seen,
            missed=rows[0].n_missed,
            disputes=rows[0].n_disputes,
            viewings=rows[0].n_met,
        )
        for unit_id, rows in by_unit.items()
    ]
    return sorted(records, key=lambda record: (-record.missed, -record.seen))


def review_gold(store: Store, job: Job, unit_id: str) -> None:
    """After an answer in a job with gold, suspend gold that reliable raters miss, and alert the manager if all of it
    rests.

    The same is checked after gold and work (P5). The answer is already stored; what cannot be done now is done after
    the next one.
    """
    with store.glance() as tx:
        row = tx.first(REVIEW, unit=unit_id, job=job.job_id, most=standing.exposure_of(job))
    rests = row is not None and not row.is_fresh
    may_be_wrong = row is not None and is_suspect(seen=row.n_seen, missed=row.n_missed)
    if not may_be_wrong and (not rests or "resting" in _alerts(job)):
        return
    with store.write() as tx:
        if may_be_wrong:
            suspend_if_suspect(tx, unit_id)
        if rests and tx.value(standing.N_HIDDEN, job=job.job_id):
            _alert(tx, job.job_id, "resting")


def suspend_if_suspect(tx: Tx, unit_id: str) -> bool:
    """Suspend gold that is missed too often; True if it was suspended now.

    If a tenth of the gold is already suspended, the raters are more likely at fault, and the manager is alerted
    instead.
    """
    state, job = _gold_state(tx, unit_id), units.get(tx, unit_id).job
    if state != "active" or not _is_suspect(tx, job, unit_id):
        return False
    states = [row.state for row in tx.all(gold.OF_JOB, job=job.job_id)]
    if states.count("suspended") >= max(1, len(states) // 10):
        _alert(tx, job.job_id, "suspended")
        return False
    set_gold_state(tx, unit_id, "suspended")
    return True


def _is_suspect(tx: Tx, job: Job, unit_id: str) -> bool:
    """Whether most reliable raters missed the gold; reliable raters are active and do well on all other gold.

    Only the first of several raters from one address counts. Raters who mostly answer `unknown` fail the other gold.
    """
    rule, seen, missed, addresses = terms_of(job.options).gold, 0, 0, set[str]()
    votes = tx.all(VOTES, unit=unit_id)
    if rule is None or not is_suspect(seen=len(votes), missed=sum(not vote.is_right for vote in votes)):
        return False
    for vote in votes:
        if not is_reliable(rule, seen=vote.seen - 1, right=vote.right - bool(vote.is_right)):
            continue
        query = select(schema.sessions.c.address).where(schema.sessions.c.person_id == vote.person_id)
        own = {row.address for row in tx.all(query.where(schema.sessions.c.address != ""))}
        if not own & addresses:
            seen, missed = seen + 1, missed + (not vote.is_right)
        addresses |= own
    return is_suspect(seen=seen, missed=missed)


def _alerts(job: Job) -> Sequence[str]:
    return cast("Sequence[str]", job.options.get(gold.ALERTS) or ())


def _alert(tx: Tx, job_id: str, why: str) -> None:
    """Alert once, until gold is added or changed."""
    alerts = _alerts(jobs.lock(tx, job_id))
    if why not in alerts:
        jobs.set_options(tx, job_id, {gold.ALERTS: [*alerts, why]})
        events.write(tx, None, "gold.alert", job_id, {"why": why})


def gold_warnings(tx: Tx, job: Job) -> list[str]:
    """What a job's gold lacks, for its manager; empty if nobody is tested."""
    terms = terms_of(job.options)
    rule, most = terms.gold, standing.exposure_of(job)
    if rule is None or job.state == "closed":
        return []
    rows = tx.all(gold.OF_JOB, job=job.job_id)
    hidden = [row for row in rows if row.state == "active" and row.pool == "hidden"]
    n_quiz = sum(row.state == "active" and row.pool == "quiz" for row in rows)
    found = []
    if n_quiz < rule.quiz:
        found.append(f"The entry quiz asks {rule.quiz} questions and has {n_quiz}, so nobody can pass it.")
    rate = gold_rate(terms.page)
    n_work = len(units.ids_of_job(tx, job.job_id, role="work")) * standing.most_judgments(job)
    wanted = max(ceil(n_work * rate / (1 - rate) / most), ceil(terms.limit * rate))
    if len(hidden) < wanted:
        n_missing = counted(wanted - len(hidden), "unit")
        found.append(
            f"Make {n_missing} of hidden gold more: {len(hidden)} are there, and with {wanted} no rater would meet "
            f"gold more than {most} others have met."
        )
    if hidden and all(row.revealed or row.n_met >= most for row in hidden):
        found.append("All hidden gold has been seen often enough to rest. The least seen comes again: make more.")
    n_suspended = sum(row.state == "suspended" for row in rows)
    if n_suspended >= max(1, len(rows) // 10):
        found.append(f"Suspended: {counted(n_suspended, 'gold unit')}. More do not suspend themselves: look at them.")
    return found


def set_gold_state(tx: Tx, unit_id: str, state: str, *, actor: str | None = None) -> None:
    """Forgive, suspend or reactivate a gold unit, and recompute the trust of everybody who saw it."""
    if _gold_state(tx, unit_id) == state:
        return
    tx.execute(schema.gold.update().where(KNOWN.unit_id == unit_id).values(state=state))
    for known in gold.of_unit(tx, unit_id):
        events.write(tx, actor, "gold.state", unit_id, {"item_id": known.item_id, "state": state})
    job = units.get(tx, unit_id).job
    gold.fill_quiz(tx, job)
    saw = select(SENT.person_id).where(SENT.unit_id == unit_id, IS_COUNTED)
    for person_id in sorted({row.person_id for row in tx.all(saw)}):
        people.lock(tx, person_id)
        judge(tx, job, person_id, has_gold_changed=True)


def hold_gold(tx: Tx, lease_id: str) -> None:
    """Lock the gold of a lease, if it is gold, so that its rater's trust uses its final state.

    Gold is locked before people, here and where its state changes, which prevents deadlocks.
    """
    if tx.is_postgres:
        tx.all(tx.locked(OF_LEASE, of=schema.gold), lease=lease_id)


def _gold_state(tx: Tx, unit_id: str) -> str:
    """The gold's state, locked until the end of the transaction, so that changes happen one at a time."""
    query = select(KNOWN.state).where(KNOWN.unit_id == unit_id).order_by(KNOWN.item_id)
    rows = tx.all(tx.locked(query, of=schema.gold))
    if not rows:
        raise NotFound(gold.NO_GOLD)
    return str(rows[0].state)


def open_dispute(tx: Tx, submission_id: str, *, person_id: str, text: str) -> Dispute:
    """Dispute missed gold, once; the answer must be the person's own."""
    if not 0 < len(text.strip()) <= LONGEST_DISPUTE:
        message = f"text: expected 1 to {LONGEST_DISPUTE} characters, found {len(text.strip())}"
        raise BadInput(Problem("form", message))
    people.lock(tx, person_id)
    query = (
        select(SENT.person_id, schema.jobs.c.state)
        .join(schema.units, UNIT.unit_id == SENT.unit_id)
        .join(schema.jobs)
        .where(UNIT.role == "gold", SENT.is_right.is_(False))
    )
    missed = tx.first(query.where(SENT.submission_id == submission_id))
    if missed is None or missed.person_id != person_id or missed.state != "closed":
        raise NotFound("there is no missed question of yours to dispute here; they are shown when the job is closed")
    if _disputes(tx, DISPUTE.submission_id == submission_id):
        raise Conflict("you have disputed this one already; wait for the answer")
    row = {"dispute_id": new_id(), "submission_id": submission_id, "person_id": person_id, "text": text.strip()}
    tx.insert(schema.disputes, row | {"at": tx.now})
    events.write(tx, person_id, "dispute.opened", row["dispute_id"], {"submission_id": submission_id})
    return get_dispute(tx, row["dispute_id"])


def decide_dispute(
    tx: Tx, dispute_id: str, *, is_granted: bool, answer: str = "", actor: str | None = None
) -> Dispute:
    """Grant a dispute, which forgives its gold and resolves every dispute about it, or refuse it with an answer."""
    # All disputes about one gold wait for the decision on one of them.
    query = DISPUTES.where(SENT.unit_id == get_dispute(tx, dispute_id).unit_id)
    query = query.order_by(DISPUTE.dispute_id)
    tx.all(tx.locked(query, of=schema.disputes))
    dispute = get_dispute(tx, dispute_id)  # only now: somebody may have decided it while we waited
    if dispute.state != "open":
        raise Conflict("this dispute has been decided already")
    if is_granted:
        set_gold_state(tx, dispute.unit_id, "forgiven", actor=actor)
    state = "granted" if is_granted else "refused"
    values = {"answer": answer.strip(), "decided_by": actor, "decided_at": tx.now}
    is_affected = (SENT.unit_id == dispute.unit_id) & (DISPUTE.state == "open")
    for each in _disputes(tx, is_affected) if is_granted else [dispute]:
        this = DISPUTE.dispute_id == each.dispute_id
        tx.execute(schema.disputes.update().where(this).values(state=state, **values))
        events.write(tx, actor, "dispute.decided", each.dispute_id, {"state": state})
    return get_dispute(tx, dispute_id)


def get_dispute(tx: Tx, dispute_id: str) -> Dispute:
    found = _disputes(tx, DISPUTE.dispute_id == dispute_id)
    if not found:
        raise NotFound("there is no such dispute")
    return found[0]


def disputes_of_job(tx: Tx, job_id: str) -> list[Dispute]:
    return _disputes(tx, SENT.job_id == job_id)


def disputes_of_person(tx: Tx, person_id: str) -> dict[str, Dispute]:
    own = _disputes(tx, DISPUTE.person_id == person_id)
    return {dispute.submission_id: dispute for dispute in own}


def _disputes(tx: Tx, where: ColumnElement[bool]) -> list[Dispute]:
    order = (DISPUTE.state != "open", DISPUTE.at, DISPUTE.dispute_id)
    return [Dispute(**row._mapping) for row in tx.all(DISPUTES.where(where).order_by(*order))]
