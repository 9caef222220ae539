"""TODO: what this chapter is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from grater.agreement.edits import CorpusAgreement, edit_agreement
from grater.agreement.summary import Agreement, Options, agreement
from grater.errors import GraterError
from grater.evaluate.cases import cases_of
from grater.evaluate.sampled import sampled
from grater.evaluate.standard import against
from grater.evaluate.truth import truth_of
from grater.model import Essay, Interval, Json
from grater.statistics.bootstrap import Chance
from grater.store import Tx, decisions
from grater.store.jobs import Job
from grater.study.tables import StudyTables, study_tables
from grater.tables import Judgments, Sample, Table, equal_in_number, items_hash
from grater.tables.judgments import with_labels
from grater.tasks import TASKS
from grater.tasks.task import Task, merged_by


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


@dataclass(frozen=True, slots=True, eq=False)
class AgreementSoFar:
    """What can be said now: the agreement on labels, on verdicts, or why there is none yet."""

    labels: Agreement | None
    verdicts: Agreement | None
    reason: str


def live_agreement(rows: Sequence[Mapping[str, Json]], task: Task, *, name: str, first: int = 0) -> AgreementSoFar:
    """The agreement of people on the items of a job, by label and by verdict; programs are never mixed in."""
    verdict = task.verdict
    found = by_people(rows, name=name, first=first)
    judgments = with_labels(found, merged_by(task)) if merged_by(task) else found
    n_twice = judgments.frame.group_by("item").len().filter(pl.col("len") > 1).height if len(judgments) else 0
    if not n_twice:
        return AgreementSoFar(None, None, "No item has two judgments yet.")
    try:
        whole = agreement(judgments)
        return AgreementSoFar(whole, agreement(with_labels(judgments, verdict)) if verdict else None, "")
    except GraterError as error:
        return AgreementSoFar(None, None, str(error))


def live_marks(essays: Sequence[Essay]) -> tuple[CorpusAgreement | None, str]:
    """The agreement of annotators on where errors are, of what kind, how to mend them; or why there is none yet."""
    if not any(len(essay.annotators) > 1 for essay in essays):
        return None, "No essay has been marked by two annotators yet."
    try:
        return edit_agreement(essays), ""
    except GraterError as error:
        return None, str(error)


def by_people(rows: Sequence[Mapping[str, Json]], *, name: str, first: int = 0) -> Judgments:
    """What people said, of each item the `first` so many where that is asked; programs are never mixed in."""
    schema = {"item": pl.String, "rater": pl.String, "label": pl.String, "at": pl.String}
    said = [[row.get(column) for column in schema] for row in rows if row.get("kind") != "program"]
    found = Judgments(pl.DataFrame(said, schema, orient="row"), name)
    return equal_in_number(found, first)


def agreement_so_far(rows: Sequence[Mapping[str, Json]], *, name: str, first: int = 0) -> Agreement | None:
    """How far people agree on the labels; None where nothing can be compared yet."""
    said = by_people(rows, name=name, first=first)
    try:
        return agreement(said, Options(n_resamples=RESAMPLES, most_raters=0)) if len(said) else None
    except GraterError:
        return None
