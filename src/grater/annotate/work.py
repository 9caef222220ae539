"""A rater's work between the store and the tasks: take a unit, look at it, hand it in, give it back, undo an answer.

The page of a lease is made from the unit, the task and a random stream that belongs to the lease and the study's key,
so a reload shows the same page.  Each lease has one submission id for ever: a double click, a second tab or an old
page from the browser's memory is the same submission again, or a conflict, never a second judgment.

A unit may be given back a limited number of times; where raters are not tested it may also be put off to the end.
Raters see how far they are in a job, and of an essay what was stored; they revise marks that a check found odd.

Staff see a unit as raters do, and what was sent for it: once it is finished, or after they have given up rating in
its job (P9).  A manager who wants to look earlier says so first: from then on they get no work in the job, what they
did before stays, and an event remembers it.

Drafts of marked essays are saved under a revision, with the notes of `corpus check` on them.  A draft may be
unfinished (a correction still owed), but its spans must be right: a quote that differs from the text is refused at
once.  A draft made from an older revision is stale, and the annotator chooses.
"""

from __future__ import annotations

import hashlib
import json
import logging
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, cast

from sqlalchemy import Row

from grater.annotate import jobs, judgments, marks, panels, people, units
from grater.annotate.jobs import Job
from grater.annotate.marks import Draft
from grater.annotate.people import Person
from grater.annotate.store import Store, Tx, gold_review, intake, leases, progress, submissions, trust
from grater.annotate.store.gold import has_gold
from grater.annotate.store.leases import Lease
from grater.annotate.store.submissions import Receipt
from grater.annotate.tasks import TASKS, Answer, Shown, Task, Unit
from grater.annotate.tasks.marking import MOST_EDITS, REJECTED, SET_ASIDE, TASK, edits_of, tagset_of
from grater.annotate.tasks.marking import TASK as MARKING
from grater.annotate.tasks.task import may_keep, sent_fields
from grater.annotate.units import LeasedUnit, StudyUnit
from grater.corpora.check import check_essays
from grater.errors import BadInput, Conflict, Forbidden, NotFound, Problem, StoreBusy, StoreFull, UsageError
from grater.model import Edit, Essay, Json, Span
from grater.uncertainty import generator

LOG = logging.getLogger("grater.annotate.work")

MOST_RETURNS = 20
NO_RETURNS = (
    f"you have given back {MOST_RETURNS} units of this job, the maximum; answer this one, or leave it: it is yours "
    "until its time runs out"
)
NO_SKIPPING = "units of this job cannot be skipped; answer this one, or give it back and continue another time"
NOT_YOURS = "no such unit, or it is not yours"
MOST_SHOWN = 500
LONGEST_TITLE = 40
MOST_LETTERS, LETTERS_OF_MARKS = 8_000, 20
"""Characters of an answer, and for a marked essay as many more for each of its own."""
EDIT_FIELDS = frozenset(("start", "end", "quote", "tag", "replacements", "comment", "suggestion"))
NOT_PART_OF_THE_ANSWER = frozenset(("csrf", "submission_id", "seconds"))


@dataclass(frozen=True, eq=False)
class Desk:
    """One unit in one rater's hands; `key` is the study's own, from which chance comes."""

    lease: Lease
    unit: StudyUnit
    task: Task
    key: str = field(repr=False)

    @cached_property
    def shown(self) -> Shown:
        """All that the page may show, the same on every visit; an answer is stored without it."""
        return _shown(self.unit.job.task, self.unit.unit, self.key, self._stream)

    @property
    def _stream(self) -> str:
        """Chance belongs to the lease; an essay's to its annotator, who may come back to it under another lease."""
        is_essay = self.unit.job.task == MARKING.name
        return f"{self.lease.unit_id}|{self.lease.person_id}" if is_essay else self.lease.lease_id

    @property
    def kept(self) -> Mapping[str, Json]:
        """What the page must not tell; an essay that is marked again, under another lease, is shown as before."""
        return self.lease.kept or (self.shown.kept if self.task.name == MARKING.name else {})

    @property
    def submission_id(self) -> str:
        return submission_id_of(self.lease.lease_id)


