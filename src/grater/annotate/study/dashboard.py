"""What the dashboard of a job shows: figures as they came about, who agrees with whom, which answers are confused.

Agreement and the scores of systems are computed after the first 20, 40, 80, ... judgments and after all of them, so
that one sees the intervals narrow; doubling keeps the whole history at about twice the cost of its last point.
Confusions are counted over pairs of raters who answered the same item.  The forecast takes the width of an interval
to shrink with the square root of the number of judgments, as that of a mean does: a guess that improves with time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isfinite
from typing import Literal

import numpy as np
import polars as pl

from grater.annotate.store import Tx, gold_review, judgments, progress
from grater.annotate.store.clock import as_iso
from grater.annotate.store.columns import essay_columns
from grater.annotate.store.gold_review import GoldRecord
from grater.annotate.store.jobs import Job
from grater.annotate.study.corpus import TASK as MARKING
from grater.annotate.study.evaluation import (
    PAST_RESAMPLES,
    ScoresSoFar,
    SystemLine,
    agreement_so_far,
    by_people,
    sample_of,
    scores_until,
)
from grater.annotate.study.money import Costs
from grater.annotate.study.raters import rater_lines
from grater.annotate.study.status import JobPace
from grater.annotate.study.tables import redundancy_of, study_tables
from grater.annotate.study.work import shown_to_staff
from grater.annotate.tasks import TASKS, Shown
from grater.measure.agreement.summary import Agreement
from grater.model import Interval, Json

FIRST = 20
MOST_RATERS = 12
MOST_LABELS = 10
MOST_SHOWN = 8
WIDTH = 0.1
"""The width of an interval that a forecast is for, where nobody names another."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What was known after `n` judgments; `agreement` is alpha, None where nothing could be compared."""

    n: int
    agreement: Interval | None
    systems: tuple[SystemLine, ...]


