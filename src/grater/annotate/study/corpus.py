"""The essays of a study as an annotated corpus: marks that came with the files, marks made here, adjudicated marks.

Annotators who worked here go by their pseudonyms (or names), adjudicated work by `gold`.  A rater whose essay was
clean is still one of its annotators; an essay that was set aside is not counted as read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

from grater.annotate.store import Tx, adjudications, essays, items, jobs, judgments, people, units
from grater.annotate.tasks.marking import SET_ASIDE, edits_of
from grater.annotate.tasks.task import Answer
from grater.model import Edit, Essay, Json

TASK = "marking"


def marked_essays(tx: Tx, *, names: bool = False) -> Iterator[Essay]:
    """Every essay with everybody's marks; the same person in two jobs keeps two names."""
    marks = _marks(tx, names=names)
    for essay in essays.all(tx):
        here = marks.get(essay.essay_id, {})
        edits = tuple(edit for marks_of_one in here.values() for edit in marks_of_one)
        yield replace(essay, edits=essay.edits + edits, annotators=essay.annotators + tuple(here))


def marked_in(tx: Tx, job_id: str, *, names: bool = False) -> list[Essay]:
    """The essays of one job with what people marked in it, and nothing else."""
    said = [row for row in judgments.table(tx, job_id, names=names) if row["kind"] != "program"]
    places = items.of_ids(tx, [str(row["item"]) for row in said])
    by_essay: dict[str, dict[str, tuple[Edit, ...]]] = defaultdict(dict)
    for row in said:
        place = places[str(row["item"])].item
        answer = Answer(str(row["item"]), str(row["label"]), payload=cast("Mapping[str, Json]", row["payload"]))
        if place is not None:
            _note(by_essay, place.essay_id, str(row["rater"]), str(row["job"]), (answer,))
    return [
        replace(essay, edits=tuple(edit for edits in by_rater.values() for edit in edits), annotators=tuple(by_rater))
        for essay in essays.of_ids(tx, list(by_essay))
        for by_rater in [by_essay[essay.essay_id]]
    ]


def _marks(tx: Tx, *, names: bool) -> dict[str, dict[str, tuple[Edit, ...]]]:
    """Edits by essay and annotator."""
    raters = {person.person_id: person.name if names else person.pseudonym for person in people.all(tx)}
    by_essay: dict[str, dict[str, tuple[Edit, ...]]] = defaultdict(dict)
    for job in (job for job in jobs.all(tx) if job.task == TASK):
        for row, answers in judgments.by_submission(tx, job.job_id):
            _note(by_essay, _essay_id(tx, row.unit_id), raters[row.person_id], job.name, answers)
    for each in adjudications.all(tx):
        if units.get(tx, each.unit_id).job.task == TASK:
            job_name = units.get(tx, each.unit_id).job.name
            _note(by_essay, _essay_id(tx, each.unit_id), adjudications.ANNOTATOR, job_name, each.answers)
    return by_essay


def _note(
    by_essay: dict[str, dict[str, tuple[Edit, ...]]], essay_id: str, rater: str, job: str, answers: tuple[Answer, ...]
) -> None:
    name = rater if rater not in by_essay[essay_id] else f"{rater} ({job})"
    for answer in answers:
        if answer.label != SET_ASIDE and "edits" in answer.payload:  # judgments from elsewhere may be labels alone
            by_essay[essay_id][name] = edits_of(answer, rater=name)


def _essay_id(tx: Tx, unit_id: str) -> str:
    return units.get(tx, unit_id).unit.essay.essay_id
