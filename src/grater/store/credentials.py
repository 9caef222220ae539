"""What a person shows to be let in: browser sessions and API tokens.

Of both the store keeps only a hash; the secret itself is shown once, when it is made.  A session has an end that the
server decides; a token lasts until it is ended, or as long as was said when it was made.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, or_, select

from grater.errors import NotFound
from grater.store import events, people, schema
from grater.store.clock import DAY, HOUR
from grater.store.ids import hashed, new_id, new_secret
from grater.store.people import Person
from grater.store.transaction import Columns, Tx


@dataclass(frozen=True, slots=True)
class Session:
    person_id: str
    csrf: str
    started_at: int
    expires_at: int


SESSION_COLUMNS = Columns(Session, schema.sessions)
OWNER_COLUMNS = people.COLUMNS.prefixed("owner_")
LIVE = (
    select(*SESSION_COLUMNS, *OWNER_COLUMNS)
    .join(schema.people, schema.people.c.person_id == schema.sessions.c.person_id)
    .where(
        schema.sessions.c.token_hash == bindparam("token"),
        schema.sessions.c.ended_at.is_(None),
        schema.sessions.c.expires_at > bindparam("now"),
        schema.people.c.state == "active",
    )
)


NO_TOKEN = "there is no such token"


@dataclass(frozen=True, slots=True)
class Token:
    token_id: str
    person_id: str
    name: str
    made_at: int
    expires_at: int | None
    ended_at: int | None


TOKEN_COLUMNS = Columns(Token, schema.tokens)
OWNER = (
    select(*people.COLUMNS)
    .join(schema.tokens, schema.tokens.c.person_id == schema.people.c.person_id)
    .where(
        schema.tokens.c.token_hash == bindparam("token"),
        schema.tokens.c.ended_at.is_(None),
        or_(schema.tokens.c.expires_at.is_(None), schema.tokens.c.expires_at > bindparam("now")),
        schema.people.c.state == "active",
    )
)


def start_session(tx: Tx, person_id: str, *, hours: float) -> tuple[str, Session]:
    """Start a session; return the token for its cookie, shown this once, and the session."""
    token = new_secret()
    session = Session(
        person_id=people.get(tx, person_id).person_id,
        csrf=new_secret(),
        started_at=tx.now,
        expires_at=tx.now + int(hours * HOUR),
    )
    tx.insert(schema.sessions, SESSION_COLUMNS.row(session) | {"token_hash": hashed(token)})
    return token, session


def find_session(tx: Tx, token: str) -> tuple[Session, Person] | None:
    """The session of a cookie and its person, if it has neither run out nor been ended and the person is active."""
    row = tx.first(LIVE, token=hashed(token), now=tx.now)
    return None if row is None else (SESSION_COLUMNS.read(row), OWNER_COLUMNS.read(row))


def end_session(tx: Tx, token: str) -> None:
    this = (schema.sessions.c.token_hash == hashed(token)) & schema.sessions.c.ended_at.is_(None)
    tx.execute(schema.sessions.update().where(this).values(ended_at=tx.now))


def end_all_sessions(tx: Tx, person_id: str) -> None:
    """End every session of a person: at ejection, at a new password."""
    theirs = (schema.sessions.c.person_id == person_id) & schema.sessions.c.ended_at.is_(None)
    tx.execute(schema.sessions.update().where(theirs).values(ended_at=tx.now))


def make_token(tx: Tx, person_id: str, *, name: str = "", days: float | None = None, actor: str | None = None) -> str:
    """Make a token; return its secret, shown this once."""
    secret, token_id = new_secret(), new_id()
    expires_at = None if days is None else tx.now + int(days * DAY)
    row = {"token_id": token_id, "token_hash": hashed(secret), "person_id": people.get(tx, person_id).person_id}
    tx.insert(schema.tokens, row | {"name": name, "made_at": tx.now, "expires_at": expires_at})
    events.write(tx, actor or person_id, "token.made", token_id, {"person_id": person_id})
    return secret


def token_owner(tx: Tx, secret: str) -> Person | None:
    """The person whose token this is, if it has neither run out nor been ended."""
    row = tx.first(OWNER, token=hashed(secret), now=tx.now)
    return None if row is None else people.COLUMNS.read(row)


def token_by_secret(tx: Tx, secret: str) -> Token:
    """The token with this secret, whatever has become of it."""
    row = tx.first(select(*TOKEN_COLUMNS).where(schema.tokens.c.token_hash == hashed(secret)))
    if row is None:
        raise NotFound(NO_TOKEN)
    return TOKEN_COLUMNS.read(row)


def tokens_of_person(tx: Tx, person_id: str) -> list[Token]:
    query = (
        select(*TOKEN_COLUMNS)
        .where(schema.tokens.c.person_id == person_id)
        .order_by(schema.tokens.c.made_at, schema.tokens.c.token_id)
    )
    return [TOKEN_COLUMNS.read(row) for row in tx.all(query)]


def end_token(tx: Tx, token_id: str, *, person_id: str) -> None:
    """End a token of the person."""
    theirs = (schema.tokens.c.token_id == token_id) & (schema.tokens.c.person_id == person_id)
    if tx.value(select(schema.tokens.c.token_id).where(theirs)) is None:
        raise NotFound(NO_TOKEN)
    tx.execute(schema.tokens.update().where(theirs, schema.tokens.c.ended_at.is_(None)).values(ended_at=tx.now))
    events.write(tx, person_id, "token.ended", token_id)
