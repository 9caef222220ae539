"""What a job would be before it is made: its units, the hours of work in it, what it would cost.

Units are counted as the job itself would choose them, and nothing is stored.  Hours rest on the median time of
earlier judgments of the same task in the study where there are `ENOUGH`; else on `SECONDS`, which are rough: a
question about one word takes a careful rater 15 to 40 seconds, and an essay some seconds per word.  Counting looks at
every essay, so the count is kept until something comes into the study.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from statistics import median

from grater.crowd.pay import money
from grater.sheet import counted
from grater.store import Tx, decisions, essays, items, jobs, progress
from grater.study.jobs import JobPlan, batches_for, chains_for

SECONDS = {"usage": 36.0, "cloze": 20.0, "choice": 16.0, "error": 24.0, "construction": 40.0, "verify": 16.0}
SECONDS_A_WORD = 3.0
ENOUGH = 20
MOST_LOOKED_AT = 2_000
MOST_KEPT = 50
AN_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class JobPreview:
    """`judgments` are wanted in all; `is_measured` where the seconds were measured in this study."""

    units: int
    judgments: int
    seconds_each: float
    is_measured: bool
    cents: int | None = None
    currency: str = "EUR"

    @property
    def hours(self) -> float:
        return self.judgments * self.seconds_each / AN_HOUR

    @property
    def time(self) -> str:
        """`about 9 hours`, `about 20 minutes`."""
        if self.hours >= 1.5:
            return f"about {self.hours:,.0f} hours"
        return f"about {counted(max(1, round(self.hours * 60)), 'minute')}"

    @property
    def cost(self) -> str:
        """Empty where no pay is agreed."""
        return "" if self.cents is None else money(self.judgments * self.cents, self.currency)

    @property
    def words(self) -> str:
        parts = [counted(self.units, "unit"), counted(self.judgments, "judgment"), f"{self.time} of work"]
        return ", ".join([*parts, *([self.cost] if self.cost else [])])


@dataclass(frozen=True, slots=True)
class Fitting:
    """The units that fit a plan: how long each chain is, and the words of an average essay."""

    lengths: tuple[int, ...]
    n_words: float


@dataclass(slots=True, eq=False)
class Previews:
    """Previews of one process, which keeps the last counts."""

    _kept: dict[Hashable, Fitting] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, tx: Tx, plan: JobPlan) -> JobPreview:
        """What the plan would make; a plan that cannot be carried out is refused as when the job is made."""
        lengths, n_words = self._lengths(tx, plan)
        drawn = lengths if plan.most is None else lengths[: plan.most]
        seconds, is_measured = _seconds(tx, plan.task, n_words)
        return JobPreview(
            units=sum(drawn),
            judgments=_judgments(plan, drawn),
            seconds_each=seconds,
            is_measured=is_measured,
            cents=plan.cents,
            currency=plan.currency,
        )

    def _lengths(self, tx: Tx, plan: JobPlan) -> tuple[tuple[int, ...], float]:
        state = (essays.count(tx), items.count(tx), decisions.count(tx), len(jobs.all(tx)))
        asked = (plan.task, plan.kind, plan.system, tuple(plan.item_ids), tuple(plan.essay_ids), plan.is_fresh)
        with self._lock:
            kept = self._kept.get((state, asked))
        if kept is None:
            kept = _counted(tx, plan)
            with self._lock:
                while len(self._kept) >= MOST_KEPT:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[state, asked] = kept
        return kept.lengths, kept.n_words


def _counted(tx: Tx, plan: JobPlan) -> Fitting:
    chains = chains_for(tx, plan, is_preview=True)
    n_words, n_essays = 0, 0
    for essay in essays.all(tx) if plan.task == "marking" else ():
        n_words, n_essays = n_words + len(essay.text.split()), n_essays + 1
    return Fitting(tuple(map(len, chains)), n_words / n_essays if n_essays else 0.0)


def _judgments(plan: JobPlan, lengths: tuple[int, ...]) -> int:
    if not plan.annotators:
        return plan.judgments * sum(lengths)
    planned = batches_for(replace(plan, name=plan.name or plan.task), len(lengths))
    return sum(len(batch.people) * lengths[number] for batch in planned for number in batch.units)


def _seconds(tx: Tx, task: str, n_words: float) -> tuple[float, bool]:
    measured = progress.seconds_of_task(tx, task, most=MOST_LOOKED_AT)
    if len(measured) >= ENOUGH:
        return median(measured), True
    return (SECONDS_A_WORD * n_words if task == "marking" else SECONDS.get(task, SECONDS["error"])), False
