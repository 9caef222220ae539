"""People and invitations: managers invite raters and look after them, owners give roles.

A manager makes a joint seat for two people; either of the two opens it from their own page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal

from pydantic import Field
from starlette.responses import Response

from grater.annotate import credentials, invitations, jobs, people, second_factor
from grater.annotate.credentials import NewPersonState, NewRole
from grater.annotate.invitations import NewInvitation, roles_to_give
from grater.annotate.people import NewSeat, Role
from grater.annotate.second_factor import NewSecondFactorRule
from grater.annotate.store import Tx, schema
from grater.annotate.web.account import begin_session
from grater.annotate.web.calls import Person, Shape, When, by_form, calls_about, list_at, page_at
from grater.annotate.web.context import Changing, ChangingOwners, Context, Reading, RequestContext, Routes, number_of
from grater.annotate.web.rendering import pager
from grater.annotate.web.security import EVERYBODY, MANAGERS, OWNERS

pages = Routes(MANAGERS)
of_owners = Routes(OWNERS)
for_everybody = Routes(EVERYBODY)
PAGE = "/manage/people"
ROWS = 50


class NewInvitations(NewInvitation):
    """Several at once, which only the page offers."""

    number: int = Field(1, ge=1, le=100)


@pages.post("/manage/invitations")
def invite_form(context: Context) -> Response:
    """New invitations; their links are shown this once, since only hashes are kept."""
    sent, who = context.sent(NewInvitations), {"own_role": context.role, "actor": context.person_id}
    with context.changing() as tx:
        tokens = [invitations.invite(tx, sent, **who) for _ in range(sent.number)]
    return people_view(context, links=[_link(context, token) for token in tokens], job_id=sent.job_id or "")


@page_at(pages, PAGE)
def people_view(context: RequestContext, tx: Reading, *, links: Sequence[str] = (), job_id: str = "") -> Response:
    """Everybody and every invitation, with links that are shown this once, or what went wrong."""
    q = context.request.query_params.get("q", "").strip()
    everybody = people.all(tx)
    wanted = [each for each in everybody if q.casefold() in f"{each.name} {each.pseudonym} {each.role}".casefold()]
    here = pager(len(wanted), number_of(context, "page", 1), size=ROWS)
    names = {person.person_id: person.name for person in everybody}
    behind = {
        person.person_id: [names[member] for member in people.members(tx, person.person_id)]
        for person in everybody
        if person.kind == "joint"
    }
    shown = {
        "everybody": everybody,
        "on_page": wanted[here.start : here.start + here.size],
        "pager": here,
        "q": q,
        "behind": behind,
        "waiting": [each for each in invitations.all(tx) if each.is_open],
        "all_jobs": [job for job in jobs.all(tx) if job.archived_at is None],
        "job_titles": {job.job_id: job.title for job in jobs.all(tx)},
        "for_job": jobs.find(tx, job_id) if job_id else None,
        "now": tx.now,
        "with_factor": second_factor.people_with_one(tx),
        "required": second_factor.required_roles(tx),
    }
    return context.page(
        "manage_people.html",
        shown,
        roles=roles_to_give(context.role),
        all_roles=schema.ROLES,
        factor_roles=second_factor.ROLES,
        may_rule=context.role in OWNERS,
        links=links,
    )


@for_everybody.post("/me/seats/{person_id}")
def sit_down(context: Context, person_id: str) -> Response:
    """A session as the seat; the person's own session ends with it."""
    with context.server.store.read() as tx:
        joint = people.require_member(tx, person_id, context.person_id)
    return begin_session(context, joint, "/jobs", member_id=context.person_id)


api = calls_about("people", MANAGERS)
api_of_owners = calls_about("people", OWNERS)


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
    """`link` is shown only once: the first to open it chooses a name and a password, and is in."""

    link: str


class SecondFactorRule(Shape):
    """`people` are the ids of those who have a second factor."""

    roles: list[Literal["owner", "manager"]]
    people: list[str]


@list_at(api, "/people", "people")
def everybody(tx: Reading, role: Role | None = None, name: str | None = None) -> list[Person]:
    """The people in the study, optionally by role or name."""
    everybody = people.all(tx)
    wanted = [person for person in everybody if role in (None, person.role) and name in (None, person.name)]
    return [Person.of(person) for person in wanted]


