"""Crowd jobs beside experts, and what each took: T,C&M 2013, Tables 4 and 5.

One row per job: how many of its raters match an expert, with the kappa that they reach (Table 4), and the judgments,
raters, hours and money that it took (Table 5).  A task that was judged with hidden gold and without is two jobs, so
two rows: control questions make fewer raters enough.  Experts are those of the same items.  Of an imported job
without times the hours are unknown, of one without pay the cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from grater.agreement.essays import known_essays
from grater.agreement.raters_needed import NeedOptions, Point, RatersNeeded, raters_needed, whole_words
from grater.errors import GraterError
from grater.report.document import Section
from grater.sheet import UNDEFINED, Sheet, count, counted, interval, number
from grater.tables import Judgments, Table

MATCHED = ("job", "items", "judgments per item", "experts' kappa", "raters needed", "kappa of these", "kappa of all")
TOOK = ("job", "items", "judgments", "raters", "hours", "cost", "per judgment")


MOST_RESAMPLES = 200
"""Enough for a table of many jobs; the curve of one job has more."""


@dataclass(frozen=True, slots=True, eq=False)
class CrowdJob:
    """One job of a crowd; `hours` is None and `cost` empty where nobody knows them."""

    name: str
    judgments: Judgments
    experts: Judgments | None = None
    hours: float | None = None
    cost: str = ""
    per_judgment: str = ""

    @property
    def n_items(self) -> int:
        return self.judgments.frame["item"].n_unique()


def crowds_section(
    crowds: Sequence[CrowdJob], *, places: Table | None = None, n_resamples: int, seed: int = 0
) -> Section | None:
    """The two tables; None where no job has both a crowd and experts."""
    options = NeedOptions(n_resamples=min(n_resamples, MOST_RESAMPLES), seed=seed)
    needed = [(job, _needed(job, places, options)) for job in crowds]
    matched = tuple(_matched(job, result) for job, result in needed if result is not None)
    if not matched:
        return None
    sheets = (
        Sheet(name="crowd-experts", title="How many raters match an expert", columns=MATCHED, rows=matched),
        Sheet(name="crowd-costs", title="Time and cost of each job", columns=TOOK, rows=tuple(map(_took, crowds))),
    )
    words = tuple(_words([(job, result) for job, result in needed if result is not None]))
    return Section(name="crowds", title="Crowds compared with experts", words=words, sheets=sheets)


def _needed(job: CrowdJob, places: Table | None, options: NeedOptions) -> RatersNeeded | None:
    if job.experts is None or job.experts.frame["rater"].n_unique() < 2:
        return None
    try:
        return raters_needed(job.judgments, job.experts, options, essays=known_essays(job.judgments, places))
    except GraterError:  # no item that both judged, or experts without a common one
        return None


def _matched(job: CrowdJob, needed: RatersNeeded) -> tuple[str, ...]:
    points = [point for point in needed.headline.points if isfinite(point.kappa.value)]
    enough = next((point for point in points if point.n_raters == needed.smallest.value), None)
    each = len(job.judgments) / max(job.n_items, 1)
    return (
        job.name,
        count(needed.n_items),
        number(each, digits=1),
        interval(needed.target.kappa),
        f"{enough.n_raters} ({whole_words(needed.smallest)})" if enough else _too_few(points),
        interval(enough.kappa) if enough else UNDEFINED,
        interval(points[-1].kappa) if points else UNDEFINED,
    )


def _too_few(points: Sequence[Point]) -> str:
    return f"more than {points[-1].n_raters}" if points else UNDEFINED


def _took(job: CrowdJob) -> tuple[str, ...]:
    n_raters = job.judgments.frame["rater"].n_unique()
    hours = "unknown" if job.hours is None else number(job.hours, digits=1)
    numbers = (count(job.n_items), count(len(job.judgments)), count(n_raters), hours)
    return (job.name, *numbers, job.cost or "unknown", job.per_judgment or "unknown")


def _words(needed: Sequence[tuple[CrowdJob, RatersNeeded]]) -> Iterator[str]:
    """How many jobs match their experts, in how many the data show it, and what is in doubt in the others."""
    reached = [(job, result) for job, result in needed if isfinite(result.smallest.value)]
    open_ended = [job.name for job, result in reached if not isfinite(result.smallest.high)]
    doubtful = [job.name for job, result in reached if result.is_target_in_doubt]
    n_shown = len(reached) - len({*open_ended, *doubtful})
    of_all = f"{len(reached)} of {counted(len(needed), 'crowd job')}"
    shown = "" if n_shown == len(reached) else f", but only in {n_shown} do the intervals bear it out"
    yield f"The majority of enough raters reaches the experts' kappa in {of_all}{shown}."
    if open_ended:
        yield f"More raters may be needed than were asked: {'; '.join(open_ended)}."
    if doubtful:
        yield f"The experts' own kappa cannot be told from 0, so matching it shows nothing: {'; '.join(doubtful)}."
    yield _scope([result for _, result in needed])


def _scope(results: Sequence[RatersNeeded]) -> str:
    """What the intervals of all jobs speak of: one sentence where they are of the same items."""
    sentences = sorted({result.scope.sentence for result in results})
    if len(sentences) == 1:
        return sentences[0]
    units = sorted({result.scope.unit for result in results})
    drawn = [f"{unit}s like those of its job" for unit in units]
    return f"95 % intervals in each row generalise to other {' or '.join(drawn)}, where these are known."
