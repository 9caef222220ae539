"""Invitations: a random link, used once, with an end, bound to a role and perhaps to a job.

A password reset is an invitation that names its person: shown once, used once, with an end.  It holds only as long as
the person has the role that they had when it was made, so that an old link never gives more than whoever made it
could give.  After a restore nobody has a password, and everybody comes back by such a link.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, select

from grater.annotate.store import credentials, events, people, schema
from grater.annotate.store.clock import DAY
from grater.annotate.store.ids import hashed, new_id, new_secret
from grater.annotate.store.people import Person
from grater.annotate.store.transaction import Columns, Tx
from grater.errors import NotFound, UsageError


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


COLUMNS = Columns(Invitation, schema.invitations)
MADE = "invitation.made"
NO_RESET = "this link has been used, has run out, or never was; ask for a new one"


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
    """Make an invitation and return its token, shown this once; with a `person_id` it is a password reset."""
    people.require_role(role)
    if days <= 0:
        raise UsageError(f"an invitation must last some time, found {days} days")
    token, invitation_id = new_secret(), new_id()
    row = {"invitation_id": invitation_id, "token_hash": hashed(token), "role": role, "job_id": job_id, "name": name}
    times = {"made_at": tx.now, "expires_at": tx.now + int(days * DAY)}
    tx.insert(schema.invitations, row | times | {"person_id": person_id})
    events.write(tx, actor, MADE, invitation_id, {"role": role, "job_id": job_id})
    return token


def find(tx: Tx, token: str) -> Invitation | None:
    """The invitation behind a link, if it still holds."""
    row = tx.first(select(*COLUMNS).where(schema.invitations.c.token_hash == hashed(token)))
    if row is None or row.used_at is not None or row.ended_at is not None or row.expires_at <= tx.now:
        return None
    return COLUMNS.read(row)


def _find_locked(tx: Tx, token: str) -> Invitation | None:
    """The same, looked up only when it is locked: whoever held the link before us has spent it."""
    query = select(schema.invitations.c.role).where(schema.invitations.c.token_hash == hashed(token))
    tx.first(tx.locked(query, of=schema.invitations))
    return find(tx, token)


def by_token(tx: Tx, token: str) -> Invitation:
    """The invitation behind a link, whatever has become of it."""
    return _get(tx, schema.invitations.c.token_hash == hashed(token))


def get(tx: Tx, invitation_id: str) -> Invitation:
    return _get(tx, schema.invitations.c.invitation_id == invitation_id)


def _get(tx: Tx, is_wanted: ColumnElement[bool]) -> Invitation:
    row = tx.first(select(*COLUMNS).where(is_wanted))
    if row is None:
        raise NotFound("there is no such invitation")
    return COLUMNS.read(row)


def accept(tx: Tx, token: str, *, name: str, password_hash: str, email: str = "") -> Person:
    """The invited person comes in; the link is spent."""
    invitation = _find_locked(tx, token)
    if invitation is None or invitation.person_id is not None:
        raise NotFound("this invitation has been used, has run out, or never was; ask for a new one")
    person = people.add(tx, name=name, role=invitation.role, email=email, password_hash=password_hash)
    _use(tx, invitation, person)
    return person


def all(tx: Tx) -> list[Invitation]:  # noqa: A001  (read as invitations.all)
    query = select(*COLUMNS).order_by(schema.invitations.c.made_at, schema.invitations.c.invitation_id)
    return [COLUMNS.read(row) for row in tx.all(query)]


def end(tx: Tx, invitation_id: str, *, actor: str | None = None) -> None:
    """Take an invitation back before it is used."""
    this = (schema.invitations.c.invitation_id == invitation_id) & schema.invitations.c.used_at.is_(None)
    query = schema.invitations.update().where(this, schema.invitations.c.ended_at.is_(None))
    if tx.execute(query.values(ended_at=tx.now)).rowcount:
        events.write(tx, actor, "invitation.ended", invitation_id)


def end_made_by(tx: Tx, person_id: str, *, actor: str | None = None) -> None:
    """Take back every link that a person made and nobody has used; the log says who made it."""
    is_open = schema.invitations.c.used_at.is_(None) & schema.invitations.c.ended_at.is_(None)
    waiting = select(schema.invitations.c.invitation_id).where(is_open)
    query = select(schema.events.c.noun).where(
        schema.events.c.verb == MADE, schema.events.c.actor == person_id, schema.events.c.noun.in_(waiting)
    )
    for row in tx.all(query.order_by(schema.events.c.n)):
        end(tx, row.noun, actor=actor)


def offer_password_reset(tx: Tx, person_id: str, *, days: float = 14, actor: str | None = None) -> str:
    """The token of a link by which the person chooses a new password; earlier ones of theirs end."""
    person = people.lock(tx, person_id)
    if person.kind != "human" or person.state != "active":
        raise UsageError(f"{person.name!r} cannot log in: expected a person whose access has not been withdrawn")
    for invitation in all(tx):
        if invitation.person_id == person_id and invitation.used_at is None and invitation.ended_at is None:
            end(tx, invitation.invitation_id, actor=actor)
    return make(tx, role=person.role, days=days, name=person.name, person_id=person_id, actor=actor)


def reset_password(tx: Tx, token: str, *, password_hash: str) -> Person:
    """The person behind the link, with a new password; the link is spent, and all their access so far ends."""
    invitation = _find_locked(tx, token)
    person = people.lock(tx, invitation.person_id) if invitation and invitation.person_id else None
    if invitation is None or person is None or person.state != "active" or person.role != invitation.role:
        raise NotFound(NO_RESET)
    person = people.set_password(tx, person.person_id, password_hash, actor=person.person_id)
    credentials.end_access(tx, person.person_id, actor=person.person_id)
    _use(tx, invitation, person)
    return person


def _use(tx: Tx, invitation: Invitation, person: Person) -> None:
    this = schema.invitations.c.invitation_id == invitation.invitation_id
    tx.execute(schema.invitations.update().where(this).values(used_at=tx.now, person_id=person.person_id))
    events.write(tx, person.person_id, "invitation.used", invitation.invitation_id)
