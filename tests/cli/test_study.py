"""`grater study ...` from the first essay to the archive, and `grater people token`, as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grater.annotate import credentials, people
from grater.annotate.invitations import invite_first_owner
from grater.annotate.people import note_use
from grater.annotate.status import new_study
from grater.annotate.store import open_store
from grater.annotate.store.transaction import DAY
from grater.cli.study import pasted
from tests.annotate.study.files import write_essays, write_items, write_text
from tests.cli.running import Capture, Ran, grater


@pytest.fixture
def study(tmp_path: Path, capsys: Capture) -> Path:
    """A study with three essays, made on the command line."""
    path = tmp_path / "study.db"
    assert grater(capsys, "study", "new", path, "--name", "Prepositions").status == 0
    assert grater(capsys, "study", "import", path, write_essays(tmp_path)).status == 0
    return path


def as_json(ran: Ran) -> object:
    assert (ran.status, ran.err) == (0, "")
    return json.loads(ran.out)


def test_from_the_first_essay_to_the_archive(study: Path, tmp_path: Path, capsys: Capture) -> None:
    assert as_json(grater(capsys, "study", "import", study, "--items", write_items(tmp_path), "--json")) == [
        {"file": str(tmp_path / "items.csv"), "kind": "items", "new": 2, "known": 0, "warnings": []}
    ]
    job = as_json(grater(capsys, "job", "new", study, "--task", "error", "--judgments-per-item", 3, "--json"))
    assert isinstance(job, dict)
    assert (job["units"], job["judgments"], job["state"]) == (11, 33, "open")
    link = grater(capsys, "people", "invite", study, "--role", "worker", "--url", "https://rate.example")
    assert link.out.startswith("https://rate.example/join/")
    result = as_json(grater(capsys, "study", "status", study, "--json"))
    assert isinstance(result, dict)
    assert (result["study"], result["essays"], result["items"]) == ("Prepositions", 3, 11)
    assert grater(capsys, "study", "verify", study).status == 0
    assert grater(capsys, "study", "export", study, tmp_path / "out").status == 0
    assert grater(capsys, "study", "restore", tmp_path / "out", tmp_path / "copy.db").status == 0
    again = as_json(grater(capsys, "study", "status", tmp_path / "copy.db", "--json"))
    assert again == {**result, "invited": 0}  # an invitation is a secret, and stays at home


def test_status_says_what_comes_next(study: Path, tmp_path: Path, capsys: Capture) -> None:
    grater(capsys, "study", "new", tmp_path / "empty.db")
    assert "next: import essays" in grater(capsys, "study", "status", tmp_path / "empty.db").err
    assert "next: add a job" in grater(capsys, "study", "status", study).err
    grater(capsys, "job", "new", study, "--task", "usage")
    with open_store(study) as store, store.write() as tx:
        invite_first_owner(tx, days=1)  # the link that sets up the study is not for a rater
    assert f"next: invite raters: grater people invite {study}" in grater(capsys, "study", "status", study).err
    grater(capsys, "people", "invite", study, "--role", "annotator")
    invited = grater(capsys, "study", "status", study)
    assert "0 people and 1 open invitation" in invited.out
    assert f"open the pages: grater serve {study}" in invited.err


def test_import_says_what_came_in_and_own_guidelines_are_taken(study: Path, tmp_path: Path, capsys: Capture) -> None:
    ran = grater(capsys, "study", "import", study, "--items", write_items(tmp_path))
    assert ran.err == f"{tmp_path / 'items.csv'}: 2 new items\nnext: grater study status {study}\n"
    own = write_text(tmp_path / "own.md", "# Look at *on*")
    assert grater(capsys, "job", "new", study, "--task", "error", "--guidelines", own, "--draft").status == 0
    assert "draft" in grater(capsys, "study", "status", study).out
    with open_store(study) as store, store.write() as tx:
        for name in ("Ann", "Bob"):
            people.add(tx, name=name, role="annotator")
    names = ("--annotator", "Ann", "--annotator", "Bob", "--judgments-per-item", 2)
    assert grater(capsys, "job", "new", study, "--task", "marking", *names).status == 0
    missing = grater(capsys, "job", "new", study, "--task", "usage", "--annotator", "An")
    assert (missing.status, missing.out) == (2, "")
    assert "Did you mean 'Ann'" in missing.err


def test_check_exits_with_one_when_a_promise_is_broken(study: Path, capsys: Capture) -> None:
    import sqlite3

    grater(capsys, "job", "new", study, "--task", "usage")
    with sqlite3.connect(study) as connection:
        connection.execute("UPDATE slots SET state = 'filled'")
    connection.close()
    ran = grater(capsys, "study", "verify", study)
    assert ran.status == 1
    assert ran.out.startswith("starved: unit ")


def test_a_study_that_is_being_served_cannot_be_served_again(study: Path, capsys: Capture) -> None:
    pytest.importorskip("uvicorn")
    with open_store(study) as store, store.serving():
        ran = grater(capsys, "serve", study, "--port", 1)
    assert (ran.status, ran.out) == (2, "")
    assert "is being served already" in ran.err


def test_next_steps_can_be_pasted_and_tell_no_password(capsys: Capture, tmp_path: Path) -> None:
    ran = grater(capsys, "study", "new", tmp_path / "my study.db")
    assert f"grater study import '{tmp_path / 'my study.db'}' FILE..." in ran.err
    assert pasted("postgresql://me:secret@db.example.org/study") == "STUDY"


@pytest.fixture
def named(tmp_path: Path) -> Path:
    path = tmp_path / "study.db"
    with new_study(str(path), name="study") as store, store.write() as tx:
        people.add(tx, name="Ann", role="manager")
    return path


def test_a_token_acts_for_its_person_while_it_lasts(named: Path, capsys: Capture) -> None:
    ran = grater(capsys, "people", "token", named, "Ann", "--days", 2)
    assert ran.err == "acts for Ann, manager, scope manage, for 2 days\n"
    with open_store(named) as store, store.read() as tx:
        held = people.find_token(tx, ran.out.strip())
        assert held is not None
        token, person = held
        assert (person.name, token.expires_at) == ("Ann", token.made_at + 2 * DAY)
    ran = grater(capsys, "people", "token", named, "Anne")
    assert (ran.status, ran.out) == (2, "")
    assert "Did you mean 'Ann'?" in ran.err


def test_tokens_are_listed_with_their_scope_and_last_use_and_ended(named: Path, capsys: Capture) -> None:
    secret = grater(capsys, "people", "token", named, "Ann", "--scope", "read", "--note", "nightly").out.strip()
    with open_store(named) as store, store.write() as tx:
        token = credentials.token_by_secret(tx, secret)
        note_use(tx, token.token_id)
    (row,) = json.loads(grater(capsys, "people", "token", named, "--list-tokens", "--json").out)["tokens"]
    assert (row["person"], row["scope"], row["name"]) == ("Ann", "read", "nightly")
    assert row["used_at"] >= row["made_at"]
    assert token.token_id in grater(capsys, "people", "token", named, "Ann", "--list-tokens").out
    assert grater(capsys, "people", "token", named, "--end", token.token_id).status == 0
    with open_store(named) as store, store.read() as tx:
        assert people.find_token(tx, secret) is None
    assert grater(capsys, "people", "token", named, "--end", "no such token").status == 2
