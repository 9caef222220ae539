"""The raters of a job with their signals, as managers see them, and a rater's own progress, as they see it.

Signals alone never remove anybody. They are seconds per unit compared with the others, straight-lining, agreement
with the plurality of the others, skill by Dawid and Skene (`grater.measure.crowd.raters`), and trust on gold. The
best raters are those with the highest skill among trusted raters with enough answers; T,C&M 2013, 7.2, recommend
following them and inviting them again.

A rater sees n of N, the minutes left at their own pace, and their earnings. N is what one person can do in the job:
the limit in its terms, or what is assigned to them, or what is left for them in a pool; a pool with many free slots
is not counted completely, since every page would wait for it. If raters are tested and there is no limit, N is
hidden: it would count work but not hidden gold, and so reveal gold while the last answer can still be undone (P5).
For the same reason, n counts every unit, gold or work.

The pace is the median over the rater's latest answers, so a long break does not matter. Earnings are what the pay
policy owes for the work so far, without bonuses.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf
from statistics import median
from typing import Literal

import numpy as np
import numpy.typing as npt

from grater.annotate import jobs, judgments, people, progress, standing, trust
from grater.annotate.evaluation import by_people
from grater.annotate.jobs import Job
from grater.annotate.people import Person
from grater.annotate.progress import RaterProgress
from grater.annotate.standing import Trust
from grater.annotate.store import Tx
from grater.annotate.tasks.marking import MARKING
from grater.annotate.terms import Terms, earned, money, terms_of
from grater.errors import GraterError
from grater.measure.crowd.raters import Rater, raters
from grater.model import Interval, Json
from grater.uncertainty import wilson

ENOUGH = 20
"""Judgments before a rater is ranked."""
QUICK, SAME = 1 / 3, 0.95
"""A rater is quick below this part of the others' median, and straight-lines above this share of one label."""
FEWEST = 3
"""Answers before a pace is shown."""

LARGE_SECONDS = 5.0
"""How long a pool that had too many free slots to be counted is taken to have them still."""


@dataclass(frozen=True, slots=True)
class RaterLine:
    """One rater: work done, results on gold, and signals.

    `signals` is None for essays, and until raters share items.
    """

    person: Person
    done: RaterProgress
    trust: Trust
    seconds: float | None
    others_seconds: float | None
    signals: Rater | None

    @property
    def on_gold(self) -> Interval | None:
        return wilson(self.trust.right, self.trust.seen) if self.trust.seen else None

    @property
    def marks(self) -> tuple[str, ...]:
        """The signals for a manager, one word each."""
        signs = []
        if self.seconds is not None and self.others_seconds and self.seconds < QUICK * self.others_seconds:
            signs.append("fast")
        if self.signals and self.signals.n >= ENOUGH and self.signals.top_share > SAME > self.signals.others_share:
            signs.append("same answer")
        if self.signals and self.signals.n_compared >= ENOUGH and self.signals.with_others.high < 0.5:
            signs.append("disagrees with others")
        return tuple(signs)


@dataclass(frozen=True, slots=True)
class Signals:
    """Figures from every judgment of a job: signals by pseudonym, own and others' seconds by person."""

    done: tuple[RaterProgress, ...]
    by_rater: Mapping[str, Rater]
    seconds: Mapping[str, float]
    others_seconds: Mapping[str, float]


def signals_of(tx: Tx, job: Job) -> Signals:
    """Signals and seconds; marked essays give no signals, because their labels say only that there are marks."""
    times, done = _seconds(tx, job.job_id), progress.by_rater(tx, job.job_id)
    rows = []
    if job.task != MARKING:
        rows = judgments.table(tx, job.job_id, ("valid", "untrusted"), only=judgments.FOR_AGREEMENT)
    others = {who: [times[other] for other in times if other != who] for who in (each.person_id for each in done)}
    return Signals(
        done=done,
        by_rater=_signals(rows),
        seconds={who: float(np.median(own)) for who, own in times.items()},
        others_seconds={who: float(np.median(np.concatenate(rest))) for who, rest in others.items() if rest},
    )


def rater_lines(tx: Tx, job: Job, signals: Signals | None = None) -> list[RaterLine]:
    """Everybody who worked on a job, by name; with `signals` if they are already computed."""
    known = {each.person_id: each for each in standing.of_job(tx, job.job_id)}
    everybody = {person.person_id: person for person in people.all(tx)}
    counted = signals or signals_of(tx, job)
    done_by = progress.recounted(tx, job.job_id, signals.done) if signals else counted.done
    return [
        RaterLine(
            person=everybody[done.person_id],
            done=done,
            trust=known.get(done.person_id, Trust(job.job_id, done.person_id)),
            seconds=counted.seconds.get(done.person_id),
            others_seconds=counted.others_seconds.get(done.person_id),
            signals=counted.by_rater.get(done.pseudonym),
        )
        for done in done_by
    ]