@lru_cache(maxsize=MOST_SHOWN)
def _shown(task: str, unit: Unit, key: str, stream: str) -> Shown:
    """Remembered for a while: a unit is taken by one request and looked at by the next."""
    return TASKS[task].show(unit, rng=generator(0, key, stream))


def submission_id_of(lease_id: str) -> str:
    digest = hashlib.sha256(f"submission|{lease_id}".encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def take_next(store: Store, *, job_id: str, person_id: str) -> Lease | None:
    """The lease that the rater holds in this job, or a new one."""
    desk = take_desk(store, job_id=job_id, person_id=person_id)
    return None if desk is None else desk.lease


def take_desk(store: Store, *, job_id: str, person_id: str) -> Desk | None:
    """The same with all that belongs to it; what its page must not tell is kept with the lease."""
    with store.write() as tx:
        lease = leases.take(tx, job_id=job_id, person_id=person_id)
        if lease is None:  # whoever came from a panel may be done; every answer of theirs is stored by now
            panels.conclude(tx, job_id, person_id)
            return None
        return _desk_kept(tx, lease)


def desk_of(tx: Tx, lease_id: str, *, person_id: str) -> Desk:
    """A piece of work, if it is this person's; to anybody else it does not exist."""
    leased = leases.find_with_unit(tx, lease_id, person_id=person_id)
    if leased is None:
        raise NotFound(NOT_YOURS)
    lease, unit = leased
    return Desk(lease, unit, TASKS[unit.job.task], tx.key)


def hand_in(
    store: Store, desk: Desk, fields: Mapping[str, Sequence[str]], *, submission_id: str = "", seconds: float | None
) -> Receipt:
    """Store the answer to a lease, and take nothing else."""
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
    """Store an answer and take the next unit in one transaction; when this returns, both are stored for good.

    None is taken before feedback, or in a revision.
    """
    (body, answers), held, lease = _read(desk, fields), desk.lease, None
    with store.write() as tx:
        person = people.lock(tx, held.person_id)
        receipt = intake.receive(
            tx,
            submission_id=submission_id or desk.submission_id,
            lease_id=held.lease_id,
            person_id=held.person_id,
            body=body,
            answers=answers,
            seconds=seconds,
            leased=LeasedUnit(held.place, desk.unit.role, held.job_id, is_tested=has_gold(desk.unit.job)),
            is_locked=True,
        )
        if person.state != "active" and not receipt.is_replay:  # as they stand now, not when they were let in
            raise Forbidden("your access ended a moment ago, and this answer was not stored")
        if takes and held.place != leases.REVISION and not shows_feedback(desk):
            lease = leases.take(tx, job_id=held.job_id, person_id=held.person_id, locked=person)
            if lease is None:
                panels.conclude(tx, held.job_id, held.person_id)
            elif may_keep(desk.task):  # else its page has nothing to keep, and need not be made here
                lease = _desk_kept(tx, lease).lease
    if receipt.job is not None and has_gold(receipt.job):
        try:  # whether missed gold is wrong itself; if this cannot be asked now, the next answer asks
            gold_review.review(store, receipt.job, receipt.unit_id)
        except (StoreBusy, StoreFull) as error:
            LOG.warning("%s", error)
    return receipt, lease


def _read(desk: Desk, fields: Mapping[str, Sequence[str]]) -> tuple[dict[str, Json], tuple[Answer, ...]]:
    """What is stored of an answer, and what it says: the task's own fields, of limited length, and nothing else."""
    body: dict[str, Json] = {
        name: list(values) for name, values in fields.items() if name not in NOT_PART_OF_THE_ANSWER
    }
    if unknown := sorted(body.keys() - sent_fields(desk.task, desk.shown)):
        raise BadInput(Problem("form", f"expected only fields of this task, found {unknown[0][:60]!r}"))
    _require_size(desk.unit.unit, desk.task, sum(len(value) + 1 for values in fields.values() for value in values))
    return body, desk.task.read(desk.unit.unit, fields, kept=desk.kept)


def _require_size(unit: Unit, task: Task, n: int) -> None:
    most = MOST_LETTERS + (LETTERS_OF_MARKS * len(unit.essay.text) if task.name == MARKING.name else 0)
    if n > most:
        raise BadInput(Problem("form", f"expected an answer of at most {most:,} characters, found {n:,}"))


def seconds_of(text: str, lease: Lease, now: int) -> float:
    """How long the rater took: what the page measured, but never more than since the unit was handed out."""
    longest = max(0.0, (now - lease.issued_at) / 1000)
    try:
        measured = float(text)
    except ValueError:
        return longest
    return min(measured, longest) if measured >= 0 else longest


def _desk_kept(tx: Tx, lease: Lease) -> Desk:
    unit = units.get(tx, lease.unit_id)
    desk = Desk(lease, unit, TASKS[unit.job.task], tx.key)
    if lease.kept or not desk.shown.kept:
        return desk
    leases.keep(tx, lease.lease_id, desk.shown.kept)
    return replace(desk, lease=replace(lease, kept=desk.shown.kept))


def shown_to_staff(tx: Tx, unit_id: str) -> Shown:
    """A unit as raters see it, for managers and adjudicators; the sides of a choice fall by the unit here."""
    unit = units.get(tx, unit_id)
    try:
        return TASKS[unit.job.task].show(unit.unit, rng=generator(0, tx.key, unit_id))
    except UsageError as error:  # imported judgments may lack what a page would need, and can still be looked at
        return Shown(str(error), (), "", ())


@dataclass(frozen=True, slots=True)
class OwnJob:
    """A job as one rater sees it: nothing of other raters, nothing of where its units come from."""

    job: Job
    task_title: str
    n_done: int
    n_assigned: int | None
    is_begun: bool
    n_left: int | None = None
    """Units of an open pool that this rater could still do, once they have done some; None where nobody counted."""

    @property
    def n_total(self) -> int | None:
        """What `n_done` can be told of; where raters are tested it counts gold as well, and has no total."""
        return None if has_gold(self.job) else self.n_assigned

    @property
    def is_finished(self) -> bool:
        return self.n_total is not None and self.n_done >= self.n_total

    @property
    def is_idle(self) -> bool:
        """Nothing is left for this rater; more may come where others give units back."""
        return self.is_finished or self.n_left == 0


def own_job(tx: Tx, job: Job, person: Person) -> OwnJob:
    n_done = progress.of_person(tx, job.job_id, person.person_id)
    n_assigned = None
    if job.access == "assigned":
        n_assigned = jobs.n_assigned(tx, job.job_id, person.person_id)
    is_begun = leases.held(tx, job_id=job.job_id, person_id=person.person_id) is not None
    n_left = None
    if n_done and job.access != "assigned":
        n_left = progress.work_left(tx, job.job_id, person.person_id)
    return OwnJob(
        job=job,
        task_title=TASKS[job.task].title,
        n_done=n_done,
        n_assigned=n_assigned,
        is_begun=is_begun,
        n_left=n_left,
    )


@dataclass(frozen=True, slots=True)
class EssayReceipt:
    """What was stored of an essay that its annotator has handed in; `by_tag` the most frequent kinds first."""

    title: str
    n_marks: int
    by_tag: tuple[tuple[str, int], ...]
    is_aside: bool
    at: int


def essay_receipt(tx: Tx, lease_id: str, *, person_id: str) -> EssayReceipt | None:
    """None where there is no such answer of this person's; essays are all that is answered for."""
    leased = leases.find_with_unit(tx, lease_id, person_id=person_id)
    stored = submissions.find(tx, submission_id_of(lease_id))
    if leased is None or stored is None or leased[1].job.task != MARKING.name:
        return None
    (answer,) = judgments.answers_of(tx, stored.submission_id)
    known = tagset_of(leased[1].unit)
    tags = Counter(known[edit.tag].name if edit.tag in known else edit.tag for edit in edits_of(answer, rater=""))
    text = " ".join(leased[1].unit.essay.text.split())
    cut = text[:LONGEST_TITLE]  # whole words where there are any
    return EssayReceipt(
        title=text if text == cut else f"{cut.rpartition(' ')[0] or cut} …",
        n_marks=tags.total(),
        by_tag=tuple(tags.most_common()),
        is_aside=answer.label == SET_ASIDE,
        at=stored.at,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """One rater's answers to a unit, as staff see them."""

    person: Person
    submission: Row[Any]
    answers: tuple[Answer, ...]


def is_finished(tx: Tx, unit_id: str) -> bool:
    far = progress.of_unit(tx, unit_id)
    return far is not None and far.is_done


def sent_for(tx: Tx, unit_id: str) -> list[Sent]:
    """Everything that was sent for a unit, with who sent it."""
    return [
        Sent(people.get(tx, row.person_id), row, judgments.answers_of(tx, row.submission_id))
        for row in submissions.of_unit(tx, unit_id)
    ]


def give_back(store: Store, lease_id: str, *, person_id: str) -> bool:
    """Give a unit back unanswered, so that somebody else may take it; False where the lease was over already.

    It stays the rater's own next unit.  Returns are counted by rater and job, and there is a limit to them.
    """
    with store.write() as tx:
        people.lock(tx, person_id)
        lease = leases.find(tx, lease_id, person_id=person_id)
        if lease is not None:
            _require_return(tx, lease)
        return leases.give_back(tx, lease_id, person_id=person_id)


def may_skip(job: Job) -> bool:
    """Whether a rater may have another unit first: not where they are tested, for gold would show (P5)."""
    return not has_gold(job)


def skip(store: Store, desk: Desk) -> bool:
    """Give a unit back and have others first; it comes again at the end.  Counted like every return."""
    if not may_skip(desk.unit.job):
        raise Conflict(NO_SKIPPING)
    with store.write() as tx:
        people.lock(tx, desk.lease.person_id)
        _require_return(tx, desk.lease)
        return leases.skip(tx, desk.lease.lease_id, person_id=desk.lease.person_id)


def undo_answer(store: Store, lease_id: str, *, person_id: str) -> Desk:
    """Take back the last answer, given to this lease; its unit is in the rater's hands again."""
    with store.write() as tx:
        return _desk_kept(tx, intake.take_back(tx, lease_id, person_id=person_id))


def undoable_lease(tx: Tx, job_id: str, person_id: str) -> str:
    """The lease whose answer the rater may take back; empty if there is none."""
    last = intake.last_answer(tx, job_id, person_id)
    return "" if last is None else str(last.lease_id)


def returns_left(lease: Lease, n_returned: int) -> int:
    """How often the rater may still return a unit of the job; a revision is theirs to leave."""
    return MOST_RETURNS if lease.place == leases.REVISION else max(0, MOST_RETURNS - n_returned)


def _require_return(tx: Tx, lease: Lease) -> None:
    if lease.state == "held" and not returns_left(lease, trust.find(tx, lease.job_id, lease.person_id).returns):
        raise Conflict(NO_RETURNS)


def shows_feedback(desk: Desk) -> bool:
    """Whether the rater sees what would have been right: in practice only, for of gold they could tell others."""
    return desk.unit.role == "practice"


LOOKED = "looked"


def look(tx: Tx, job_id: str, person_id: str) -> None:
    """Let a person see the answers of a job, who gives up rating in it."""
    people.lock(tx, person_id)
    jobs.get(tx, job_id)
    for lease in leases.held_by(tx, person_id, job_id=job_id):
        leases.close(tx, lease, "returned", actor=person_id)
    if not is_out(tx, job_id, person_id):
        trust.set_state(tx, job_id, person_id, "flagged", actor=person_id, why=LOOKED)


def is_out(tx: Tx, job_id: str, person_id: str) -> bool:
    """Whether the person gets no more work in the job, so that nothing they see can influence it."""
    return trust.find(tx, job_id, person_id).state in trust.OUT


def may_see(tx: Tx, job_id: str, unit_id: str, person_id: str) -> bool:
    """Whether somebody may see what others said of a unit: it is finished, or they rate in its job no more."""
    unit = progress.of_unit(tx, unit_id)
    return (unit is not None and unit.is_done) or is_out(tx, job_id, person_id)


RUNS_ON = ("Srun", "Sfrag")
"""Tags of which a span over two sentences is no wonder."""


def save_draft(
    store: Store, lease_id: str, *, person_id: str, revision: int, body: Mapping[str, object]
) -> dict[str, Json]:
    """The new revision, and the notes on the draft; these are made after the transaction, which others wait for."""
    with store.write() as tx:
        unit = _essay_unit(tx, lease_id, person_id)
        draft = checked(unit.essay.text, body)
        _require_size(unit, MARKING, len(json.dumps(draft, ensure_ascii=False)))
        saved = marks.save_draft(tx, unit_id=unit.unit_id, person_id=person_id, revision=revision, body=draft)
    return {"revision": saved, "findings": findings(unit, draft)}


def draft_of(tx: Tx, lease_id: str, *, person_id: str) -> tuple[Unit, Draft]:
    """An essay that the person holds or held, with their newest draft of it."""
    unit = _essay_unit(tx, lease_id, person_id)
    return unit, marks.find_draft(tx, unit_id=unit.unit_id, person_id=person_id) or Draft(0)


def _essay_unit(tx: Tx, lease_id: str, person_id: str) -> Unit:
    lease = leases.find(tx, lease_id, person_id=person_id)
    unit = units.get(tx, lease.unit_id) if lease else None
    if unit is None or unit.job.task != TASK.name:
        raise NotFound(NOT_YOURS)
    return unit.unit


def checked(text: str, body: Mapping[str, object]) -> dict[str, Json]:
    """A draft whose every span lies in the text and quotes it."""
    edits = body.get("edits")
    if not isinstance(edits, list) or len(edits) > MOST_EDITS or not isinstance(body.get("set_aside"), bool):
        raise BadInput(Problem("draft", f"expected edits, at most {MOST_EDITS}, and set_aside"))
    for number, each in enumerate(edits, 1):
        complaint = _complaint(text, each)
        if complaint:
            raise BadInput(Problem("draft", f"edit {number}: {complaint}"))
    rejected = body.get(REJECTED, [])
    if not isinstance(rejected, list) or not all(type(number) is int for number in rejected):
        raise BadInput(Problem("draft", "expected the numbers of rejected suggestions"))
    saved: dict[str, Json] = {"edits": cast("list[Json]", edits), "set_aside": cast(bool, body["set_aside"])}
    return {**saved, **({REJECTED: rejected} if rejected else {})}


def _complaint(text: str, each: object) -> str | None:
    if not isinstance(each, dict):
        return "expected an object"
    if unknown := sorted(each.keys() - EDIT_FIELDS):
        return f"expected no field {unknown[0][:60]!r}"
    start, end, quote = each.get("start"), each.get("end"), each.get("quote")
    if type(start) is not int or type(end) is not int or not 0 <= start <= end <= len(text):
        return f"expected a span inside 0-{len(text)}"
    if text[start:end] != quote:
        return f"expected the quote {text[start:end][:60]!r} at {start}-{end}, found {str(quote)[:60]!r}"
    words, replacements = [each.get("tag"), each.get("comment")], each.get("replacements")
    if not isinstance(replacements, list) or not all(isinstance(word, str) for word in [*words, *replacements]):
        return "expected a tag, replacements and a comment as text"
    return None


def findings(unit: Unit, body: Mapping[str, Json]) -> list[Json]:
    """What `corpus check` asks about the edits of a draft, with their places; what is merely unfinished is none."""
    sent = cast("Sequence[Mapping[str, Any]]", body.get("edits") or ())
    edits = tuple(  # the number of an edit is its line, so that a finding leads back to it
        Edit(Span(each["start"], each["end"]), tuple(each["replacements"]), str(each["tag"]), "you", line=number)
        for number, each in enumerate(sent, 1)
    )
    notes = list[Json]()
    for finding in check_essays([Essay(unit.essay.essay_id, unit.essay.text, edits)], tagset=tagset_of(unit)):
        if finding.line is None or finding.rule == "no-correction":
            continue
        edit = edits[finding.line - 1]
        if finding.rule != "across-sentences" or edit.tag not in RUNS_ON:
            notes.append({"message": finding.message, "start": edit.span.start, "end": edit.span.end})
    return notes
