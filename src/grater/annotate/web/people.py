"""People and invitations: managers invite raters and look after them, owners give roles.

A manager makes a joint seat for two people; either of the two opens it from their own page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from grater.annotate import jobs
from grater.annotate.store import Tx, credentials, invitations, people, schema
from grater.annotate.store.invitations import Invitation as Stored
from grater.annotate.study import people as study_people
from grater.annotate.study import second_factor
from grater.annotate.study.people import NewInvitation, give_role, invite_back, require_member, roles_to_give, seat
from grater.annotate.study.people import end_invitation as take_back
from grater.annotate.study.people import end_invitation as take_invitation_back
from grater.annotate.study.people import invite as make_invitation
from grater.annotate.study.second_factor import ROLES as FACTOR_ROLES
from grater.annotate.study.second_factor import require_of, required_roles
from grater.annotate.web.account import begin_session
from grater.annotate.web.calls import Body, Person, Shape, When, at_most, calls_about, example
from grater.annotate.web.context import Context, RequestContext
from grater.annotate.web.errors import lines_of
from grater.annotate.web.roles import OWNERS
from grater.errors import Conflict, UsageError

pages = APIRouter()


@pages.get("/manage/people")
def people_page(context: Context) -> Response:
    return people_view(context)


@pages.post("/manage/invitations")
def invite_form(context: Context) -> Response:
    """New invitations; their links are shown this once, since only hashes are kept."""
    sent = context.sent(NewInvitations)
    with context.changing() as tx:
        made = [
            make_invitation(tx, sent, own_role=context.role, actor=context.person.person_id)
            for _ in range(sent.number)
        ]
    links = [context.server.settings.link(f"/join/{token}") for token in made]
    return people_view(context, links=links, job_id=sent.job_id or "")


@pages.post("/manage/invitations/{invitation_id}/end")
def end_invitation_form(context: Context, invitation_id: str) -> Response:
    with context.changing() as tx:
        take_invitation_back(tx, invitation_id, actor=context.person.person_id)
    return context.go("/manage/people")


@pages.post("/manage/people/{person_id}/back")
def way_back_form(context: Context, person_id: str) -> Response:
    """A link for somebody whose password is lost; their work stays theirs."""
    with context.changing() as tx:
        token = invite_back(tx, person_id, own_role=context.role, actor=context.person.person_id)
    return people_view(context, links=[context.server.settings.link(f"/join/{token}")])


@pages.post("/manage/people/{person_id}/role")
def set_role_form(context: Context, person_id: str) -> Response:
    with context.changing(beside="owners") as tx:
        give_role(tx, person_id, context.text("role"), actor=context.person.person_id)
    return context.go("/manage/people")


@pages.post("/manage/people/{person_id}/state")
def set_person_state_form(context: Context, person_id: str) -> Response:
    """Shut somebody out of the study, or let them in again; their work stays."""
    with context.changing(beside="owners") as tx:
        study_people.set_state(tx, person_id, context.text("state"), actor=context.person.person_id)
    return context.go("/manage/people")


@pages.post("/manage/people/{person_id}/second-factor")
def reset_second_factor_form(context: Context, person_id: str) -> Response:
    """For somebody who lost their telephone and recovery codes."""
    with context.changing(beside="owners") as tx:
        second_factor.reset(tx, person_id, actor=context.person.person_id)
    return context.go("/manage/people")


@pages.post("/manage/second-factor")
def require_factor(context: Context) -> Response:
    with context.changing(beside="owners") as tx:
        require_of(tx, context.fields().get("roles", []), actor=context.person.person_id)
    return context.go("/manage/people")


def people_view(
    context: RequestContext, *, links: Sequence[str] = (), job_id: str = "", problems: Sequence[str] = ()
) -> Response:
    """Everybody and every invitation, with links that are shown this once, or what went wrong."""
    with context.server.store.read() as tx:
        everybody = people.all(tx)
        names = {person.person_id: person.name for person in everybody}
        behind = {
            person.person_id: [names[member] for member in people.members(tx, person.person_id)]
            for person in everybody
            if person.kind == "joint"
        }
        shown = {
            "everybody": everybody,
            "behind": behind,
            "waiting": [one for one in invitations.all(tx) if one.used_at is None and one.ended_at is None],
            "all_jobs": [job for job in jobs.all(tx) if job.archived_at is None],
            "job_titles": {job.job_id: job.title for job in jobs.all(tx)},
            "for_job": jobs.find(tx, job_id) if job_id else None,
            "now": tx.now,
            "with_factor": credentials.people_with_one(tx),
            "required": required_roles(tx),
        }
    fixed = {
        "roles": roles_to_give(context.role),
        "all_roles": schema.ROLES,
        "factor_roles": FACTOR_ROLES,
        "may_rule": context.role in OWNERS,
    }
    told = {"links": links, "problems": problems}
    return context.page("manage_people.html", {**shown, **fixed, **told}, status=422 if problems else 200)


@pages.post("/manage/seats")
def make_seat(context: Context) -> Response:
    try:
        with context.changing() as tx:
            pair = [people.get(tx, context.text(field)) for field in ("first", "second")]
            seat(tx, pair, name=context.text("name"), actor=context.person.person_id)
    except (Conflict, UsageError) as error:
        return people_view(context, problems=lines_of(error))
    return context.go("/manage/people")


@pages.post("/me/seats/{person_id}")
def sit_down(context: Context, person_id: str) -> Response:
    """A session as the seat; the person's own session ends with it."""
    with context.server.store.read() as tx:
        joint = require_member(tx, person_id, context.person.person_id)
    return begin_session(context, joint, "/jobs", member_id=context.person.person_id)


api = calls_about("people")

