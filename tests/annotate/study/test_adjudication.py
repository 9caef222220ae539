"""Decisions about items: from a table, or from raters who are clear; the joint seat; where annotators differ."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from grater.annotate import adjudication, jobs, leases, people, submissions, units
from grater.annotate.adjudication import accept, decide, places_of, waiting
from grater.annotate.archive import export
from grater.annotate.importing import import_files
from grater.annotate.plans import NewJob, add_job
from grater.annotate.store import Store
from grater.annotate.tasks.task import Answer
from grater.errors import BadInput, Forbidden, UsageError
from grater.model import Edit, Essay, Span
from tests.annotate.store.worlds import read, write
from tests.annotate.study.files import write_essays, write_items, write_text

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
            while lease := leases.take(tx, job_id=job_id, person_id=person_id):
                item = units.get(tx, lease.unit_id).unit.items[0].item
                answers = [Answer(item.item_id, labels[item.essay_id == "e1"], alternatives=(f"of {name}",))]
                mine = {"lease_id": lease.lease_id, "person_id": person_id}
                submissions.submit(tx, submission_id=f"{name}-{lease.unit_id}", **mine, body={}, answers=answers)
    return store


def decided(store: Store) -> dict[str, str]:
    """The gold label of each essay that has one."""
    found = read(store, adjudication.all)
    return {read(store, units.get, each.unit_id).unit.essay.essay_id: each.answers[0].label for each in found}


def test_clear_cases_are_accepted_and_a_later_decision_is_a_new_version(judged: Store, tmp_path: Path) -> None:
    first, second = read(judged, waiting, read(judged, jobs.named, "errors"))
    assert (first.differs, second.differs) == (True, False), "units on which raters differ come first"
    assert list(first.to_dict()["labels"].values()) == [{"error": 1, "ok": 2}]  # type: ignore[union-attr]
    for rule, gold in (("unanimous", {"e0": "error"}), ("majority", {"e0": "error", "e1": "ok"})):
        assert accept(judged, "errors", rule) == 1
        assert decided(judged) == gold
    by_label = {each.answers[0].label: each.answers[0] for each in read(judged, adjudication.all)}
    assert sorted(by_label["ok"].alternatives) == ["of Bob", "of Cy"], "the words of those who said so"
    export(judged, tmp_path / "out", names=True)
    frame = pl.read_csv(tmp_path / "out" / "adjudications.csv")
    assert (set(frame["rater"]), set(frame["by"]), sorted(frame["label"])) == ({"gold"}, {"Olga"}, ["error", "ok"])
    decide(judged, "errors", write_text(tmp_path / "d.csv", "item,label", "two,error"))
    assert decided(judged) == {"e0": "error", "e1": "error"}
    assert sorted(each.version for each in read(judged, adjudication.all)) == [1, 2]


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
    write(judged, people.set_state, read(judged, people.named, "Olga").person_id, "ended")
    with pytest.raises(UsageError, match="expected one owner who decides, found 0"):
        accept(judged, "errors", "majority")


def test_a_joint_seat_is_exported_with_its_two_people(judged: Store, tmp_path: Path) -> None:
    seat = write(judged, people.add_seat, ("Ann", "Olga"))
    assert (seat.name, seat.role, seat.kind) == ("Ann and Olga", "annotator", "joint")  # never more than the lower
    export(judged, tmp_path / "out", names=True)
    rows = pl.read_csv(tmp_path / "out" / "raters.csv").filter(pl.col("kind") == "joint")
    assert rows["members"].to_list() == ["Ann|Olga"]


TEXT = "She adopted puppy. He own three chair near the sea, in summer."


def edit(words: str, replacement: str | None, tag: str, rater: str) -> Edit:
    start = TEXT.index(words)
    return Edit(Span(start, start + len(words)), () if replacement is None else (replacement,), tag, rater)


OMISSION = (edit("adopted", "adopted a", "ArtOrDet", "A"), edit("puppy", "a puppy", "ArtOrDet", "B"))
EVERY_KIND = (
    edit("puppy", "a puppy", "ArtOrDet", "A"), edit("puppy", "a puppy", "ArtOrDet", "B"),
    edit("own", "owns", "SVA", "A"), edit("own", "owned", "SVA", "B"),
    edit("chair", "chairs", "Nn", "A"), edit("chair", "chairs", "Wform", "B"),
    edit("summer", "the summer", "ArtOrDet", "B"),
)  # fmt: skip
LONG_AND_SHORT = (
    edit("own three chair", "owns three chairs", "SVA", "A"),
    edit("own", "owns", "SVA", "B"), edit("chair", "chairs", "Nn", "B"),
)  # fmt: skip
NEAR = (edit("own", "owns", "SVA", "A"), edit("three", "3", "Mec", "B"))
TWICE = (
    edit("own three chair", "owns three chair", "SVA", "A"),
    edit("own three chair", "own three chairs", "Nn", "B"),
)
NOT_CORRECTED = (edit("own", None, "SVA", "A"), edit("own", "owns", "SVA", "B"))


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        pytest.param(OMISSION, [("same", "adopted puppy")], id="the same omission on either neighbour is one place"),
        pytest.param(
            EVERY_KIND,
            [("identification", "summer"), ("type", "chair"), ("correction", "own"), ("same", "puppy")],
            id="in the order identification, type, correction, same",
        ),
        pytest.param(LONG_AND_SHORT, [("type", "own three chair")], id="short edits inside a long one are one place"),
        pytest.param(NEAR, [("identification", "own"), ("identification", "three")], id="near each other are two"),
        pytest.param(TWICE, [("identification", "own three chair")] * 2, id="two under the same selection"),
        pytest.param(NOT_CORRECTED, [("correction", "own")], id="found but not corrected"),
        pytest.param((), [], id="nobody marked anything"),
    ],
)
def test_places_where_annotators_differ(edits: tuple[Edit, ...], expected: list[tuple[str, str]]) -> None:
    by_rater = {rater: [each for each in edits if each.rater == rater] for rater in ("A", "B")}
    places = places_of(Essay("e", TEXT), by_rater)
    assert [(place.kind, place.span.of(TEXT)) for place in places] == expected
    assert len({place.name for place in places}) == len(places)
