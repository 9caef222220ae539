"""A rater's own progress in a job: n of N, the minutes left at their own pace, what they have earned.

N is what the job lets one person do: the limit of its terms, or what is assigned to them, or what is left for them
in a pool; a pool with many free slots is not counted to its end, since every page would wait for it.  Where raters
are tested and there is no limit, N is not told: units of work would be counted off and hidden gold would not, so
the count would show which is which while the last answer can still be taken back (P5).  For the same reason n counts
every unit, gold or work.

The pace is the median of the rater's newest answers, so that one long break does not matter.  What was earned is
what the pay policy owes for the work as it stands, without bonuses.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from math import ceil, inf
from statistics import median

from grater.crowd.pay import earned, money
from grater.crowd.terms import Terms, terms_of
from grater.store import Tx, assignments, gold_schedule, progress
from grater.store.jobs import Job

FEWEST = 3
"""Answers before a pace is told."""

LARGE_SECONDS = 5.0
"""How long a pool that had too many free slots to be counted is taken to have them still."""


@dataclass(slots=True, eq=False)
class LargePools:
    """The jobs whose free slots are not worth counting again for every page of every rater."""

    seen_at: dict[str, float] = field(default_factory=dict)

    def note(self, job_id: str) -> None:
        self.seen_at[job_id] = time.monotonic()

    def __contains__(self, job_id: str) -> bool:
        return time.monotonic() - self.seen_at.get(job_id, -inf) < LARGE_SECONDS


@dataclass(frozen=True, slots=True)
class OwnPace:
    """`n_total` is None where it is not known or must not be told; `earned` is empty where no pay is set."""

    n_done: int
    n_total: int | None
    minutes_left: int | None
    earned: str

    @property
    def n_shown(self) -> int:
        """How far the bar goes: never beyond its end."""
        return self.n_done if self.n_total is None else min(self.n_done, self.n_total)


def pace_of(
    tx: Tx, job: Job, person_id: str, *, n_done: int | None = None, pools: LargePools | None = None
) -> OwnPace:
    """`n_done`: the units that the rater has answered, where the caller has counted them.

    `pools` are those that were too large to count a moment ago.
    """
    terms = terms_of(job.options)
    n_done = gold_schedule.n_answered(tx, job.job_id, person_id) if n_done is None else n_done
    n_total = _total(tx, job, terms, person_id, n_done, LargePools() if pools is None else pools)
    seconds = [] if n_total is None else progress.recent_seconds(tx, job.job_id, person_id)
    is_known = n_total is not None and len(seconds) >= FEWEST
    n_left = max(0, (n_total or 0) - n_done)
    return OwnPace(
        n_done=n_done,
        n_total=n_total,
        minutes_left=ceil(n_left * median(seconds) / 60) if is_known else None,
        earned=_earned(tx, job, terms, person_id),
    )


def _total(tx: Tx, job: Job, terms: Terms, person_id: str, n_done: int, pools: LargePools) -> int | None:
    if terms.gold is not None:
        return terms.limit or None
    if job.access == "assigned":
        return assignments.n_of(tx, job.job_id, person_id)
    n_left = None if job.job_id in pools else progress.work_left(tx, job.job_id, person_id)
    if n_left is None and job.job_id not in pools:
        pools.note(job.job_id)
    total = None if n_left is None else n_done + n_left
    return min(filter(None, (terms.limit, total)), default=None)


def _earned(tx: Tx, job: Job, terms: Terms, person_id: str) -> str:
    if terms.pay is None or not terms.pay.cents:
        return ""
    answered = progress.units_answered(tx, job.job_id, person_id)
    return money(earned(terms.pay, answered), terms.pay.currency)
