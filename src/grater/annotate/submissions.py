"""Submissions: answered pages, stored permanently (P1, P6) together with their consequences in one transaction.

A `Desk` is a unit that a rater is working on. Its page is made from the unit, the task and a random stream seeded by
the lease and the study's key, so a reload shows the same page. Each lease has one permanent submission id: a double
click, a second tab or a cached page repeats the same submission or is a conflict, never a second judgment. Programs
may choose a UUID for a submission: the same id with the same body is a replay and returns the stored result; with
another body it is a conflict (P2).

Work on a held lease is valid. Late work, on an expired lease, takes a free slot of its unit if there is one, and is
otherwise kept as surplus: nothing that a rater sent is discarded (P1). A second answer by the same rater is surplus
(P3); work that arrives after an ejection is untrusted. One query reads everything that decides this: the lease, the
unit, and the rater's trust.

The consequences: the rater's quiz or trust is judged, with immediate ejection if necessary, and the unit gets the
number of slots that the job's redundancy rule wants, or is finished. All of this happens after gold and work alike,
so that timing reveals nothing (P5). The answer becomes the rater's last one, which they may undo. Whether missed gold
is itself wrong also concerns other raters, so it is checked in a separate transaction (`trust.review_gold`).

Undo: a rater can withdraw their last answer until they give the next one. The answer is kept as `withdrawn`, with an
event that gives the reason; the rater gets its unit back with its slot, and any unit taken since comes next. An
answer can be withdrawn once. Undo is not offered after practice, in the entry quiz, for essays, which can be revised
(`marks`), and for answers that do not count. Gold can be withdrawn like work: otherwise the undo button would reveal
it, and raters could tell others (P5). The last answer is stored by rater and job, not found by its time, because
clocks jump.
"""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

from sqlalchemy import and_, bindparam, case, exists, func, literal_column, select
from sqlalchemy import text as sql

from grater.annotate import adjudication, gold, jobs, judgments, leases, marks, panels, people, standing, trust, units
from grater.annotate.jobs import Job
from grater.annotate.leases import Lease, UnitSlot
from grater.annotate.people import Person
from grater.annotate.store import Store, events, schema
from grater.annotate.store.transaction import ONE, Record, Tx, body_hash, new_id, of_rater
from grater.annotate.tasks import TASKS, Shown, Task, Unit
from grater.annotate.tasks.marking import TASK as MARKING
from grater.annotate.tasks.task import Answer, sent_fields
from grater.annotate.terms import terms_of
from grater.annotate.units import StudyUnit
from grater.errors import BadInput, Conflict, Forbidden, NotFound, Problem, StoreBusy, StoreFull, UsageError
from grater.model import Json
from grater.uncertainty import generator

SENT, LEASE = schema.submissions.c, schema.leases.c

LOG = logging.getLogger("grater.annotate.submissions")

MOST_SHOWN = 500
LONGEST_ID = 100
MOST_LETTERS, LETTERS_OF_MARKS = 8_000, 20
"""Characters of an answer, and for a marked essay as many more for each of its own."""
MOST_SURPLUS = 3
"""Answers kept for a lease in addition to the one that counts, from a second tab or an old page."""
NOT_PART_OF_THE_ANSWER = frozenset(("csrf", "submission_id", "seconds"))
NOT_YOURS = "no such unit, or it is not yours"
NOTHING_TO_UNDO = "only your last answer can be taken back, once, until you give the next one"


