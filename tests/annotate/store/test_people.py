"""What the database keeps of people: no secret as it is, no text that it cannot hold."""

from __future__ import annotations

import pytest

from grater.annotate import credentials, invitations, people
from grater.annotate.store import Store
from grater.errors import GraterError


def test_no_secret_is_stored_as_it_is(store: Store) -> None:
    from sqlalchemy import text as sql

    with store.write() as tx:
        ann = people.add(tx, name="Ann", role="worker").person_id
        told = [
            credentials.start_session(tx, ann, hours=1)[0],
            credentials.make_token(tx, ann),
            invitations.make(tx, role="worker"),
        ]
    with store.read() as tx:
        rows = [
            str(row)
            for table in ("sessions", "tokens", "invitations")
            for row in tx.all(sql(f"SELECT * FROM {table}"))
        ]
    assert not any(secret in row for secret in told for row in rows)


def test_what_postgresql_cannot_hold_is_an_error_and_not_a_crash(store: Store) -> None:
    if store.is_postgres:
        with pytest.raises(GraterError), store.write() as tx:
            people.add(tx, name="An\0n", role="worker")