def best(lines: list[RaterLine]) -> list[RaterLine]:
    """The raters to invite again: trusted, with enough answers, by gold and skill."""
    able = [line for line in lines if line.trust.state not in ("ejected", "flagged") and line.done.valid >= ENOUGH]
    return sorted(able, key=_rank)[:10]


def _rank(line: RaterLine) -> tuple[float, float]:
    skill = line.signals.skill if line.signals and line.signals.skill == line.signals.skill else 0.0
    return (-(line.on_gold.low if line.on_gold else 0.0), -skill)


def _signals(rows: Sequence[Mapping[str, Json]]) -> dict[str, Rater]:
    judgments = by_people(rows, name="judgments")
    if not len(judgments):
        return {}
    try:
        return {each.rater: each for each in raters(judgments)}
    except GraterError:  # one label, one rater: there is nothing to compare yet
        return {}


def _seconds(tx: Tx, job_id: str) -> dict[str, npt.NDArray[np.float64]]:
    """How long each rater took for each unit, over all their answers to it."""
    by_person: dict[str, Counter[str]] = defaultdict(Counter)
    for row in judgments.submitted(tx, job_id):
        if row.seconds is not None:
            by_person[row.person_id][row.unit_id] += row.seconds
    return {who: np.array(list(by_unit.values())) for who, by_unit in by_person.items()}


def change_standing(
    tx: Tx, job: Job, person_id: str, change: Literal["flag", "reject", "reinstate"], *, actor: str
) -> Trust:
    """Stop a rater's work, reject them with their judgments, or reinstate them."""
    if change == "flag":
        trust.flag(tx, job.job_id, person_id, actor=actor)
    elif change == "reject":
        trust.eject(tx, job, person_id, actor=actor)
    else:
        trust.reinstate(tx, job, person_id, actor=actor)
    return standing.find(tx, job.job_id, person_id)


def line_of(tx: Tx, job: Job, person_id: str) -> RaterLine:
    """A rater's line in a job; one without answers may still have written a message."""
    person = people.get(tx, person_id)
    none = RaterProgress(person_id, person.name, person.pseudonym, person.kind, 0, 0, 0, 0, None, job.added_at)
    nothing = RaterLine(person, none, standing.find(tx, job.job_id, person_id), None, None, None)
    return next((each for each in rater_lines(tx, job) if each.person.person_id == person_id), nothing)


@dataclass(slots=True, eq=False)
class LargePools:
    """The jobs with too many free slots to recount for every page."""

    seen_at: dict[str, float] = field(default_factory=dict)

    def note(self, job_id: str) -> None:
        self.seen_at[job_id] = time.monotonic()

    def __contains__(self, job_id: str) -> bool:
        return time.monotonic() - self.seen_at.get(job_id, -inf) < LARGE_SECONDS


@dataclass(frozen=True, slots=True)
class OwnPace:
    """`n_total` is None if unknown or secret; `earned` is empty without agreed pay."""

    n_done: int
    n_total: int | None
    minutes_left: int | None
    earned: str

    @property
    def n_shown(self) -> int:
        """The progress bar's value, at most its maximum."""
        return self.n_done if self.n_total is None else min(self.n_done, self.n_total)


def pace_of(
    tx: Tx, job: Job, person_id: str, *, n_done: int | None = None, pools: LargePools | None = None
) -> OwnPace:
    """`n_done` is the number of units that the rater has answered, if already counted.

    `pools` are those recently found too large to count.
    """
    terms = terms_of(job.options)
    pay = terms.pay if terms.pay and terms.pay.cents else None
    n_done = standing.n_answered(tx, job.job_id, person_id) if n_done is None else n_done
    n_total = _total(tx, job, terms, person_id, n_done, LargePools() if pools is None else pools)
    seconds = [] if n_total is None else progress.recent_seconds(tx, job.job_id, person_id)
    is_known = n_total is not None and len(seconds) >= FEWEST
    n_left = max(0, (n_total or 0) - n_done)
    return OwnPace(
        n_done=n_done,
        n_total=n_total,
        minutes_left=ceil(n_left * median(seconds) / 60) if is_known else None,
        earned=money(earned(pay, progress.units_answered(tx, job.job_id, person_id)), pay.currency) if pay else "",
    )


def _total(tx: Tx, job: Job, terms: Terms, person_id: str, n_done: int, pools: LargePools) -> int | None:
    if terms.gold is not None:
        return standing.limit_of(tx, job) if terms.limit else None
    if job.access == "assigned":
        return jobs.n_assigned(tx, job.job_id, person_id)
    n_left = None if job.job_id in pools else progress.work_left(tx, job.job_id, person_id)
    if n_left is None and job.job_id not in pools:
        pools.note(job.job_id)
    total = None if n_left is None else n_done + n_left
    return min(filter(None, (terms.limit, total)), default=None)
