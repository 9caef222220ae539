"""What a system's suggestions did in a study: every marking with its condition, as a table and as an evaluation.

A marking in a job without suggestions is held against those that another job offers for the same essay, so that two
jobs on the same essays, one with and one without, can be compared.  People only: programs are shown nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import cast

import polars as pl

from grater.annotate.store import Tx, jobs, judgments, people, units
from grater.annotate.store.jobs import Job
from grater.annotate.tasks.marking import SET_ASIDE, TASK, edits_of
from grater.annotate.tasks.suggestions import SUGGESTIONS, suggestions_of
from grater.annotate.tasks.task import Answer
from grater.errors import UsageError
from grater.measure.evaluation.offered import MarkedOnce, SuggestionEffect, suggestion_effect
from grater.model import Json, Suggestion
from grater.uncertainty.bootstrap import Chance

COLUMNS = ("job", "essay", "rater", "system", "shown", "start", "end", "tag", "suggestion", "fate")


def study_suggestions(tx: Tx, *, job_names: Collection[str] = (), chance: Chance | None = None) -> SuggestionEffect:
    """With and without, over the marking jobs of a study, or those that are named."""
    chosen = [job for job in _marking_jobs(tx) if not job_names or job.name in job_names]
    missing = sorted(set(job_names) - {job.name for job in chosen})
    if missing:
        raise UsageError(f"expected marking jobs of this study, found {', '.join(missing)}")
    offered = _offered(tx)
    markings = [marking for job in chosen for marking in _markings(tx, job, offered)]
    return suggestion_effect(markings, chance=chance)


def has_suggestions(tx: Tx) -> bool:
    """Whether any job of the study offers a system's marks."""
    return any(SUGGESTIONS in job.options for job in _marking_jobs(tx))


def suggestion_frame(tx: Tx, raters: Mapping[str, str]) -> pl.DataFrame:
    """One row per suggestion and annotator to whose marking it belongs; `fate` is empty where it was not shown."""
    rows = [row for job in _marking_jobs(tx) if SUGGESTIONS in job.options for row in _rows(tx, job, raters)]
    return pl.DataFrame({name: [row[name] for row in rows] for name in COLUMNS}, dict.fromkeys(COLUMNS, pl.String))


def _rows(tx: Tx, job: Job, raters: Mapping[str, str]) -> Iterator[dict[str, str]]:
    for row, (answer,) in judgments.by_submission(tx, job.job_id):
        unit, condition = units.get(tx, row.unit_id).unit, _condition(answer)
        fates = cast("list[str]", condition.get("fates") or [])
        for number, each in enumerate(suggestions_of(unit)):
            yield {
                "job": job.name,
                "essay": unit.essay.essay_id,
                "rater": raters[row.person_id],
                "system": str(condition.get("system", "")),
                "shown": "true" if condition.get("shown") else "false",
                "start": str(each.span.start),
                "end": str(each.span.end),
                "tag": each.tag,
                "suggestion": "|".join(each.replacements),
                "fate": fates[number] if fates else "",
            }


def _markings(tx: Tx, job: Job, offered: Mapping[str, tuple[Suggestion, ...]]) -> Iterator[MarkedOnce]:
    persons = {person.person_id: person for person in people.all(tx)}
    for row, (answer,) in judgments.by_submission(tx, job.job_id):
        unit, condition = units.get(tx, row.unit_id).unit, _condition(answer)
        person = persons[row.person_id]
        if answer.label == SET_ASIDE or unit.essay.essay_id not in offered or person.kind == "program":
            continue
        if "edits" not in answer.payload:
            continue  # a judgment from elsewhere may be a label alone
        yield MarkedOnce(
            essay=unit.essay,
            rater=person.pseudonym,
            edits=edits_of(answer, rater=person.pseudonym),
            suggestions=suggestions_of(unit) or offered[unit.essay.essay_id],
            is_shown=bool(condition.get("shown")),
            fates=tuple(cast("list[str]", condition.get("fates") or [])),
            seconds=row.seconds,
        )


def _condition(answer: Answer) -> Mapping[str, Json]:
    condition = answer.payload.get(SUGGESTIONS)
    return condition if isinstance(condition, Mapping) else {}


def _offered(tx: Tx) -> dict[str, tuple[Suggestion, ...]]:
    """What is suggested for each essay, by whichever job offers it first."""
    by_essay: dict[str, tuple[Suggestion, ...]] = {}
    for job in _marking_jobs(tx):
        if SUGGESTIONS in job.options:
            for unit_id in units.ids_of_job(tx, job.job_id):
                unit = units.get(tx, unit_id).unit
                by_essay.setdefault(unit.essay.essay_id, suggestions_of(unit))
    return by_essay


def _marking_jobs(tx: Tx) -> list[Job]:
    return [job for job in jobs.all(tx) if job.task == TASK.name]
