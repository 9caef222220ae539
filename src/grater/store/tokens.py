"""API tokens of a person: told once, kept as a hash."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, or_, select

from grater.errors import NotFound
from grater.store import events, people, schema
from grater.store.clock import DAY
from grater.store.ids import hashed, new_id, new_secret
from grater.store.people import Person
from grater.store.transaction import Tx

NO_TOKEN = "there is no such token"


@dataclass(frozen=True, slots=True)
class Token:
    token_id: str
    person_id: str
    name: str
    made_at: int
    expires_at: int | None
    ended_at: int | None


COLUMNS = [schema.tokens.c[name] for name in Token.__dataclass_fields__]
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


def make(tx: Tx, person_id: str, *, name: str = "", days: float | None = None, actor: str | None = None) -> str:
    """A new token, told this once."""
    secret, token_id = new_secret(), new_id()
    expires_at = None if days is None else tx.now + int(days * DAY)
    row = {"token_id": token_id, "token_hash": hashed(secret), "person_id": people.get(tx, person_id).person_id}
    tx.insert(schema.tokens, row | {"name": name, "made_at": tx.now, "expires_at": expires_at})
    events.write(tx, actor or person_id, "token.made", token_id, {"person_id": person_id})
    return secret


def find(tx: Tx, secret: str) -> Person | None:
    """Whose token this is, if it still holds."""
    row = tx.first(OWNER, token=hashed(secret), now=tx.now)
    return None if row is None else Person(*row)


def behind(tx: Tx, secret: str) -> Token:
    """What is known of a token by its secret."""
    row = tx.first(select(*COLUMNS).where(schema.tokens.c.token_hash == hashed(secret)))
    if row is None:
        raise NotFound(NO_TOKEN)
    return Token(*row)


def of_person(tx: Tx, person_id: str) -> list[Token]:
    query = (
        select(*COLUMNS)
        .where(schema.tokens.c.person_id == person_id)
        .order_by(schema.tokens.c.made_at, schema.tokens.c.token_id)
    )
    return [Token(*row) for row in tx.all(query)]


def end(tx: Tx, token_id: str, *, person_id: str) -> None:
    """The person takes a token of theirs back."""
    theirs = (schema.tokens.c.token_id == token_id) & (schema.tokens.c.person_id == person_id)
    if tx.value(select(schema.tokens.c.token_id).where(theirs)) is None:
        raise NotFound(NO_TOKEN)
    tx.execute(schema.tokens.update().where(theirs, schema.tokens.c.ended_at.is_(None)).values(ended_at=tx.now))
    events.write(tx, person_id, "token.ended", token_id)
