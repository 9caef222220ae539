"""`grater study ...` from the first essay to the archive, and `grater people token`, as a person types them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
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
from tests.cli.running import Capture, as_json, grater, invoked, refused


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`study.db` with three essays, made on the command line, and a table of items."""
    monkeypatch.chdir(tmp_path)
    invoked("study new study.db --name Prepositions")
    invoked("study import study.db", write_essays(Path()))
    write_items(Path())


@pytest.mark.usefixtures("study")
def test_from_the_first_essay_to_the_archive(capsys: Capture) -> None:
    ran = grater(capsys, *["study", "import", "study.db", "--items", "items.csv", "--json"])
    counts = {"file": "items.csv", "kind": "items", "new": 2, "known": 0, "warnings": []}
    assert (ran.status, ran.err, json.loads(ran.out)) == (0, "", [counts])
    job = as_json("job new study.db --task error --judgments-per-item 3")
    assert (job["units"], job["judgments"], job["state"]) == (11, 33, "open")
    link = invoked("people invite study.db --role worker --url https://rate.example").stdout
    assert link.startswith("https://rate.example/join/")
    result = as_json("study status study.db")
    assert (result["study"], result["essays"], result["items"]) == ("Prepositions", 3, 11)
    for command in ("study verify study.db", "study export study.db out", "study restore out copy.db"):
        invoked(command)
    # an invitation is a secret, and stays at home
    assert as_json("study status copy.db") == {**result, "invited": 0}


@pytest.mark.usefixtures("study")
def test_status_says_what_comes_next() -> None:
    invoked("study new empty.db")
    assert "next: import essays" in invoked("study status empty.db").stderr
    assert "next: add a job" in invoked("study status study.db").stderr
    invoked("job new study.db --task usage")
    with open_store("study.db") as store, store.write() as tx:
        invite_first_owner(tx, days=1)  # the link that sets up the study is not for a rater
    assert "next: invite raters: grater people invite study.db" in invoked("study status study.db").stderr
    invoked("people invite study.db --role annotator")
    invited = invoked("study status study.db")
    assert "0 people and 1 open invitation" in invited.stdout
    assert "open the pages: grater serve study.db" in invited.stderr


@pytest.mark.usefixtures("study")
def test_import_says_what_came_in_and_own_guidelines_are_taken() -> None:
    said = invoked("study import study.db --items items.csv").stderr
    assert said == "items.csv: 2 new items\nnext: grater study status study.db\n"
    write_text(Path("own.md"), "# Look at *on*")
    invoked("job new study.db --task error --guidelines own.md --draft")
    assert "draft" in invoked("study status study.db").stdout
    with open_store("study.db") as store, store.write() as tx:
        for name in ("Ann", "Bob"):
            people.add(tx, name=name, role="annotator")
    invoked("job new study.db --task marking --annotator Ann --annotator Bob --judgments-per-item 2")
    assert "Did you mean 'Ann'" in refused("job new study.db --task usage --annotator An")


@pytest.mark.usefixtures("study")
def test_check_exits_with_one_when_a_promise_is_broken(capsys: Capture) -> None:
    invoked("job new study.db --task usage")
    with closing(sqlite3.connect("study.db", isolation_level=None)) as connection:
        connection.execute("UPDATE slots SET state = 'filled'")
    ran = grater(capsys, "study", "verify", "study.db")
    assert ran.status == 1
    assert ran.out.startswith("starved: unit ")


@pytest.mark.usefixtures("study")
def test_a_study_that_is_being_served_cannot_be_served_again() -> None:
    pytest.importorskip("uvicorn")
    with open_store("study.db") as store, store.serving():
        assert "is being served already" in refused("serve study.db --port 1")


def test_next_steps_can_be_pasted_and_tell_no_password(tmp_path: Path) -> None:
    path = tmp_path / "my study.db"
    assert f"grater study import '{path}' FILE..." in invoked("study new", path).stderr
    assert pasted("postgresql://me:secret@db.example.org/study") == "STUDY"


@pytest.fixture
def named(tmp_path: Path) -> Path:
    path = tmp_path / "study.db"
    with new_study(str(path), name="study") as store, store.write() as tx:
        people.add(tx, name="Ann", role="manager")
    return path


def test_a_token_acts_for_its_person_while_it_lasts(named: Path) -> None:
    ran = invoked("people token", named, "Ann", "--days", 2)
    assert ran.stderr == "acts for Ann, manager, scope manage, for 2 days\n"
    with open_store(named) as store, store.read() as tx:
        held = people.find_token(tx, ran.stdout.strip())
        assert held is not None
        token, person = held
        assert (person.name, token.expires_at) == ("Ann", token.made_at + 2 * DAY)
    assert "Did you mean 'Ann'?" in refused("people token", named, "Anne")


def test_tokens_are_listed_with_their_scope_and_last_use_and_ended(named: Path) -> None:
    secret = invoked("people token", named, "Ann", "--scope", "read", "--note", "nightly").stdout.strip()
    with open_store(named) as store, store.write() as tx:
        token = credentials.token_by_secret(tx, secret)
        note_use(tx, token.token_id)
    (row,) = as_json("people token --list-tokens", named)["tokens"]
    assert (row["person"], row["scope"], row["name"]) == ("Ann", "read", "nightly")
    assert row["used_at"] >= row["made_at"]
    assert token.token_id in invoked("people token --list-tokens", named, "Ann").stdout
    invoked("people token", named, "--end", token.token_id)
    with open_store(named) as store, store.read() as tx:
        assert people.find_token(tx, secret) is None
    assert "no such token" in refused("people token", named, "--end", "no such token")
