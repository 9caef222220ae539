"""The essays of a study as an annotated corpus: marks that came with the files, marks made here, adjudicated marks.

Annotators who worked here go by their pseudonyms (or names), adjudicated work by `gold`.  A rater whose essay was
clean is still one of its annotators; an essay that was set aside is not counted as read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from grater.model import Edit, Essay
from grater.store import Tx, adjudications, essays, jobs, judgments, people, units
from grater.tasks.marking import SET_ASIDE, edits_of
from grater.tasks.task import Answer

TASK = "marking"


def marked_essays(tx: Tx, *, names: bool = False) -> Iterator[Essay]:
    """Every essay with everybody's marks; the same person in two jobs keeps two names."""
    marks = _marks(tx, names=names)
    for essay in essays.all(tx):
        here = marks.get(essay.essay_id, {})
        edits = tuple(edit for found in here.values() for edit in found)
        yield replace(essay, edits=essay.edits + edits, annotators=essay.annotators + tuple(here))


def _marks(tx: Tx, *, names: bool) -> dict[str, dict[str, tuple[Edit, ...]]]:
    """Edits by essay and annotator."""
    raters = {person.person_id: person.name if names else person.pseudonym for person in people.all(tx)}
    found: dict[str, dict[str, tuple[Edit, ...]]] = defaultdict(dict)
    for job in (job for job in jobs.all(tx) if job.task == TASK):
        for row, answers in judgments.by_submission(tx, job.job_id):
            _note(found, _essay_id(tx, row.unit_id), raters[row.person_id], job.name, answers)
    for each in adjudications.all(tx):
        if units.the(tx, each.unit_id).job.task == TASK:
            job_name = units.the(tx, each.unit_id).job.name
            _note(found, _essay_id(tx, each.unit_id), adjudications.ANNOTATOR, job_name, each.answers)
    return found


def _note(
    found: dict[str, dict[str, tuple[Edit, ...]]], essay_id: str, rater: str, job: str, answers: tuple[Answer, ...]
) -> None:
    name = rater if rater not in found[essay_id] else f"{rater} ({job})"
    for answer in answers:
        if answer.label != SET_ASIDE:
            found[essay_id][name] = edits_of(answer, rater=name)


def _essay_id(tx: Tx, unit_id: str) -> str:
    return units.the(tx, unit_id).unit.essay.essay_id
