"""A new job from what the study holds: a task, its units, how many judgments, for whom."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, Conflict, NotFound, UsageError
from grater.model import Json
from grater.server.numbers import decimal_of, number_of
from grater.server.problems import lines_of
from grater.server.visit import Visit, Visiting
from grater.store import decisions, essays, items, people, samples
from grater.study.drawing import of_sample
from grater.study.name_rules import LONGEST_NAME, require_name
from grater.study.planning import JobPlan, add_job
from grater.tasks import TASKS

router = APIRouter()

MOST_JUDGMENTS = 100
MOST_UNITS = 1_000_000
MINUTES_OF_A_MONTH = 43_200
RATERS = ("annotator", "worker", "adjudicator", "manager", "owner")


@router.get("/manage/jobs/new")
def new_job_page(visit: Visiting) -> Response:
    return _page(visit, problems=[])


@router.post("/manage/jobs")
def make_job(visit: Visiting) -> Response:
    try:
        store, plan, sample = visit.server.store, plan_of(visit), visit.text("sample")
        job = add_job(store, of_sample(store, plan, sample) if sample else plan, actor=visit.person.person_id)
    except (BadInput, Conflict, NotFound, UsageError) as error:
        return _page(visit, problems=lines_of(error))
    return visit.go(f"/manage/jobs/{job.job_id}")


def plan_of(visit: Visit) -> JobPlan:
    """The plan that a filled form asks for."""
    payload: dict[str, Json] = {"grey": True} if visit.text("grey") else {}
    tagset = visit.text("tagset")
    return JobPlan(
        name=require_name(visit.text("name")),
        task=visit.text("task"),
        title=visit.text("title")[:LONGEST_NAME],
        judgments=number_of(visit, "judgments", 1, most=MOST_JUDGMENTS),
        kind=visit.text("kind") or None,
        system=visit.text("system") or None,
        most=number_of(visit, "most", 0, least=0, most=MOST_UNITS) or None,
        annotators=tuple(visit.fields().get("annotators", ())),
        batch_size=number_of(visit, "batch_size", 0, least=0, most=MOST_UNITS),
        overlap_every=number_of(visit, "overlap_every", 0, least=0, most=MOST_UNITS),
        delay_days=decimal_of(visit, "delay_days", 3.0, most=365),
        lease_minutes=decimal_of(visit, "lease_minutes", 0.0, most=MINUTES_OF_A_MONTH) or None,
        payload={**payload, **({"tagset": tagset} if tagset else {})},
        seed=number_of(visit, "seed", 0, least=0, most=2**31),
        is_open=bool(visit.text("open")),
        is_fresh=bool(visit.text("fresh")),
    )


def _page(visit: Visit, *, problems: list[str]) -> Response:
    with visit.server.store.read() as tx:
        kinds = [kind for kind, _ in items.kinds(tx) if kind]
        shown = {
            "kinds": kinds,
            "systems": decisions.names(tx),
            "samples": samples.names(tx),
            "n_essays": essays.count(tx),
            "raters": [each for each in people.all(tx) if each.role in RATERS and each.state == "active"],
        }
    filled = {name: values[0] for name, values in visit.fields().items()}
    tasks = [TASKS[name] for name in TASKS]
    values = {**shown, "tasks": tasks, "filled": filled, "chosen": visit.fields().get("annotators", [])}
    return visit.page("manage_new_job.html", values, status=422 if problems else 200, problems=problems)
