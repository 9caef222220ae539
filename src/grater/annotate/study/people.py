"""The people of a study: invitations, roles, passwords, tokens, sessions and joint seats.

Managers invite those who work; only owners make managers and owners.  A study always keeps an owner.

A joint seat is two people who give one agreed judgment, recorded as such (T&C 2008, section 6.2): a person of its own
without a password, which either of the two opens from their own page.  It may do what both of them may, and never
more than adjudicate: when one of them is demoted, so is the seat; when one is shut out, nobody sits there.

Access ends with its reason (P11): a new password, recovery, demotion, exclusion and the end of a seat end sessions
and tokens in the same transaction; demotion and exclusion also the links that the person made and nobody has used.
Whoever changes something is judged as they stand when it is stored, not as they stood when they asked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias

from pydantic import Field

from grater.annotate import content, jobs
from grater.annotate.requests import Body, example, require_name
from grater.annotate.store import Store, Tx, credentials, invitations, people, schema
from grater.annotate.store.invitations import Invitation, offer_password_reset, reset_password
from grater.annotate.store.people import Person, Role
from grater.annotate.study.limits import require_number, require_text
from grater.errors import Forbidden, NotFound, UsageError
from grater.registry import unknown

OWNER, MANAGER = "owner", "manager"
HIGHEST_OF_A_SEAT = "adjudicator"
STATES = ("active", "ended")


def roles_to_give(own_role: str) -> tuple[str, ...]:
    return tuple(role for role in schema.ROLES if own_role == OWNER or role not in (OWNER, MANAGER))


def require_may_give(own_role: str, role: str) -> None:
    people.require_role(role)
    if role not in roles_to_give(own_role):
        raise Forbidden("only an owner can invite managers and owners")


class NewInvitation(Body):
    """`name` is a note to yourself; with a `job_id` the person starts there."""

    model_config = example(role="annotator", days=14, name="Ann")
    role: Role
    job_id: str | None = Field(None, min_length=1, max_length=100)
    days: float = Field(14, gt=0, le=365)
    name: str = Field("", max_length=80)


def invite(tx: Tx, sent: NewInvitation, *, own_role: str = OWNER, actor: str | None = None) -> str:
    """The token of a new invitation; the link is the server's address with `/join/TOKEN` behind it."""
    require_may_give(own_role, sent.role)
    if sent.job_id is not None:
        jobs.get(tx, sent.job_id)
    return invitations.make(tx, role=sent.role, job_id=sent.job_id, days=sent.days, name=sent.name, actor=actor)


def invite_back(tx: Tx, person_id: str, *, own_role: str = OWNER, days: float = 14, actor: str | None = None) -> str:
    """The token of a link by which somebody of the study chooses a new password; earlier ones of theirs end.

    The person is locked first: the role that is judged here is the one that the link holds for.
    """
    require_may_give(own_role, people.lock(tx, person_id).role)
    return offer_password_reset(tx, person_id, days=days, actor=actor)


def end_invitation(tx: Tx, invitation_id: str, *, actor: str | None = None) -> Invitation:
    """Take an invitation back before it is used; one that was used stays so."""
    invitations.get(tx, invitation_id)
    invitations.end(tx, invitation_id, actor=actor)
    return invitations.get(tx, invitation_id)


def invite_first_owner(tx: Tx, *, days: float) -> str | None:
    """The token by which the first owner comes in; None once the study has an owner who can log in.

    Tokens that were made earlier and not used end.  Of two servers that start at once the second waits here.
    """
    content.hold(tx)
    if any(each.role == OWNER and each.password_hash and each.state == "active" for each in people.all(tx)):
        return None
    for invitation in invitations.all(tx):
        is_first = invitation.role == OWNER and invitation.person_id is None
        if is_first and invitation.used_at is None and invitation.ended_at is None:
            invitations.end(tx, invitation.invitation_id)
    return invitations.make(tx, role=OWNER, days=days, name="set-up")


def accept_invitation(tx: Tx, invitation: Invitation, token: str, *, name: str, password_hash: str) -> Person:
    """The person who comes in by an invitation, or comes back with a new password."""
    if invitation.person_id:
        return reset_password(tx, token, password_hash=password_hash)
    return invitations.accept(tx, token, name=require_name(name), password_hash=password_hash)


def set_password(tx: Tx, person: Person, password_hash: str) -> Person:
    """A new password for oneself, which ends every session and token of the person."""
    people.require_unchanged(tx, person)
    changed = people.set_password(tx, person.person_id, password_hash, actor=person.person_id)
    credentials.end_access(tx, person.person_id, actor=person.person_id)
    return changed


def start_session(
    tx: Tx, person: Person, *, hours: float, old_token: str = "", member_id: str | None = None, address: str = ""
) -> str:
    """The token of a new session for a person who has proved who they are; the session before, if any, ends.

    `member_id` is who sits down, where the person is a joint seat.
    """
    people.require_unchanged(tx, person)
    if old_token:
        credentials.end_session(tx, old_token)
    token, _ = credentials.start_session(tx, person.person_id, hours=hours, member_id=member_id, address=address)
    return token


Beside: TypeAlias = Literal["nobody", "owners", "everybody"]
ENDED = "your access ended a moment ago; log in again"


def require_access(
    tx: Tx, person_ids: Collection[str], *, session_token: str = "", bearer: str = "", beside: Beside = "nobody"
) -> None:
    """Refuse somebody whose session or token ended after their request was let in.

    Asked at the beginning of a change: with the people behind the request locked, whoever ends their access now
    waits, and then sees what was done.  A change of owners locks all of them first: of two who put each other down
    one is first, and the other has no say any more.
    """
    if beside == "owners":
        people.owners(tx)
    if beside == "everybody":
        people.lock_all(tx)
    for person_id in sorted(person_ids):
        people.lock(tx, person_id)
    is_in = credentials.find_session(tx, session_token) if session_token else credentials.find_token(tx, bearer)
    if is_in is None:
        raise Forbidden(ENDED)


