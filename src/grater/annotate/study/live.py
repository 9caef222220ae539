"""What managers watch while a crowd works: figures of a job that cost much to count, kept between two looks.

A page that is kept open asks every half minute.  Counts come from the database each time.  Agreement, scores, costs
and the raters' signals rest on every judgment; of a job with 13,500 of them they take a second.  They are therefore
counted anew only when something happened in the study since (the number of the newest event tells), and of a job with
a thousand judgments or more beside the request: the page then shows the last figures and says how many judgments are
not in them yet.  At most a twentieth of the time goes into counting anew.  Figures of small jobs are always those of
the moment, and so are those after a change of the job's terms.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeAlias, TypeVar

from grater.annotate.store import Store, Tx, events, gold_review, judgments, progress
from grater.annotate.store.columns import essay_columns
from grater.annotate.store.gold_review import GoldRecord
from grater.annotate.store.ids import body_hash
from grater.annotate.store.jobs import Job
from grater.annotate.store.progress import JobCounts
from grater.annotate.study.corpus import TASK as MARKING
from grater.annotate.study.dashboard import Dashboard, dashboard_of
from grater.annotate.study.evaluation import ScoresSoFar, agreement_so_far, scores_so_far
from grater.annotate.study.money import Costs, job_costs
from grater.annotate.study.raters import RaterLine, rater_lines, signals_of
from grater.annotate.study.status import JobPace, pace_of
from grater.annotate.study.tables import redundancy_of
from grater.annotate.study.terms import protocol_sheet
from grater.annotate.tasks import TASKS
from grater.errors import GraterError
from grater.measure.agreement.summary import Agreement

LOG = logging.getLogger("grater.annotate.study")
T = TypeVar("T")

MANY = 1000
"""Submissions from which on figures are not counted while somebody waits; so many take a tenth of a second."""

PAUSE = 20
"""Times the time that counting took, until it is done again."""

MOST_KEPT = 100

Mark: TypeAlias = tuple[int, int]
"""What changes with everything that happens: the newest event, and the number of submissions of a job."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What rests on every judgment of a job."""

    costs: Costs
    scores: ScoresSoFar
    agreement: Agreement | None
    pace: JobPace | None
    trouble: tuple[GoldRecord, ...]
    protocol: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    """Figures as of an event; `n` submissions are in them, and `behind` more came since."""

    value: T
    event: int
    n: int
    seconds: float
    at: float
    behind: int = 0


