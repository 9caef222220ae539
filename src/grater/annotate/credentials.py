"""Access of people, and its end: passwords, browser sessions, API tokens, roles.

The store keeps only a hash of sessions and tokens; the secret itself is shown once, when it is made.  Both have an
end.  A token has a scope as well: `read` changes nothing, `work` takes and answers units and adjudicates, `manage`
does whatever its person may.  A token never has more than the role that its person had when it was made, nor more
than the one that they have now.

Access ends with its reason (P11): a new password, recovery, demotion, exclusion and the end of a seat end sessions
and tokens in the same transaction; demotion and exclusion also the links that the person made and nobody has used.
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
    """Start a session; return the token for its cookie, shown this once, and the session.

    `member_id` is who sits down on a joint seat; `address` a keyed hash of where the login came from.
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
    """End every session of a person, and those in which they were a seat."""
    _end_sessions(tx, or_(schema.sessions.c.person_id == person_id, schema.sessions.c.member_id == person_id))


def end_access(tx: Tx, person_id: str, *, actor: str | None = None) -> None:
    """End every session and token of a person, those in which they were a seat, and tokens that they made for others.

    Whatever ends somebody's access calls this in its own transaction: a new password, recovery, demotion, exclusion,
    ejection, the end of a seat.
    """
    end_all_sessions(tx, person_id)
    _end_tokens(tx, or_(schema.tokens.c.person_id == person_id, schema.tokens.c.made_by == person_id), actor)


def may_have_tokens(person: Person) -> bool:
    """Whether programs may act for a person: not for raters who came by a panel's link, whose id is not a
    password."""
    return person.kind != "human" or bool(person.password_hash) or "panel" not in person.payload


Scope: TypeAlias = Literal["read", "work", "manage"]


class NewToken(Body):
    """`days` until it ends, 90 if not given.

    `scope`: `read` changes nothing, `work` is for raters and adjudicators, `manage` is all that you may.
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
    """The secret of an API token, with which a program acts for somebody; it is shown this once.

    It never has more than `role`, where one is named, and never lasts beyond `not_after`: a token that makes another
    passes on no more than it has.  `made_by` is the human whose exclusion ends it, the person unless somebody else
    is named.
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
    """The token with this secret, whatever its state."""
    row = tx.first(select(*people.TOKEN_COLUMNS).where(schema.tokens.c.token_hash == hashed(secret)))
    if row is None:
        raise NotFound(NO_TOKEN)
    return people.TOKEN_COLUMNS.read(row)


def tokens_of_person(tx: Tx, person_id: str) -> list[people.Token]:
    return [token for token in all_tokens(tx) if token.person_id == person_id]


def all_tokens(tx: Tx) -> list[people.Token]:
    """Every token that has neither run out nor been ended."""
    holds = schema.tokens.c.ended_at.is_(None) & (schema.tokens.c.expires_at > tx.now)
    query = select(*people.TOKEN_COLUMNS).where(holds).order_by(schema.tokens.c.made_at, schema.tokens.c.token_id)
    return [people.TOKEN_COLUMNS.read(row) for row in tx.all(query)]


def end_token(tx: Tx, token_id: str, *, person_id: str | None, actor: str | None = None) -> None:
    """End a token of the person; of whomever, if none is named."""
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
    events.write_all(tx, [(actor, "token.ended", token_id, {}) for token_id in token_ids])


def set_password(tx: Tx, person: Person, password_hash: str) -> Person:
    """A new password for oneself, which ends every session and token of the person."""
    people.require_unchanged(tx, person)
    changed = people.set_password(tx, person.person_id, password_hash, actor=person.person_id)
    end_access(tx, person.person_id, actor=person.person_id)
    return changed


def reset_password(tx: Tx, token: str, *, password_hash: str) -> Person:
    """The person behind the link, with a new password; the link is spent, and all their access so far ends."""
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
    """Give somebody another role; their sessions end, with a lower one their tokens too; the study keeps an owner."""
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
    """`ended` shuts somebody out, `active` lets them in again."""

    model_config = example(state="ended")
    state: Literal["active", "ended"]


def set_state(tx: Tx, person_id: str, state: str, *, actor: str) -> Person:
    """Shut somebody out (`ended`), with the seats that they share, or let them in again; the study keeps an owner."""
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