def may_have_tokens(person: Person) -> bool:
    """Whether programs may act for a person: not for raters who came by a panel's link, whose id is no password."""
    return person.kind != "human" or bool(person.password_hash) or "panel" not in person.payload


def make_token(
    tx: Tx,
    person_id: str,
    *,
    name: str = "",
    days: float | None = None,
    scope: str = schema.SCOPES[-1],
    role: str | None = None,
    made_by: str | None = None,
    not_after: int | None = None,
    actor: str | None = None,
) -> str:
    """The secret of an API token, with which a program acts for somebody; the study keeps only its hash.

    It never has more than `role`, where one is named, and never lasts beyond `not_after`: a token that makes another
    passes on no more than it has.  `made_by` is the human whose exclusion ends it, the person unless somebody else
    is named.
    """
    if not may_have_tokens(people.get(tx, person_id)):
        raise Forbidden("raters who join through a panel cannot have tokens; invite them with a link of your own")
    require_text("name", name)
    days = credentials.TOKEN_DAYS if days is None else days
    require_number("token.days", days)
    if scope not in schema.SCOPES:
        raise UsageError(unknown("scope", scope[:20], list(schema.SCOPES)))
    return credentials.make_token(
        tx,
        person_id,
        name=name,
        days=days,
        scope=scope,
        role=role,
        made_by=made_by or person_id,
        not_after=not_after,
        actor=actor,
    )


def give_role(tx: Tx, person_id: str, role: str, *, actor: str) -> Person:
    """Give somebody another role; their sessions end, with a lower one their tokens too; the study keeps an owner."""
    require_another_owner(tx, person_id)
    before = people.get(tx, person_id)
    people.require_role(role)
    if before.kind == "joint":
        most = HIGHEST_OF_A_SEAT
        for member_id in people.members(tx, before.person_id):
            most = people.lower_role(most, people.get(tx, member_id).role)
        if people.lower_role(most, role) != role:
            raise Forbidden(
                f"a joint seat may do at most what both of its people may, up to adjudicating: {most} here"
            )
    person = people.set_role(tx, person_id, role, actor=actor)
    if people.lower_role(before.role, role) != before.role:
        # The seats of somebody who may do less from now on may do no more than that.
        for joint in people.seats(tx, person.person_id):
            lower = people.lower_role(joint.role, person.role)
            if lower != joint.role:
                people.set_role(tx, joint.person_id, lower, actor=actor)
                credentials.end_access(tx, joint.person_id, actor=actor)
        invitations.end_made_by(tx, person_id, actor=actor)
        credentials.end_access(tx, person_id, actor=actor)
    elif person_id != actor:
        credentials.end_all_sessions(tx, person_id)
    return person


def set_state(tx: Tx, person_id: str, state: str, *, actor: str) -> Person:
    """Shut somebody out (`ended`), with the seats that they share, or let them in again; the study keeps an owner."""
    if state not in STATES:
        raise UsageError(f"state: expected {' or '.join(STATES)}, found {state[:20]!r}")
    require_another_owner(tx, person_id)
    person = people.set_state(tx, person_id, "active" if state == "active" else "ended", actor=actor)
    if state != "active":
        invitations.end_made_by(tx, person_id, actor=actor)
        for each in (person_id, *(joint.person_id for joint in people.seats(tx, person_id))):
            credentials.end_access(tx, each, actor=actor)
    return person


def require_another_owner(tx: Tx, person_id: str) -> None:
    if people.owners(tx) == [person_id]:
        raise Forbidden("this is the only owner of the study; make somebody else an owner first")


def add_seat(store: Store, names: Sequence[str], *, name: str = "", actor: str | None = None) -> Person:
    with store.write() as tx:
        return seat(tx, [people.named(tx, each) for each in names], name=name, actor=actor)


def seat(tx: Tx, pair: Sequence[Person], *, name: str = "", actor: str | None = None) -> Person:
    """A joint seat for two people; its role is the lower of theirs, and never above adjudicator.

    Both are locked and looked up again: whoever demotes one of them now waits, and then demotes the seat too.
    """
    current = {person_id: people.lock(tx, person_id) for person_id in sorted({each.person_id for each in pair})}
    pair = [current[each.person_id] for each in pair]
    if any(each.kind != "human" for each in pair):
        raise UsageError("a joint seat is for two people; programs and other seats cannot sit on it")
    require_text("name", name)
    ranks = [schema.ROLES.index(each.role) for each in pair]
    role = schema.ROLES[max(schema.ROLES.index(HIGHEST_OF_A_SEAT), *ranks)] if ranks else HIGHEST_OF_A_SEAT
    full_name = name.strip() or " and ".join(each.name for each in pair)
    members = [each.person_id for each in pair]
    return people.add(tx, name=full_name, role=role, kind="joint", members=members, actor=actor)


def require_member(tx: Tx, seat_id: str, person_id: str) -> Person:
    """The seat, for one of its two people, both of them still in the study; to anybody else there is none."""
    joint = people.find(tx, seat_id)
    if joint is None or joint.state != "active" or person_id not in people.members(tx, seat_id):
        raise NotFound("there is no such joint seat, or it is not yours")
    if any(people.get(tx, member_id).state != "active" for member_id in people.members(tx, seat_id)):
        raise Forbidden("the other person on this joint seat has no access to the study")
    return joint
