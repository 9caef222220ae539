"""Two requests that meet at the worst moment: nobody stays inside, and the study keeps an owner, on either engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grater.store import credentials, invitations, people
from grater.study.people import seat, set_state
from tests.server.studies import PASSWORD, PASSWORD_HASH, Study, served
from tests.server.test_account import log_in
from tests.store.conftest import cluster
from tests.store.postgres import new_database
from tests.store.races import interrupted

__all__ = ["cluster"]

NEW = "something quite new"


@pytest.fixture(params=["sqlite", "postgresql"])
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Study]:
    is_file = request.param == "sqlite"
    with served(tmp_path if is_file else new_database(request.getfixturevalue("cluster"))) as found:
        yield found


def test_two_owners_who_put_each_other_down_leave_one(bare: Study) -> None:
    with bare.store.write() as tx:
        people.add(tx, name="Other", role="owner", password_hash=PASSWORD_HASH)
    one, two = bare.browser("owner"), bare.browser("Other")
    ids = [bare.people["owner"].person_id, bare._named("Other").person_id]
    first, second = interrupted(
        bare.store,
        lambda: one.post(f"/manage/people/{ids[1]}/role", {"role": "worker"}).status_code,
        lambda: two.post(f"/manage/people/{ids[0]}/role", {"role": "worker"}).status_code,
        before="UPDATE people",
    )
    assert sorted((first, second.result())) == [200, 403]
    with bare.store.read() as tx:
        assert [person.role for person in people.all(tx)].count("owner") == 1


def test_a_login_with_the_old_password_does_not_outlive_the_new_one(bare: Study) -> None:
    intruder, person = bare.browser(), bare.browser("worker")
    form = {"old": PASSWORD, "password": NEW, "again": NEW}
    interrupted(
        bare.store,
        lambda: log_in(intruder),
        lambda: person.post("/me/password", form).status_code,
        before="INSERT INTO sessions",
        seconds=2.0,  # to make a hash of a password takes its time
    )
    assert "Log in" in intruder.get("/jobs").text
    assert "Log out" in person.get("/jobs").text


def test_of_two_new_passwords_at_once_the_second_is_refused(bare: Study) -> None:
    one, two = bare.browser("worker"), bare.browser("worker")
    forms = [{"old": PASSWORD, "password": new, "again": new} for new in (NEW, "something else again")]
    interrupted(
        bare.store,
        lambda: one.post("/me/password", forms[0]).status_code,
        lambda: two.post("/me/password", forms[1]).status_code,
        before="UPDATE people",
    )
    assert log_in(bare.browser(), password=NEW) == 200


@pytest.mark.parametrize(
    ("path", "before"),
    [
        ("/me/tokens", "INSERT INTO tokens"),
        ("/manage/invitations", "INSERT INTO invitations"),
        ("/me/seats/{seat}", "INSERT INTO sessions"),
    ],
)
def test_what_an_intruder_asks_for_while_their_access_ends_is_not_given_or_ends_too(
    bare: Study, path: str, before: str
) -> None:
    victim = bare.people["manager"]
    with bare.store.write() as tx:
        joint = seat(tx, [victim, bare.people["adjudicator"]])
    intruder = bare.browser("manager")

    def end() -> None:
        with bare.store.write() as tx:
            set_state(tx, victim.person_id, "ended", actor=bare.people["owner"].person_id)
        with bare.store.write() as tx:
            set_state(tx, victim.person_id, "active", actor=bare.people["owner"].person_id)

    form = {"role": "annotator", "name": "of the intruder"}
    interrupted(bare.store, lambda: intruder.post(path.format(seat=joint.person_id), form), end, before=before)
    with bare.store.read() as tx:
        assert credentials.all_tokens(tx) == []
        assert [each for each in invitations.all(tx) if each.ended_at is None] == []
    assert "Log in" in intruder.get("/jobs").text


def test_access_that_ended_just_before_a_token_is_asked_for_gives_none(bare: Study) -> None:
    intruder, victim = bare.browser("worker"), bare.people["worker"]

    def end() -> None:
        with bare.store.write() as tx:
            credentials.end_access(tx, victim.person_id)

    answer, _ = interrupted(bare.store, lambda: intruder.post("/me/tokens"), end, before="SELECT people")
    with bare.store.read() as tx:
        assert credentials.all_tokens(tx) == []
    assert answer.status_code == 403 or not bare.store.is_postgres  # on SQLite the token was first, and ended
