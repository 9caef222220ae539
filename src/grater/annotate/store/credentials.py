"""What a person shows to be let in: browser sessions, API tokens and second factors.

Of sessions and tokens the store keeps only a hash; the secret itself is shown once, when it is made.  Both have an
end.  A token has a scope as well: `read` changes nothing, `work` takes and answers units and adjudicates, `manage`
does whatever its person may.

Access ends with its reason (P11).  A token never has more than the role that its person had when it was made, nor
more than the one that they have now.  Whoever sits on a joint seat, or made a token as the seat, has at most the role
of their own (`member_id`, `made_by`), and none once they are shut out.

A second factor is a secret that a telephone shares, with recovery codes for its loss.  The secret must be known to
check a code, so it lies in the database as it is; recovery codes are kept as hashes.  A code counts once: the last
time step that was used is kept, and only a later one is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import ColumnElement, bindparam, func, or_, select

from grater.annotate.store import events, people, schema
from grater.annotate.store.clock import DAY, HOUR, MINUTE
from grater.annotate.store.ids import hashed, new_id, new_secret
from grater.annotate.store.people import Person
from grater.annotate.store.transaction import Columns, Record, Tx
from grater.errors import NotFound

NO_TOKEN = "there is no such token"
TOKEN_DAYS = 90
USES_NOTED_EVERY = 5 * MINUTE
"""How exactly the last use of a token is known: a program that asks all day must not write all day."""


@dataclass(frozen=True, slots=True)
class Session:
    """`member_id` is who sits on a joint seat; `address` is a keyed hash of where the login came from."""

    person_id: str
    csrf: str
    started_at: int
    expires_at: int
    member_id: str | None = None
    address: str = ""


@dataclass(frozen=True, slots=True)
class Token:
    """`role` is that of its person when it was made, `made_by` the human who made it."""

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
OWNER_COLUMNS = people.COLUMNS.prefixed("owner_")

_behind = schema.people.alias("behind")
BEHIND = (_behind.c.role.label("behind_role"), _behind.c.state.label("behind_state"))
"""The human who sits on a seat, or who made a token."""

LIVE = (
    select(*SESSION_COLUMNS, *OWNER_COLUMNS, *BEHIND)
    .join(schema.people, schema.people.c.person_id == schema.sessions.c.person_id)
    .outerjoin(_behind, _behind.c.person_id == schema.sessions.c.member_id)
    .where(
        schema.sessions.c.token_hash == bindparam("token"),
        schema.sessions.c.ended_at.is_(None),
        schema.sessions.c.expires_at > bindparam("now"),
        schema.people.c.state == "active",
    )
)
LIVE_TOKEN = (
    select(*TOKEN_COLUMNS, *OWNER_COLUMNS, *BEHIND)
    .join(schema.people, schema.people.c.person_id == schema.tokens.c.person_id)
    .outerjoin(_behind, _behind.c.person_id == schema.tokens.c.made_by)
    .where(
        schema.tokens.c.token_hash == bindparam("token"),
        schema.tokens.c.ended_at.is_(None),
        or_(schema.tokens.c.expires_at.is_(None), schema.tokens.c.expires_at > bindparam("now")),
        schema.people.c.state == "active",
    )
)


def start_session(
    tx: Tx, person_id: str, *, hours: float, member_id: str | None = None, address: str = ""
) -> tuple[str, Session]:
    """Start a session; return the token for its cookie, shown this once, and the session."""
    token = new_secret()
    session = Session(
        person_id=people.get(tx, person_id).person_id,
        csrf=new_secret(),
        started_at=tx.now,
        expires_at=tx.now + int(hours * HOUR),
        member_id=member_id,
        address=address,
    )
    tx.insert(schema.sessions, SESSION_COLUMNS.row(session) | {"token_hash": hashed(token)})
    return token, session


def find_session(tx: Tx, token: str) -> tuple[Session, Person] | None:
    """The session of a cookie and its person, if it holds; the person's role is what they may do in it."""
    row = tx.first(LIVE, token=hashed(token), now=tx.now)
    person = None if row is None else _powers(row)
    return None if row is None or person is None else (SESSION_COLUMNS.read(row), person)


def came_from(tx: Tx, person_id: str, address: str) -> bool:
    theirs = (schema.sessions.c.person_id == person_id) & (schema.sessions.c.address == address)
    return tx.first(select(schema.sessions.c.person_id).where(theirs).limit(1)) is not None


