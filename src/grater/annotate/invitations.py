"""Invitations: random links that work once, expire, and grant a role, optionally in one job.

Managers invite raters and adjudicators; only owners invite managers and owners.

A password reset is an invitation for an existing person. It is valid only while the person has the role that they had
when it was created, so an old link never grants more than its creator could (`credentials.reset_password`). After an
archive is restored nobody has a password, and everybody returns by such a link.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field
from sqlalchemy import select

from grater.annotate import content, people
from grater.annotate.people import Person, Role
from grater.annotate.requests import Body, example
from grater.annotate.store import events, schema
from grater.annotate.store.transaction import DAY, Columns, Tx, hashed, new_id, new_secret
from grater.errors import Forbidden, NotFound, UsageError

OWNER = "owner"
SET_UP = "set-up"
"""The name in the invitation of the first owner."""


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

    def state_at(self, now: int) -> str:
        """Its state: used, ended, expired or waiting."""
        if self.used_at or self.ended_at:
            return "used" if self.used_at else "ended"
        return "waiting" if self.expires_at > now else "expired"

    @property
    def is_open(self) -> bool:
        return self.used_at is None and self.ended_at is None


class NewInvitation(Body):
    """`name` is a note to yourself; with a `job_id`, the person starts there."""

    model_config = example(role="annotator", days=14, name="Ann")
    role: Role
    job_id: str | None = Field(None, min_length=1, max_length=100)
    days: float = Field(14, gt=0, le=365)
    name: str = Field("", max_length=80)


def roles_to_give(own_role: str) -> tuple[str, ...]:
    return tuple(role for role in schema.ROLES if own_role == OWNER or role not in (OWNER, "manager"))


def _require_may_give(own_role: str, role: str) -> None:
    if role not in roles_to_give(own_role):
        raise Forbidden("only an owner can invite managers and owners")


COLUMNS = Columns(Invitation, schema.invitations)
MADE = "invitation.made"
NONE = "there is no such invitation"
NOT_OPEN = "this link has been used, has run out, or never was; ask for a new one"


def invite(tx: Tx, sent: NewInvitation, *, own_role: str = OWNER, actor: str | None = None) -> str:
    """Create an invitation and return its token; the link is the server's address followed by `/join/TOKEN`."""
    _require_may_give(own_role, sent.role)
    if sent.job_id and tx.first(select(schema.jobs.c.job_id).where(schema.jobs.c.job_id == sent.job_id)) is None:
        raise NotFound("there is no such job")
    return make(tx, role=sent.role, job_id=sent.job_id, days=sent.days, name=sent.name, actor=actor)


def invite_back(tx: Tx, person_id: str, *, own_role: str = OWNER, days: float = 14, actor: str | None = None) -> str:
    """Create a link with which an existing person sets a new password; their earlier links end.

    The person is locked first, because the role checked here must be the one that the link holds for.
    """
    person = people.lock(tx, person_id)
    _require_may_give(own_role, person.role)
    if person.kind != "human" or person.state != "active":
        raise UsageError(f"{person.name!r} cannot log in: expected a person whose access has not been withdrawn")
    for each in all(tx):
        if each.is_open and each.person_id == person_id:
            end(tx, each.invitation_id, actor=actor)
    return make(tx, role=person.role, days=days, name=person.name, person_id=person_id, actor=actor)


def invite_first_owner(tx: Tx, *, days: float) -> str | None:
    """The token of the first owner's invitation; None once the study has an owner who can log in.

    Earlier unused tokens are revoked. If two servers start at once, the second waits here.
    """
    content.hold(tx)
    if any(each.role == OWNER and each.password_hash and each.state == "active" for each in people.all(tx)):
        return None
    for each in all(tx):
        if each.is_open and each.role == OWNER and each.person_id is None:
            end(tx, each.invitation_id)
    return make(tx, role=OWNER, days=days, name=SET_UP)


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
    """Create an invitation and return its token, shown only now; with a `person_id` it is a password reset."""
    token, invitation_id = new_secret(), new_id()
    row = {"invitation_id": invitation_id, "token_hash": hashed(token), "role": role, "job_id": job_id, "name": name}
    times = {"made_at": tx.now, "expires_at": tx.now + int(days * DAY)}
    tx.insert(schema.invitations, row | times | {"person_id": person_id})
    events.write(tx, actor, MADE, invitation_id, {"role": role, "job_id": job_id})
    return token


def find(tx: Tx, token: str) -> Invitation | None:
    """The invitation behind a link, if it is still valid."""
    found = COLUMNS.find(tx, select(*COLUMNS).where(schema.invitations.c.token_hash == hashed(token)))
    return found if found is not None and found.state_at(tx.now) == "waiting" else None


def find_locked(tx: Tx, token: str) -> Invitation:
    """The same with a lock, after which it cannot have been used by somebody else."""
    query = select(schema.invitations.c.role).where(schema.invitations.c.token_hash == hashed(token))
    tx.first(tx.locked(query, of=schema.invitations))
    found = find(tx, token)
    if found is None:
        raise NotFound(NOT_OPEN)
    return found


def by_token(tx: Tx, token: str) -> Invitation:
    """The invitation behind a link, in any state."""
    return COLUMNS.get(tx, select(*COLUMNS).where(schema.invitations.c.token_hash == hashed(token)), NONE)


def get(tx: Tx, invitation_id: str) -> Invitation:
    return COLUMNS.get(tx, select(*COLUMNS).where(schema.invitations.c.invitation_id == invitation_id), NONE)


def accept(tx: Tx, token: str, *, name: str, password_hash: str) -> Person:
    """Let the invited person join; the link is used up."""
    invitation = find_locked(tx, token)
    if invitation.person_id is not None:
        raise NotFound(NOT_OPEN)
    person = people.add(tx, name=name, role=invitation.role, password_hash=password_hash)
    note_use(tx, invitation, person)
    return person


def note_use(tx: Tx, invitation: Invitation, person: Person) -> None:
    this = schema.invitations.c.invitation_id == invitation.invitation_id
    tx.execute(schema.invitations.update().where(this).values(used_at=tx.now, person_id=person.person_id))
    events.write(tx, person.person_id, "invitation.used", invitation.invitation_id)


def all(tx: Tx) -> list[Invitation]:  # noqa: A001  (read as invitations.all)
    query = select(*COLUMNS).order_by(schema.invitations.c.made_at, schema.invitations.c.invitation_id)
    return COLUMNS.all(tx, query)


def end(tx: Tx, invitation_id: str, *, actor: str | None = None) -> None:
    """Revoke an unused invitation; a used one stays used."""
    this = (schema.invitations.c.invitation_id == invitation_id) & schema.invitations.c.used_at.is_(None)
    query = schema.invitations.update().where(this, schema.invitations.c.ended_at.is_(None))
    if tx.execute(query.values(ended_at=tx.now)).rowcount:
        events.write(tx, actor, "invitation.ended", invitation_id)


def end_made_by(tx: Tx, person_id: str, *, actor: str | None = None) -> None:
    """Revoke every unused link that a person made; the log records who made it."""
    is_open = schema.invitations.c.used_at.is_(None) & schema.invitations.c.ended_at.is_(None)
    waiting = select(schema.invitations.c.invitation_id).where(is_open)
    query = select(schema.events.c.noun).where(
        schema.events.c.verb == MADE, schema.events.c.actor == person_id, schema.events.c.noun.in_(waiting)
    )
    for row in tx.all(query.order_by(schema.events.c.n)):
        end(tx, row.noun, actor=actor)
