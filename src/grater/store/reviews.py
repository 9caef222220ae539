"""What raters say of a job, during and after it: stars, words, how clear the instructions are (T,C&M 2013, 7.1)."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from grater.errors import BadInput, Problem
from grater.store import events, schema
from grater.store.ids import new_id
from grater.store.transaction import Tx

LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Review:
    """`clear` is the answer to the pilot question, 1 to 5, where the job asks one."""

    pseudonym: str
    stars: int | None
    clear: int | None
    text: str
    at: int


def add(tx: Tx, job_id: str, person_id: str, *, stars: int | None, clear: int | None = None, text: str = "") -> None:
    """A rater may say something as often as they like; every word is kept."""
    if stars is None and clear is None and not text.strip():
        raise BadInput(Problem("form", "expected stars, an answer or a few words, found nothing"))
    for number in (stars, clear):
        if number is not None and not 1 <= number <= 5:
            raise BadInput(Problem("form", f"stars: expected 1 to 5, found {number}"))
    row = {"review_id": new_id(), "job_id": job_id, "person_id": person_id, "stars": stars, "at": tx.now}
    payload = {} if clear is None else {"clear": clear}
    tx.insert(schema.reviews, row | {"text": text.strip()[:LONGEST], "payload": payload})
    events.write(tx, person_id, "review.written", job_id)


def of_job(tx: Tx, job_id: str) -> list[Review]:
    """The newest first; who wrote it goes by a pseudonym."""
    query = select(schema.people.c.pseudonym, schema.reviews).join(
        schema.people, schema.people.c.person_id == schema.reviews.c.person_id
    )
    rows = tx.all(
        query.where(schema.reviews.c.job_id == job_id).order_by(
            schema.reviews.c.at.desc(), schema.reviews.c.review_id
        )
    )
    return [Review(row.pseudonym, row.stars, row.payload.get("clear"), row.text, row.at) for row in rows]
