"""The dashboard of managers: figures of a job, their history, agreement between raters, confused labels.

Agreement and systems' scores are computed after the first 20, 40, 80, ... judged items and after all of them, by the
same estimator, to show how the intervals narrow; by doubling, the whole history costs about twice as much as its last
point. Confusions are counted over pairs of raters who answered the same item. The forecast for a sample is the number
of further items that would bring the interval of recall to the target width, if they resemble those already judged.

An open page polls every half minute. Counts come from the database each time. Agreement, scores, costs and raters'
signals depend on every judgment, and take a second for 13,500 judgments. They are therefore recomputed only after a
new event in the study, and for jobs with a thousand judgments or more in the background: the page then shows the
latest figures and the number of judgments missing from them. Recomputing takes at most a twentieth of the time.
Figures of small jobs, and figures after a change of the job's terms, are always current.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from statistics import median
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import polars as pl

from grater.annotate import judgments, progress, trust
from grater.annotate.adjudication import finished
from grater.annotate.collusion import Group, groups_of
from grater.annotate.evaluation import JobScores, ScoresSoFar, SystemLine, by_people, live_agreement, scores_so_far
from grater.annotate.jobs import Job
from grater.annotate.judgments import FOR_AGREEMENT
from grater.annotate.money import Costs, job_costs
from grater.annotate.progress import JobCounts
from grater.annotate.protocol import protocol_sheet
from grater.annotate.raters import RaterLine, rater_lines, signals_of
from grater.annotate.store import Store, Tx, events
from grater.annotate.store.transaction import body_hash
from grater.annotate.tables import essay_columns, redundancy_of
from grater.annotate.tasks import TASKS, Shown
from grater.annotate.tasks.marking import MARKING
from grater.annotate.trust import GoldRecord
from grater.annotate.work import shown_to_staff
from grater.errors import GraterError
from grater.measure.agreement.summary import Agreement
from grater.measure.sampling.plan import more_needed
from grater.model import Interval, Json
from grater.tables import Table

FIRST = 20
MOST_RATERS = 12
MOST_LABELS = 10
MOST_SHOWN = 8
WIDTH = 0.1
"""The width of an interval of recall that a forecast is for, where nobody names another."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The estimates after `n` judged items; `agreement` is alpha, None if nothing could be compared."""

    n: int
    agreement: Interval | None
    systems: tuple[SystemLine, ...]


