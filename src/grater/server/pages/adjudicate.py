"""Adjudication of items: what two or more raters said, side by side, and the answer that counts in the end.

Only finished units are shown, so nobody sees another's work before it is complete (P9).  The decision is given on the
task's own form, filled with what the raters agree on, and is stored under the annotator `gold`; the originals stay.
Essays have a page of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, GraterError, NotFound, Stale
from grater.model import Json
from grater.server.pages.adjudicate_essays import essay_decided, essay_page
from grater.server.pages.adjudicate_queue import AGAIN, MARKING, far_of, on_from, save
from grater.server.pages.leases import by_field
from grater.server.pages.manage_units import Sent, is_finished, sent_for
from grater.server.visit import Visit, Visiting
from grater.server.work import shown_to_staff
from grater.store import adjudications, units
from grater.store.units import StudyUnit
from grater.tasks import TASKS, Answer, Shown
from grater.tasks.form import CONFIDENCE, LABEL

router = APIRouter()


@router.get("/adjudicate/{unit_id}")
def unit_page(visit: Visiting, unit_id: str) -> Response:
    unit = loaded(visit, unit_id)[0]
    return essay_page(visit, unit) if unit.job.task == MARKING else _page(visit, unit_id, problems={})


@router.post("/adjudicate/{unit_id}")
def decide(visit: Visiting, unit_id: str) -> Response:
    unit, shown, _, _ = loaded(visit, unit_id)
    if unit.job.task == MARKING:
        return essay_decided(visit, unit)
    try:
        answers = TASKS[unit.job.task].read(unit.unit, visit.fields(), kept=shown.kept)
    except BadInput as error:
        return _page(visit, unit_id, problems=by_field(error, shown.fields), status=422)
    try:
        save(visit, unit_id, answers)
    except Stale as error:
        return _page(visit, unit_id, problems={"": [str(error), AGAIN]}, status=409)
    return on_from(visit, unit.job, unit_id)


def filled_by(
    unit: StudyUnit, shown: Shown, sent: Sequence[Sent], decided: Sequence[Answer]
) -> Mapping[str, Sequence[str]]:
    """The form as far as it is clear: the decision made before, else what all raters said alike."""
    if decided:
        return _decided_before(unit, shown, decided)
    bodies: list[Mapping[str, Json]] = [each.submission.body for each in sent if each.submission.status == "valid"]
    if not bodies or shown.kept:
        return {}
    names = [field.name for field in shown.fields]
    alike = {
        name: bodies[0].get(name) for name in names if all(body.get(name) == bodies[0].get(name) for body in bodies)
    }
    return {name: [str(value) for value in values] for name, values in alike.items() if isinstance(values, list)}


def _decided_before(unit: StudyUnit, shown: Shown, decided: Sequence[Answer]) -> dict[str, list[str]]:
    """The form that says the same as a decision."""
    form = _form_of(shown, decided)
    try:
        said = TASKS[unit.job.task].read(unit.unit, form, kept=shown.kept)
    except GraterError:  # imported decisions may be none that the form could give
        return {}
    return form if tuple(said) == tuple(decided) else {}  # a form that would say something else is worse than none


def _form_of(shown: Shown, decided: Sequence[Answer]) -> dict[str, list[str]]:
    """A field an item, or the label of the one item and what goes with it."""
    if len(decided) == len(shown.fields):
        return {field.name: [answer.label] for field, answer in zip(shown.fields, decided, strict=True)}
    answer = decided[0]
    form = {LABEL: [answer.label], CONFIDENCE: [answer.confidence], "flags": list(answer.flags)}
    asked = [field.name for field in shown.fields if answer.label in field.asked_for]
    return form | {name: [", ".join(answer.alternatives)] for name in asked}


def loaded(visit: Visit, unit_id: str) -> tuple[StudyUnit, Shown, list[Sent], adjudications.Adjudication | None]:
    """A finished unit with what its raters said, and the decision, if there is one."""
    with visit.server.store.read() as tx:
        unit = units.the(tx, unit_id)
        if unit.role != "work" or not is_finished(tx, unit_id):
            raise NotFound("there is no such unit to adjudicate, or its judgments are not complete yet")
        sent = [each for each in sent_for(tx, unit_id) if each.submission.status == "valid"]
        return unit, shown_to_staff(tx, unit_id), sent, adjudications.find(tx, unit_id)


def _page(visit: Visit, unit_id: str, *, problems: dict[str, list[str]], status: int = 200) -> Response:
    unit, shown, sent, decided = loaded(visit, unit_id)
    task = TASKS[unit.job.task]
    filled = visit.fields() if problems else filled_by(unit, shown, sent, decided.answers if decided else ())
    with visit.server.store.read() as tx:
        far = far_of(tx, unit.job, unit_id)
    values = {"unit": unit, "task": task, "shown": shown, "sent": sent, "decided": decided, "filled": filled}
    return visit.page("adjudicate_unit.html", values, status=status, problems=problems, far=far)
