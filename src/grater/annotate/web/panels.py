"""Panels that send raters: the way in and out for raters, and the panels of a job for managers.

A rater comes by `/p/PANEL?PROLIFIC_PID=...`, or by an open link, and leaves with a code.  Looking at the link changes
nothing; the button does.  A second browser with the same id is asked for the return code that the first one got, also
before it sees a completion code: an id in a link is not a password.  The number of attempts from one address is
limited.  Managers give out links, sign them, take places back and so reopen them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

from pydantic import Field, StringConstraints
from starlette.responses import Response

from grater.annotate import credentials, jobs, panels, people
from grater.annotate.jobs import Job
from grater.annotate.panels import ENDINGS, LONGEST_ID, SIGNATURE, NewPanel, PanelPlace, PlaceEnd, id_from
from grater.annotate.requests import Body, example
from grater.annotate.store import Tx
from grater.annotate.store.transaction import new_id
from grater.annotate.terms import terms_of
from grater.annotate.web.account import address_of
from grater.annotate.web.calls import Shape, When, by_form, calls_about, list_at, page_at
from grater.annotate.web.context import (
    PLACE,
    PLACE_DAYS,
    SESSION,
    Changing,
    Context,
    Reading,
    RequestContext,
    Routes,
    read_cookie,
    set_cookie,
)
from grater.annotate.web.rendering import PROVIDER_WORDS
from grater.annotate.web.security import ANYBODY, MANAGERS, WORKER
from grater.errors import Forbidden, UsageError

doors = Routes(ANYBODY)
pages = Routes(MANAGERS)

ASK_CODE = "Your ID has been used here before, in another browser. Enter the return code that was shown there."
WRONG_CODE = "Wrong return code. Continue in your first browser, or ask the people who run the study."
TOO_OFTEN = "Too many people are joining from your address. Wait a minute and try again."


@doors.get("/p/{panel_id}")
def door(context: Context, tx: Reading, panel_id: str) -> Response:
    parameters = dict(context.request.query_params)
    panel = panels.get(tx, panel_id)
    external_id, job = id_from(panel, parameters), jobs.get(tx, panel.job_id)
    place = panels.place_of(tx, panel_id, external_id) if external_id else None
    is_over = place is not None and place.state in ENDINGS
    ended = panels.way_out(tx, place) if place and is_over else None
    is_stranger = ended is not None and ended.state == "completed" and _stranger(tx, context, ended.person_id)
    if ended is not None and not is_stranger:
        return context.page("crowd_end.html", job=job, ended=ended)
    return _door(context, job, _carried(panel, parameters), problem=ASK_CODE if is_stranger else "")


def _carried(panel: panels.Panel, sent: Mapping[str, str]) -> dict[str, str]:
    """The rater's data in the link."""
    names = (panel.provider.id_parameter, *panel.provider.also, SIGNATURE) if panel.provider.id_parameter else ()
    return {name: sent[name][:LONGEST_ID] for name in names if sent.get(name)}


def _door(
    context: RequestContext, job: Job, carried: Mapping[str, str], *, problem: str = "", status: int = 200
) -> Response:
    shown = {"job": job, "carried": carried, "problem": problem, "asks_code": problem in (ASK_CODE, WRONG_CODE)}
    return context.page("crowd_door.html", shown, status=status)


@doors.post("/p/{panel_id}")
def enter(context: Context, panel_id: str) -> Response:
    settings = context.server.settings
    with context.server.store.read() as tx:
        panel = panels.get(tx, panel_id)
        job, name = jobs.get(tx, panel.job_id), panel.provider.id_parameter
        if not name and context.visitor is not None:  # somebody who came by this open link, in the same browser
            own = panels.place_in_job(tx, panel.job_id, context.visitor.person_id)
            if own is not None and own.panel_id == panel_id:
                return context.go(f"/jobs/{panel.job_id}")
        carried = _carried(panel, context.first_values())
        if not context.server.logins.take(f"panel {panel_id} {context.address}"):
            return _door(context, job, carried, problem=TOO_OFTEN, status=429)
        external_id = id_from(panel, carried) or f"guest-{new_id()}"
        person_id = panels.known_person(tx, panel.provider.name, external_id)
        problem = _stranger(tx, context, person_id) if person_id else ""
    if problem:
        return _door(context, job, carried, problem=problem, status=403)
    also = {name: value for name, value in carried.items() if name in panel.provider.also}
    with context.server.store.write() as tx:
        place = panels.enter(tx, panel_id, external_id, also=also, address=address_of(context))
        if place.state in ENDINGS:
            return context.page("crowd_end.html", job=job, ended=panels.way_out(tx, place))
        person, code = people.get(tx, place.person_id), panels.return_code(tx, place.person_id)
        if person.role != WORKER:  # an id in a link is not a password, so it opens no more than a rater's door
            raise Forbidden("log in with your name and password")
        credentials.end_session(tx, context.session_token)
        hours, address = settings.session_hours, address_of(context)
        token, _ = credentials.start_session(tx, person.person_id, hours=hours, address=address)
    response = context.go(f"/jobs/{panel.job_id}")
    set_cookie(response, settings, SESSION, token, int(hours * 3600))
    set_cookie(response, settings, f"{PLACE}-{person.person_id}", code, PLACE_DAYS * 86_400)
    return response


