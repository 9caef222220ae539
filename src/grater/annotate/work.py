"""Views of work for raters and staff: a rater's progress, stored essays, and submissions for a unit.

Staff see a unit as raters do, and its submissions once it is finished, or after they have given up rating in its job
(P9). A manager who wants to look earlier must say so first: from then on they get no work in the job, their earlier
work stays, and an event records it.

Drafts of marked essays are saved under a revision, with notes from `corpus lint`. A draft may be unfinished (lack a
correction), but its spans must be right: a quote that differs from the text is refused at once. A draft based on an
older revision is stale, and the annotator chooses between the two.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import Field
from sqlalchemy import Row

from grater.annotate import jobs, judgments, leases, marks, people, progress, standing, submissions, units
from grater.annotate.jobs import Job
from grater.annotate.marks import Draft, OwnEssay
from grater.annotate.people import Person
from grater.annotate.requests import Body
from grater.annotate.standing import has_gold
from grater.annotate.store import Store, Tx
from grater.annotate.tasks import TASKS, Answer, Shown, Unit
from grater.annotate.tasks.marking import MOST_EDITS, REJECTED, TASK, span_complaint, tagset_of
from grater.annotate.tasks.marking import TASK as MARKING
from grater.corpora.check import check_essays
from grater.errors import BadInput, NotFound, Problem, UsageError
from grater.model import Edit, Essay, Json, Span
from grater.uncertainty import generator


def shown_to_staff(tx: Tx, unit_id: str) -> Shown:
    """A unit as raters see it, for managers and adjudicators; the sides of a choice depend on the unit here."""
    unit = units.get(tx, unit_id)
    try:
        return TASKS[unit.job.task].show(unit.unit, rng=generator(0, tx.key, unit_id))
    except UsageError as error:  # imported judgments may lack what a page would need, and can still be looked at
        return Shown(str(error), (), "", ())


@dataclass(frozen=True, slots=True)
class OwnJob:
    """A job as one rater sees it, without other raters or the sources of its units."""

    job: Job
    task_title: str
    n_done: int
    n_assigned: int | None
    is_begun: bool
    n_left: int | None = None
    """Units of an open pool that this rater could still do, once they have done some; None where nobody counted."""

    @property
    def n_total(self) -> int | None:
        """The maximum of `n_done`; None if raters are tested, since `n_done` then counts gold as well."""
        return None if has_gold(self.job) else self.n_assigned

    @property
    def is_finished(self) -> bool:
        return self.n_total is not None and self.n_done >= self.n_total

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left for this rater now; more may come if others return units."""
        return self.is_finished or self.n_left == 0


def own_job(tx: Tx, job: Job, person: Person) -> OwnJob:
    n_done = standing.n_answered(tx, job.job_id, person.person_id)
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


def essay_receipt(tx: Tx, lease_id: str, *, person_id: str) -> OwnEssay | None:
    """An essay as its annotator submitted it; None for other answers or other people."""
    leased = leases.find_with_unit(tx, lease_id, person_id=person_id)
    stored = judgments.find_submission(tx, submissions.submission_id_of(lease_id))
    if leased is None or stored is None or leased[1].job.task != MARKING.name:
        return None
    return marks.own_essay(tx, stored)


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
    """Every submission for a unit, with its rater."""
    return [
        Sent(people.get(tx, row.person_id), row, judgments.answers_of(tx, row.submission_id))
        for row in judgments.of_unit(tx, unit_id)
    ]


LOOKED = "looked"


def look(tx: Tx, job_id: str, person_id: str) -> None:
    """Let a person see the answers of a job; they give up rating in it."""
    people.lock(tx, person_id)
    jobs.get(tx, job_id)
    for lease in leases.held_by(tx, person_id, job_id=job_id):
        leases.close(tx, lease, "returned", actor=person_id)
    if not is_out(tx, job_id, person_id):
        standing.change(tx, job_id, person_id, state="flagged", actor=person_id, why=LOOKED)


def is_out(tx: Tx, job_id: str, person_id: str) -> bool:
    """Whether the person gets no more work in the job, so that nothing they see can influence it."""
    return standing.find(tx, job_id, person_id).state in standing.OUT


def may_see(tx: Tx, job_id: str, unit_id: str, person_id: str) -> bool:
    """Whether a person may see others' answers to a unit: it is finished, or they no longer rate in its job."""
    return is_finished(tx, unit_id) or is_out(tx, job_id, person_id)


RUNS_ON = ("Srun", "Sfrag")
"""Tags for which a span over two sentences is normal."""


def save_draft(store: Store, lease_id: str, *, person_id: str, revision: int, body: DraftBody) -> dict[str, Json]:
    """Save a draft; returns the revision, and notes, made after the transaction so that nobody waits for them."""
    with store.write() as tx:
        unit = _essay_unit(tx, lease_id, person_id)
        draft = checked(unit.essay.text, body)
        submissions.require_size(unit, MARKING, len(json.dumps(draft, ensure_ascii=False)))
        saved = marks.save_draft(tx, unit_id=unit.unit_id, person_id=person_id, revision=revision, body=draft)
    return {"revision": saved, "findings": findings(unit, draft)}


def draft_of(tx: Tx, lease_id: str, *, person_id: str) -> tuple[Unit, Draft]:
    """An essay that the person holds or held, with their latest draft."""
    unit = _essay_unit(tx, lease_id, person_id)
    return unit, marks.find_draft(tx, unit_id=unit.unit_id, person_id=person_id) or Draft(0)


def _essay_unit(tx: Tx, lease_id: str, person_id: str) -> Unit:
    leased = leases.find_with_unit(tx, lease_id, person_id=person_id)
    if leased is None or leased[1].job.task != TASK.name:
        raise NotFound(submissions.NOT_YOURS)
    return leased[1].unit


class EditSent(Body):
    """A mark: `quote` is the text from `start` to `end`, code points; it may have no width.

    Several `replacements` are alternatives, an empty word says that the words should go, no replacement at all that
    the error is found and not corrected (for tags that owe no correction).
    """

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    quote: str
    tag: str
    replacements: list[str]
    comment: str = ""
    suggestion: int | None = Field(default=None, ge=0, description="The suggestion that it was made of.")


class DraftBody(Body):
    edits: list[EditSent] = Field(max_length=MOST_EDITS)
    set_aside: bool = False
    rejected: list[int] = Field(
        default_factory=list, max_length=MOST_EDITS, description="Suggestions that were turned down."
    )


def checked(text: str, sent: DraftBody) -> dict[str, Json]:
    """A draft as it is stored; its spans must lie in the text and match their quotes."""
    for number, each in enumerate(sent.edits, 1):
        if complaint := span_complaint(text, each.start, each.end, each.quote):
            raise BadInput(Problem("draft", f"edit {number}: {complaint}"))
    kept = {"edits", "set_aside", *([REJECTED] if sent.rejected else [])}
    return sent.model_dump(include=kept, exclude_none=True)


def findings(unit: Unit, body: Mapping[str, Json]) -> list[Json]:
    """The notes of `corpus lint` on the edits of a draft, with their places; unfinished edits give none."""
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
