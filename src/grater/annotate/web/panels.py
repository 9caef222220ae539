"""Panels that send raters: the way in and out for raters, and the panels of a job for managers.

A rater comes by `/p/PANEL?PROLIFIC_PID=...`, or by an open link, and leaves with a code.  Looking at the link changes
nothing; the button does.  A rater who has ended gets the code again and no session.  A second browser with the same
id is asked for the return code that the first one got: an id in a link is no password.  The number of attempts from
one address is limited.  Managers give out links, take places back and so reopen them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import APIRouter
from pydantic import Field, StringConstraints
from starlette.responses import Response

from grater.annotate import jobs, panels, people
from grater.annotate.jobs import Job
from grater.annotate.panels import (
    ENDINGS,
    OVER,
    SIGNATURE,
    Ending,
    PanelPlace,
    StudyPanel,
    add_panel,
    door_path,
    end_place,
    id_from,
    is_same_browser,
    known_person,
    return_code,
)
from grater.annotate.panels import enter as enter_panel
from grater.annotate.store import Tx
from grater.annotate.store.ids import new_id
from grater.annotate.terms import terms_of
from grater.annotate.web.account import begin_session
from grater.annotate.web.calls import Body, Shape, When, at_most, calls_about, example, within
from grater.annotate.web.context import Context, RequestContext, number_of, read_return_code, set_return_code
from grater.annotate.web.rendering import PROVIDER_WORDS
from grater.annotate.web.roles import WORKER
from grater.errors import Forbidden, UsageError
from grater.model import Json

pages = APIRouter()

ASK_CODE = "Your ID has been used here before, in another browser. Enter the return code that was shown there."
WRONG_CODE = "Wrong return code. Continue in your first browser, or ask the people who run the study."
TOO_OFTEN = "Too many people are joining from your address. Wait a minute and try again."
LONGEST_PARAMETER = 200


@pages.get("/p/{panel_id}")
def door(context: Context, panel_id: str) -> Response:
    parameters = dict(context.request.query_params)
    with context.server.store.read() as tx:
        panel = panels.get(tx, panel_id)
        external_id = _id(panel, parameters)
        known = panels.place_of(tx, panel_id, external_id) if external_id else None
        place = panels.way_out(tx, known) if known else None
        job = jobs.get(tx, panel.job_id)
    if place is not None and place.state in OVER:
        return context.page("crowd_end.html", job=job, ended=place)
    carried = {name: parameters[name] for name in _names(panel) if name in parameters}
    return _door(context, job, carried)


def _door(
    context: RequestContext,
    job: Job,
    carried: Mapping[str, str],
    *,
    problem: str = "",
    asks_code: bool = False,
    status: int = 200,
) -> Response:
    shown = {"job": job, "carried": carried, "problem": problem, "asks_code": asks_code}
    return context.page("crowd_door.html", shown, status=status)


@pages.post("/p/{panel_id}")
def enter(context: Context, panel_id: str) -> Response:
    with context.server.store.read() as tx:
        panel = panels.get(tx, panel_id)
        job = jobs.get(tx, panel.job_id)
        is_here = _is_here(tx, context, panel)
    if is_here:
        return context.go(f"/jobs/{panel.job_id}")
    carried = {name: context.text(name)[:LONGEST_PARAMETER] for name in _names(panel) if context.text(name)}
    if not context.server.logins.take(f"panel {panel_id} {context.address}"):
        return _door(context, job, carried, problem=TOO_OFTEN, status=429)
    external_id = _id(panel, carried) or f"guest-{new_id()}"
    if (problem := _stranger(context, panel, external_id)) is not None:
        return _door(context, job, carried, problem=problem, asks_code=True, status=403)
    also = {name: value for name, value in carried.items() if name in panel.panel.provider.also}
    with context.server.store.write() as tx:
        place = enter_panel(tx, panel_id, external_id, also=also)
        person, code = people.get(tx, place.person_id), return_code(tx, place.person_id)
    if place.state in OVER:
        return context.go(f"/p/{panel_id}?{urlencode(carried)}")
    if person.role != WORKER:  # an id in a link is no password, so it opens no more than a rater's door
        raise Forbidden("log in with your name and password")
    response = begin_session(context, person, f"/jobs/{panel.job_id}")
    set_return_code(response, context.server.settings, person.person_id, code)
    return response


def _stranger(context: RequestContext, panel: StudyPanel, external_id: str) -> str | None:
    """What to say to a browser that is not the one in which somebody came with this id; None where all is well."""
    with context.server.store.read() as tx:
        person_id = known_person(tx, panel.panel.provider.name, external_id)
        is_here = context.visitor is not None and context.visitor.person_id == person_id
        if person_id is None or is_here or people.get(tx, person_id).role != WORKER:
            return None
        sent = context.text("return_code")
        kept = read_return_code(context.request, context.server.settings, person_id)
        if is_same_browser(tx, person_id, sent or kept):
            return None
    return WRONG_CODE if sent else ASK_CODE


def _is_here(tx: Tx, context: RequestContext, panel: StudyPanel) -> bool:
    """Whether somebody who came by this open link comes again in the same browser."""
    if panel.panel.provider.id_parameter or context.visitor is None:
        return False
    place = panels.place_in_job(tx, panel.job_id, context.visitor.person_id)
    return place is not None and place.panel_id == panel.panel_id


def _id(panel: StudyPanel, parameters: Mapping[str, str]) -> str:
    """The panel's id of the rater; none for an open link."""
    return id_from(panel.panel, parameters) if panel.panel.provider.id_parameter else ""


