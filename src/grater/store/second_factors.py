"""Second factors as the study keeps them: the secret that a telephone shares, and the recovery codes for its loss.

The secret must be known to check a code, so it lies in the database as it is; recovery codes are kept as hashes.  A
code counts once: the last time step that was used is kept, and only a later one is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, select

from grater.store import schema
from grater.store.ids import hashed
from grater.store.transaction import Columns, Tx


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
    """New recovery codes in place of all others."""
    tx.execute(schema.recovery_codes.delete().where(schema.recovery_codes.c.person_id == person_id))
    rows = [{"code_hash": hashed(code), "person_id": person_id, "made_at": tx.now, "used_at": None} for code in codes]
    tx.insert(schema.recovery_codes, rows)


def use_recovery_code(tx: Tx, person_id: str, code: str) -> bool:
    """Use up a recovery code of the person; False where it is not theirs, or was used."""
    codes = schema.recovery_codes.c
    this = (codes.code_hash == hashed(code)) & (codes.person_id == person_id) & codes.used_at.is_(None)
    return bool(tx.execute(schema.recovery_codes.update().where(this).values(used_at=tx.now)).rowcount)


def n_recovery_codes(tx: Tx, person_id: str) -> int:
    """The number of recovery codes that are left."""
    codes = schema.recovery_codes.c
    query = select(func.count()).select_from(schema.recovery_codes)
    return int(tx.value(query.where(codes.person_id == person_id, codes.used_at.is_(None))) or 0)


def remove(tx: Tx, person_id: str) -> bool:
    """Take the second factor away; False where there was none."""
    tx.execute(schema.recovery_codes.delete().where(schema.recovery_codes.c.person_id == person_id))
    theirs = schema.second_factors.c.person_id == person_id
    return bool(tx.execute(schema.second_factors.delete().where(theirs)).rowcount)
