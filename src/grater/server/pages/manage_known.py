"""One unit whose answer a manager knows: practice that says what was expected, or hidden gold."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import UsageError
from grater.server.pages.manage_units import unit_view
from grater.server.visit import Visit, Visiting
from grater.store import units
from grater.study.crowd_gold import make_gold
from grater.tasks import TASKS

router = APIRouter()

LONGEST_REASON = 500
MET = "Somebody has met this unit as work already, or its answer is known: it stays as it is."


@router.post("/manage/units/{unit_id}/known")
def make_known(visit: Visiting, unit_id: str) -> Response:
    role: Literal["gold", "practice"] = "gold" if visit.text("role") == "gold" else "practice"
    reason = visit.text("reason")[:LONGEST_REASON]
    try:
        with visit.server.store.write() as tx:
            unit = units.the(tx, unit_id)
            item_id, accepted = unit.unit.items[0].item.item_id, accepted_by(visit, unit.job.task)
            actor = visit.person.person_id
            is_made = make_gold(tx, unit.job, item_id, accepted, reason=reason, role=role, actor=actor)
    except UsageError as error:
        return unit_view(visit, unit_id, problems=[str(error)])
    return visit.go(f"/manage/units/{unit_id}") if is_made else unit_view(visit, unit_id, problems=[MET])


def accepted_by(visit: Visit, task: str) -> list[str]:
    """The labels that are ticked, or the words of a task without a closed set."""
    if TASKS[task].labels:
        return visit.fields().get("accepted", [])
    return [word.strip() for word in visit.text("accepted").split(",") if word.strip()]