def _names(panel: StudyPanel) -> tuple[str, ...]:
    provider = panel.panel.provider
    return (provider.id_parameter, *provider.also, SIGNATURE) if provider.id_parameter else ()


@pages.get("/manage/jobs/{job_id}/panels")
def panels_page(context: Context, job_id: str) -> Response:
    return _page(context, job_id, problems=[])


@pages.post("/manage/jobs/{job_id}/panels")
def new_panel_form(context: Context, job_id: str) -> Response:
    codes: dict[str, Json] = {name: context.text(f"code-{name}") for name in ENDINGS}
    addresses: dict[str, Json] = {name: context.text(f"address-{name}") for name in ENDINGS}
    options: dict[str, Json] = {
        "codes": {name: code for name, code in codes.items() if code},
        "addresses": {name: address for name, address in addresses.items() if address},
        "secret": context.text("secret"),
        "places": number_of(context, "places", 0),
        "minutes": number_of(context, "minutes", 0),
    }
    try:
        with context.changing() as tx:
            add_panel(tx, job_id, context.text("provider"), options=options, actor=context.person.person_id)
    except UsageError as error:
        return _page(context, job_id, problems=[str(error)])
    return context.go(f"/manage/jobs/{job_id}/panels")


@pages.post("/manage/panels/{panel_id}/places")
def set_place(context: Context, panel_id: str) -> Response:
    """The panel says that a rater has returned their place; or the manager, that they are done."""
    with context.changing() as tx:
        job_id = end_place(tx, panel_id, context.text("id"), context.text("state"), actor=context.person.person_id)
    return context.go(f"/manage/jobs/{job_id}/panels")


def _page(context: RequestContext, job_id: str, *, problems: list[str]) -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        rows = [(panel, panels.places(tx, panel.panel_id)) for panel in panels.of_job(tx, job_id)]
    shown = {"job": job, "providers": PROVIDER_WORDS, "endings": ENDINGS, "limit": terms_of(job.options).limit}
    links = {panel.panel_id: context.server.settings.link(door_path(panel)) for panel, _ in rows}
    status = 422 if problems else 200
    return context.page("crowd_panels.html", shown, status=status, rows=rows, links=links, problems=problems)


api = calls_about("panels")

Words = Annotated[str, at_most("panel.text")]


class NewPanel(Body):
    """`codes` and return `addresses` by ending; with a `secret` links must be signed.

    `places` is how many raters are wanted, 0 for any number; `minutes` until a place times out, 0 for never.
    """

    model_config = example(provider="prolific", codes={"completed": "C0FFEE"}, places=20, minutes=60)
    provider: str
    codes: dict[Ending, Words] = Field(default_factory=dict)
    addresses: dict[Ending, Words] = Field(default_factory=dict)
    secret: Words = ""
    places: Annotated[int, within("panel.places")] = 0
    minutes: Annotated[int, within("panel.minutes")] = 0


class Place(Shape):
    """A rater by the panel's own `id`; `return_code` lets them go on in another browser."""

    id: str = Field(validation_alias="external_id")
    person_id: str
    state: str
    joined_at: When
    ended_at: When | None
    return_code: str


class Panel(Shape):
    """`link` is the address to give to the panel, with the place where it puts its id."""

    panel_id: str
    provider: str
    state: str
    wanted: int
    minutes: int
    link: str
    places: list[Place]


class Panels(Shape):
    panels: list[Panel]


class PlaceGivenBack(Body):
    model_config = example(id="5f1b", state="returned")
    id: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    state: Literal["returned", "timed-out", "completed"]


class PlaceState(Shape):
    id: str
    state: str


@api.get("/jobs/{job_id}/panels")
def panel_list(context: Context, job_id: str) -> Panels:
    """The panels of a job, with their links and participants."""
    with context.server.store.read() as tx:
        jobs.get(tx, job_id)
        rows = [(panel, panels.places(tx, panel.panel_id)) for panel in panels.of_job(tx, job_id)]
    return Panels(panels=[_told(context, panel, places) for panel, places in rows])


@api.post("/jobs/{job_id}/panels")
def new_panel(context: Context, job_id: str, sent: NewPanel) -> Panel:
    """Add a panel: raters join by a link and leave with a code."""
    options = sent.model_dump(exclude={"provider"})
    with context.changing() as tx:
        made = add_panel(tx, job_id, sent.provider, options=options, actor=context.person.person_id)
    return _told(context, made, [])


@api.post("/panels/{panel_id}/places")
def place_given_back(context: Context, panel_id: str, sent: PlaceGivenBack) -> PlaceState:
    """End a participant's place: returned, timed out, or completed."""
    with context.changing() as tx:
        end_place(tx, panel_id, sent.id, sent.state, actor=context.person.person_id)
    return PlaceState(id=sent.id, state=sent.state)


def _told(context: RequestContext, panel: StudyPanel, places: list[PanelPlace]) -> Panel:
    return Panel(
        panel_id=panel.panel_id,
        provider=panel.panel.provider.name,
        state=panel.state,
        wanted=panel.places,
        minutes=panel.minutes,
        link=context.server.settings.link(door_path(panel)),
        places=[Place.of(place) for place in places],
    )
