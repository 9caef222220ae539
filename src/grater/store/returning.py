"""A way back in, for somebody of the study whose password is lost: after a restore nobody has one.

It is an invitation that names its person: told once, used once, with an end.  It holds only as long as the person has
the role that they had when it was made, so that an old link is never worth more than whoever made it could give.
"""

from __future__ import annotations

from sqlalchemy import select

from grater.errors import NotFound, UsageError
from grater.store import events, invitations, people, schema, sessions
from grater.store.ids import hashed
from grater.store.people import Person
from grater.store.transaction import Tx

SPENT = "this link has been used, has run out, or never was; ask for a new one"


def invite_back(tx: Tx, person_id: str, *, days: float = 14, actor: str | None = None) -> str:
    """The token of a link by which the person chooses a new password; earlier ones of theirs end."""
    person = people.the(tx, person_id)
    if person.kind != "human" or person.state != "active":
        raise UsageError(f"{person.name!r} cannot log in: expected a person who is not shut out")
    for each in invitations.all(tx):
        if each.person_id == person_id and each.used_at is None and each.ended_at is None:
            invitations.end(tx, each.invitation_id, actor=actor)
    return invitations.make(tx, role=person.role, days=days, name=person.name, person_id=person_id, actor=actor)


def come_back(tx: Tx, token: str, *, password_hash: str) -> Person:
    """The person behind the link, with a new password; the link is spent, and every session of theirs ends."""
    tx.first(
        tx.locked(
            select(schema.invitations.c.role).where(schema.invitations.c.token_hash == hashed(token)),
            of=schema.invitations,
        )
    )
    invitation = invitations.find(tx, token)  # only now: whoever held the link before us has spent it
    person = people.lock(tx, invitation.person_id) if invitation and invitation.person_id else None
    if invitation is None or person is None or person.state != "active" or person.role != invitation.role:
        raise NotFound(SPENT)
    person = people.set_password(tx, person.person_id, password_hash, actor=person.person_id)
    sessions.end_all(tx, person.person_id)
    this = schema.invitations.c.invitation_id == invitation.invitation_id
    tx.execute(schema.invitations.update().where(this).values(used_at=tx.now))
    events.write(tx, person.person_id, "invitation.used", invitation.invitation_id)
    return person
