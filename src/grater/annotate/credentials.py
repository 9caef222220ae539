"""Granting and ending people's access: passwords, browser sessions, API tokens, roles.

The store keeps only hashes of sessions and tokens; the secret itself is shown once, when it is created. Both expire.
A token also has a scope: `read` changes nothing, `work` takes and answers units and adjudicates, `manage` does
whatever its person may. A token's role is at most the role of its person when it was created, and at most their role
now.

Access ends as soon as its basis does (P11): a new password, recovery, demotion, exclusion and the end of a seat end
sessions and tokens in the same transaction. Demotion and exclusion also revoke the person's unused invitation links.
A study always keeps an owner.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field
from sqlalchemy import ColumnElement, or_, select

from grater.annotate import invitations, people
from grater.annotate.people import HIGHEST_OF_A_SEAT, Person, Role
from grater.annotate.requests import Body, example
from grater.annotate.store import events, schema
from grater.annotate.store.transaction import DAY, HOUR, Tx, hashed, new_id, new_secret
from grater.errors import Forbidden, NotFound

NO_TOKEN = "there is no such token"
TOKEN_DAYS = 90


def start_session(
    tx: Tx, person_id: str, *, hours: float, member_id: str | None = None, address: str = ""
) -> tuple[str, people.Session]:
    """Start a session; return the cookie's token, which is never shown again, and the session.

    `member_id` is the person using a joint seat; `address` is a keyed hash of the login's address.
    """
    token, session = new_secret(), people.Session(csrf=new_secret(), member_id=member_id)
    row = {"token_hash": hashed(token), "person_id": person_id, "address": address, "started_at": tx.now}
    times = {"expires_at": tx.now + int(hours * HOUR)}
    tx.insert(schema.sessions, people.SESSION_COLUMNS.row(session) | row | times)
    return token, session


def has_logged_in_from(tx: Tx, person_id: str, address: str) -> bool:
    theirs = (schema.sessions.c.person_id == person_id) & (schema.sessions.c.address == address)
    return tx.first(select(schema.sessions.c.person_id).where(theirs).limit(1)) is not None


def end_session(tx: Tx, token: str) -> None:
    _end_sessions(tx, schema.sessions.c.token_hash == hashed(token))


def end_all_sessions(tx: Tx, person_id: str) -> None:
    """End every session of a person, including those on joint seats."""
    _end_sessions(tx, or_(schema.sessions.c.person_id == person_id, schema.sessions.c.member_id == person_id))


def end_access(tx: Tx, person_id: str, *, actor: str | None = None) -> None:
    """End every session and token of a person, sessions on joint seats, and tokens that the person made for others.

    Everything that ends somebody's access calls this in its own transaction: a new password, recovery, demotion,
    exclusion, ejection, the end of a seat.
    """
    end_all_sessions(tx, person_id)
    _end_tokens(tx, or_(schema.tokens.c.person_id == person_id, schema.tokens.c.made_by == person_id), actor)


def may_have_tokens(person: Person) -> bool:
    """Whether programs may act for a person: not for raters from a panel, whose id is not a password."""
    return person.kind != "human" or bool(person.password_hash) or "panel" not in person.payload


Scope: TypeAlias = Literal["read", "work", "manage"]


class NewToken(Body):
    """`days` until it expires, 90 by default.

    `scope`: `read` changes nothing, `work` is for raters and adjudicators, `manage` allows everything that you may
    do.
    """

    model_config = example(name="nightly export", days=90, scope="manage")
    name: str = Field("", max_length=80)
    days: float | None = Field(None, gt=0, le=366)
    scope: Scope = "manage"


def make_token(
    tx: Tx,
    person_id: str,
    *,
    name: str = "",
    days: float | None = None,
    scope: str = "manage",
    role: str | None = None,
    made_by: str | None = None,
    not_after: int | None = None,
    actor: str | None = None,
) -> str:
    """Create an API token, with which a program acts for a person, and return its secret, which is never shown again.

    The token has at most `role`, if given, and expires by `not_after`, so a token cannot create one with more rights.
    `made_by` is the human whose exclusion ends it, by default the person.
    """
    secret, person = new_secret(), people.get(tx, person_id)
    if not may_have_tokens(person):
        raise Forbidden("raters who join through a panel cannot have tokens; invite them with a link of your own")
    expires_at = tx.now + int((days or TOKEN_DAYS) * DAY)
    token = people.Token(
        token_id=new_id(),
        person_id=person_id,
        name=name,
        scope=scope,
        role=people.lower_role(person.role, role or person.role),
        made_at=tx.now,
        made_by=made_by or person_id,
        expires_at=expires_at if not_after is None else min(expires_at, not_after),
        ended_at=None,
        used_at=None,
    )
    tx.insert(schema.tokens, people.TOKEN_COLUMNS.row(token) | {"token_hash": hashed(secret)})
    events.write(tx, actor or person_id, "token.made", token.token_id, {"person_id": person_id, "scope": scope})
    return secret


def token_by_secret(tx: Tx, secret: str) -> people.Token:
    """The token with this secret, in any state."""
    query = select(*people.TOKEN_COLUMNS).where(schema.tokens.c.token_hash == hashed(secret))
    return people.TOKEN_COLUMNS.get(tx, query, NO_TOKEN)


def tokens_of_person(tx: Tx, person_id: str) -> list[people.Token]:
    return [token for token in all_tokens(tx) if token.person_id == person_id]


def all_tokens(tx: Tx) -> list[people.Token]:
    """Every token that has neither expired nor been revoked."""
    holds = schema.tokens.c.ended_at.is_(None) & (schema.tokens.c.expires_at > tx.now)
    query = select(*people.TOKEN_COLUMNS).where(holds).order_by(schema.tokens.c.made_at, schema.tokens.c.token_id)
    return people.TOKEN_COLUMNS.all(tx, query)


def end_token(tx: Tx, token_id: str, *, person_id: str | None, actor: str | None = None) -> None:
    """Revoke a token of this person, or of anybody if none is named."""
    this = schema.tokens.c.token_id == token_id
    theirs = this if person_id is None else this & (schema.tokens.c.person_id == person_id)
    if tx.first(select(schema.tokens.c.token_id).where(theirs)) is None:
        raise NotFound(NO_TOKEN)
    _end_tokens(tx, theirs, actor or person_id)


def _end_sessions(tx: Tx, wanted: ColumnElement[bool]) -> None:
    tx.execute(schema.sessions.update().where(wanted, schema.sessions.c.ended_at.is_(None)).values(ended_at=tx.now))


def _end_tokens(tx: Tx, wanted: ColumnElement[bool], actor: str | None) -> None:
    query = select(schema.tokens.c.token_id).where(wanted, schema.tokens.c.ended_at.is_(None))
    rows = tx.all(query.order_by(schema.tokens.c.made_at, schema.tokens.c.token_id))
    token_ids = [row.token_id for row in rows]
    tx.execute(schema.tokens.update().where(schema.tokens.c.token_id.in_(token_ids)).values(ended_at=tx.now))
    for token_id in token_ids:
        events.write(tx, actor, "token.ended", token_id)


def set_password(tx: Tx, person: Person, password_hash: str) -> Person:
    """Change one's own password, which ends every session and token of the person."""
    people.require_unchanged(tx, person)
    changed = people.set_password(tx, person.person_id, password_hash, actor=person.person_id)
    end_access(tx, person.person_id, actor=person.person_id)
    return changed