def end_session(tx: Tx, token: str) -> None:
    _end_sessions(tx, schema.sessions.c.token_hash == hashed(token))


def end_all_sessions(tx: Tx, person_id: str) -> None:
    """End every session of a person, and those in which they were a seat."""
    _end_sessions(tx, or_(schema.sessions.c.person_id == person_id, schema.sessions.c.member_id == person_id))


def end_access(tx: Tx, person_id: str, *, actor: str | None = None) -> None:
    """End every session and token of a person, those in which they were a seat, and tokens that they made for others.

    Whatever ends somebody's access calls this in its own transaction: a new password, recovery, demotion, exclusion,
    ejection, the end of a seat.
    """
    end_all_sessions(tx, person_id)
    theirs = or_(schema.tokens.c.person_id == person_id, schema.tokens.c.made_by == person_id)
    query = select(schema.tokens.c.token_id).where(theirs, schema.tokens.c.ended_at.is_(None))
    token_ids = [row.token_id for row in tx.all(query.order_by(schema.tokens.c.made_at, schema.tokens.c.token_id))]
    _end_tokens(tx, token_ids, actor)


def make_token(
    tx: Tx,
    person_id: str,
    *,
    name: str = "",
    days: float = TOKEN_DAYS,
    scope: str = "manage",
    role: str | None = None,
    made_by: str | None = None,
    not_after: int | None = None,
    actor: str | None = None,
) -> str:
    """Make a token; return its secret, shown this once.  It ends after some days and never after `not_after`."""
    secret, person = new_secret(), people.get(tx, person_id)
    expires_at = tx.now + int(days * DAY)
    token = Token(
        token_id=new_id(),
        person_id=person_id,
        name=name,
        scope=scope,
        role=people.lower_role(person.role, role or person.role),
        made_at=tx.now,
        made_by=made_by,
        expires_at=expires_at if not_after is None else min(expires_at, not_after),
        ended_at=None,
        used_at=None,
    )
    tx.insert(schema.tokens, TOKEN_COLUMNS.row(token) | {"token_hash": hashed(secret)})
    events.write(tx, actor or person_id, "token.made", token.token_id, {"person_id": person_id, "scope": scope})
    return secret


def find_token(tx: Tx, secret: str) -> tuple[Token, Person] | None:
    """The token and its person, if it holds; the person's role is what they may do by it."""
    row = tx.first(LIVE_TOKEN, token=hashed(secret), now=tx.now)
    person = None if row is None else _powers(row)
    if row is None or person is None:
        return None
    token = TOKEN_COLUMNS.read(row)
    return token, replace(person, role=people.lower_role(person.role, token.role))


def is_use_news(token: Token, now: int) -> bool:
    """Whether the use of a token at this moment should be noted."""
    return token.used_at is None or now - token.used_at >= USES_NOTED_EVERY


def note_use(tx: Tx, token_id: str) -> None:
    tx.execute(schema.tokens.update().where(schema.tokens.c.token_id == token_id).values(used_at=tx.now))


def token_by_secret(tx: Tx, secret: str) -> Token:
    """The token with this secret, whatever has become of it."""
    row = tx.first(select(*TOKEN_COLUMNS).where(schema.tokens.c.token_hash == hashed(secret)))
    if row is None:
        raise NotFound(NO_TOKEN)
    return TOKEN_COLUMNS.read(row)


def tokens_of_person(tx: Tx, person_id: str) -> list[Token]:
    """The tokens of a person that have neither run out nor been ended."""
    return [token for token in all_tokens(tx) if token.person_id == person_id]


def all_tokens(tx: Tx) -> list[Token]:
    """Every token that has neither run out nor been ended."""
    holds = schema.tokens.c.ended_at.is_(None) & (schema.tokens.c.expires_at > tx.now)
    query = select(*TOKEN_COLUMNS).where(holds).order_by(schema.tokens.c.made_at, schema.tokens.c.token_id)
    return [TOKEN_COLUMNS.read(row) for row in tx.all(query)]


def end_token(tx: Tx, token_id: str, *, person_id: str | None, actor: str | None = None) -> None:
    """End a token of the person; of whomever, if none is named."""
    this = schema.tokens.c.token_id == token_id
    theirs = this if person_id is None else this & (schema.tokens.c.person_id == person_id)
    row = tx.first(select(schema.tokens.c.ended_at).where(theirs))
    if row is None:
        raise NotFound(NO_TOKEN)
    _end_tokens(tx, [token_id] if row.ended_at is None else [], actor or person_id)