@dataclass(frozen=True, slots=True)
class Confusion:
    """`counts[i][j]`: how often one rater gave label i and another label j to the same item."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class PairShare:
    """Two raters, the items that both answered, and those on which they said the same."""

    first: str
    second: str
    n: int
    agreed: int

    @property
    def share(self) -> float:
        return self.agreed / self.n


@dataclass(frozen=True, slots=True)
class RaterPlace:
    """A rater: median seconds per judgment, and the share of items on which they agree with the others."""

    person_id: str
    name: str
    pseudonym: str
    seconds: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Dashboard:
    """`contested` units are finished, their raters differ and nobody has decided: `n_contested` of them in all."""

    checkpoints: tuple[Checkpoint, ...]
    confusion: Confusion | None
    pairs: tuple[PairShare, ...]
    raters: tuple[RaterPlace, ...]
    gold: tuple[tuple[GoldRecord, Shown], ...]
    contested: tuple[tuple[str, Shown], ...]
    n_contested: int


def dashboard_of(tx: Tx, job: Job, scores: ScoresSoFar, agreed: Agreement | None) -> Dashboard:
    """Everything, counted now; `scores` and `agreed` are those of all judgments."""
    rows = [] if job.task == MARKING else judgments.labels(tx, job.job_id)
    by: Literal["label", "payload"] = "payload" if job.task == MARKING else "label"
    waiting = [
        unit.unit_id
        for unit in progress.finished_units(tx, job.job_id, by=by)
        if unit.differs and not unit.is_decided
    ]
    known = [record for record in gold_review.of_job(tx, job.job_id) if record.seen]
    hardest = sorted(known, key=lambda record: -record.missed / record.seen)[:MOST_SHOWN]
    return Dashboard(
        checkpoints=tuple(_checkpoints(tx, job, rows, scores, agreed)),
        confusion=confusion_of(rows),
        pairs=tuple(pairs_of(rows)),
        raters=tuple(_raters(tx, job)),
        gold=tuple((record, shown_to_staff(tx, record.unit_id)) for record in hardest),
        contested=tuple((unit_id, shown_to_staff(tx, unit_id)) for unit_id in waiting[:MOST_SHOWN]),
        n_contested=len(waiting),
    )


def _checkpoints(
    tx: Tx, job: Job, rows: Sequence[Mapping[str, Json]], scores: ScoresSoFar, agreed: Agreement | None
) -> list[Checkpoint]:
    in_time = sorted(rows, key=lambda row: int(str(row["at"])))
    tables = study_tables(tx, job.name, job_names=[job.name]) if TASKS[job.task].verdict and scores.systems else None
    sample = sample_of(tx, tables) if tables else None
    places = essay_columns(tx)
    points = []
    for n in sizes(len(in_time))[:-1]:
        until = as_iso(int(str(in_time[n - 1]["at"])))
        past = _agreement_until(in_time[:n], job, places)
        systems = scores_until(tables, sample, until) if tables else ()
        points.append(Checkpoint(n=n, agreement=past.alpha if past else None, systems=systems))
    today = Checkpoint(n=len(in_time), agreement=agreed.alpha if agreed else None, systems=scores.systems)
    return [*points, today] if in_time else []


def _agreement_until(rows: Sequence[Mapping[str, Json]], job: Job, places: pl.DataFrame) -> Agreement | None:
    return agreement_so_far(
        rows,
        TASKS[job.task],
        name=job.name,
        first=redundancy_of([job]),
        places=places,
        n_resamples=PAST_RESAMPLES,
    )


def sizes(n: int) -> list[int]:
    """20, 40, 80, ... up to `n`, and `n` itself."""
    doubled = [FIRST * 2**k for k in range(64) if FIRST * 2**k < n]
    return [*doubled, n] if n else []


def confusion_of(rows: Sequence[Mapping[str, Json]]) -> Confusion | None:
    """Counts over pairs of people who answered one item; None where there is no such pair, or any word is a label."""
    said = by_people(rows, name="judgments").frame
    frequent = [label for label, _ in Counter(said["label"].to_list()).most_common()]
    if not 2 <= len(frequent) <= MOST_LABELS:
        return None
    labels = sorted(frequent)
    wide = said.group_by("item").agg([(pl.col("label") == label).sum().alias(label) for label in labels])
    counts = wide.select(labels).to_numpy().astype(np.int64)
    together = counts.T @ counts - np.diag(counts.sum(axis=0))
    return Confusion(tuple(labels), tuple(map(tuple, together.tolist()))) if together.sum() else None


def pairs_of(rows: Sequence[Mapping[str, Json]]) -> list[PairShare]:
    """The pairs of the busiest people, by name."""
    said = by_people(rows, name="judgments").frame
    busiest = sorted(name for name, _ in Counter(said["rater"].to_list()).most_common(MOST_RATERS))
    answers = {
        name: dict(said.filter(pl.col("rater") == name).select("item", "label").iter_rows()) for name in busiest
    }
    pairs = []
    for number, first in enumerate(busiest):
        for second in busiest[number + 1 :]:
            both = answers[first].keys() & answers[second].keys()
            agreed = sum(answers[first][item] == answers[second][item] for item in both)
            pairs += [PairShare(first=first, second=second, n=len(both), agreed=agreed)] if both else []
    return pairs


def _raters(tx: Tx, job: Job) -> list[RaterPlace]:
    return [
        RaterPlace(
            person_id=line.person.person_id,
            name=line.person.name,
            pseudonym=line.person.pseudonym,
            seconds=line.seconds,
            share=line.signals.with_others.value if line.signals and line.signals.n_compared else None,
        )
        for line in rater_lines(tx, job)
    ]


@dataclass(frozen=True, slots=True)
class Forecast:
    """How many judgments more bring an interval of a system to a width; `hours` and `cost` where they are known."""

    system: str
    measure: str
    width: float
    more: int
    hours: float | None
    cost: str


def forecasts(
    scores: ScoresSoFar, n: int, costs: Costs, pace: JobPace | None, *, width: float = WIDTH
) -> list[Forecast]:
    """For precision and recall of every system, after `n` judgments."""
    lines = []
    for system in scores.systems:
        for measure, interval in (("precision", system.precision), ("recall", system.recall)):
            now = interval.high - interval.low
            if not (n and isfinite(now) and now):
                continue
            more = max(0, ceil(round(n * (now / width) ** 2, 6)) - n)
            cost = costs.money(more * costs.per_valid) if costs.pay and costs.valid else ""
            hours = more / pace.an_hour if pace else None
            lines.append(
                Forecast(system=system.system, measure=measure, width=now, more=more, hours=hours, cost=cost)
            )
    return lines
