"""Gold under review: missed too often, disputed, forgiven; and the trust of everybody who saw it counted again.

Gold missed by more than half of the reliable raters who saw it, five at the least, suspends itself (P15: raters who
fail other gold, were ejected, or share an address cannot do that); a manager may forgive it for good, suspend it, or
make it active again.  Each change recounts the trust of all who answered it.  Whom the rules had ejected and now
would not is reinstated; nobody is ejected by such a change, only by their next answer.

When the job is closed a rater may dispute missed gold; a manager grants the dispute, which forgives the gold, or says
why not.  Before that nobody hears what they missed: they could tell others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import cast

from sqlalchemy import ColumnElement, ScalarSelect, and_, bindparam, exists, func, literal_column, select

from grater.annotate import jobs, people, units
from grater.annotate.jobs import Job
from grater.annotate.requests import require_length
from grater.annotate.store import ejection, events, gold, schema
from grater.annotate.store.database import Store
from grater.annotate.store.gold import Gold
from grater.annotate.store.transaction import ONE, Record, Tx, locking, new_id
from grater.annotate.terms import gold_rate, is_reliable, is_suspect, terms_of
from grater.errors import BadInput, Conflict, NotFound, Problem, UsageError
from grater.registry import unknown
from grater.sheet import counted

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
    dispute_id: str
    submission_id: str
    person_id: str
    text: str
    state: str
    answer: str
    decided_by: str | None
    at: int
    decided_at: int | None
    unit_id: str


def _n(*where: ColumnElement[bool]) -> ScalarSelect[int]:
    """The number of answers to a unit of which this holds."""
    query = select(func.count()).where(schema.submissions.c.unit_id == schema.units.c.unit_id, *where)
    return query.correlate(schema.units).scalar_subquery()


IS_COUNTED = schema.submissions.c.status.in_(("valid", "untrusted"))
IS_DISPUTED = exists().where(
    schema.disputes.c.submission_id == schema.submissions.c.submission_id, schema.disputes.c.state == "open"
)
RECORDS = gold.OF_JOB.with_only_columns(
    schema.gold,
    gold.N_MET.label("n_met"),
    _n(IS_COUNTED).label("n_seen"),
    _n(IS_COUNTED, schema.submissions.c.is_right.is_(False)).label("n_missed"),
    _n(IS_DISPUTED).label("n_disputes"),
).order_by(schema.units.c.position)

OF_LEASE = locking(
    select(schema.gold.c.item_id)
    .join(schema.leases, schema.leases.c.unit_id == schema.gold.c.unit_id)
    .where(schema.leases.c.lease_id == bindparam("lease"))
    .order_by(schema.gold.c.item_id),
    of=schema.gold,
)

VOTES = (
    select(schema.submissions.c.person_id, schema.submissions.c.is_right, schema.trust.c.seen, schema.trust.c.right)
    .distinct()
    .join(schema.gold, schema.gold.c.unit_id == schema.submissions.c.unit_id)
    .join(
        schema.trust,
        and_(
            schema.trust.c.job_id == schema.submissions.c.job_id,
            schema.trust.c.person_id == schema.submissions.c.person_id,
        ),
    )
    .where(
        schema.submissions.c.unit_id == bindparam("unit"),
        schema.submissions.c.status == literal_column("'valid'"),
        schema.gold.c.state == literal_column("'active'"),
        schema.trust.c.state.in_((literal_column("'trusted'"), literal_column("'new'"))),
    )
    .order_by(schema.submissions.c.person_id)
)
"""Those who were ejected or flagged, or are in the quiz, have no vote; in a job without a quiz raters stay `new`."""

FRESH = (
    gold.OF_JOB.with_only_columns(schema.gold.c.unit_id)
    .where(
        schema.gold.c.state == literal_column("'active'"),
        schema.gold.c.pool == literal_column("'hidden'"),
        schema.gold.c.revealed == literal_column("0"),
        bindparam("most") > gold.N_MET,
    )
    .limit(ONE)
)
"""Hidden gold that does not rest."""

DISPUTES = select(schema.disputes, schema.submissions.c.unit_id).join(
    schema.submissions, schema.submissions.c.submission_id == schema.disputes.c.submission_id
)


def of_job(tx: Tx, job_id: str) -> list[GoldRecord]:
    """The gold of a job, the most missed first."""
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


def review(store: Store, job: Job, unit_id: str) -> None:
    """After an answer in a job with gold: suspend gold that reliable raters miss; alert the manager if all rests.

    The same is asked after gold and work (P5).  The answer is stored: what cannot be done now, the next answer does.
    """
    with store.glance() as tx:
        is_suspect = _is_suspect(tx, job, unit_id)
        rests = not tx.value(FRESH, job=job.job_id, most=gold.exposure_of(job))
    if not is_suspect and (not rests or "resting" in _alerts(job)):
        return
    with store.write() as tx:
        if is_suspect:
            doubt(tx, unit_id)
        if rests and tx.value(gold.N_HIDDEN, job=job.job_id):
            _alert(tx, job.job_id, "resting")


def doubt(tx: Tx, unit_id: str) -> bool:
    """Suspend gold that is missed too often; True if it was suspended now.

    Where a tenth of the gold is suspended already, the raters are to be doubted: the manager is alerted instead.
    """
    state, job = _state(tx, unit_id), units.get(tx, unit_id).job
    if state != "active" or not _is_suspect(tx, job, unit_id):
        return False
    states = [row.state for row in tx.all(gold.OF_JOB, job=job.job_id)]
    if states.count("suspended") >= max(1, len(states) // 10):
        _alert(tx, job.job_id, "suspended")
        return False
    set_state(tx, unit_id, "suspended")
    return True


def _is_suspect(tx: Tx, job: Job, unit_id: str) -> bool:
    """Whether most of the reliable raters missed the gold: those who work here and do well on all other gold.

    Of raters who come from one address the first counts.  Who answers `unknown` to most fails the other gold.
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
    """Once, until gold is made or changed."""
    alerts = _alerts(jobs.lock(tx, job_id))
    if why not in alerts:
        jobs.set_options(tx, job_id, {gold.ALERTS: [*alerts, why]})
        events.write(tx, None, "gold.alert", job_id, {"why": why})