@dataclass(frozen=True, slots=True)
class Confusion:
    """`counts[i][j]` is how often one rater gave label i and another label j to the same item."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class PairShare:
    """Two raters, the items that both answered, and the items on which they agree."""

    first: str
    second: str
    n: int
    agreed: int

    @property
    def share(self) -> float:
        return self.agreed / self.n


@dataclass(frozen=True, slots=True, eq=False)
class Dashboard:
    """`contested` units are finished and undecided, and their raters differ; there are `n_contested` in total."""

    checkpoints: tuple[Checkpoint, ...]
    confusion: Confusion | None
    pairs: tuple[PairShare, ...]
    raters: tuple[RaterLine, ...]
    gold: tuple[tuple[GoldRecord, Shown], ...]
    contested: tuple[tuple[str, Shown], ...]
    n_contested: int


def dashboard_of(tx: Tx, job: Job, scores: ScoresSoFar, agreed: Agreement | None) -> Dashboard:
    """Everything, computed now; `scores` and `agreed` use all judgments."""
    rows = [] if job.task == MARKING else judgments.table(tx, job.job_id, only=FOR_AGREEMENT)
    waiting = [unit.unit_id for unit in finished(tx, job) if unit.differs and not unit.is_decided]
    known = [record for record in trust.gold_records(tx, job.job_id) if record.seen]
    hardest = sorted(known, key=lambda record: -record.missed / record.seen)[:MOST_SHOWN]
    return Dashboard(
        checkpoints=tuple(_checkpoints(tx, job, rows, scores, agreed)),
        confusion=confusion_of(rows),
        pairs=tuple(pairs_of(rows)),
        raters=tuple(rater_lines(tx, job)),
        gold=tuple((record, shown_to_staff(tx, record.unit_id)) for record in hardest),
        contested=tuple((unit_id, shown_to_staff(tx, unit_id)) for unit_id in waiting[:MOST_SHOWN]),
        n_contested=len(waiting),
    )


def _checkpoints(
    tx: Tx, job: Job, rows: Sequence[Mapping[str, Json]], scores: ScoresSoFar, agreed: Agreement | None
) -> list[Checkpoint]:
    in_time = sorted(rows, key=lambda row: str(row["at"]))
    seen: dict[str, int] = {}
    for place, row in enumerate(in_time):
        seen.setdefault(str(row["item"]), place)
    firsts = list(seen.values())
    known = JobScores.of(tx, job) if scores.systems else None
    places, points = essay_columns(tx), []
    for n in sizes(len(firsts))[:-1]:
        last = firsts[n - 1]
        past = _agreement(job, in_time[: last + 1], places)
        systems = known.until(str(in_time[last]["at"])).systems if known else ()
        points.append(Checkpoint(n=n, agreement=past.alpha if past else None, systems=systems))
    today = Checkpoint(n=len(firsts), agreement=agreed.alpha if agreed else None, systems=scores.systems)
    return [*points, today] if in_time else []


def _agreement(job: Job, rows: Sequence[Mapping[str, Json]], places: Table) -> Agreement | None:
    task, first = TASKS[job.task], redundancy_of([job])
    return live_agreement(rows, task, name=job.name, first=first, places=places, is_brief=True).labels


def sizes(n: int) -> list[int]:
    """20, 40, 80, ... up to `n`, and `n` itself."""
    doubled = [FIRST * 2**k for k in range(64) if FIRST * 2**k < n]
    return [*doubled, n] if n else []


def confusion_of(rows: Sequence[Mapping[str, Json]]) -> Confusion | None:
    """Counts over pairs of people on one item; None without such pairs or without a fixed set of labels."""
    given = by_people(rows, name="judgments").frame
    frequent = [label for label, _ in Counter(given["label"].to_list()).most_common()]
    if not 2 <= len(frequent) <= MOST_LABELS:
        return None
    labels = sorted(frequent)
    wide = given.group_by("item").agg([(pl.col("label") == label).sum().alias(label) for label in labels])
    counts = wide.select(labels).to_numpy().astype(np.int64)
    both = counts.T @ counts - np.diag(counts.sum(axis=0))
    return Confusion(tuple(labels), tuple(map(tuple, both.tolist()))) if both.sum() else None


def pairs_of(rows: Sequence[Mapping[str, Json]]) -> list[PairShare]:
    """The pairs of the most active people, by name."""
    given = by_people(rows, name="judgments").frame
    busiest = sorted(name for name, _ in Counter(given["rater"].to_list()).most_common(MOST_RATERS))
    answers = {
        name: dict(given.filter(pl.col("rater") == name).select("item", "label").iter_rows()) for name in busiest
    }
    pairs = []
    for number, first in enumerate(busiest):
        for second in busiest[number + 1 :]:
            both = answers[first].keys() & answers[second].keys()
            agreed = sum(answers[first][item] == answers[second][item] for item in both)
            pairs += [PairShare(first=first, second=second, n=len(both), agreed=agreed)] if both else []
    return pairs


RECENT_ANSWERS = 200
"""The latest judgments, from which the pace is computed."""


@dataclass(frozen=True, slots=True)
class JobPace:
    """Judgments per hour of one rater's work, and the remaining hours of work, without breaks and nights."""

    an_hour: float
    hours_left: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """The undrawn items that would bring a system's recall to a width, with `hours` and `cost` if known."""

    system: str
    width: float
    more: int
    hours: float | None
    cost: str


def forecasts(
    scores: ScoresSoFar, costs: Costs, pace: JobPace | None, *, per_item: float, width: float = WIDTH
) -> list[Forecast]:
    """For the recall of every system of a sample, with `per_item` judgments for each item."""
    lines = []
    for system in scores.systems:
        now, sample = system.recall.high - system.recall.low, system.estimated
        more = more_needed(sample.strata, sample.flagged, width) if sample and isfinite(now) else None
        if more is None:
            continue
        n_judgments = more * per_item
        cost = costs.money(n_judgments * costs.per_valid) if costs.pay and costs.valid else ""
        hours = n_judgments / pace.an_hour if pace else None
        lines.append(Forecast(system.system, now, more, hours, cost))
    return lines


LOG = logging.getLogger("grater.annotate.dashboard")
T = TypeVar("T")

MANY = 1000
"""Submissions from which on figures are not counted while somebody waits; so many take a tenth of a second."""

PAUSE = 20
"""Times the time that counting took, until it is done again."""

MOST_KEPT = 100

