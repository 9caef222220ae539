"""`grater study adjudicate`, `seat`, `hand-over`, `review` and `invite --back`, as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grater.annotate import invitations, people, status
from grater.annotate.importing import import_files
from grater.annotate.plans import NewJob, add_job
from grater.annotate.store import open_store
from tests.annotate.study.files import write_essays, write_items, write_text
from tests.annotate.study.test_export import work
from tests.cli.running import Capture, grater


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Two raters have said `error` to everything, and one of them marked an essay."""
    path = tmp_path / "study.db"
    with status.new_study(path) as store:
        import_files(store, corpora=[write_essays(tmp_path)], items=[write_items(tmp_path)])
        add_job(store, NewJob(name="errors", task="error", judgments=2, item_ids=("one", "two")))
        add_job(store, NewJob(name="marks", task="marking", essay_ids=("e0",)))
        with store.write() as tx:
            people.add(tx, name="Olga", role="owner")
            ids = [people.add(tx, name=name, role="annotator").person_id for name in ("Ann", "Bob")]
        for person_id in ids:
            while work(store, "errors", person_id):
                pass
        same = '[{"start": 0, "end": 2, "quote": "We", "tag": "Pform", "replacements": ["We"], "comment": ""}]'
        work(store, "marks", ids[0], edits=same)
    return path


def test_clear_cases_are_accepted_or_decided_by_a_table(study: Path, tmp_path: Path, capsys: Capture) -> None:
    listed = grater(capsys, "study", "adjudicate", study, "--job", "errors")
    assert listed.status == 0
    assert listed.out.count("error 2") == 2
    assert "2 left, raters differ on 0" in listed.err
    table = write_text(tmp_path / "gold.csv", "item,label", "one,ok")
    done = grater(capsys, "study", "adjudicate", study, table, "--job", "errors", "--as", "Olga", "--json")
    assert json.loads(done.out)["decided"] == 1
    done = grater(capsys, "study", "adjudicate", study, "--job", "errors", "--accept", "unanimous", "--json")
    assert json.loads(done.out) == {"decided": 1, "waiting": []}
    assert grater(capsys, "study", "verify", study).status == 0


def test_wrong_use_is_reported(study: Path, capsys: Capture) -> None:
    for args, message in (
        ("--job errors --as Ann --accept majority", "Ann is annotator"),
        ("--job marks", "place by place"),
    ):
        ran = grater(capsys, "study", "adjudicate", study, *args.split())
        assert (ran.status, ran.out) == (2, "")
        assert message in ran.err


def test_seats_links_back_and_what_is_handed_over(study: Path, capsys: Capture) -> None:
    with open_store(study) as store:
        add_job(store, NewJob(name="named", task="error", item_ids=("one", "two"), annotators=("Ann",)))
    moved = grater(capsys, "people", "hand-over", study, "Ann", "Bob", "--job", "named", "--json")
    assert json.loads(moved.out) == {"job": "named", "from": "Ann", "to": "Bob", "units": 2}
    again = grater(capsys, "people", "hand-over", study, "Ann", "Bob", "--job", "named")
    assert (again.status, again.out) == (2, "")
    assert "'Ann' has no units left" in again.err
    link = grater(capsys, "people", "invite", study, "--back", "Olga", "--url", "https://rate.example")
    assert link.out.startswith("https://rate.example/join/")
    assert "as owner" in link.err
    with open_store(study) as store, store.read() as tx:
        invitation = invitations.find(tx, link.out.strip().rpartition("/")[2])
        assert invitation is not None
        assert invitation.person_id == people.named(tx, "Olga").person_id
    made = json.loads(grater(capsys, "people", "seat", study, "Ann", "Bob", "--name", "The pair", "--json").out)
    assert (made["name"], made["role"], made["members"]) == ("The pair", "annotator", ["Ann", "Bob"])
    with open_store(study) as store, store.read() as tx:
        assert people.named(tx, "The pair").kind == "joint"


def test_odd_marks_are_queued_once_and_new_instructions_pause_a_job(
    study: Path, capsys: Capture, tmp_path: Path
) -> None:
    first, second = (grater(capsys, "job", "review", study, "marks", "--json") for _ in range(2))
    assert [json.loads(each.out)["findings"] for each in (first, second)] == [1, 0]
    words = write_text(tmp_path / "new.md", "# Look twice")
    assert grater(capsys, "job", "pause", study, "errors").status == 0
    done = grater(capsys, "job", "guidelines", study, "errors", words, "--json")
    assert json.loads(done.out) == {"job": "errors", "state": "paused", "guidelines": 2}
    gone = grater(capsys, "job", "guidelines", study, "errors", tmp_path / "gone.md")
    assert (gone.status, gone.err.count("\n")) == (2, 1)