Role = Literal["owner", "manager", "adjudicator", "annotator", "worker"]


class People(Shape):
    people: list[Person]


class NewInvitations(NewInvitation):
    """Several at once."""

    number: int = Field(1, ge=1, le=100)


class Invitation(Shape):
    """`person_id` is who came in by it, or for whom it is the way back in."""

    invitation_id: str
    role: str
    job_id: str | None
    name: str
    made_at: When
    expires_at: When
    person_id: str | None
    state: Literal["waiting", "used", "ended", "expired"]


class Invited(Invitation):
    """`link` is told this once: whoever opens it first chooses a name and a password, and is in."""

    link: str


class Invitations(Shape):
    invitations: list[Invitation]


class NewSeat(Body):
    """`members` are the names of two people."""

    model_config = example(members=["Worker", "Annotator"], name="The pair")
    members: Annotated[list[str], Field(min_length=2, max_length=2)]
    name: Annotated[str, at_most("name")] = ""


class NewRole(Body):
    model_config = example(role="adjudicator")
    role: Role


class NewPersonState(Body):
    """`ended` shuts somebody out, `active` lets them in again."""

    model_config = example(state="ended")
    state: Literal["active", "ended"]


class NewSecondFactorRule(Body):
    model_config = example(roles=["manager"])
    roles: Annotated[list[Literal["owner", "manager"]], Field(max_length=2)]


class SecondFactorRule(Shape):
    """`people` are the ids of those who have a second factor."""

    roles: list[Literal["owner", "manager"]]
    people: list[str]


@api.get("/people")
def everybody(context: Context, role: Role | None = None, name: str | None = None) -> People:
    """The people in the study, optionally by role or name."""
    with context.server.store.read() as tx:
        everybody = people.all(tx)
    wanted = [person for person in everybody if role in (None, person.role) and name in (None, person.name)]
    return People(people=[Person.of(person) for person in wanted])


@api.get("/invitations")
def invitation_list(context: Context) -> Invitations:
    """Every invitation and its state, without the links."""
    with context.server.store.read() as tx:
        stored, now = invitations.all(tx), tx.now
    return Invitations(invitations=[_invitation(invitation, now) for invitation in stored])


@api.post("/invitations")
def invite(context: Context, sent: NewInvitation) -> Invited:
    """Create an invitation; the link is shown only once."""
    with context.changing() as tx:
        token = make_invitation(tx, sent, own_role=context.role, actor=context.person.person_id)
        return _invited(context, token, invitations.by_token(tx, token), tx.now)


@api.post("/invitations/{invitation_id}/end")
def end_invitation(context: Context, invitation_id: str) -> Invitation:
    """Revoke an unused invitation."""
    with context.changing() as tx:
        return _invitation(take_back(tx, invitation_id, actor=context.person.person_id), tx.now)


@api.post("/people/{person_id}/back")
def way_back(context: Context, person_id: str) -> Invited:
    """Create a link for choosing a new password; earlier ones expire."""
    with context.changing() as tx:
        token = invite_back(tx, person_id, own_role=context.role, actor=context.person.person_id)
        return _invited(context, token, invitations.by_token(tx, token), tx.now)


@api.post("/seats")
def new_seat(context: Context, sent: NewSeat) -> Person:
    """Create a joint seat: two people, one agreed judgment."""
    with context.changing() as tx:
        pair = [people.named(tx, name) for name in sent.members]
        return Person.of(seat(tx, pair, name=sent.name, actor=context.person.person_id))


@api.post("/people/{person_id}/role")
def set_role(context: Context, person_id: str, sent: NewRole) -> Person:
    """Change a person's role; their sessions end."""
    with context.changing(beside="owners") as tx:
        return Person.of(give_role(tx, person_id, sent.role, actor=context.person.person_id))


@api.get("/second-factor")
def second_factor_rule(context: Context) -> SecondFactorRule:
    """The roles that need a second factor, and who has one."""
    with context.server.store.read() as tx:
        return _factor_rule(tx)


@api.post("/second-factor")
def require_second_factor(context: Context, sent: NewSecondFactorRule) -> SecondFactorRule:
    """Require a second factor for these roles only."""
    with context.changing(beside="owners") as tx:
        require_of(tx, sent.roles, actor=context.person.person_id)
        return _factor_rule(tx)


@api.post("/people/{person_id}/second-factor/reset")
def reset_second_factor(context: Context, person_id: str) -> Person:
    """Reset a person's second factor; their sessions and tokens end."""
    with context.changing(beside="owners") as tx:
        second_factor.reset(tx, person_id, actor=context.person.person_id)
        return Person.of(people.get(tx, person_id))


def _factor_rule(tx: Tx) -> SecondFactorRule:
    with_one = sorted(credentials.people_with_one(tx))
    return SecondFactorRule.model_validate({"roles": list(required_roles(tx)), "people": with_one})


@api.post("/people/{person_id}/state")
def set_person_state(context: Context, person_id: str, sent: NewPersonState) -> Person:
    """Remove a person's access, with their tokens and sessions, or restore it; their work stays."""
    with context.changing(beside="owners") as tx:
        return Person.of(study_people.set_state(tx, person_id, sent.state, actor=context.person.person_id))


def _invited(context: RequestContext, token: str, made: Stored, now: int) -> Invited:
    return Invited(**_invitation(made, now).model_dump(), link=context.server.settings.link(f"/join/{token}"))


def _invitation(stored: Stored, now: int) -> Invitation:
    state = (
        "used"
        if stored.used_at
        else "ended"
        if stored.ended_at
        else "waiting"
        if stored.expires_at > now
        else "expired"
    )
    return Invitation.model_validate({**asdict(stored), "state": state})
