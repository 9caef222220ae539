"""A joint seat: two people who give one agreed judgment, recorded as such (T&C 2008, section 6.2).

The seat is a person of its own without a password: either of the two opens it from their own page.  It may do what
both of them may, and never more than adjudicate.
"""

from __future__ import annotations

from collections.abc import Sequence

from grater.errors import NotFound, UsageError
from grater.store import Store, Tx, people, schema
from grater.store.people import Person

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
