"""A running job at a glance: progress, agreement, precision and recall so far, cost, time left, trouble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from grater.agreement.summary import Agreement, Options, agreement
from grater.errors import GraterError
from grater.evaluate.cases import cases_of
from grater.evaluate.draws import Chance
from grater.evaluate.sampled import sampled
from grater.evaluate.standard import against
from grater.evaluate.truth import truth_of
from grater.model import Interval, Json
from grater.server.live import by_people
from grater.server.visit import Visiting
from grater.store import Tx, gold_states, jobs, judgments, messages, progress, reviews, trust
from grater.store.clock import HOUR, from_iso
from grater.store.jobs import Job
from grater.store.progress import Progress
from grater.study.corpus import TASK as MARKING
from grater.study.crowd_money import job_costs
from grater.study.crowd_protocol import protocol_sheet
from grater.study.reporting import sample_of
from grater.study.tables import redundancy_of, study_tables
from grater.tables import Judgments, Sample, Table
from grater.tasks import TASKS

router = APIRouter()

RESAMPLES = 200
"""Enough for a page that is looked at while people work; reports draw more."""
LATELY = 20
"""Judgments from which the pace is told."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Judgments an hour of late, and the hours that are left at that pace; None before there is a pace."""

    an_hour: float
    hours_left: float


@dataclass(frozen=True, slots=True)
class SystemLine:
    """One system so far, on so many judged items."""

    system: str
    n: int
    precision: Interval
    recall: Interval


@router.get("/manage/jobs/{job_id}/crowd")
def crowd_page(visit: Visiting, job_id: str) -> Response:
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        far = progress.of_job(tx, job_id)
        rows = judgments.table(tx, job_id, payload=False)
        sample, scores = scores_so_far(tx, job)
        shown = {
            "job": job,
            "far": far,
            "sample": sample,
            "scores": scores,
            "costs": job_costs(tx, job),
            "trouble": [each for each in gold_states.of_job(tx, job_id) if each.is_trouble],
            "standing": trust.of_job(tx, job_id),
            "reviews": reviews.of_job(tx, job_id),
            "unread": messages.unread(tx),
            "protocol": protocol_sheet(tx, job),
        }
    is_marking = job.task == MARKING  # all say that an essay is marked; where and how is another page
    found = None if is_marking else agreement_so_far(rows, name=job.name, first=redundancy_of([job]))
    pace = pace_of(far, [from_iso(str(row["at"])) for row in rows])
    return visit.page("crowd_live.html", shown, agreement=found, pace=pace)


def agreement_so_far(rows: Sequence[Mapping[str, Json]], *, name: str, first: int = 0) -> Agreement | None:
    """How far people agree on the labels; None where nothing can be compared yet."""
    said = by_people(rows, name=name, first=first)
    try:
        return agreement(said, Options(n_resamples=RESAMPLES, most_raters=0)) if len(said) else None
    except GraterError:
        return None


def scores_so_far(tx: Tx, job: Job) -> tuple[str, list[SystemLine]]:
    """Every system against the majority: for the whole corpus, where a sample of it is judged, which is named; else
    on the judged items."""
    tables = study_tables(tx, job.name, job_names=[job.name]) if TASKS[job.task].verdict else None
    if tables is None or tables.judgments is None or tables.decisions is None:
        return "", []
    sample = sample_of(tx, tables)
    try:
        if sample is not None:
            return sample.name, _estimated(tables.decisions, sample, tables.judgments)
        cases = cases_of(tables.decisions, tables.judgments, unknown="drop")
        found = against(cases, truth_of(cases, "majority"), chance=Chance(n_resamples=RESAMPLES))
        return "", [SystemLine(each.system, each.n, each["precision"], each["recall"]) for each in found]
    except GraterError:  # no judged item has a decision yet
        return "", []


def _estimated(decided: Table, sample: Sample, said: Judgments) -> list[SystemLine]:
    found = sampled(decided, sample, said)
    return [
        SystemLine(each.system, found.n_judged, each.scores.precision, each.scores.recall) for each in found.systems
    ]


def pace_of(far: Progress, times: list[int]) -> Pace | None:
    late = sorted(times)[-LATELY:]
    if len(late) < LATELY or late[-1] <= late[0]:
        return None
    an_hour = (len(late) - 1) * HOUR / (late[-1] - late[0])
    return Pace(an_hour, (far.wanted - far.valid) / an_hour)
