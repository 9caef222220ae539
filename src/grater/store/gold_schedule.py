"""The gold schedule: whether a unit of work or hidden gold is due next for a rater (docs/crowd-jobs.md).

A job with a gold rule begins with its quiz, all gold.  After that the rater's work is counted in pages of a
fixed number of units, and each page has its gold turns, drawn for this rater from the study's key: nobody can
predict them, and they fall the same on every visit.  Gold that was given back or ran out comes again, as work does.
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

IS_WITHDRAWN_GOLD = (schema.units.c.role == "gold") & (schema.submissions.c.status == "withdrawn")

SENT = (
    select(
        func.count().label("n_sent"),
        func.coalesce(func.sum(case((IS_WITHDRAWN_GOLD, 1), else_=0)), 0).label("n_withdrawn_gold"),
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


def n_sent(tx: Tx, job_id: str, person_id: str) -> int:
    """The number of units, practice aside, that a rater has submitted."""
    return int(tx.value(SENT, job=job_id, person=person_id) or 0)


def _turn(tx: Tx, job: Job, person_id: str, quiz: int) -> int:
    """Units submitted since the quiz; answers of failed attempts are withdrawn, those of the last one count."""
    row = tx.first(SENT, job=job.job_id, person=person_id)
    return 0 if row is None else max(0, int(row.n_sent) - int(row.n_withdrawn_gold) - quiz)
