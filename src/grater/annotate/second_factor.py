"""Two-factor login: codes from a phone in addition to the password, recovery codes, and who needs them.

Time-based one-time passwords (TOTP, RFC 6238) over HMAC (HOTP, RFC 4226, section 5.3), with the parameters that every
authenticator knows: SHA-1, six digits, steps of 30 seconds, a secret of 160 bits. Codes of the previous and next step
are accepted too, since clocks differ (RFC 6238, section 5.2). A code works once: the last time step used is stored,
and only a later one is accepted, so an observed code is useless.

Checking a code needs the secret, so it is stored unhashed; recovery codes are stored as hashes.
"""

from __future__ import annotations

import hmac
import secrets
from base64 import b32encode
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

import pyotp
from pydantic import Field
from sqlalchemy import func, select

from grater.annotate import credentials, people
from grater.annotate.people import Person
from grater.annotate.requests import Body, example
from grater.annotate.store import events, schema
from grater.annotate.store.database import meta_value, set_meta
from grater.annotate.store.transaction import Columns, Tx, hashed
from grater.errors import NotFound, UsageError

STEP_SECONDS = 30
DIGITS = 6
TOLERANCE = 1
"""Steps before and after the present one that are taken."""

N_RECOVERY_CODES = 10
RECOVERY_BYTES = 10
ROLES = ("owner", "manager")
"""For whom it can be required."""

REQUIRED = "second_factor_roles"
WRONG = "this code is wrong, already used or expired; wait for the next one"


def uri(secret: str, name: str) -> str:
    """The address for an authenticator app, also as a QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name, issuer_name="grater")


def can_have_one(person: Person) -> bool:
    """Only people who log in with a password can have a second factor."""
    return person.kind == "human" and bool(person.password_hash)


@dataclass(frozen=True, slots=True)
class SecondFactor:
    """Without `confirmed_at`, it is being set up and not required yet; `last_step` is the latest time step used."""

    person_id: str
    secret: str = field(repr=False)
    last_step: int
    made_at: int
    confirmed_at: int | None


COLUMNS = Columns(SecondFactor, schema.second_factors)


def find(tx: Tx, person_id: str) -> SecondFactor | None:
    return COLUMNS.find(tx, select(*COLUMNS).where(schema.second_factors.c.person_id == person_id))


def is_on(tx: Tx, person_id: str) -> bool:
    """Whether the person is asked for a second factor."""
    factor = find(tx, person_id)
    return factor is not None and factor.confirmed_at is not None


def people_with_one(tx: Tx) -> set[str]:
    query = select(schema.second_factors.c.person_id).where(schema.second_factors.c.confirmed_at.is_not(None))
    return {row.person_id for row in tx.all(query)}


def n_recovery_codes(tx: Tx, person_id: str) -> int:
    codes = schema.recovery_codes.c
    query = select(func.count()).select_from(schema.recovery_codes)
    return int(tx.value(query.where(codes.person_id == person_id, codes.used_at.is_(None))) or 0)


def begin(tx: Tx, person: Person) -> str:
    """A new secret to enter on a phone; it becomes active once a code from the phone confirms it."""
    if not can_have_one(person):
        raise UsageError("a second factor is for people who log in with a password")
    if is_on(tx, person.person_id):
        raise UsageError("your second factor is already on; turn it off first")
    _remove(tx, person.person_id)
    factor = SecondFactor(person.person_id, pyotp.random_base32(), last_step=0, made_at=tx.now, confirmed_at=None)
    tx.insert(schema.second_factors, COLUMNS.row(factor))
    return factor.secret


def confirm(tx: Tx, person: Person, code: str) -> list[str]:
    """Turn it on by a code from the phone; return the recovery codes, which are never shown again.

    Sessions started without it end.
    """
    factor = find(tx, person.person_id)
    if factor is None or factor.confirmed_at is not None:
        raise NotFound("setup was not started here; start again")
    if not _is_fresh_code(tx, person.person_id, code):
        raise UsageError(WRONG)
    this = schema.second_factors.c.person_id == person.person_id
    tx.execute(schema.second_factors.update().where(this).values(confirmed_at=tx.now))
    credentials.end_all_sessions(tx, person.person_id)
    events.write(tx, person.person_id, "factor.on", person.person_id)
    codes = [b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode() for _ in range(N_RECOVERY_CODES)]
    kept = {"person_id": person.person_id, "made_at": tx.now, "used_at": None}
    tx.insert(schema.recovery_codes, [{"code_hash": hashed(code), **kept} for code in codes])
    return ["-".join(code[start : start + 4] for start in range(0, len(code), 4)) for code in codes]


def use_code(tx: Tx, person: Person, code: str) -> bool:
    """Use a code of the person's phone, or a recovery code; False if it is wrong or already used."""
    if not is_on(tx, person.person_id):
        return False
    if _is_fresh_code(tx, person.person_id, code):
        return True
    plain = "".join(letter for letter in code.upper() if letter.isalnum())
    codes = schema.recovery_codes.c
    this = (codes.code_hash == hashed(plain)) & (codes.person_id == person.person_id) & codes.used_at.is_(None)
    if not tx.execute(schema.recovery_codes.update().where(this).values(used_at=tx.now)).rowcount:
        return False
    events.write(tx, person.person_id, "factor.recovered", person.person_id)
    return True