def warnings(tx: Tx, job: Job) -> list[str]:
    """What a job lacks in gold, in words for its manager; nothing where nobody is tested."""
    terms = terms_of(job.options)
    rule, most = terms.gold, gold.exposure_of(job)
    if rule is None or job.state == "closed":
        return []
    rows = tx.all(gold.OF_JOB, job=job.job_id)
    hidden = [row for row in rows if row.state == "active" and row.pool == "hidden"]
    n_quiz = sum(row.state == "active" and row.pool == "quiz" for row in rows)
    found = []
    if n_quiz < rule.quiz:
        found.append(f"The entry quiz asks {rule.quiz} questions and has {n_quiz}, so nobody can pass it.")
    rate = gold_rate(terms.page)
    n_work = len(units.ids_of_job(tx, job.job_id, role="work")) * gold.most_judgments(job)
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


def set_state(tx: Tx, unit_id: str, state: str, *, actor: str | None = None) -> None:
    """Forgive, suspend or reactivate a gold unit, and recount the trust of everybody who saw it."""
    if state not in schema.GOLD_STATES:
        raise UsageError(unknown("state", state, list(schema.GOLD_STATES)))
    if _state(tx, unit_id) == state:
        return
    tx.execute(schema.gold.update().where(schema.gold.c.unit_id == unit_id).values(state=state))
    for known in gold.of_unit(tx, unit_id):
        events.write(tx, actor, "gold.state", unit_id, {"item_id": known.item_id, "state": state})
    job = units.get(tx, unit_id).job
    gold.fill_quiz(tx, job)
    saw = select(schema.submissions.c.person_id).where(schema.submissions.c.unit_id == unit_id, IS_COUNTED)
    for person_id in sorted({row.person_id for row in tx.all(saw)}):
        people.lock(tx, person_id)
        ejection.judge(tx, job, person_id, has_gold_changed=True)


def hold(tx: Tx, lease_id: str) -> None:
    """Lock the gold of a lease, if it is gold, until the end: its rater's trust is counted by what counts then.

    Gold is locked before people, here and where its state changes, so that no two wait for each other.
    """
    if tx.is_postgres:
        tx.all(OF_LEASE, lease=lease_id)


