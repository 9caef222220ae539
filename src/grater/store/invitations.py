"""Invitations: a random link, used once, with an end, bound to a role and perhaps to a job.

A way back in, for somebody of the study whose password is lost: after a restore nobody has one.

It is an invitation that names its person: told once, used once, with an end.  It holds only as long as the person has
the role that they had when it was made, so that an old link is never worth more than whoever made it could give.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, select

from grater.errors import NotFound, UsageError
from grater.store import credentials, events, people, schema
from grater.store.clock import DAY
from grater.store.ids import hashed, new_id, new_secret
from grater.store.people import Person
from grater.store.transaction import Tx


@dataclass(frozen=True, slots=True)
class Invitation:
    invitation_id: str
    role: str
    job_id: str | None
    name: str
    made_at: int
    expires_at: int
    used_at: int | None
    ended_at: int | None
    person_id: str | None


COLUMNS = [schema.invitations.c[name] for name in Invitation.__dataclass_fields__]


def make(
    tx: Tx,
    *,
    role: str,
    job_id: str | None = None,
    days: float = 14,
    name: str = "",
    person_id: str | None = None,
    actor: str | None = None,
) -> str:
    """A new invitation; its token is told this once and kept as a hash.  With a `person_id` it is a way back in."""
    people.require_role(role)
    if days <= 0:
        raise UsageError(f"an invitation must last some time, found {days} days")
    token, invitation_id = new_secret(), new_id()
    row = {"invitation_id": invitation_id, "token_hash": hashed(token), "role": role, "job_id": job_id, "name": name}
    times = {"made_at": tx.now, "expires_at": tx.now + int(days * DAY)}
    tx.insert(schema.invitations, row | times | {"person_id": person_id})
    events.write(tx, actor, "invitation.made", invitation_id, {"role": role, "job_id": job_id})
    return token


def find(tx: Tx, token: str) -> Invitation | None:
    """The invitation behind a link, if it still holds."""
    row = tx.first(select(*COLUMNS).where(schema.invitations.c.token_hash == hashed(token)))
    if row is None or row.used_at is not None or row.ended_at is not None or row.expires_at <= tx.now:
        return None
    return Invitation(*row)


def by_token(tx: Tx, token: str) -> Invitation:
    """The invitation behind a link, whatever has become of it."""
    return _the(tx, schema.invitations.c.token_hash == hashed(token))


def get(tx: Tx, invitation_id: str) -> Invitation:
    """The invitation with this id, which must be there."""
    return _the(tx, schema.invitations.c.invitation_id == invitation_id)


def _the(tx: Tx, is_wanted: ColumnElement[bool]) -> Invitation:
    row = tx.first(select(*COLUMNS).where(is_wanted))
    if row is None:
        raise NotFound("there is no such invitation")
    return Invitation(*row)


def accept(tx: Tx, token: str, *, name: str, password_hash: str, email: str = "") -> Person:
    """The invited person comes in; the link is spent."""
    tx.first(
        tx.locked(
            select(schema.invitations.c.role).where(schema.invitations.c.token_hash == hashed(token)),
            of=schema.invitations,
        )
    )
    invitation = find(tx, token)  # only now: whoever held the link before us has spent it
    if invitation is None or invitation.person_id is not None:
        raise NotFound("this invitation has been used, has run out, or never was; ask for a new one")
    person = people.add(tx, name=name, role=invitation.role, email=email, password_hash=password_hash)
    this = schema.invitations.c.invitation_id == invitation.invitation_id
    tx.execute(schema.invitations.update().where(this).values(used_at=tx.now, person_id=person.person_id))
    events.write(tx, person.person_id, "invitation.used", invitation.invitation_id)
    return person


def all(tx: Tx) -> list[Invitation]:  # noqa: A001  (read as invitations.all)
    query = select(*COLUMNS).order_by(schema.invitations.c.made_at, schema.invitations.c.invitation_id)
    return [Invitation(*row) for row in tx.all(query)]


def end(tx: Tx, invitation_id: str, *, actor: str | None = None) -> None:
    """Take an invitation back before it is used."""
    this = (schema.invitations.c.invitation_id == invitation_id) & schema.invitations.c.used_at.is_(None)
    taken_back = (
        schema.invitations.update().where(this, schema.invitations.c.ended_at.is_(None)).values(ended_at=tx.now)
    )
    if tx.execute(taken_back).rowcount:
        events.write(tx, actor, "invitation.ended", invitation_id)


SPENT = "this link has been used, has run out, or never was; ask for a new one"


def offer_password_reset(tx: Tx, person_id: str, *, days: float = 14, actor: str | None = None) -> str:
    """The token of a link by which the person chooses a new password; earlier ones of theirs end."""
    person = people.get(tx, person_id)
    if person.kind != "human" or person.state != "active":
        raise UsageError(f"{person.name!r} cannot log in: expected a person who is not shut out")
    for each in all(tx):
        if each.person_id == person_id and each.used_at is None and each.ended_at is None:
            end(tx, each.invitation_id, actor=actor)
    return make(tx, role=person.role, days=days, name=person.name, person_id=person_id, actor=actor)


def reset_password(tx: Tx, token: str, *, password_hash: str) -> Person:
    """The person behind the link, with a new password; the link is spent, and every session of theirs ends."""
    tx.first(
        tx.locked(
            select(schema.invitations.c.role).where(schema.invitations.c.token_hash == hashed(token)),
            of=schema.invitations,
        )
    )
    invitation = find(tx, token)  # only now: whoever held the link before us has spent it
    person = people.lock(tx, invitation.person_id) if invitation and invitation.person_id else None
    if invitation is None or person is None or person.state != "active" or person.role != invitation.role:
        raise NotFound(SPENT)
    person = people.set_password(tx, person.person_id, password_hash, actor=person.person_id)
    credentials.end_all_sessions(tx, person.person_id)
    this = schema.invitations.c.invitation_id == invitation.invitation_id
    tx.execute(schema.invitations.update().where(this).values(used_at=tx.now))
    events.write(tx, person.person_id, "invitation.used", invitation.invitation_id)
    return person