def _end_sessions(tx: Tx, wanted: ColumnElement[bool]) -> None:
    tx.execute(schema.sessions.update().where(wanted, schema.sessions.c.ended_at.is_(None)).values(ended_at=tx.now))


def _end_tokens(tx: Tx, token_ids: list[str], actor: str | None) -> None:
    if token_ids:
        ending = schema.tokens.update().where(schema.tokens.c.token_id.in_(token_ids))
        tx.execute(ending.values(ended_at=tx.now))
        events.write_all(tx, [(actor, "token.ended", token_id, {}) for token_id in token_ids])


def _powers(row: Record) -> Person | None:
    """The person with the role that they have here; None where the human behind them has no access any more."""
    person = OWNER_COLUMNS.read(row)
    if row.behind_state == "ended" or (person.kind == "joint" and row.behind_state is None):
        return None
    if person.kind == "joint":
        return replace(person, role=people.lower_role(person.role, row.behind_role))
    return person


@dataclass(frozen=True, slots=True)
class SecondFactor:
    """Without `confirmed_at` it was begun and is not asked for yet; `last_step` is the newest that was used."""

    person_id: str
    secret: str = field(repr=False)
    last_step: int
    made_at: int
    confirmed_at: int | None


COLUMNS = Columns(SecondFactor, schema.second_factors)


def find(tx: Tx, person_id: str) -> SecondFactor | None:
    row = tx.first(select(*COLUMNS).where(schema.second_factors.c.person_id == person_id))
    return None if row is None else COLUMNS.read(row)


def is_on(tx: Tx, person_id: str) -> bool:
    """Whether the person is asked for a second factor."""
    factor = find(tx, person_id)
    return factor is not None and factor.confirmed_at is not None


def people_with_one(tx: Tx) -> set[str]:
    query = select(schema.second_factors.c.person_id).where(schema.second_factors.c.confirmed_at.is_not(None))
    return {row.person_id for row in tx.all(query)}


def begin(tx: Tx, person_id: str, secret: str) -> None:
    """A new secret in place of any other."""
    remove(tx, person_id)
    row = {"person_id": person_id, "secret": secret, "last_step": 0, "made_at": tx.now, "confirmed_at": None}
    tx.insert(schema.second_factors, row)


def confirm(tx: Tx, person_id: str) -> None:
    this = schema.second_factors.c.person_id == person_id
    tx.execute(schema.second_factors.update().where(this).values(confirmed_at=tx.now))


def use_step(tx: Tx, person_id: str, step: int) -> bool:
    """Use up a time step; False where it, or a later one, was used before."""
    this = (schema.second_factors.c.person_id == person_id) & (schema.second_factors.c.last_step < step)
    return bool(tx.execute(schema.second_factors.update().where(this).values(last_step=step)).rowcount)


def set_recovery_codes(tx: Tx, person_id: str, codes: Sequence[str]) -> None:
    tx.execute(schema.recovery_codes.delete().where(schema.recovery_codes.c.person_id == person_id))
    rows = [{"code_hash": hashed(code), "person_id": person_id, "made_at": tx.now, "used_at": None} for code in codes]
    tx.insert(schema.recovery_codes, rows)


def use_recovery_code(tx: Tx, person_id: str, code: str) -> bool:
    """Use up a recovery code of the person; False where it is not theirs, or was used."""
    codes = schema.recovery_codes.c
    this = (codes.code_hash == hashed(code)) & (codes.person_id == person_id) & codes.used_at.is_(None)
    return bool(tx.execute(schema.recovery_codes.update().where(this).values(used_at=tx.now)).rowcount)


def n_recovery_codes(tx: Tx, person_id: str) -> int:
    codes = schema.recovery_codes.c
    query = select(func.count()).select_from(schema.recovery_codes)
    return int(tx.value(query.where(codes.person_id == person_id, codes.used_at.is_(None))) or 0)


def remove(tx: Tx, person_id: str) -> bool:
    """Take the second factor away; False where there was none."""
    tx.execute(schema.recovery_codes.delete().where(schema.recovery_codes.c.person_id == person_id))
    theirs = schema.second_factors.c.person_id == person_id
    return bool(tx.execute(schema.second_factors.delete().where(theirs)).rowcount)
