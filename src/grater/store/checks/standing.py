"""Trust counted again from nothing: every gold answer graded anew by its task's own rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlalchemy import select

from grater.store import gold, jobs, schema
from grater.store.judgments import answers_of
from grater.store.transaction import Tx
from grater.store.trust import Trust, of_job


def trust_recomputed(tx: Tx) -> Iterator[str]:
    """Gold seen and gold right, from the judgments themselves, are what is stored."""
    for job in jobs.all(tx):
        fresh = _from_scratch(tx, job.job_id, job.task)
        known = {each.person_id: each for each in of_job(tx, job.job_id)}
        for person_id in sorted(fresh.keys() | known.keys()):
            each = known.get(person_id, Trust(job.job_id, person_id))
            if fresh.get(person_id, (0, 0)) != (each.seen, each.right):
                now = fresh.get(person_id, (0, 0))
                told = f"{each.right} of {each.seen} right is stored, {now[1]} of {now[0]} found"
                yield f"job {job.name}, person {person_id}: {told}"


def _from_scratch(tx: Tx, job_id: str, task: str) -> dict[str, tuple[int, int]]:
    query = (
        select(schema.submissions.c.submission_id, schema.submissions.c.person_id, schema.submissions.c.unit_id)
        .join(schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id)
        .where(
            schema.submissions.c.job_id == job_id,
            schema.submissions.c.status.in_(("valid", "untrusted")),
            schema.units.c.role == "gold",
        )
    )
    found: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for row in tx.all(query):
        known = [each for each in gold.of_unit(tx, row.unit_id) if each.state == "active"]
        is_right = gold.grade(task, answers_of(tx, row.submission_id), known)
        if is_right is not None:
            seen, right = found[row.person_id]
            found[row.person_id] = (seen + 1, right + is_right)
    return found
