"""What raters and those who run a job say to each other: messages, disputes about gold, reviews, facts about oneself.

T,C&M 2013, 7.2, ask for a channel between the two sides.  A rater sees the questions with known answers that they
missed, with the reasons, and may dispute each once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grater.annotate.store import Tx, admission, ejection, gold, gold_review, judgments, messages, units
from grater.annotate.store.gold import Gold
from grater.annotate.store.gold_review import Dispute
from grater.annotate.store.jobs import Job
from grater.annotate.store.people import Person
from grater.annotate.store.units import StudyUnit
from grater.annotate.study.jobs import visible_job
from grater.annotate.study.limits import require_number, require_text
from grater.annotate.study.raters import best, rater_lines
from grater.annotate.study.work import shown_to_staff
from grater.annotate.tasks import Answer, Shown


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
            submission_id=each.submission_id,
            unit=units.get(tx, each.unit_id),
            shown=shown_to_staff(tx, each.unit_id),
            answers=judgments.answers_of(tx, each.submission_id),
            known=tuple(gold.of_unit(tx, each.unit_id)),
            dispute=own.get(each.submission_id),
        )
        for each in ejection.gold_answers(tx, job.job_id, person_id)
        if not each.is_right
    ]


def write_to_staff(tx: Tx, job_id: str, text: str, *, person_id: str) -> str:
    """A rater's message to whoever runs the study; what was written to the rater counts as read.  Returns its id."""
    visible_job(tx, job_id)
    message_id = messages.send(tx, from_id=person_id, job_id=job_id, text=text)
    messages.read_by(tx, person_id)
    return message_id


def write_to_rater(tx: Tx, job: Job, person_id: str, text: str, *, actor: str) -> None:
    """A message to one rater; what they wrote counts as read."""
    messages.send(tx, from_id=actor, to_id=person_id, job_id=job.job_id, text=text)
    messages.read_by(tx, actor, from_id=person_id)


def write_to_all(tx: Tx, job: Job, text: str, *, actor: str) -> int:
    """One message to all raters of a job; returns the number of messages, which is 1."""
    messages.send(tx, from_id=actor, job_id=job.job_id, text=text)
    return 1


def write_to_best(tx: Tx, job: Job, text: str, *, link: str = "", actor: str) -> int:
    """A message to each of the best raters, with the link of another job; returns the number of messages."""
    lines = best(rater_lines(tx, job))
    for line in lines:
        full_text = f"{text}\n{link}" if link else text
        messages.send(tx, from_id=actor, to_id=line.person.person_id, job_id=job.job_id, text=full_text)
    return len(lines)


def dispute(tx: Tx, submission_id: str, text: str, *, person_id: str) -> Dispute:
    """A rater says that the known answer to a question that they missed is wrong."""
    return gold_review.open_dispute(tx, submission_id, person_id=person_id, text=text)


def decide_dispute(tx: Tx, dispute_id: str, *, is_granted: bool, answer: str, actor: str) -> Dispute:
    """Grant a dispute, which forgives the gold and settles every dispute about it, or refuse it with an answer."""
    require_text("dispute.answer", answer)
    return gold_review.decide_dispute(tx, dispute_id, is_granted=is_granted, answer=answer, actor=actor)


def review_job(tx: Tx, job_id: str, *, person_id: str, stars: int | None, clear: int | None, text: str = "") -> None:
    """A rater's review of a job: stars, how clear the guidelines are, and a text."""
    visible_job(tx, job_id)
    require_number("review.stars", stars)
    require_number("review.clear", clear)
    require_text("review.text", text)
    messages.add_review(tx, job_id, person_id, stars=stars, clear=clear, text=text)


def say_about_oneself(tx: Tx, job_id: str, *, person_id: str, country: str, languages: Sequence[str]) -> Person:
    """Country and languages of a rater, where a job asks for them."""
    visible_job(tx, job_id)
    require_text("about.country", country)
    require_text("about.languages", ", ".join(languages))
    return admission.say_about(tx, person_id, country=country, languages=languages)
