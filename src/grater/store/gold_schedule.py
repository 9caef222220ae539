"""The gold schedule: whether a unit of work or hidden gold is due next for a rater (docs/crowd-jobs.md).

A job with a gold rule begins with its quiz, all gold.  After that every turn of a rater is gold with the same chance,
drawn for this rater and turn from the study's key: nobody can predict it, it falls the same on every visit, and
what came before tells nothing of it (P5).  A turn is over when its unit is answered: what was given back, ran out or
was taken back comes again in the same turn, gold and work alike (`leases`).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from sqlalchemy import bindparam, func, literal_column, select

from grater.crowd.terms import Terms, terms_of
from grater.crowd.trust import gold_rate
from grater.store import schema, trust
from grater.store.ids import PRIME, multiplier
from grater.store.jobs import Job
from grater.store.transaction import Tx

Due: TypeAlias = Literal["work", "gold"]

IN_QUIZ = ("new", "quiz")

PRACTICE = select(schema.units.c.unit_id).where(
    schema.units.c.job_id == bindparam("job"), schema.units.c.role == literal_column("'practice'")
)
SENT = select(func.count(schema.submissions.c.unit_id.distinct())).where(
    schema.submissions.c.job_id == bindparam("job"),
    schema.submissions.c.person_id == bindparam("person"),
    schema.submissions.c.unit_id.not_in(PRACTICE),
)
"""From one index, without a look at the units: a rater may have answered thousands."""

ANSWERED = SENT.where(schema.submissions.c.status != literal_column("'withdrawn'"))
VALID = SENT.where(schema.submissions.c.status == literal_column("'valid'"))


def has_gold(job: Job) -> bool:
    """Whether raters of this job are tested."""
    return terms_of(job.options).gold is not None


def due(tx: Tx, job: Job, person_id: str) -> Due:
    terms = terms_of(job.options)
    if terms.gold is None:
        return "work"
    if is_in_quiz(terms, trust.find(tx, job.job_id, person_id).state):
        return "gold"
    turn = str(n_answered(tx, job.job_id, person_id))
    chance = multiplier(tx.key, "gold", job.job_id, person_id, turn) / PRIME
    return "gold" if chance < gold_rate(terms.page) else "work"


def is_in_quiz(terms: Terms, state: str) -> bool:
    """Whether the rater has yet to pass the entry quiz."""
    return terms.gold is not None and terms.gold.quiz > 0 and state in IN_QUIZ


def n_answered(tx: Tx, job_id: str, person_id: str) -> int:
    """The number of units, practice aside, that a rater has answered and not taken back."""
    return int(tx.value(ANSWERED, job=job_id, person=person_id) or 0)


def n_sent(tx: Tx, job_id: str, person_id: str) -> int:
    """The number of units, practice aside, that a rater has submitted."""
    return int(tx.value(SENT, job=job_id, person=person_id) or 0)


def n_valid(tx: Tx, job_id: str, person_id: str) -> int:
    """The number of units, practice aside, with an answer that counts: what a limit and a code are for."""
    return int(tx.value(VALID, job=job_id, person=person_id) or 0)