def _stranger(tx: Tx, context: RequestContext, person_id: str) -> str:
    """The message for a browser other than the one in which this rater came; empty if all is well."""
    is_here = context.visitor is not None and context.visitor.person_id == person_id
    if is_here or people.get(tx, person_id).role != WORKER:
        return ""
    sent = context.text("return_code")
    kept = read_cookie(context.request, context.server.settings, f"{PLACE}-{person_id}")
    if panels.is_same_browser(tx, person_id, sent or kept):
        return ""
    return WRONG_CODE if sent else ASK_CODE


@pages.post("/manage/panels/{panel_id}/links")
def signed_links_form(context: Context, panel_id: str) -> Response:
    sent = SignedIds.checked(ids=context.text("ids").split())
    with context.server.store.read() as tx:
        panel = panels.get(tx, panel_id)
    return _page(context, panel.job_id, signed={panel_id: _signed(context, panel, sent)})


@pages.post("/manage/panels/{panel_id}/places")
def set_place(context: Context, tx: Changing, panel_id: str) -> Response:
    job_id = panels.end_place(tx, panel_id, context.sent(PlaceEnd), actor=context.person_id)
    return context.go(f"/manage/jobs/{job_id}/panels")


@page_at(pages, "/manage/jobs/{job_id}/panels")
def _page(
    context: RequestContext, tx: Reading, job_id: str, *, signed: Mapping[str, Mapping[str, str]] | None = None
) -> Response:
    job = jobs.get(tx, job_id)
    rows = [(panel, panels.places(tx, panel.panel_id)) for panel in panels.of_job(tx, job_id)]
    shown = {"job": job, "providers": PROVIDER_WORDS, "endings": ENDINGS, "limit": terms_of(job.options).limit}
    links = {panel.panel_id: context.server.settings.link(panel.path) for panel, _ in rows}
    shown |= {"rows": rows, "links": links, "signed": signed or {}}
    return context.page("crowd_panels.html", shown)


def _panel_wanted(context: RequestContext) -> NewPanel:
    by_ending = {
        part: {name: text for name in ENDINGS if (text := context.text(f"{prefix}-{name}"))}
        for part, prefix in (("codes", "code"), ("addresses", "address"))
    }
    return context.sent(NewPanel, **by_ending)


api = calls_about("panels", MANAGERS)


class Place(Shape):
    """A rater by the panel's own `id`; `return_code` lets them go on in another browser."""

    id: str = Field(validation_alias="external_id")
    person_id: str
    state: str
    joined_at: When
    ended_at: When | None
    return_code: str


class Panel(Shape):
    """`link` is the address to give to the panel, with the place where it puts its id, and where the signature goes.

    `warning` states the risk of unsigned IDs.  Only the answer to a new panel has the `secret`.
    """

    panel_id: str
    provider: str
    state: str
    wanted: int
    minutes: int
    per_address: int
    warning: str
    link: str
    secret: str = ""
    places: list[Place]


class SignedIds(Body):
    model_config = example(ids=["5f1b", "5f1c"])
    ids: list[Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_ID)]] = Field(
        min_length=1, max_length=10_000
    )


class SignedLinks(Shape):
    """The link of each ID."""

    links: dict[str, str]


@list_at(api, "/jobs/{job_id}/panels", "panels")
def panel_list(context: Context, tx: Reading, job_id: str) -> list[Panel]:
    """The panels of a job, with their links and participants."""
    jobs.get(tx, job_id)
    rows = [(panel, panels.places(tx, panel.panel_id)) for panel in panels.of_job(tx, job_id)]
    return [_panel(context, panel, places) for panel, places in rows]


@by_form(
    pages, "/manage/jobs/{job_id}/panels", sent=_panel_wanted, then="/manage/jobs/{job_id}/panels", refused=_page
)
@api.post("/jobs/{job_id}/panels")
def new_panel(context: Context, tx: Changing, job_id: str, sent: NewPanel) -> Panel:
    """Add a panel: raters join by a signed link and leave with a code."""
    made = panels.add(tx, job_id, sent, actor=context.person_id)
    return _panel(context, made, [], secret=made.secret)


@api.post("/panels/{panel_id}/links")
def signed_links(context: Context, tx: Reading, panel_id: str, sent: SignedIds) -> SignedLinks:
    """Sign a link for each ID of a panel whose links are signed; nothing is stored."""
    return SignedLinks(links=_signed(context, panels.get(tx, panel_id), sent))


@api.post("/panels/{panel_id}/places", status_code=204)
def place_given_back(context: Context, tx: Changing, panel_id: str, sent: PlaceEnd) -> None:
    """End a participant's place: returned, timed out, or completed."""
    panels.end_place(tx, panel_id, sent, actor=context.person_id)


def _signed(context: RequestContext, panel: panels.Panel, sent: SignedIds) -> dict[str, str]:
    if not panel.secret:
        raise UsageError("links of this panel are not signed; make one whose links are")
    return {each: context.server.settings.link(panel.path_of(each)) for each in sent.ids}


def _panel(context: RequestContext, panel: panels.Panel, places: list[PanelPlace], *, secret: str = "") -> Panel:
    own = {"provider": panel.provider.name, "wanted": panel.places, "warning": panel.warning}
    link = context.server.settings.link(panel.path)
    return Panel.model_validate({**asdict(panel), **own, "link": link, "secret": secret, "places": places})
