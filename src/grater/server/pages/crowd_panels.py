"""The panels of a job: links to give out, codes to give back, places that reopen."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.crowd.panels import ENDINGS
from grater.errors import BadInput, NotFound, Problem, UsageError
from grater.model import Json
from grater.server.numbers import number_of
from grater.server.pages.crowd_panel import panel_link
from grater.server.visit import Visit, Visiting
from grater.store import Tx, jobs, panels
from grater.store.panels import KNOWN

router = APIRouter()

MOST = 1_000_000
LONGEST = 1000


@router.get("/manage/jobs/{job_id}/panels")
def panels_page(visit: Visiting, job_id: str) -> Response:
    return _page(visit, job_id, problems=[])


@router.post("/manage/jobs/{job_id}/panels")
def new_panel(visit: Visiting, job_id: str) -> Response:
    codes: dict[str, Json] = {name: visit.text(f"code-{name}")[:LONGEST] for name in ENDINGS}
    addresses: dict[str, Json] = {name: visit.text(f"address-{name}")[:LONGEST] for name in ENDINGS}
    options: dict[str, Json] = {
        "codes": {name: code for name, code in codes.items() if code},
        "addresses": {name: address for name, address in addresses.items() if address},
        "secret": visit.text("secret")[:LONGEST],
        "places": number_of(visit, "places", 0, least=0, most=MOST),
        "minutes": number_of(visit, "minutes", 0, least=0, most=MOST),
    }
    try:
        with visit.server.store.write() as tx:
            panels.add(tx, job_id, visit.text("provider"), options=options, actor=visit.person.person_id)
    except UsageError as error:
        return _page(visit, job_id, problems=[str(error)])
    return visit.go(f"/manage/jobs/{job_id}/panels")


@router.post("/manage/panels/{panel_id}/places")
def set_place(visit: Visiting, panel_id: str) -> Response:
    """The panel says that a rater has returned their place."""
    with visit.server.store.write() as tx:
        job_id = give_back(tx, panel_id, visit.text("id"), visit.text("state"), actor=visit.person.person_id)
    return visit.go(f"/manage/jobs/{job_id}/panels")


def give_back(tx: Tx, panel_id: str, external_id: str, state: str, *, actor: str) -> str:
    """Free a place that was returned or timed out at the panel; give the job."""
    if state not in panels.GIVEN_BACK:
        raise BadInput(Problem("form", f"state: expected {' or '.join(panels.GIVEN_BACK)}, found {state[:20]!r}"))
    panel, place = panels.the(tx, panel_id), panels.place_of(tx, panel_id, external_id)
    is_here = place is not None and place.state == "joined"
    if place is None or not is_here or not panels.set_state(tx, place, state, actor=actor):
        raise NotFound("nobody with this id is at work here")
    return panel.job_id


def _page(visit: Visit, job_id: str, *, problems: list[str]) -> Response:
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        found = [(each, panels.places(tx, each.panel_id)) for each in panels.of_job(tx, job_id)]
    shown = {"job": job, "providers": list(KNOWN), "endings": ENDINGS, "problems": problems}
    links = {each.panel_id: panel_link(visit, each) for each, _ in found}
    return visit.page("crowd_panels.html", shown, status=422 if problems else 200, found=found, links=links)
