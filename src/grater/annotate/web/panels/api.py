"""The panels of a job through the API: links to give out, codes to give back, places that reopen."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from grater.annotate.panels import Ending
from grater.annotate.store import jobs, panels
from grater.annotate.store.panels import PanelPlace, StudyPanel
from grater.annotate.study.panels import add_panel, door_path, end_place
from grater.annotate.web.calls import Body, Shape, When, at_most, calls_about, example, within
from grater.annotate.web.context import Context, RequestContext

router = calls_about("panels")

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


@router.get("/jobs/{job_id}/panels")
def panel_list(context: Context, job_id: str) -> Panels:
    """The panels of a job, with their links and participants."""
    with context.server.store.read() as tx:
        jobs.get(tx, job_id)
        rows = [(panel, panels.places(tx, panel.panel_id)) for panel in panels.of_job(tx, job_id)]
    return Panels(panels=[_told(context, panel, places) for panel, places in rows])


@router.post("/jobs/{job_id}/panels")
def new_panel(context: Context, job_id: str, sent: NewPanel) -> Panel:
    """Add a panel: raters join by a link and leave with a code."""
    options = sent.model_dump(exclude={"provider"})
    with context.changing() as tx:
        made = add_panel(tx, job_id, sent.provider, options=options, actor=context.person.person_id)
    return _told(context, made, [])


@router.post("/panels/{panel_id}/places")
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
