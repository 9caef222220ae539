"""The essays of a study as an annotated corpus: marks that came with the files, marks made here, adjudicated marks.

Annotators who worked here go by their pseudonyms (or names), adjudicated work by `gold`.  A rater whose essay was
clean is still one of its annotators; an essay that was set aside is not counted as read.

What a system's suggestions did in a study: every marking with its condition, as a table and as an evaluation.

A marking in a job without suggestions is held against those that another job offers for the same essay, so that two
jobs on the same essays, one with and one without, can be compared.  People only: programs are shown nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import cast

import polars as pl

from grater.annotate import content, jobs, units
from grater.annotate.jobs import Job
from grater.annotate.store import Tx, adjudications, judgments, people
from grater.annotate.store.judgments import PEOPLE
from grater.annotate.tasks.marking import SET_ASIDE, SUGGESTIONS, TASK, edits_of, suggestions_of
from grater.annotate.tasks.task import Answer
from grater.errors import UsageError
from grater.measure.evaluation.offered import MarkedOnce, SuggestionEffect, suggestion_effect
from grater.model import ADJUDICATED, GOLD, PROGRAM, ROLES, Edit, Essay, Json, Suggestion

MARKING = TASK.name


def marked_essays(tx: Tx, *, job_names: Collection[str] = (), names: bool = False) -> Iterator[Essay]:
    """Every essay with the marks of its file and those of all jobs, or of the named ones.

    The same person in two jobs keeps two names.  Programs and adjudicated decisions have their role in the metadata
    (`grater.model.as_annotated` leaves them out).
    """
    persons = {person.person_id: person for person in people.all(tx)}
    chosen = {job.job_id: job for job in _marking_jobs(tx) if not job_names or job.name in job_names}
    marks: dict[str, dict[str, tuple[Edit, ...]]] = defaultdict(dict)
    roles: dict[str, dict[str, Json]] = defaultdict(dict)
    for job in chosen.values():
        for row, answers in judgments.by_submission(tx, job.job_id):
            essay_id, person = _essay_id(tx, row.unit_id), persons[row.person_id]
            name = _note(marks, essay_id, person.name if names else person.pseudonym, job.name, answers)
            if person.kind == PROGRAM:
                roles[essay_id][name] = PROGRAM
    for each in adjudications.all(tx):
        if (job_id := units.get(tx, each.unit_id).job.job_id) in chosen:
            essay_id = _essay_id(tx, each.unit_id)
            name = _note(marks, essay_id, GOLD, chosen[job_id].name, each.answers)
            if name != GOLD:
                roles[essay_id][name] = ADJUDICATED
    for essay in content.all_essays(tx):
        here, told = marks.get(essay.essay_id, {}), roles.get(essay.essay_id)
        edits = tuple(edit for marks_of_one in here.values() for edit in marks_of_one)
        metadata = {**essay.metadata, ROLES: told} if told else essay.metadata
        yield replace(essay, edits=essay.edits + edits, annotators=essay.annotators + tuple(here), metadata=metadata)


def marked_in(tx: Tx, job_id: str, *, names: bool = False) -> list[Essay]:
    """The essays of one job with what people marked in it, and nothing else."""
    said = [row for row in judgments.table(tx, job_id, names=names) if row["group"] in PEOPLE]
    places = content.items_of(tx, [str(row["item"]) for row in said])
    by_essay: dict[str, dict[str, tuple[Edit, ...]]] = defaultdict(dict)
    for row in said:
        place = places[str(row["item"])].item
        answer = Answer(str(row["item"]), str(row["label"]), payload=cast("Mapping[str, Json]", row["payload"]))
        if place is not None:
            _note(by_essay, place.essay_id, str(row["rater"]), str(row["job"]), (answer,))
    return [
        replace(essay, edits=tuple(edit for edits in by_rater.values() for edit in edits), annotators=tuple(by_rater))
        for essay in content.essays_of(tx, list(by_essay))
        for by_rater in [by_essay[essay.essay_id]]
    ]


def _note(
    by_essay: dict[str, dict[str, tuple[Edit, ...]]], essay_id: str, rater: str, job: str, answers: tuple[Answer, ...]
) -> str:
    """Add somebody's marks; return the name under which they stand."""
    name = rater if rater not in by_essay[essay_id] else f"{rater} ({job})"
    for answer in answers:
        if answer.label != SET_ASIDE and "edits" in answer.payload:  # judgments from elsewhere may be labels alone
            by_essay[essay_id][name] = edits_of(answer, rater=name)
    return name


def _essay_id(tx: Tx, unit_id: str) -> str:
    return units.get(tx, unit_id).unit.essay.essay_id


COLUMNS = ("job", "essay", "rater", "system", "shown", "start", "end", "tag", "suggestion", "fate")


def study_suggestions(tx: Tx, *, job_names: Collection[str] = ()) -> SuggestionEffect:
    """With and without, over the marking jobs of a study, or those that are named."""
    chosen = [job for job in _marking_jobs(tx) if not job_names or job.name in job_names]
    missing = sorted(set(job_names) - {job.name for job in chosen})
    if missing:
        raise UsageError(f"expected marking jobs of this study, found {', '.join(missing)}")
    # What is suggested for each essay, by whichever job offers it first.
    offered: dict[str, tuple[Suggestion, ...]] = {}
    for job in _marking_jobs(tx):
        if SUGGESTIONS in job.options:
            for unit_id in units.ids_of_job(tx, job.job_id):
                unit = units.get(tx, unit_id).unit
                offered.setdefault(unit.essay.essay_id, suggestions_of(unit))
    markings = [marking for job in chosen for marking in _markings(tx, job, offered)]
    return suggestion_effect(markings)


def has_suggestions(tx: Tx) -> bool:
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
        if answer.label == SET_ASIDE or unit.essay.essay_id not in offered or person.kind == PROGRAM:
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


def _marking_jobs(tx: Tx) -> list[Job]:
    return [job for job in jobs.all(tx) if job.task == TASK.name]