def reset_password(tx: Tx, token: str, *, password_hash: str) -> Person:
    """Set a new password through a reset link; the link is used up, and all earlier access ends."""
    invitation = invitations.find_locked(tx, token)
    person = people.lock(tx, invitation.person_id) if invitation.person_id else None
    if person is None or person.state != "active" or person.role != invitation.role:
        raise NotFound(invitations.NOT_OPEN)
    person = set_password(tx, person, password_hash)
    invitations.note_use(tx, invitation, person)
    return person


class NewRole(Body):
    model_config = example(role="adjudicator")
    role: Role


def give_role(tx: Tx, person_id: str, role: str, *, actor: str) -> Person:
    """Change somebody's role; their sessions end, with a lower role also their tokens; the study keeps an owner."""
    _require_another_owner(tx, person_id)
    before = people.get(tx, person_id)
    if before.kind == "joint":
        pair = [people.get(tx, member_id).role for member_id in people.members(tx, person_id)]
        most = people.lower_role(HIGHEST_OF_A_SEAT, *pair)
        if people.lower_role(most, role) != role:
            raise Forbidden(
                f"a joint seat may do at most what both of its people may, up to adjudicating: {most} here"
            )
    person = people.set_role(tx, person_id, role, actor=actor)
    if people.lower_role(before.role, role) != before.role:
        # The seats of somebody who may do less from now on may do no more than that.
        for joint in people.seats(tx, person_id):
            lower = people.lower_role(joint.role, role)
            if lower != joint.role:
                people.set_role(tx, joint.person_id, lower, actor=actor)
                end_access(tx, joint.person_id, actor=actor)
        invitations.end_made_by(tx, person_id, actor=actor)
        end_access(tx, person_id, actor=actor)
    elif person_id != actor:
        end_all_sessions(tx, person_id)
    return person


class NewPersonState(Body):
    """`ended` excludes somebody, `active` readmits them."""

    model_config = example(state="ended")
    state: Literal["active", "ended"]


def set_state(tx: Tx, person_id: str, state: str, *, actor: str) -> Person:
    """Exclude somebody (`ended`), with their joint seats, or readmit them; the study keeps an owner."""
    _require_another_owner(tx, person_id)
    person = people.set_state(tx, person_id, state, actor=actor)
    if state != "active":
        invitations.end_made_by(tx, person_id, actor=actor)
        for each in (person_id, *(joint.person_id for joint in people.seats(tx, person_id))):
            end_access(tx, each, actor=actor)
    return person


def _require_another_owner(tx: Tx, person_id: str) -> None:
    if people.owners(tx) == [person_id]:
        raise Forbidden("this is the only owner of the study; make somebody else an owner first")