@dataclass(frozen=True, eq=False)
class Desk:
    """One unit that a rater is working on; `key` is the study's own, the source of randomness."""

    lease: Lease
    unit: StudyUnit
    task: Task
    key: str = field(repr=False)

    @cached_property
    def shown(self) -> Shown:
        """Everything that the page may show, the same on every visit; answers are stored without it."""
        return _shown(self.unit.job.task, self.unit.unit, self.key, self._stream)

    @property
    def _stream(self) -> str:
        """The seed of random choices: the lease or, for an essay, its annotator, who may return by another lease."""
        is_essay = self.unit.job.task == MARKING.name
        return f"{self.lease.unit_id}|{self.lease.person_id}" if is_essay else self.lease.lease_id

    @property
    def kept(self) -> Mapping[str, Json]:
        """The data that the page must hide; an essay marked again under another lease is shown as before."""
        return self.lease.kept or (self.shown.kept if self.task.name == MARKING.name else {})

    @property
    def submission_id(self) -> str:
        return submission_id_of(self.lease.lease_id)


@lru_cache(maxsize=MOST_SHOWN)
def _shown(task: str, unit: Unit, key: str, stream: str) -> Shown:
    """Cached for a while: a unit is taken by one request and shown by the next."""
    return TASKS[task].show(unit, rng=generator(0, key, stream))