def _state(tx: Tx, unit_id: str) -> str:
    """Locked until the end, so that two who change it wait for each other."""
    query = select(schema.gold.c.state).where(schema.gold.c.unit_id == unit_id).order_by(schema.gold.c.item_id)
    rows = tx.all(tx.locked(query, of=schema.gold))
    if not rows:
        raise NotFound(gold.NO_GOLD)
    return str(rows[0].state)


def open_dispute(tx: Tx, submission_id: str, *, person_id: str, text: str) -> Dispute:
    """Dispute missed gold, once; the answer must be one's own."""
    if not 0 < len(text.strip()) <= LONGEST_DISPUTE:
        message = f"text: expected 1 to {LONGEST_DISPUTE} characters, found {len(text.strip())}"
        raise BadInput(Problem("form", message))
    people.lock(tx, person_id)
    missed = _missed(tx, submission_id)
    if missed is None or missed.person_id != person_id or missed.state != "closed":
        raise NotFound("there is no missed question of yours to dispute here; they are shown when the job is closed")
    if _disputes(tx, schema.disputes.c.submission_id == submission_id):
        raise Conflict("you have disputed this one already; wait for the answer")
    row = {"dispute_id": new_id(), "submission_id": submission_id, "person_id": person_id, "text": text.strip()}
    tx.insert(schema.disputes, row | {"at": tx.now})
    events.write(tx, person_id, "dispute.opened", row["dispute_id"], {"submission_id": submission_id})
    return get_dispute(tx, row["dispute_id"])


def decide_dispute(
    tx: Tx, dispute_id: str, *, is_granted: bool, answer: str = "", actor: str | None = None
) -> Dispute:
    """Grant a dispute, which forgives its gold and settles every dispute about it; or refuse it with an answer."""
    require_length("answer", answer, LONGEST_DISPUTE)
    # All disputes about one gold wait for whoever decides one of them.
    query = DISPUTES.where(schema.submissions.c.unit_id == get_dispute(tx, dispute_id).unit_id)
    query = query.order_by(schema.disputes.c.dispute_id)
    tx.all(tx.locked(query, of=schema.disputes))
    dispute = get_dispute(tx, dispute_id)  # only now: somebody may have decided it while we waited
    if dispute.state != "open":
        raise Conflict("this dispute has been decided already")
    if is_granted:
        set_state(tx, dispute.unit_id, "forgiven", actor=actor)
    state = "granted" if is_granted else "refused"
    values = {"answer": answer.strip(), "decided_by": actor, "decided_at": tx.now}
    is_settled = (schema.submissions.c.unit_id == dispute.unit_id) & (schema.disputes.c.state == "open")
    for settled in _disputes(tx, is_settled) if is_granted else [dispute]:
        this = schema.disputes.c.dispute_id == settled.dispute_id
        tx.execute(schema.disputes.update().where(this).values(state=state, **values))
        events.write(tx, actor, "dispute.decided", settled.dispute_id, {"state": state})
    return get_dispute(tx, dispute_id)


def get_dispute(tx: Tx, dispute_id: str) -> Dispute:
    found = _disputes(tx, schema.disputes.c.dispute_id == dispute_id)
    if not found:
        raise NotFound("there is no such dispute")
    return found[0]


def disputes_of_job(tx: Tx, job_id: str) -> list[Dispute]:
    return _disputes(tx, schema.submissions.c.job_id == job_id)


def disputes_of_person(tx: Tx, person_id: str) -> dict[str, Dispute]:
    own = _disputes(tx, schema.disputes.c.person_id == person_id)
    return {dispute.submission_id: dispute for dispute in own}


def _disputes(tx: Tx, where: ColumnElement[bool]) -> list[Dispute]:
    """Open ones first."""
    order = (schema.disputes.c.state != "open", schema.disputes.c.at, schema.disputes.c.dispute_id)
    return [Dispute(**row._mapping) for row in tx.all(DISPUTES.where(where).order_by(*order))]


def _missed(tx: Tx, submission_id: str) -> Record | None:
    query = (
        select(schema.submissions.c.person_id, schema.jobs.c.state)
        .join(schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id)
        .join(schema.jobs, schema.jobs.c.job_id == schema.units.c.job_id)
    )
    is_missed = (schema.units.c.role == "gold") & schema.submissions.c.is_right.is_(False)
    return tx.first(query.where(schema.submissions.c.submission_id == submission_id, is_missed))