Key: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures that depend on every judgment of a job."""

    costs: Costs
    scores: ScoresSoFar
    agreement: Agreement | None
    pace: JobPace | None
    trouble: tuple[GoldRecord, ...]
    protocol: Mapping[str, str]
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    """Figures as of an event; `n` submissions are included, and `behind` have arrived since."""

    value: T
    event: int
    n: int
    seconds: float
    at: float
    behind: int = 0


@dataclass(slots=True, eq=False)
class Live:
    """The figures cached by one process."""

    store: Store
    _kept: dict[Key, Kept[Any]] = field(default_factory=dict)
    _busy: set[Key] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def counts(self, tx: Tx, job: Job) -> JobCounts:
        """The state of a job; recomputed after every event in the study."""
        return self._of(tx, job, "counts", lambda tx, job: progress.counts_of(tx, job.job_id), is_dear=False).value

    def answer(self, tx: Tx) -> Kept[ScoresSoFar]:
        """The scores of the study's systems, over all its jobs."""
        return self._of(tx, None, "answer", scores_so_far)

    def figures(self, tx: Tx, job: Job) -> Kept[Figures]:
        """Costs, scores, agreement, pace and protocol of a job."""
        return self._of(tx, job, "figures", figures_of)

    def lines(self, tx: Tx, job: Job) -> tuple[list[RaterLine], int]:
        """The raters of a job now, and the number of judgments not yet included in their signals."""
        kept = self._of(tx, job, "signals", signals_of)
        return rater_lines(tx, job, kept.value), kept.behind

    def dashboard(self, tx: Tx, job: Job) -> Kept[Dashboard] | None:
        """The history and the maps of a job; None during the first computation for many judgments."""
        key = _key(job, "dashboard")
        if key not in self._kept and progress.n_submitted(tx, job.job_id) >= MANY:
            self._begin(key, job, None, self._dashboard)
            return None
        return self._of(tx, job, "dashboard", self._dashboard)

    def _dashboard(self, tx: Tx, job: Job) -> Dashboard:
        figures = self.figures(tx, job).value
        return dashboard_of(tx, job, figures.scores, figures.agreement)

    def _of(
        self, tx: Tx, job: Job | None, what: str, count: Callable[[Tx, Any], T], *, is_dear: bool = True
    ) -> Kept[T]:
        key = _key(job, what)
        kept: Kept[T] | None = self._kept.get(key)
        if kept is not None and kept.event == events.latest(tx):
            return kept
        n = progress.n_submitted(tx, job.job_id if job else "")
        if kept is None or not is_dear or n < MANY:
            return self._count(tx, job, key, count)
        self._begin(key, job, kept, count)
        return replace(kept, behind=max(0, n - kept.n))

    def _count(self, tx: Tx, job: Job | None, key: Key, count: Callable[[Tx, Any], T]) -> Kept[T]:
        begin = time.thread_time()
        event, n = events.latest(tx), progress.n_submitted(tx, job.job_id if job else "")
        value = count(tx, job)
        kept = Kept(value, event, n, seconds=time.thread_time() - begin, at=time.monotonic())
        with self._lock:
            while len(self._kept) >= MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = kept
        return kept

    def _begin(self, key: Key, job: Job | None, kept: Kept[T] | None, count: Callable[[Tx, Any], T]) -> None:
        """Recompute in a separate thread, unless one is running or has just finished."""
        with self._lock:
            if key in self._busy or (kept is not None and time.monotonic() - kept.at < PAUSE * kept.seconds):
                return
            self._busy.add(key)

        def work() -> None:
            try:
                with self.store.read() as tx:
                    self._count(tx, job, key, count)
            except GraterError as error:
                LOG.warning("%s: the figures could not be updated: %s", job.name if job else "study", error)
            finally:
                with self._lock:
                    self._busy.discard(key)

        threading.Thread(target=work, daemon=True).start()


def _key(job: Job | None, what: str) -> Key:
    return (job.job_id, what, body_hash(job.options)) if job else ("", what, "")


def figures_of(tx: Tx, job: Job) -> Figures:
    costs, counts, agreed = job_costs(tx, job), progress.counts_of(tx, job.job_id), None
    if job.task != MARKING:  # all say that an essay is marked; where and how is another page
        agreed = _agreement(job, judgments.table(tx, job.job_id, only=FOR_AGREEMENT), essay_columns(tx))
    return Figures(
        costs=costs,
        scores=scores_so_far(tx, job),
        agreement=agreed,
        pace=pace_now(tx, job, counts),
        trouble=tuple(record for record in trust.gold_records(tx, job.job_id) if record.is_trouble),
        protocol=protocol_sheet(tx, job, costs),
        groups=tuple(groups_of(tx, job.job_id)),
    )


def pace_now(tx: Tx, job: Job, counts: JobCounts) -> JobPace | None:
    """The pace of the latest judgments; None before any has a time."""
    seconds = progress.seconds_of_task(tx, job.task, most=RECENT_ANSWERS, job_id=job.job_id)
    each = median(seconds) if seconds else 0.0
    return JobPace(3600 / each, (counts.wanted - counts.valid) * each / 3600) if each else None
