"""Somebody is asked in.

A joint seat: two people who give one agreed judgment, recorded as such (T&C 2008, section 6.2).

The seat is a person of its own without a password: either of the two opens it from their own page.  It may do what
both of them may, and never more than adjudicate.
"""

from __future__ import annotations

from collections.abc import Sequence

from grater.errors import Forbidden, NotFound, UsageError
from grater.store import Store, Tx, credentials, invitations, jobs, people, schema
from grater.store.invitations import offer_password_reset
from grater.store.people import Person


def invite(
    store: Store, *, role: str, job: str | None = None, days: float = 14, name: str = "", actor: str | None = None
) -> str:
    """The token of a new invitation; the link is the server's address with `/join/TOKEN` behind it."""
    with store.write() as tx:
        job_id = jobs.named(tx, job).job_id if job else None
        return invitations.make(tx, role=role, job_id=job_id, days=days, name=name, actor=actor)


def back(store: Store, name: str, *, days: float = 14) -> tuple[str, str]:
    """The token of a link by which somebody of the study chooses a new password, and their role."""
    with store.write() as tx:
        person = people.named(tx, name)
        return offer_password_reset(tx, person.person_id, days=days), person.role


HIGHEST = "adjudicator"


def add_seat(store: Store, names: Sequence[str], *, name: str = "", actor: str | None = None) -> Person:
    """A seat for two people, by their names."""
    with store.write() as tx:
        return seat(tx, [people.named(tx, each) for each in names], name=name, actor=actor)


def seat(tx: Tx, pair: Sequence[Person], *, name: str = "", actor: str | None = None) -> Person:
    if any(each.kind != "human" for each in pair):
        raise UsageError("a joint seat is for two people; programs and other seats cannot sit on it")
    ranks = [schema.ROLES.index(each.role) for each in pair]
    role = schema.ROLES[max(schema.ROLES.index(HIGHEST), *ranks)] if ranks else HIGHEST
    called = name.strip() or " and ".join(each.name for each in pair)
    members = [each.person_id for each in pair]
    return people.add(tx, name=called, role=role, kind="joint", members=members, actor=actor)


def require_member(tx: Tx, seat_id: str, person_id: str) -> Person:
    """The seat, for one of its two people; to anybody else there is none."""
    found = people.find(tx, seat_id)
    if found is None or found.state != "active" or person_id not in people.members(tx, seat_id):
        raise NotFound("there is no such joint seat, or it is not yours")
    return found


def give_role(tx: Tx, person_id: str, role: str, *, actor: str) -> Person:
    """Another role for somebody, whose sessions end with the old one; the study keeps an owner."""
    require_another_owner(tx, person_id)
    person = people.set_role(tx, person_id, role, actor=actor)
    if person_id != actor:
        credentials.end_all_sessions(tx, person_id)
    return person


def let_in(tx: Tx, person_id: str, *, is_in: bool, actor: str) -> Person:
    """Let somebody in or shut them out, with the seats that they share; the study keeps an owner."""
    require_another_owner(tx, person_id)
    person = people.set_state(tx, person_id, "active" if is_in else "ended", actor=actor)
    for each in (person_id, *(joint.person_id for joint in people.seats(tx, person_id))):
        credentials.end_all_sessions(tx, each)
    return person


def require_another_owner(tx: Tx, person_id: str) -> None:
    """Refuse to take the last owner away from a study."""
    if people.owners(tx) == [person_id]:
        raise Forbidden("this is the only owner of the study; make somebody else an owner first")