@list_at(api, "/invitations", "invitations")
def invitation_list(tx: Reading) -> list[Invitation]:
    """Every invitation and its state, without the links."""
    return [_invitation(tx, each) for each in invitations.all(tx)]


@api.post("/invitations")
def invite(context: Context, tx: Changing, sent: NewInvitation) -> Invited:
    """Create an invitation; the link is shown only once."""
    token = invitations.invite(tx, sent, own_role=context.role, actor=context.person_id)
    return _invited(context, tx, token)


@by_form(pages, "/manage/invitations/{invitation_id}/end", then=PAGE)
@api.post("/invitations/{invitation_id}/end")
def end_invitation(context: Context, tx: Changing, invitation_id: str) -> Invitation:
    """Revoke an unused invitation."""
    invitations.end(tx, invitation_id, actor=context.person_id)
    return _invitation(tx, invitations.get(tx, invitation_id))


@by_form(pages, "/manage/people/{person_id}/back", then=lambda context, made: people_view(context, links=[made.link]))
@api.post("/people/{person_id}/back")
def way_back(context: Context, tx: Changing, person_id: str) -> Invited:
    """Create a link for choosing a new password; earlier ones expire."""
    token = invitations.invite_back(tx, person_id, own_role=context.role, actor=context.person_id)
    return _invited(context, tx, token)


@by_form(pages, "/manage/seats", then=PAGE, refused=people_view)
@api.post("/seats")
def new_seat(context: Context, tx: Changing, sent: NewSeat) -> Person:
    """Create a joint seat: two people, one agreed judgment."""
    return Person.of(people.add_seat(tx, sent.members, name=sent.name, actor=context.person_id))


@by_form(of_owners, "/manage/people/{person_id}/role", then=PAGE)
@api_of_owners.post("/people/{person_id}/role")
def set_role(context: Context, tx: ChangingOwners, person_id: str, sent: NewRole) -> Person:
    """Change a person's role; their sessions end."""
    return Person.of(credentials.give_role(tx, person_id, sent.role, actor=context.person_id))


@api_of_owners.get("/second-factor")
def second_factor_rule(tx: Reading) -> SecondFactorRule:
    """The roles that need a second factor, and who has one."""
    shown = {"roles": second_factor.required_roles(tx), "people": sorted(second_factor.people_with_one(tx))}
    return SecondFactorRule.model_validate(shown)


@by_form(of_owners, "/manage/second-factor", then=PAGE)
@api_of_owners.post("/second-factor")
def require_second_factor(context: Context, tx: ChangingOwners, sent: NewSecondFactorRule) -> SecondFactorRule:
    """Require a second factor for these roles only."""
    second_factor.require_of(tx, sent.roles, actor=context.person_id)
    return second_factor_rule(tx)


@by_form(of_owners, "/manage/people/{person_id}/second-factor", then=PAGE)
@api_of_owners.post("/people/{person_id}/second-factor/reset")
def reset_second_factor(context: Context, tx: ChangingOwners, person_id: str) -> Person:
    """Reset a person's second factor; their sessions and tokens end."""
    return Person.of(second_factor.reset(tx, person_id, actor=context.person_id))


@by_form(of_owners, "/manage/people/{person_id}/state", then=PAGE)
@api_of_owners.post("/people/{person_id}/state")
def set_person_state(context: Context, tx: ChangingOwners, person_id: str, sent: NewPersonState) -> Person:
    """Remove a person's access, with their tokens and sessions, or restore it; their work stays."""
    return Person.of(credentials.set_state(tx, person_id, sent.state, actor=context.person_id))


def _invitation(tx: Tx, stored: invitations.Invitation) -> Invitation:
    return Invitation.model_validate({**asdict(stored), "state": stored.state_at(tx.now)})


def _invited(context: RequestContext, tx: Tx, token: str) -> Invited:
    made = _invitation(tx, invitations.by_token(tx, token))
    return Invited(**made.model_dump(), link=_link(context, token))


def _link(context: RequestContext, token: str) -> str:
    return context.server.settings.link(f"/join/{token}")
