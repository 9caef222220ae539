"""Browser sessions: a random token in the cookie, its hash in the database, an end that the server decides."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, select

from grater.store import people, schema
from grater.store.clock import HOUR
from grater.store.ids import hashed, new_secret
from grater.store.people import Person
from grater.store.transaction import Tx


@dataclass(frozen=True, slots=True)
class Session:
    person_id: str
    csrf: str
    started_at: int
    expires_at: int


COLUMNS = [schema.sessions.c[name] for name in Session.__dataclass_fields__]
LIVE = (
    select(*COLUMNS, *people.COLUMNS)
    .join(schema.people, schema.people.c.person_id == schema.sessions.c.person_id)
    .where(
        schema.sessions.c.token_hash == bindparam("token"),
        schema.sessions.c.ended_at.is_(None),
        schema.sessions.c.expires_at > bindparam("now"),
        schema.people.c.state == "active",
    )
)


def start(tx: Tx, person_id: str, *, hours: float) -> tuple[str, Session]:
    """A new session and the token for its cookie, which is told this once."""
    token = new_secret()
    session = Session(people.get(tx, person_id).person_id, new_secret(), tx.now, tx.now + int(hours * HOUR))
    row = {name: getattr(session, name) for name in Session.__dataclass_fields__}
    tx.insert(schema.sessions, row | {"token_hash": hashed(token)})
    return token, session


def find(tx: Tx, token: str) -> Session | None:
    """The session of a cookie, if it has neither run out nor been ended, and its person may still come in."""
    found = visitor(tx, token)
    return None if found is None else found[0]


def visitor(tx: Tx, token: str) -> tuple[Session, Person] | None:
    """The session as `find` gives it, with its person."""
    row = tx.first(LIVE, token=hashed(token), now=tx.now)
    return None if row is None else (Session(*row[: len(COLUMNS)]), Person(*row[len(COLUMNS) :]))


def end(tx: Tx, token: str) -> None:
    this = (schema.sessions.c.token_hash == hashed(token)) & schema.sessions.c.ended_at.is_(None)
    tx.execute(schema.sessions.update().where(this).values(ended_at=tx.now))


def end_all(tx: Tx, person_id: str) -> None:
    """Everywhere at once: at ejection, at a new password."""
    theirs = (schema.sessions.c.person_id == person_id) & schema.sessions.c.ended_at.is_(None)
    tx.execute(schema.sessions.update().where(theirs).values(ended_at=tx.now))
