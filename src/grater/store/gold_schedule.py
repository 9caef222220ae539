"""What is due next for a rater: a piece of work, or hidden gold (docs/crowd-jobs.md).

A job with a gold rule begins with its quiz, all gold.  After that the rater's work is counted in pages of so many
units, and each page has its gold turns, drawn for this rater from the study's key: nobody can tell them, and they
fall the same on every visit.  Gold that was given back or ran out comes again, as work does.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from sqlalchemy import bindparam, case, func, select

from grater.crowd.terms import Terms, terms_of
from grater.crowd.trust import gold_turns
from grater.rng import generator
from grater.store import schema, trust
from grater.store.jobs import Job
from grater.store.transaction import Tx

Due: TypeAlias = Literal["work", "gold"]

IN_QUIZ = ("new", "quiz")

SENT = (
    select(
        func.count(),
        func.coalesce(
            func.sum(
                case(((schema.units.c.role == "gold") & (schema.submissions.c.status == "withdrawn"), 1), else_=0)
            ),
            0,
        ),
    )
    .join(schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id)
    .where(
        schema.submissions.c.job_id == bindparam("job"),
        schema.submissions.c.person_id == bindparam("person"),
        schema.units.c.role != "practice",
    )
)


def has_gold(job: Job) -> bool:
    """Whether raters of this job are tested."""
    return terms_of(job.options).gold is not None


def due(tx: Tx, job: Job, person_id: str) -> Due:
    terms = terms_of(job.options)
    if terms.gold is None:
        return "work"
    if is_in_quiz(terms, trust.find(tx, job.job_id, person_id).state):
        return "gold"
    page, turn = divmod(_turn(tx, job, person_id, terms.gold.quiz), terms.page)
    rng = generator(0, tx.key, job.job_id, person_id, str(page))
    return "gold" if turn in gold_turns(terms.page, rng=rng) else "work"


def is_in_quiz(terms: Terms, state: str) -> bool:
    """Whether the rater has yet to pass the entry quiz."""
    return terms.gold is not None and terms.gold.quiz > 0 and state in IN_QUIZ


def sent(tx: Tx, job_id: str, person_id: str) -> int:
    """How many units, practice aside, a rater has handed in."""
    row = tx.first(SENT, job=job_id, person=person_id)
    return 0 if row is None else int(row[0])


def _turn(tx: Tx, job: Job, person_id: str, quiz: int) -> int:
    """Units handed in since the quiz; answers of failed attempts are withdrawn, those of the last one count."""
    row = tx.first(SENT, job=job.job_id, person=person_id)
    return 0 if row is None else max(0, int(row[0]) - int(row[1]) - quiz)
