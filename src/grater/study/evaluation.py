"""TODO: what this chapter is."""

from __future__ import annotations

from dataclasses import dataclass

from grater.errors import GraterError
from grater.evaluate.cases import cases_of
from grater.evaluate.sampled import sampled
from grater.evaluate.standard import against
from grater.evaluate.truth import truth_of
from grater.model import Interval
from grater.statistics.bootstrap import Chance
from grater.store import Tx, decisions
from grater.store.jobs import Job
from grater.study.tables import StudyTables, study_tables
from grater.tables import Judgments, Sample, Table, items_hash
from grater.tasks import TASKS


def sample_of(tx: Tx, tables: StudyTables) -> Sample | None:
    """The latest sample of these items that somebody has begun to judge."""
    if tables.judgments is None or tables.decisions is None:
        return None
    items = items_hash(tables.decisions.frame["item"].cast(str).unique())
    judged = set(tables.judgments.frame["item"].cast(str).unique())
    for name in reversed(decisions.sample_names(tx)):
        sample = decisions.sample_named(tx, name)
        fits = sample.meta is not None and sample.meta.items == items
        if fits and not judged.isdisjoint(sample.frame["item"]):
            return sample
    return None


RESAMPLES = 200
"""Enough for a page that is looked at while people work; reports draw more."""


@dataclass(frozen=True, slots=True)
class SystemLine:
    """One system so far, on so many judged items."""

    system: str
    n: int
    precision: Interval
    recall: Interval


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
