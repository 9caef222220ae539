"""`grater study token`."""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.store import credentials, open_store, people
from grater.study.status import new_study
from tests.cli.running import grater


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.db"
    with new_study(str(path), name="study") as store, store.write() as tx:
        people.add(tx, name="Ann", role="manager")
    return path


def test_a_token_acts_for_its_person_while_it_lasts(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = grater(capsys, "study", "token", study, "Ann", "--days", 2)
    assert ran.err == "acts for Ann, manager, for 2 days\n"
    with open_store(study) as store, store.read() as tx:
        person = credentials.token_owner(tx, ran.out.strip())
        assert person is not None
        assert person.name == "Ann"
        assert credentials.tokens_of_person(tx, person.person_id)[0].expires_at is not None


def test_an_unknown_person_is_answered_with_the_nearest(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = grater(capsys, "study", "token", study, "Anne")
    assert (ran.status, ran.out) == (2, "")
    assert "Did you mean 'Ann'?" in ran.err
