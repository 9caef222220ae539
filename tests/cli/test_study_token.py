"""`grater people token`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grater.annotate import credentials, people
from grater.annotate.people import note_use
from grater.annotate.status import new_study
from grater.annotate.store import open_store
from grater.annotate.store.transaction import DAY
from tests.cli.running import Capture, grater


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.db"
    with new_study(str(path), name="study") as store, store.write() as tx:
        people.add(tx, name="Ann", role="manager")
    return path


def test_a_token_acts_for_its_person_while_it_lasts(study: Path, capsys: Capture) -> None:
    ran = grater(capsys, "people", "token", study, "Ann", "--days", 2)
    assert ran.err == "acts for Ann, manager, scope manage, for 2 days\n"
    with open_store(study) as store, store.read() as tx:
        held = people.find_token(tx, ran.out.strip())
        assert held is not None
        token, person = held
        assert (person.name, token.expires_at) == ("Ann", token.made_at + 2 * DAY)
    ran = grater(capsys, "people", "token", study, "Anne")
    assert (ran.status, ran.out) == (2, "")
    assert "Did you mean 'Ann'?" in ran.err


def test_tokens_are_listed_with_their_scope_and_last_use_and_ended(study: Path, capsys: Capture) -> None:
    secret = grater(capsys, "people", "token", study, "Ann", "--scope", "read", "--note", "nightly").out.strip()
    with open_store(study) as store, store.write() as tx:
        token = credentials.token_by_secret(tx, secret)
        note_use(tx, token.token_id)
    (row,) = json.loads(grater(capsys, "people", "token", study, "--list-tokens", "--json").out)["tokens"]
    assert (row["person"], row["scope"], row["name"]) == ("Ann", "read", "nightly")
    assert row["used_at"] >= row["made_at"]
    assert token.token_id in grater(capsys, "people", "token", study, "Ann", "--list-tokens").out
    assert grater(capsys, "people", "token", study, "--end", token.token_id).status == 0
    with open_store(study) as store, store.read() as tx:
        assert people.find_token(tx, secret) is None
    assert grater(capsys, "people", "token", study, "--end", "no such token").status == 2


@pytest.mark.parametrize("options", [("Ann", "--scope", "rule"), ("Ann", "--days", 0), ("Ann", "--days", 400), ()])
def test_what_a_token_cannot_be_is_one_line(study: Path, capsys: Capture, options: tuple[object, ...]) -> None:
    ran = grater(capsys, "people", "token", study, *options)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
