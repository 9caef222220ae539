"""People, programs and joint seats; exports name them by pseudonym.

Changes that must not overlap lock the people concerned: one person, all owners, or everybody. A double click thus
waits for the first click, a study always keeps an owner, and anyone excluded while authenticating is refused.

A joint seat is two people who give one agreed judgment, recorded as such (T&C 2008, section 6.2): a separate person
without a password, which either of the two opens from their own page. It may do what both of them may, but at most
adjudicate: if one of them is demoted, so is the seat; if one is excluded, the seat is closed.

A person has access by a browser session or an API token (`credentials` creates and ends them), of which the store
keeps only a hash. A person using a joint seat, or a token made from it, has at most their own role (`member_id`,
`made_by`), and none once excluded. The rights that count are those at the time a change is stored, not when it was
requested.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from pydantic import Field
from sqlalchemy import bindparam, func, or_, select

from grater.annotate.requests import Body, example
from grater.annotate.store import events, schema
from grater.annotate.store.transaction import MINUTE, Columns, Record, Tx, hashed, new_id, new_pseudonym
from grater.errors import Conflict, Forbidden, NotFound, UsageError, unknown
from grater.model import Json

Role: TypeAlias = Literal["owner", "manager", "adjudicator", "annotator", "worker"]
HIGHEST_OF_A_SEAT = "adjudicator"


@dataclass(frozen=True, slots=True)
class Person:
    """A person who may act in the study; without a `password_hash` they cannot log in."""

    person_id: str
    name: str
    pseudonym: str
    role: str
    kind: str = "human"
    state: str = "active"
    password_hash: str = field(default="", repr=False)
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)
    added_at: int = 0


NO_PERSON = "there is no such person in this study"
COLUMNS = Columns(Person, schema.people)
BY_ID = select(*COLUMNS).where(schema.people.c.person_id == bindparam("person_id"))
SEATS = select(schema.joint_members.c.person_id).where(schema.joint_members.c.member_id == bindparam("member"))


def add(
    tx: Tx,
    *,
    name: str,
    role: str,
    kind: str = "human",
    password_hash: str = "",
    members: Sequence[str] = (),
    payload: Mapping[str, Json] | None = None,
    actor: str | None = None,
) -> Person:
    """Add a person; a joint seat lists the ids of its two `members`."""
    if role not in schema.ROLES:
        raise UsageError(unknown("role", role, list(schema.ROLES)))
    if not name.strip():
        raise UsageError("a person needs a name")
    if (kind == "joint") != (len(set(members)) == 2):
        raise UsageError(f"a joint seat is for two different people, found {len(set(members))}")
    if by_name(tx, name) is not None:
        raise Conflict(f"there is a person called {name!r} already; choose another name")
    person = Person(
        person_id=new_id(),
        name=name,
        pseudonym=new_pseudonym(),
        role=role,
        kind=kind,
        password_hash=password_hash,
        payload=payload or {},
        added_at=tx.now,
    )
    tx.insert(schema.people, COLUMNS.row(person))
    tx.insert(schema.joint_members, [{"person_id": person.person_id, "member_id": member} for member in members])
    events.write(tx, actor, "person.added", person.person_id, {"role": role, "kind": kind, "members": list(members)})
    return person


def find(tx: Tx, person_id: str) -> Person | None:
    return COLUMNS.find(tx, BY_ID, person_id=person_id)


def get(tx: Tx, person_id: str) -> Person:
    return COLUMNS.get(tx, BY_ID, NO_PERSON, person_id=person_id)


def by_name(tx: Tx, name: str) -> Person | None:
    return COLUMNS.find(tx, select(*COLUMNS).where(schema.people.c.name == name))


def named(tx: Tx, name: str) -> Person:
    """The person with this name; for an unknown name, the error suggests the nearest."""
    person = by_name(tx, name)
    if person is None:
        raise NotFound(unknown("person", name, [person.name for person in all(tx)]))
    return person


def all(tx: Tx) -> list[Person]:  # noqa: A001  (read as people.all)
    """Everybody, in order of arrival."""
    query = select(*COLUMNS).order_by(schema.people.c.added_at, tx.binary(schema.people.c.name))
    return COLUMNS.all(tx, query)


def count(tx: Tx) -> int:
    return int(tx.value(select(func.count()).select_from(schema.people)))


def members(tx: Tx, person_id: str) -> tuple[str, ...]:
    query = select(schema.joint_members.c.member_id).where(schema.joint_members.c.person_id == person_id)
    return tuple(sorted(row.member_id for row in tx.all(query)))


def seat_ids(tx: Tx, person_id: str) -> tuple[str, ...]:
    return tuple(row.person_id for row in tx.all(SEATS, member=person_id))


def seats(tx: Tx, person_id: str) -> list[Person]:
    mine = seat_ids(tx, person_id)
    query = select(*COLUMNS).where(schema.people.c.person_id.in_(mine)).order_by(tx.binary(schema.people.c.name))
    return COLUMNS.all(tx, query)


def set_role(tx: Tx, person_id: str, role: str, *, actor: str | None = None) -> Person:
    return _change(tx, person_id, "person.role", {"role": role}, role=role, actor=actor)


def set_state(tx: Tx, person_id: str, state: str, *, actor: str | None = None) -> Person:
    return _change(tx, person_id, "person.state", {"state": state}, state=state, actor=actor)


def set_password(tx: Tx, person_id: str, password_hash: str, *, actor: str | None = None) -> Person:
    return _change(tx, person_id, "person.password", {}, password_hash=password_hash, actor=actor)


def _change(tx: Tx, person_id: str, verb: str, body: dict[str, Json], *, actor: str | None, **values: str) -> Person:
    changed = replace(get(tx, person_id), **values)  # type: ignore[arg-type]
    tx.execute(schema.people.update().where(schema.people.c.person_id == person_id).values(**values))
    events.write(tx, actor, verb, person_id, body)
    return changed


def lock(tx: Tx, person_id: str) -> Person:
    """Lock a person, so that changes happen one at a time: a double click waits for the first."""
    return COLUMNS.get(tx, tx.locked(BY_ID, of=schema.people), NO_PERSON, person_id=person_id)


def lock_all(tx: Tx) -> None:
    """Lock everybody, in the same order in which owners are locked."""
    tx.all(tx.locked(select(schema.people.c.person_id).order_by(schema.people.c.person_id), of=schema.people))


def owners(tx: Tx) -> list[str]:
    """The active owners, locked: if two leave at once, the second sees that the first has gone."""
    is_owner = (schema.people.c.role == "owner") & (schema.people.c.state == "active")
    query = select(schema.people.c.person_id).where(is_owner).order_by(schema.people.c.person_id)
    return [row.person_id for row in tx.all(tx.locked(query, of=schema.people))]


def require_unchanged(tx: Tx, person: Person) -> None:
    """Refuse a person whose password changed, or who was excluded, while they were authenticating."""
    current = lock(tx, person.person_id)
    if (current.password_hash, current.state) != (person.password_hash, person.state):
        raise Conflict("your password was changed a moment ago; log in again")


def lower_role(*roles: str) -> str:
    return max(roles, key=schema.ROLES.index)


class NewSeat(Body):
    """`members` are the names of two people."""

    model_config = example(members=["Worker", "Annotator"], name="The pair")
    members: list[str] = Field(min_length=2, max_length=2)
    name: str = Field("", max_length=80)


def add_seat(tx: Tx, names: Sequence[str], *, name: str = "", actor: str | None = None) -> Person:
    """Add a joint seat for two people, by name; its role is the lower of theirs, at most adjudicator.

    Both are locked and looked up again, so anyone demoting one of them now waits, and then demotes the seat too.
    """
    ids = [named(tx, member).person_id for member in names]
    pair = [lock(tx, person_id) for person_id in sorted(ids)]
    if any(each.kind != "human" for each in pair):
        raise UsageError("a joint seat is for two people; programs and other seats cannot sit on it")
    name = name.strip() or " and ".join(names)
    role = lower_role(HIGHEST_OF_A_SEAT, *(each.role for each in pair))
    return add(tx, name=name, role=role, kind="joint", members=ids, actor=actor)


def require_member(tx: Tx, seat_id: str, person_id: str) -> Person:
    """The seat, if this is one of its two people and both are still in the study; otherwise it does not exist."""
    seat, pair = find(tx, seat_id), members(tx, seat_id)
    if seat is None or seat.state != "active" or person_id not in pair:
        raise NotFound("there is no such joint seat, or it is not yours")
    if any(get(tx, member_id).state != "active" for member_id in pair):
        raise Forbidden("the other person on this joint seat has no access to the study")
    return seat


ENDED = "your access ended a moment ago; log in again"
USES_NOTED_EVERY = 5 * MINUTE
"""How exactly the last use of a token is known: a program that asks all day must not write all day."""


@dataclass(frozen=True, slots=True)
class Session:
    """`csrf` is the token of its forms, `member_id` the person using a joint seat."""

    csrf: str
    member_id: str | None


@dataclass(frozen=True, slots=True)
class Token:
    """`role` is that of its person when it was created, `made_by` the human who created it."""

    token_id: str
    person_id: str
    name: str
    scope: str
    role: str
    made_at: int
    made_by: str | None
    expires_at: int | None
    ended_at: int | None
    used_at: int | None


SESSION_COLUMNS = Columns(Session, schema.sessions)
TOKEN_COLUMNS = Columns(Token, schema.tokens)
OWNER_COLUMNS = COLUMNS.prefixed("owner_")

_behind = schema.people.alias("behind")
BEHIND = (_behind.c.role.label("behind_role"), _behind.c.state.label("behind_state"))
"""The human who sits on a seat, or who made a token."""

LIVE, LIVE_TOKEN = (
    select(*columns, *OWNER_COLUMNS, *BEHIND)
    .join(schema.people, schema.people.c.person_id == table.c.person_id)
    .outerjoin(_behind, _behind.c.person_id == table.c[behind])
    .where(
        table.c.token_hash == bindparam("token"),
        table.c.ended_at.is_(None),
        or_(table.c.expires_at.is_(None), table.c.expires_at > bindparam("now")),
        schema.people.c.state == "active",
    )
    for table, columns, behind in (
        (schema.sessions, SESSION_COLUMNS, "member_id"),
        (schema.tokens, TOKEN_COLUMNS, "made_by"),
    )
)


def find_session(tx: Tx, token: str) -> tuple[Session, Person] | None:
    """The valid session of a cookie, and its person with their role in this session."""
    row = tx.first(LIVE, token=hashed(token), now=tx.now)
    return (SESSION_COLUMNS.read(row), person) if row and (person := _powers(row)) else None


def find_token(tx: Tx, secret: str) -> tuple[Token, Person] | None:
    """The valid token and its person, with the role that the token allows."""
    row = tx.first(LIVE_TOKEN, token=hashed(secret), now=tx.now)
    if row is None or (person := _powers(row)) is None:
        return None
    token = TOKEN_COLUMNS.read(row)
    return token, replace(person, role=lower_role(person.role, token.role))


def note_use(tx: Tx, token_id: str) -> None:
    tx.execute(schema.tokens.update().where(schema.tokens.c.token_id == token_id).values(used_at=tx.now))


def _powers(row: Record) -> Person | None:
    """The person with their effective role; None if the human behind them no longer has access."""
    person = OWNER_COLUMNS.read(row)
    if row.behind_state == "ended" or (person.kind == "joint" and row.behind_state is None):
        return None
    if person.kind == "joint":
        return replace(person, role=lower_role(person.role, row.behind_role))
    return person


LockScope: TypeAlias = Literal["nobody", "owners", "everybody"]


def require_access(
    tx: Tx, person_ids: Collection[str], *, session_token: str = "", bearer: str = "", also_lock: LockScope = "nobody"
) -> None:
    """Refuse a person whose session or token ended after their request was admitted.

    Called at the beginning of a change. It locks the people behind the request, so anyone ending their access now
    waits, and then sees the change. Changes of owners lock all owners first: if two demote each other, the second has
    lost the right.
    """
    if also_lock == "owners":
        owners(tx)
    if also_lock == "everybody":
        lock_all(tx)
    for person_id in sorted(person_ids):
        lock(tx, person_id)
    is_in = find_session(tx, session_token) if session_token else find_token(tx, bearer)
    if is_in is None:
        raise Forbidden(ENDED)
