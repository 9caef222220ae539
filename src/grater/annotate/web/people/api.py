"""People through the API: everybody, invitations, joint seats, roles."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

from pydantic import Field

from grater.annotate.store import Tx, credentials, invitations, people
from grater.annotate.store.invitations import Invitation as Stored
from grater.annotate.study.people import end_invitation as take_back
from grater.annotate.study.people import give_role, invite_back, seat, set_state
from grater.annotate.study.people import invite as make_invitation
from grater.annotate.study.second_factor import require_of, required_roles
from grater.annotate.study.second_factor import reset as reset_factor
from grater.annotate.web.calls import Body, Id, Person, Shape, When, at_most, calls_about, example, within
from grater.annotate.web.context import Context, RequestContext

router = calls_about("people")

Role = Literal["owner", "manager", "adjudicator", "annotator", "worker"]


class People(Shape):
    people: list[Person]


class NewInvitation(Body):
    """`name` is a note to yourself; with a `job_id` the person starts there."""

    model_config = example(role="annotator", days=14, name="Ann")
    role: Role
    job_id: Id | None = None
    days: Annotated[float, within("invitation.days")] = 14
    name: Annotated[str, at_most("name")] = ""


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


@router.get("/people")
def everybody(context: Context, role: Role | None = None, name: str | None = None) -> People:
    """The people in the study, optionally by role or name."""
    with context.server.store.read() as tx:
        everybody = people.all(tx)
    wanted = [person for person in everybody if role in (None, person.role) and name in (None, person.name)]
    return People(people=[Person.of(person) for person in wanted])


@router.get("/invitations")
def invitation_list(context: Context) -> Invitations:
    """Every invitation and its state, without the links."""
    with context.server.store.read() as tx:
        stored, now = invitations.all(tx), tx.now
    return Invitations(invitations=[_invitation(invitation, now) for invitation in stored])


@router.post("/invitations")
def invite(context: Context, sent: NewInvitation) -> Invited:
    """Create an invitation; the link is shown only once."""
    with context.changing() as tx:
        token = make_invitation(tx, **sent.model_dump(), own_role=context.role, actor=context.person.person_id)
        return _invited(context, token, invitations.by_token(tx, token), tx.now)


@router.post("/invitations/{invitation_id}/end")
def end_invitation(context: Context, invitation_id: str) -> Invitation:
    """Revoke an unused invitation."""
    with context.changing() as tx:
        return _invitation(take_back(tx, invitation_id, actor=context.person.person_id), tx.now)


@router.post("/people/{person_id}/back")
def way_back(context: Context, person_id: str) -> Invited:
    """Create a link for choosing a new password; earlier ones expire."""
    with context.changing() as tx:
        token = invite_back(tx, person_id, own_role=context.role, actor=context.person.person_id)
        return _invited(context, token, invitations.by_token(tx, token), tx.now)


@router.post("/seats")
def new_seat(context: Context, sent: NewSeat) -> Person:
    """Create a joint seat: two people, one agreed judgment."""
    with context.changing() as tx:
        pair = [people.named(tx, name) for name in sent.members]
        return Person.of(seat(tx, pair, name=sent.name, actor=context.person.person_id))


@router.post("/people/{person_id}/role")
def set_role(context: Context, person_id: str, sent: NewRole) -> Person:
    """Change a person's role; their sessions end."""
    with context.changing(beside="owners") as tx:
        return Person.of(give_role(tx, person_id, sent.role, actor=context.person.person_id))


@router.get("/second-factor")
def second_factor_rule(context: Context) -> SecondFactorRule:
    """The roles that need a second factor, and who has one."""
    with context.server.store.read() as tx:
        return _factor_rule(tx)


@router.post("/second-factor")
def require_second_factor(context: Context, sent: NewSecondFactorRule) -> SecondFactorRule:
    """Require a second factor for these roles only."""
    with context.changing(beside="owners") as tx:
        require_of(tx, sent.roles, actor=context.person.person_id)
        return _factor_rule(tx)


@router.post("/people/{person_id}/second-factor/reset")
def reset_second_factor(context: Context, person_id: str) -> Person:
    """Reset a person's second factor; their sessions and tokens end."""
    with context.changing(beside="owners") as tx:
        reset_factor(tx, person_id, actor=context.person.person_id)
        return Person.of(people.get(tx, person_id))


def _factor_rule(tx: Tx) -> SecondFactorRule:
    with_one = sorted(credentials.people_with_one(tx))
    return SecondFactorRule.model_validate({"roles": list(required_roles(tx)), "people": with_one})


@router.post("/people/{person_id}/state")
def set_person_state(context: Context, person_id: str, sent: NewPersonState) -> Person:
    """Remove a person's access, with their tokens and sessions, or restore it; their work stays."""
    with context.changing(beside="owners") as tx:
        return Person.of(set_state(tx, person_id, sent.state, actor=context.person.person_id))


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