def submission_id_of(lease_id: str) -> str:
    digest = hashlib.sha256(f"submission|{lease_id}".encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def take_next(store: Store, *, job_id: str, person_id: str) -> Lease | None:
    """The rater's present lease in this job, or a new one."""
    desk = take_desk(store, job_id=job_id, person_id=person_id)
    return None if desk is None else desk.lease


def take_desk(store: Store, *, job_id: str, person_id: str) -> Desk | None:
    """The same with its desk; data that the page must not reveal are stored with the lease."""
    with store.write() as tx:
        lease = leases.take(tx, job_id=job_id, person_id=person_id)
        if lease is None:  # a rater from a panel may be done; every answer of theirs is stored by now
            panels.conclude(tx, job_id, person_id)
            return None
        return _desk_kept(tx, lease)


def desk_of(tx: Tx, lease_id: str, *, person_id: str) -> Desk:
    """A rater's desk; to anybody else it does not exist."""
    leased = leases.find_with_unit(tx, lease_id, person_id=person_id)
    if leased is None:
        raise NotFound(NOT_YOURS)
    lease, unit = leased
    return Desk(lease, unit, TASKS[unit.job.task], tx.key)


def _desk_kept(tx: Tx, lease: Lease) -> Desk:
    unit = units.get(tx, lease.unit_id)
    desk = Desk(lease, unit, TASKS[unit.job.task], tx.key)
    if lease.kept or not desk.shown.kept:
        return desk
    leases.keep(tx, lease.lease_id, desk.shown.kept)
    return replace(desk, lease=replace(lease, kept=desk.shown.kept))


def hand_in(
    store: Store, desk: Desk, fields: Mapping[str, Sequence[str]], *, submission_id: str = "", seconds: float | None
) -> Receipt:
    """Store the answer to a lease, without taking another unit."""
    return hand_in_and_take(store, desk, fields, submission_id=submission_id, seconds=seconds, takes=False)[0]


def hand_in_and_take(
    store: Store,
    desk: Desk,
    fields: Mapping[str, Sequence[str]],
    *,
    submission_id: str = "",
    seconds: float | None,
    takes: bool = True,
) -> tuple[Receipt, Lease | None]:
    """Store an answer and take the next unit in one transaction.

    No unit is taken before feedback is shown, or in a revision.
    """
    (body, answers), held, lease = _read(desk, fields), desk.lease, None
    is_tested = terms_of(desk.unit.job.options).gold is not None
    with store.write() as tx:
        receipt = submit(
            tx,
            submission_id=submission_id or desk.submission_id,
            lease_id=held.lease_id,
            person_id=held.person_id,
            body=body,
            answers=answers,
            seconds=seconds,
            may_be_gold=is_tested or desk.unit.role == "gold",
        )
        if desk.unit.role == "practice":
            receipt = replace(receipt, has_feedback=True)
        person = receipt.person
        if person and person.state != "active" and not receipt.is_replay:  # as they stand now, not when let in
            raise Forbidden("your access ended a moment ago, and this answer was not stored")
        if takes and held.place != leases.REVISION and not receipt.has_feedback:
            lease = leases.take(tx, job_id=held.job_id, person_id=held.person_id, locked=person)
            if lease is None:
                panels.conclude(tx, held.job_id, held.person_id)
            else:
                lease = _desk_kept(tx, lease).lease
    if receipt.job is not None and is_tested:
        try:  # whether missed gold is wrong itself; if this cannot be asked now, the next answer asks
            trust.review_gold(store, receipt.job, receipt.unit_id)
        except (StoreBusy, StoreFull) as error:
            LOG.warning("%s", error)
    return receipt, lease


def feedback_on(tx: Tx, desk: Desk) -> tuple[Record, list[gold.Gold], tuple[Answer, ...]]:
    """A rater's answer and the expected one: in practice, and where a missed gold answer was shown to them."""
    sent = tx.first(FIRST_OF_LEASE, lease=desk.lease.lease_id)
    known = gold.of_unit(tx, desk.unit.unit_id)
    is_shown_miss = sent is not None and sent.is_right is False and any(each.pool == "shown" for each in known)
    if sent is None or not (desk.unit.role == "practice" or is_shown_miss):
        raise NotFound("there is no feedback here")
    return sent, known, judgments.answers_of(tx, sent.submission_id)


def _read(desk: Desk, fields: Mapping[str, Sequence[str]]) -> tuple[dict[str, Json], tuple[Answer, ...]]:
    """An answer as stored: only the task's own fields, with limited length."""
    body: dict[str, Json] = {
        name: list(values) for name, values in fields.items() if name not in NOT_PART_OF_THE_ANSWER
    }
    if unknown := sorted(body.keys() - sent_fields(desk.task, desk.shown)):
        raise BadInput(Problem("form", f"expected only fields of this task, found {unknown[0][:60]!r}"))
    require_size(desk.unit.unit, desk.task, sum(len(value) + 1 for values in fields.values() for value in values))
    return body, desk.task.read(desk.unit.unit, fields, kept=desk.kept)


def require_size(unit: Unit, task: Task, n: int) -> None:
    most = MOST_LETTERS + (LETTERS_OF_MARKS * len(unit.essay.text) if task.name == MARKING.name else 0)
    if n > most:
        raise BadInput(Problem("form", f"expected an answer of at most {most:,} characters, found {n:,}"))


def seconds_of(text: str, lease: Lease, now: int) -> float:
    """How long the rater took: the page's measurement, but at most the time since the unit was issued."""
    longest = max(0.0, (now - lease.issued_at) / 1000)
    try:
        measured = float(text)
    except ValueError:
        return longest
    return min(measured, longest) if measured >= 0 else longest


def answer_once(
    tx: Tx,
    job: Job,
    unit_id: str,
    person_id: str,
    *,
    body: Mapping[str, Json],
    answers: Sequence[Answer],
    kept: Mapping[str, Json] | None = None,
) -> Receipt:
    """Take and answer a unit of one judgment at once: for programs and writers, who get no page of it."""
    lease = leases.issue(tx, job, UnitSlot(unit_id, 1), person_id=person_id, kept=kept)
    return submit(
        tx, submission_id=new_id(), lease_id=lease.lease_id, person_id=person_id, body=body, answers=answers
    )


@dataclass(frozen=True, slots=True)
class Receipt:
    """The outcome of a submission; show it to the rater only after COMMIT.

    `is_right` is the result on gold; `has_feedback` means that the rater sees the expected answer. `job` and `person`
    are as of the submission's arrival; a replay has no job.
    """

    submission_id: str
    unit_id: str
    status: str
    is_replay: bool = False
    is_right: bool | None = None
    has_feedback: bool = False
    job: Job | None = field(default=None, compare=False, repr=False)
    person: Person | None = field(default=None, compare=False, repr=False)


ID_SEPARATOR = "\x1f"
"""Between the ids of items where a query returns them as one text; no id has it."""
JOB_COLUMNS = jobs.COLUMNS.prefixed("job_")
PERSON_COLUMNS = people.COLUMNS.prefixed("rater_")
ITEM_IDS = (
    select(func.aggregate_strings(schema.unit_items.c.item_id, ID_SEPARATOR))
    .where(schema.unit_items.c.unit_id == LEASE.unit_id)
    .scalar_subquery()
)
CONTEXT = (
    select(
        *leases.COLUMNS,
        *JOB_COLUMNS,
        *PERSON_COLUMNS,
        schema.units.c.role.label("unit_role"),
        exists().where(SENT.unit_id == LEASE.unit_id, judgments.IS_COUNTING).label("is_answered"),
        func.coalesce(schema.trust.c.state, "new").label("trust"),
        func.coalesce(schema.trust.c.attempts, 0).label("attempts"),
        ITEM_IDS.label("item_ids"),
        exists().where(SENT.submission_id == bindparam("submission")).label("is_stored"),
    )
    .select_from(schema.leases)
    .join(schema.units)
    .join(schema.jobs, schema.jobs.c.job_id == LEASE.job_id)
    .join(schema.people)
    .outerjoin(
        schema.trust, and_(schema.trust.c.job_id == LEASE.job_id, schema.trust.c.person_id == bindparam("person"))
    )
    .where(LEASE.lease_id == bindparam("lease"), LEASE.person_id == bindparam("person"))
)
"""The context of a new submission: its lease (locked), job, the unit's role and items, the rater and their trust.

`is_answered`: the rater has another submission that counts for the unit."""
ANSWERED = schema.leases.update().where(LEASE.lease_id == bindparam("lease")).values(state="done")
OF_LEASE = select(func.count()).where(SENT.lease_id == bindparam("lease"))
FIRST_OF_LEASE = select(schema.submissions).where(SENT.lease_id == bindparam("lease")).order_by(SENT.at).limit(ONE)
STATUS = select(SENT.status).where(SENT.submission_id == bindparam("submission"))
FROM_LEASE = ("lease_id", "job_id", "unit_id", "person_id", "guidelines_version")

REMEMBER = sql(
    "INSERT INTO last_answers (job_id, person_id, submission_id) VALUES (:job, :person, :submission) "
    "ON CONFLICT (job_id, person_id) DO UPDATE SET submission_id = excluded.submission_id"
)
"""In the words that both engines know."""


def submit(
    tx: Tx,
    *,
    submission_id: str,
    lease_id: str,
    person_id: str,
    body: Mapping[str, Json],
    answers: Sequence[Answer],
    seconds: float | None = None,
    may_be_gold: bool = True,
) -> Receipt:
    """Store one answered page with its judgments and their consequences, or return the stored result for this id.

    `may_be_gold` is False if the caller knows that the unit is not gold and its rater is not tested.
    """
    if not 0 < len(submission_id) <= LONGEST_ID:
        raise UsageError(f"expected a submission id of 1 to {LONGEST_ID} characters, found {len(submission_id)}")
    if may_be_gold:
        trust.hold_gold(tx, lease_id)
    if tx.is_postgres:  # locked before the rest is asked, so that what the same rater sent a moment ago is in it
        people.lock(tx, person_id)
    known, asked = tx.locked(CONTEXT, of=schema.leases), {"lease": lease_id, "person": person_id}
    row = tx.first(known, submission=submission_id, **asked)
    if row is None or row.is_stored:
        return _replay(tx, submission_id, people.get(tx, person_id), body)
    if row.place == leases.REVISION:
        marks.make_room(tx, lease_id=lease_id, person_id=person_id)
        row = tx.first(known, submission=submission_id, **asked) or row
    lease, job, person = leases.COLUMNS.read(row), JOB_COLUMNS.read(row), PERSON_COLUMNS.read(row)
    expected = set(row.item_ids.split(ID_SEPARATOR)) if row.item_ids else set()
    answered = [answer.item_id for answer in answers]
    if not answered or len(set(answered)) != len(answered) or (expected and set(answered) != expected):
        message = f"expected one answer for each of {len(expected)} items, found {len(answered)}"
        raise UsageError(f"unit {lease.unit_id}: {message}")
    status, n = _status(tx, lease, row)
    if lease.state == "held":  # now it is answered, and its slot is filled if the answer fills it, else free again
        tx.execute(ANSWERED, {"lease": lease_id})
        units.set_slot(tx, lease.unit_id, lease.n, "filled" if n == lease.n else "free")
    terms = terms_of(job.options)
    is_tested = terms.gold is not None  # then all is asked of work too, so that gold takes no longer (P5)
    is_right, has_feedback = None, False
    if is_tested or row.unit_role != "work":
        is_right = gold.grade(job.task, answers, gold.of_unit(tx, lease.unit_id))
    stored = {name: getattr(lease, name) for name in FROM_LEASE} | {
        "submission_id": submission_id,
        "body": body,
        "body_hash": body_hash(body),
        "seconds": seconds,
        "at": tx.now,
        "is_late": lease.state != "held" or lease.expires_at <= tx.now,
        "n": n,
        "status": status,
        "is_right": is_right,
    }
    store_all(tx, [(stored, answers)])
    logged = {
        name: stored[name] for name in ("job_id", "unit_id", "person_id", "lease_id", "status", "n", "body_hash")
    }
    events.write(tx, person_id, "submission.stored", submission_id, {**logged, "judgments": len(answers)})
    if status == "surplus" and int(tx.value(OF_LEASE, lease=lease_id) or 0) > 1 + MOST_SURPLUS:
        raise Conflict(f"this piece of work has {1 + MOST_SURPLUS} answers, and takes no more")
    if lease.place != leases.REVISION:  # what was the last answer before can no longer be withdrawn
        is_final = terms.is_in_quiz(row.trust) or row.unit_role == "practice" or job.task == MARKING.name
        last = submission_id if status == "valid" and not is_final else None
        tx.execute(REMEMBER, {"job": job.job_id, "person": person_id, "submission": last})
    if is_tested or row.unit_role == "gold":
        current = trust.judge(tx, job, person_id)
        if (current.state, current.attempts) != (row.trust, row.attempts):  # then their answers may count otherwise
            status = str(tx.value(STATUS, submission=submission_id))
        if is_right is False and trust.show_miss(tx, job, lease.unit_id, current):
            has_feedback = True
            tx.execute(REMEMBER, {"job": job.job_id, "person": person_id, "submission": None})  # it stays missed
    units.settle_slots(tx, job, [lease.unit_id])
    if status == "valid":
        units.log_finished(tx, [lease.unit_id])
    return Receipt(
        submission_id, lease.unit_id, status, is_right=is_right, has_feedback=has_feedback, job=job, person=person
    )


def _replay(tx: Tx, submission_id: str, person: Person, body: Mapping[str, Json]) -> Receipt:
    """The submission stored under this id; its lease may belong to another rater or to none."""
    stored = judgments.find_submission(tx, submission_id)
    if stored is None:
        raise NotFound("there is no such piece of work, or it is not yours")
    if stored.person_id != person.person_id or stored.body_hash != body_hash(body):
        raise Conflict(f"submission {submission_id}: this id has been used for another answer; send a new one")
    # Asked of work too, so that gold takes no longer.
    is_shown = any(each.pool == "shown" for each in gold.of_unit(tx, stored.unit_id))
    return Receipt(
        submission_id,
        stored.unit_id,
        stored.status,
        is_replay=True,
        is_right=stored.is_right,
        has_feedback=is_shown and not stored.is_right,
        person=person,
    )


def _status(tx: Tx, lease: Lease, row: Record) -> tuple[str, int | None]:
    """The status of new work on a lease, and the slot that it fills."""
    if row.is_answered:
        return "surplus", None
    if row.trust == "ejected":
        return "untrusted", None
    if row.unit_role != "work":
        return "valid", None
    if lease.state == "held" and lease.n is not None:
        return "valid", lease.n
    n = units.take_free_slot(tx, lease.unit_id)
    return ("surplus", None) if n is None else ("valid", n)


def store_all(tx: Tx, answered: Sequence[tuple[Mapping[str, Any], Sequence[Answer]]]) -> None:
    """Write submissions with their judgments; the caller has set each row's status and slot, and logs them."""
    tx.insert(schema.submissions, [row for row, _ in answered])
    given = [
        {"submission_id": row["submission_id"], "position": position} | judgments.ANSWER_COLUMNS.row(answer)
        for row, answers in answered
        for position, answer in enumerate(answers)
    ]
    tx.insert(schema.judgments, given)


_earlier = schema.submissions.alias("earlier")
_last_id = select(schema.last_answers.c.submission_id).where(of_rater(schema.last_answers))
_is_valid = case((SENT.status == literal_column("'valid'"), ONE), else_=literal_column("0"))
LAST = (
    select(schema.submissions, schema.units.c.role.label("unit_role"))
    .join(schema.units)
    .where(
        SENT.submission_id == _last_id.scalar_subquery(),
        _is_valid == ONE,
        ~exists().where(
            _earlier.c.unit_id == SENT.unit_id,
            _earlier.c.person_id == bindparam("person"),
            _earlier.c.submission_id != SENT.submission_id,
        ),
    )
)
"""By the key of one answer.  With `status = 'valid'` PostgreSQL would use the index of valid judgments; with a plan
from a time with few of them, it would read all, of every rater, for every page."""

SO_FAR = select(
    standing.ANSWERED.scalar_subquery().label("n_done"),
    func.coalesce(standing.RETURNS.scalar_subquery(), 0).label("n_returned"),
    LAST.with_only_columns(SENT.lease_id).scalar_subquery().label("undoable_lease_id"),
)


def so_far(tx: Tx, job_id: str, person_id: str) -> Record:
    """A rater's progress in a job: answered units, returns, and the lease that can be undone."""
    return tx.execute(SO_FAR, {"job": job_id, "person": person_id}).one()


def undo_answer(store: Store, lease_id: str, *, person_id: str) -> Desk:
    """Undo the last answer, given to this lease; the rater gets its unit back."""
    with store.write() as tx:
        return _desk_kept(tx, take_back(tx, lease_id, person_id=person_id))


def take_back(tx: Tx, lease_id: str, *, person_id: str) -> Lease:
    """Withdraw the answer to a lease and give its unit back to the rater."""
    people.lock(tx, person_id)
    answered = leases.find(tx, lease_id, person_id=person_id)
    if answered is None:
        raise NotFound("there is no such piece of work, or it is not yours")
    last = tx.first(LAST, job=answered.job_id, person=person_id)
    job = jobs.get(tx, answered.job_id)
    is_over = panels.has_ended(tx, job, person_id) or adjudication.find(tx, answered.unit_id) is not None
    if last is None or last.lease_id != lease_id or is_over:
        raise Conflict(NOTHING_TO_UNDO)
    held = leases.held(tx, job_id=answered.job_id, person_id=person_id)
    if held is not None:
        leases.close(tx, held, "returned", actor=None)
    judgments.set_status(tx, last.submission_id, "withdrawn", actor=person_id, why="taken back")
    lease = leases.issue(tx, job, UnitSlot(unit_id=last.unit_id, n=last.n), person_id=person_id)
    units.settle_slots(tx, job, [last.unit_id])
    if standing.has_gold(job):
        standing.recount(tx, job.job_id, person_id)  # for work too: neither takes longer (P5)
    return lease
