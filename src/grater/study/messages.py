"""TODO: what this chapter is."""

from __future__ import annotations

from dataclasses import dataclass

from grater.store import Tx, ejection, gold, gold_review, judgments, messages, units
from grater.store.gold import Gold
from grater.store.gold_review import Dispute
from grater.store.jobs import Job
from grater.store.units import StudyUnit
from grater.study.work import shown_to_staff
from grater.tasks import Answer, Shown


def answer(tx: Tx, job: Job, person_id: str, text: str, *, actor: str) -> None:
    """A message to one rater; what they wrote has been read by then."""
    messages.send(tx, from_id=actor, to_id=person_id, job_id=job.job_id, text=text)
    messages.read_by(tx, actor, from_id=person_id)


@dataclass(frozen=True, slots=True)
class Missed:
    """A question with a known answer that the rater missed, and the dispute about it, if there is one."""

    submission_id: str
    unit: StudyUnit
    shown: Shown
    answers: tuple[Answer, ...]
    known: tuple[Gold, ...]
    dispute: Dispute | None


def missed_by(tx: Tx, job: Job, person_id: str) -> list[Missed]:
    """The questions with known answers that a rater missed in a job."""
    own = gold_review.disputes_of_person(tx, person_id)
    return [
        Missed(
            each.submission_id,
            units.get(tx, each.unit_id),
            shown_to_staff(tx, each.unit_id),
            judgments.answers_of(tx, each.submission_id),
            tuple(gold.of_unit(tx, each.unit_id)),
            own.get(each.submission_id),
        )
        for each in ejection.gold_answers(tx, job.job_id, person_id)
        if not each.is_right
    ]