@dataclass(slots=True, eq=False)
class Live:
    """The figures that one process keeps.

    Whoever asks for several in one transaction takes the `mark` once and hands it on: to count the submissions of a
    large job takes as long as much of a page.
    """

    store: Store
    _kept: dict[tuple[str, str, str], Kept[Any]] = field(default_factory=dict)
    _busy: set[tuple[str, str, str]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_busy(self) -> bool:
        """Whether something is being counted beside the requests."""
        with self._lock:
            return bool(self._busy)

    def counts(self, tx: Tx, job: Job, *, mark: Mark | None = None) -> JobCounts:
        """Where a job stands now; counted again as soon as anything has happened in the study."""
        key = (job.job_id, "counts", body_hash(job.options))
        mark = mark or mark_of(tx, job)
        with self._lock:
            kept: Kept[JobCounts] | None = self._kept.get(key)
        if kept is None or (kept.event, kept.n) != mark:
            kept = self._count(tx, job, key, lambda tx, job: progress.counts_of(tx, job.job_id), mark)
        return kept.value

    def figures(self, tx: Tx, job: Job, *, mark: Mark | None = None) -> Kept[Figures]:
        """Costs, scores, agreement, pace and protocol of a job."""
        return self._of(tx, job, "figures", figures_of, mark)

    def lines(self, tx: Tx, job: Job) -> tuple[list[RaterLine], int]:
        """The raters of a job as they stand now, and the number of judgments that are not in their signals yet."""
        kept = self._of(tx, job, "signals", signals_of)
        return rater_lines(tx, job, kept.value), kept.behind

    def dashboard(self, tx: Tx, job: Job, *, mark: Mark | None = None) -> Kept[Dashboard] | None:
        """The history and the maps of a job, which cost more; None while many judgments are counted at first."""
        mark = mark or mark_of(tx, job)
        kept = self._latest(job, "dashboard")
        if kept is None and mark[1] >= MANY:
            key = (job.job_id, "dashboard", body_hash(job.options))
            self._begin(key, job, None, self._dashboard)
            return None
        return self._of(tx, job, "dashboard", self._dashboard, mark)

    def _dashboard(self, tx: Tx, job: Job) -> Dashboard:
        figures = self.figures(tx, job).value
        return dashboard_of(tx, job, figures.scores, figures.agreement)

    def _latest(self, job: Job, what: str) -> Kept[Any] | None:
        with self._lock:
            return self._kept.get((job.job_id, what, body_hash(job.options)))

    def _of(self, tx: Tx, job: Job, what: str, count: Callable[[Tx, Job], T], mark: Mark | None = None) -> Kept[T]:
        key = (job.job_id, what, body_hash(job.options))
        mark = mark or mark_of(tx, job)
        with self._lock:
            kept: Kept[T] | None = self._kept.get(key)
        if kept is not None and (kept.event, kept.n) == mark:
            return kept
        if kept is None or mark[1] < MANY:
            return self._count(tx, job, key, count, mark)
        self._begin(key, job, kept, count)
        return replace(kept, behind=max(0, mark[1] - kept.n))

    def _count(
        self, tx: Tx, job: Job, key: tuple[str, str, str], count: Callable[[Tx, Job], T], mark: Mark
    ) -> Kept[T]:
        begin = time.thread_time()
        event, n = mark
        value = count(tx, job)
        kept = Kept(value=value, event=event, n=n, seconds=time.thread_time() - begin, at=time.monotonic())
        with self._lock:
            while len(self._kept) >= MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = kept
        return kept

    def _begin(
        self, key: tuple[str, str, str], job: Job, kept: Kept[T] | None, count: Callable[[Tx, Job], T]
    ) -> None:
        """Count anew in a thread of its own, unless one is at it or it was done a moment ago."""
        with self._lock:
            if key in self._busy or (kept is not None and time.monotonic() - kept.at < PAUSE * kept.seconds):
                return
            self._busy.add(key)
        threading.Thread(target=self._beside, args=(key, job, count), daemon=True).start()

    def _beside(self, key: tuple[str, str, str], job: Job, count: Callable[[Tx, Job], T]) -> None:
        try:
            with self.store.read() as tx:
                self._count(tx, job, key, count, mark_of(tx, job))
        except GraterError as error:
            LOG.warning("%s: the figures could not be updated: %s", job.name, error)
        finally:
            with self._lock:
                self._busy.discard(key)


def mark_of(tx: Tx, job: Job) -> Mark:
    return events.latest(tx), progress.n_submitted(tx, job.job_id)


def figures_of(tx: Tx, job: Job) -> Figures:
    """Everything, counted now."""
    costs, counts = job_costs(tx, job), progress.counts_of(tx, job.job_id)
    is_marking = job.task == MARKING  # all say that an essay is marked; where and how is another page
    return Figures(
        costs=costs,
        scores=scores_so_far(tx, job),
        agreement=None if is_marking else _agreement(tx, job),
        pace=pace_now(tx, job, counts),
        trouble=tuple(record for record in gold_review.of_job(tx, job.job_id) if record.is_trouble),
        protocol=tuple(protocol_sheet(tx, job, costs)),
    )


def _agreement(tx: Tx, job: Job) -> Agreement | None:
    rows = judgments.labels(tx, job.job_id)
    return agreement_so_far(
        rows, TASKS[job.task], name=job.name, first=redundancy_of([job]), places=essay_columns(tx)
    )


def pace_now(tx: Tx, job: Job, counts: JobCounts) -> JobPace | None:
    return pace_of(counts, judgments.times(tx, job.job_id))
