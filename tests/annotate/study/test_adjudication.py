"""Decisions about items: from a table, or from raters who are clear; and the joint seat.

Odd marks go back to their annotator, once.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from grater.annotate import adjudication, jobs, leases, marks, people, submissions, units
from grater.annotate.adjudication import accept, decide, waiting
from grater.annotate.archive import export
from grater.annotate.importing import import_files
from grater.annotate.marks import review
from grater.annotate.plans import NewJob, add_job
from grater.annotate.store import Store
from grater.annotate.tasks.task import Answer
from grater.errors import BadInput, Forbidden, NotFound, UsageError
from tests.annotate.study.files import write_essays, write_items, write_text
from tests.annotate.study.test_export import work

LABELS = {"Ann": ("error", "error"), "Bob": ("error", "ok"), "Cy": ("error", "ok")}
"""What each says of the items one and two: all agree on the first, two of three on the second."""


@pytest.fixture
def judged(store: Store, tmp_path: Path) -> Store:
    import_files(store, corpora=[write_essays(tmp_path)], items=[write_items(tmp_path)])
    add_job(store, NewJob(name="errors", task="error", judgments=3, item_ids=("one", "two")))
    with store.write() as tx:
        people.add(tx, name="Olga", role="owner")
        job_id = jobs.named(tx, "errors").job_id
        for name, labels in LABELS.items():
            person_id = people.add(tx, name=name, role="annotator").person_id
            for _ in labels:
                lease = leases.take(tx, job_id=job_id, person_id=person_id)
                item = units.get(tx, lease.unit_id).unit.items[0].item
                label = labels[0] if item.essay_id == "e0" else labels[1]
                answers = [Answer(item.item_id, label, alternatives=(f"of {name}",))]
                key = f"{name}-{lease.unit_id}"
                submissions.submit(
                    tx, submission_id=key, lease_id=lease.lease_id, person_id=person_id, body={}, answers=answers
                )
    return store


def decided(store: Store) -> dict[str, str]:
    """The gold label of each essay that has one."""
    with store.read() as tx:
        return {
            units.get(tx, each.unit_id).unit.essay.essay_id: each.answers[0].label for each in adjudication.all(tx)
        }


def test_clear_cases_are_accepted_the_rest_waits_and_a_later_decision_is_a_new_version(
    judged: Store, tmp_path: Path
) -> None:
    with judged.read() as tx:
        first, second = waiting(tx, jobs.named(tx, "errors"))
    assert (first.differs, second.differs) == (True, False), "units on which raters differ come first"
    assert list(first.to_dict()["labels"].values()) == [{"error": 1, "ok": 2}]  # type: ignore[union-attr]
    assert accept(judged, "errors", "unanimous") == 1
    assert decided(judged) == {"e0": "error"}
    assert accept(judged, "errors", "majority") == 1
    assert decided(judged) == {"e0": "error", "e1": "ok"}
    with judged.read() as tx:
        by_label = {each.answers[0].label: each.answers[0] for each in adjudication.all(tx)}
    assert sorted(by_label["ok"].alternatives) == ["of Bob", "of Cy"], "the words of those who said so"
    export(judged, tmp_path / "out", names=True)
    frame = pl.read_csv(tmp_path / "out" / "adjudications.csv")
    assert (set(frame["rater"]), set(frame["by"]), sorted(frame["label"])) == ({"gold"}, {"Olga"}, ["error", "ok"])
    decide(judged, "errors", write_text(tmp_path / "d.csv", "item,label", "two,error"))
    assert decided(judged) == {"e0": "error", "e1": "error"}
    with judged.read() as tx:
        assert sorted(each.version for each in adjudication.all(tx)) == [1, 2]


def test_a_table_decides_all_or_nothing(judged: Store, tmp_path: Path) -> None:
    wrong = write_text(tmp_path / "wrong.csv", "item,label", "one,ok", "two,perhaps", "three,ok")
    with pytest.raises(BadInput, match=r"(?s)wrong.csv:3: expected one of error.*wrong.csv:4: expected an item"):
        decide(judged, "errors", wrong)
    assert decided(judged) == {}
    assert decide(judged, "errors", write_text(tmp_path / "right.csv", "item,label", "two,unknown")) == 1
    assert decided(judged) == {"e1": "unknown"}


def test_only_those_who_may_decide_do(judged: Store) -> None:
    with pytest.raises(Forbidden, match="Ann is annotator"):
        accept(judged, "errors", "majority", decider="Ann")
    with judged.write() as tx:
        people.set_state(tx, people.named(tx, "Olga").person_id, "ended")
    with pytest.raises(UsageError, match="expected one owner who decides, found 0"):
        accept(judged, "errors", "majority")


def test_a_joint_seat_is_exported_with_its_two_people(judged: Store, tmp_path: Path) -> None:
    with judged.write() as tx:
        seat = people.add_seat(tx, ("Ann", "Olga"))
    assert (seat.name, seat.role, seat.kind) == ("Ann and Olga", "annotator", "joint")  # never more than the lower
    export(judged, tmp_path / "out", names=True)
    rows = pl.read_csv(tmp_path / "out" / "raters.csv").filter(pl.col("kind") == "joint")
    assert rows["members"].to_list() == ["Ann|Olga"]


def test_only_its_two_people_sit_on_a_seat(judged: Store) -> None:
    with judged.write() as tx:
        seat = people.add_seat(tx, ("Ann", "Bob"))
        assert people.require_member(tx, seat.person_id, people.named(tx, "Bob").person_id) == seat
        with pytest.raises(NotFound):
            people.require_member(tx, seat.person_id, people.named(tx, "Cy").person_id)
    with judged.write() as tx:
        with pytest.raises(UsageError, match="two people"):
            people.add_seat(tx, ("Cy", "Ann and Bob"))
        with pytest.raises(UsageError, match="two different people"):
            people.add_seat(tx, ("Cy", "Cy"))


def test_a_correction_that_changes_nothing_comes_back_to_its_annotator(store: Store, tmp_path: Path) -> None:
    import_files(store, corpora=[write_essays(tmp_path)])
    add_job(store, NewJob(name="marks", task="marking", essay_ids=("e0",)))
    add_job(store, NewJob(name="errors", task="error"))
    with store.write() as tx:
        ann, bob = (people.add(tx, name=name, role="annotator").person_id for name in ("Ann", "Bob"))
    assert work(store, "marks", ann, edits=ODD)
    assert [review(store, "marks") for _ in range(2)] == [1, 0]
    with store.write() as tx:
        (found,) = marks.open_findings(tx, ann)
        assert found.rule == "equals-text"
        assert marks.open_findings(tx, bob) == []
        marks.settle_finding(tx, found.finding_id, "kept", person_id=ann)
        assert marks.open_findings(tx, ann) == []
    with pytest.raises(NotFound), store.write() as tx:
        marks.settle_finding(tx, found.finding_id, "mended", person_id=bob)
    with pytest.raises(UsageError, match="only marked essays"):
        review(store, "errors")


ODD = '[{"start": 0, "end": 2, "quote": "We", "tag": "Pform", "replacements": ["We"], "comment": ""}]'
