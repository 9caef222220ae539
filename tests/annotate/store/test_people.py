"""People, joint seats, sessions, tokens, invitations."""

from __future__ import annotations

import pytest

from grater.annotate import credentials, invitations, people
from grater.annotate.store import Store, checks
from grater.annotate.store.clock import DAY, HOUR
from grater.errors import Conflict, GraterError, NotFound, UsageError
from tests.annotate.store.worlds import FakeClock


def test_a_name_is_taken_once(store: Store) -> None:
    with store.write() as tx:
        people.add(tx, name="Ann", role="worker")
    with pytest.raises(Conflict, match="Ann"), store.write() as tx:
        people.add(tx, name="Ann", role="owner")


def test_an_unknown_role_or_name_is_answered_with_the_nearest(store: Store) -> None:
    with store.write() as tx:
        people.add(tx, name="Annette", role="worker")
    with pytest.raises(UsageError, match="Did you mean 'owner'"), store.write() as tx:
        people.add(tx, name="Bob", role="ower")
    with pytest.raises(NotFound, match="Did you mean 'Annette'"), store.read() as tx:
        people.named(tx, "Anette")


def test_a_joint_seat_is_for_two_people(store: Store) -> None:
    with store.write() as tx:
        pair = [people.add(tx, name=name, role="annotator").person_id for name in ("Ann", "Bob")]
        seat = people.add(tx, name="Ann and Bob", role="annotator", kind="joint", members=pair)
        assert people.members(tx, seat.person_id) == tuple(sorted(pair))
        assert checks.violations(tx) == []
    with pytest.raises(UsageError, match="two different people"), store.write() as tx:
        people.add(tx, name="Alone", role="annotator", kind="joint", members=[pair[0], pair[0]])


def test_a_session_ends_by_time_by_hand_and_with_its_person(store: Store, clock: FakeClock) -> None:
    with store.write() as tx:
        ann = people.add(tx, name="Ann", role="worker").person_id
        made = [credentials.start_session(tx, ann, hours=1)[0] for _ in range(4)]
        credentials.end_session(tx, made[0])
    with store.read() as tx:
        assert [credentials.find_session(tx, token) is not None for token in made] == [False, True, True, True]
        assert credentials.find_session(tx, "guessed") is None
    clock.advance(HOUR)
    with store.write() as tx:
        assert credentials.find_session(tx, made[1]) is None
        fresh = credentials.start_session(tx, ann, hours=1)[0]
        people.set_state(tx, ann, "ended")
        assert credentials.find_session(tx, fresh) is None
        people.set_state(tx, ann, "active")
        assert credentials.find_session(tx, fresh) is not None
        credentials.end_all_sessions(tx, ann)
        assert credentials.find_session(tx, fresh) is None


def test_two_sessions_share_no_secret(store: Store) -> None:
    with store.write() as tx:
        ann = people.add(tx, name="Ann", role="worker").person_id
        (one, first), (two, second) = (credentials.start_session(tx, ann, hours=1) for _ in range(2))
    assert one != two
    assert first.csrf != second.csrf


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


def test_an_invitation_works_once_and_for_its_role(store: Store) -> None:
    with store.write() as tx:
        token = invitations.make(tx, role="adjudicator")
        assert invitations.accept(tx, token, name="Ann", password_hash="x").role == "adjudicator"
    with pytest.raises(NotFound, match="been used"), store.write() as tx:
        invitations.accept(tx, token, name="Bob", password_hash="x")


def test_an_invitation_runs_out_and_can_be_taken_back(store: Store, clock: FakeClock) -> None:
    with store.write() as tx:
        short = invitations.make(tx, role="worker", days=2)
        back, long = (invitations.make(tx, role="worker", days=9, name=name) for name in ("back", "long"))
        taken = next(each for each in invitations.all(tx) if each.name == "back")
        invitations.end(tx, taken.invitation_id)
    clock.advance(2 * DAY)
    with store.read() as tx:
        assert [invitations.find(tx, token) is not None for token in (short, back, long)] == [False, False, True]


def test_a_token_is_its_persons_until_it_ends(store: Store, clock: FakeClock) -> None:
    with store.write() as tx:
        ann = people.add(tx, name="Ann", role="worker").person_id
        bob = people.add(tx, name="Bob", role="worker").person_id
        secret, short = credentials.make_token(tx, ann, name="laptop"), credentials.make_token(tx, ann, days=1)
        held = credentials.find_token(tx, secret)
        assert held is not None
        assert held[1].person_id == ann
        token_id = next(each.token_id for each in credentials.tokens_of_person(tx, ann) if each.name == "laptop")
    with pytest.raises(NotFound), store.write() as tx:
        credentials.end_token(tx, token_id, person_id=bob)
    with store.write() as tx:
        credentials.end_token(tx, token_id, person_id=ann)
    clock.advance(DAY)
    with store.read() as tx:
        assert credentials.find_token(tx, secret) is None
        assert credentials.find_token(tx, short) is None


def test_what_postgresql_cannot_hold_is_an_error_and_not_a_crash(store: Store) -> None:
    if store.is_postgres:
        with pytest.raises(GraterError), store.write() as tx:
            people.add(tx, name="An\0n", role="worker")
