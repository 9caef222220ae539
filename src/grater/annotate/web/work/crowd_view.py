"""A job for a crowd as one rater sees it: the quiz, the pay, why there is no work, the code at the end."""

from __future__ import annotations

from dataclasses import dataclass, replace

from grater.annotate.pay import money
from grater.annotate.store import Tx, admission, gold, intake, messages, panels, queue, trust
from grater.annotate.store.jobs import Job
from grater.annotate.store.panels import PanelPlace
from grater.annotate.store.people import Person
from grater.annotate.store.trust import Trust
from grater.annotate.terms import Terms, terms_of
from grater.annotate.trust import quiz_needed

WORDS = {
    "closed": "This job is not giving out work at the moment.",
    "ejected": "You have been removed from this job because you missed too many questions with known answers.",
    "flagged": "The people who run this job have stopped your work here. Your answers stay.",
    "program": "Programs work in separate jobs.",
    "seat": "You have already worked in this job, alone or on a joint seat. Nobody is asked twice.",
    "limit": "You have done as much as one person may do in this job. Thank you.",
    "gold": (
        "You have answered all questions with known answers in this job, and no work is given out without them. "
        "Your answers are saved and count as before."
    ),
    "unqualified": "You do not meet a requirement of this job yet.",
}


@dataclass(frozen=True, slots=True)
class QuizState:
    """The number of questions, how many of them must be right, and how many attempts are left."""

    questions: int
    needed: int
    tries: int


@dataclass(frozen=True, slots=True)
class CrowdView:
    """`reason` is why there is no work now, in a word; `words` says it to the rater.

    `short_of_code`: what the panel's code is for, where there is no more work and the rater has not given that.
    """

    terms: Terms
    standing: Trust
    reason: str
    words: str
    quiz: QuizState | None
    pay: str
    place: PanelPlace | None
    n_unread: int
    short_of_code: str = ""

    @property
    def is_tested(self) -> bool:
        return self.terms.gold is not None

    @property
    def is_completed(self) -> bool:
        """Whether the rater's place in a panel ended with everything done."""
        return self.place is not None and self.place.state == "completed"

    @property
    def code(self) -> str:
        return self.place.code if self.place else ""

    @property
    def address(self) -> str:
        return self.place.address if self.place else ""


def crowd_view(tx: Tx, job: Job, person: Person) -> CrowdView:
    terms, standing = terms_of(job.options), _told_so_far(tx, job.job_id, person.person_id)
    reason = admission.why_not(tx, job, person.person_id)
    if not reason and queue.lacks_gold(tx, job, person.person_id):
        reason = "gold"
    place = panels.place_in_job(tx, job.job_id, person.person_id)
    n_valid = gold.n_valid(tx, job.job_id, person.person_id) if place else 0
    pay = f"{money(terms.pay.cents, terms.pay.currency)} for each" if terms.pay and terms.pay.cents else ""
    letters = messages.of_rater(tx, person.person_id)
    return CrowdView(
        terms=terms,
        standing=standing,
        reason=reason,
        words=_words(reason, terms, standing),
        short_of_code=_short_of_code(reason, terms, place, n_valid),
        quiz=_quiz(terms, standing),
        pay=pay,
        place=place,
        n_unread=sum(letter.to_id == person.person_id and not letter.read_at for letter in letters),
    )


def _told_so_far(tx: Tx, job_id: str, person_id: str) -> Trust:
    """The rater's standing without an answer that they may still take back: it would tell them of gold (P5)."""
    standing, last = trust.find(tx, job_id, person_id), intake.last_answer(tx, job_id, person_id)
    if last is None or last.unit_role != "gold" or not standing.seen:
        return standing
    return replace(standing, seen=standing.seen - 1, right=max(0, standing.right - 1))


def _words(reason: str, terms: Terms, standing: Trust) -> str:
    if reason == "hours":
        return f"Work is available at these times: {terms.opening}."
    if reason == "ejected" and standing.why == "manager":
        return "The people who run this job have removed you from it."
    if reason == "unqualified":
        return f"{WORDS[reason]} Wanted: {wanted(terms)}."
    return WORDS.get(reason, "")


def _short_of_code(reason: str, terms: Terms, place: PanelPlace | None, n_valid: int) -> str:
    """What a rater from a panel who gets no more work before they are done should know."""
    if place is None or place.state != "joined" or reason not in ("", "gold", "flagged", "closed", "seat"):
        return ""
    agreed = f"for {terms.limit} valid answers" if terms.limit else "for all the work of this job"
    return (
        f"Your panel’s code is {agreed}; you have given {n_valid}. The people who run this job can see this, and can "
        "end your part: write to them."
    )


def wanted(terms: Terms) -> str:
    """What the job asks of raters, in words."""
    parts = [str(qualification) for qualification in terms.qualifications]
    parts += [f"from {' or '.join(terms.countries)}"] if terms.countries else []
    parts += [f"speaks {' or '.join(terms.languages)}"] if terms.languages else []
    return "; ".join(parts)


def _quiz(terms: Terms, standing: Trust) -> QuizState | None:
    if terms.gold is None or not gold.is_in_quiz(terms, standing.state):
        return None
    return QuizState(
        questions=terms.gold.quiz,
        needed=quiz_needed(terms.gold),
        tries=terms.gold.attempts - standing.attempts,
    )
