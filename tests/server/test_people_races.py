"""Two requests that meet at the worst moment: nobody stays inside, and the study keeps an owner, on either engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grater.store import people
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