def turn_off(tx: Tx, person: Person, code: str) -> None:
    """Turn off one's own second factor by a code; refused if the role requires one."""
    if person.role in required_roles(tx):
        raise UsageError(f"the owner of the study requires a second factor for every {person.role}")
    if not use_code(tx, person, code):
        raise UsageError(WRONG)
    _remove(tx, person.person_id)
    events.write(tx, person.person_id, "factor.off", person.person_id)


def reset(tx: Tx, person_id: str, *, actor: str | None = None) -> Person:
    """Remove the second factor of somebody who lost phone and codes; their sessions and tokens end."""
    person = people.get(tx, person_id)
    if not _remove(tx, person_id):
        raise NotFound(f"{person.name} has no second factor")
    credentials.end_access(tx, person_id, actor=actor)
    events.write(tx, actor, "factor.off", person_id)
    return person


def _remove(tx: Tx, person_id: str) -> bool:
    """False where there was none."""
    tx.execute(schema.recovery_codes.delete().where(schema.recovery_codes.c.person_id == person_id))
    theirs = schema.second_factors.c.person_id == person_id
    return bool(tx.execute(schema.second_factors.delete().where(theirs)).rowcount)


class NewSecondFactorRule(Body):
    model_config = example(roles=["manager"])
    roles: list[Literal["owner", "manager"]] = Field(max_length=2)


def required_roles(tx: Tx) -> tuple[str, ...]:
    kept = meta_value(tx, REQUIRED).split()
    return tuple(role for role in ROLES if role in kept)


def require_of(tx: Tx, roles: Collection[str], *, actor: str | None = None) -> None:
    """Require it of exactly these roles; people without one are sent to the set-up on the next page."""
    wanted = [role for role in ROLES if role in roles]
    set_meta(tx, REQUIRED, " ".join(wanted))
    events.write(tx, actor, "factor.required", "", {"roles": wanted})


def is_missing(tx: Tx, person: Person) -> bool:
    """Whether the person must set up a second factor before anything else."""
    if person.role not in ROLES or not can_have_one(person) or person.role not in required_roles(tx):
        return False
    return not is_on(tx, person.person_id)


def _is_fresh_code(tx: Tx, person_id: str, code: str) -> bool:
    """Use a code if it is of a time step near now and later than any used before; False otherwise."""
    factor, sent = find(tx, person_id), "".join(code.split())
    if factor is None or len(sent) != DIGITS or not sent.isascii():
        return False
    codes, now = pyotp.HOTP(factor.secret, digits=DIGITS), tx.now // 1000 // STEP_SECONDS
    steps = [
        step for step in range(now - TOLERANCE, now + TOLERANCE + 1) if hmac.compare_digest(codes.at(step), sent)
    ]
    mine, last = schema.second_factors.c.person_id == person_id, schema.second_factors.c.last_step
    using = [schema.second_factors.update().where(mine, last < step).values(last_step=step) for step in steps]
    return any(tx.execute(query).rowcount for query in using)
