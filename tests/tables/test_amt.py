"""Batch files of Mechanical Turk, as judgments.  The samples are our own."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from grater.errors import BadInput, UnknownName
from grater.tables import read_amt, read_judgments
from grater.tables.amt import iso_times

HEADER = (
    '"HITId","Title","AssignmentId","WorkerId","AssignmentStatus","SubmitTime","WorkTimeInSeconds",'
    '"Input.item","Input.text","Answer.usage","Approve","Reject"\n'
)
ROWS = (
    '"H1","Judge a word","S1","W1","Approved","Mon Nov 09 20:17:09 PST 2020","31","p7","We met in Monday.","error"\n'
    '"H1","Judge a word","S2","W2","Rejected","Thu Jul 09 20:17:09 PDT 2020","2","p7","We met in Monday.","ok"\n'
    '"H2","Judge a word","S3","W1","Submitted","yesterday","12.5","p8","We said ""on Monday"".","ok"\n'
)


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    path = tmp_path / "Batch_1_batch_results.csv"
    path.write_text(HEADER + ROWS)
    return path


def test_a_batch_is_known_by_its_header(batch: Path) -> None:
    judgments = read_judgments(batch)
    assert judgments.frame.select("item", "rater", "label", "status", "seconds", "at").rows() == [
        ("H1", "W1", "error", "valid", 31.0, "2020-11-10T04:17:09Z"),
        ("H2", "W1", "ok", "valid", 12.5, "yesterday"),
    ]
    assert judgments.dropped == {"status untrusted": 1}


def test_what_the_workers_saw_is_kept(batch: Path) -> None:
    frame = read_judgments(batch).frame
    assert frame["Input.text"].to_list() == ["We met in Monday.", 'We said "on Monday".']
    assert "WorkerId" not in frame.columns


@pytest.mark.parametrize("item", ["Input.item", "item"])
def test_an_input_can_be_the_item(batch: Path, item: str) -> None:
    assert read_judgments(batch, columns={"item": item}, status=("all",)).frame["item"].to_list() == [
        "p7",
        "p7",
        "p8",
    ]


def test_rejected_work_can_be_asked_for(batch: Path) -> None:
    assert read_judgments(batch, status=("untrusted",)).frame["rater"].to_list() == ["W2"]


def test_several_answers_are_named(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("HITId,AssignmentId,WorkerId,Answer.usage,Answer.comment\nH1,S1,W1,ok,fine\n")
    with pytest.raises(
        BadInput, match=r"b\.csv:1: expected one column Answer\.\*, found Answer\.usage, Answer\.comment"
    ):
        read_judgments(path)
    for label in ("Answer.usage", "usage"):
        assert read_judgments(path, columns={"label": label}).frame["label"].to_list() == ["ok"]
    with pytest.raises(
        UnknownName, match=r"unknown column 'usge'. Did you mean|unknown column 'usge'. Known: Answer.usage"
    ):
        read_judgments(path, columns={"label": "usge"})


def test_a_batch_without_answers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("HITId,AssignmentId,WorkerId\nH1,S1,W1\n")
    with pytest.raises(BadInput, match="found none"):
        read_judgments(path)


def test_summer_time_is_told_from_winter_time() -> None:
    times = pl.Series(["Mon Nov 09 20:17:09 PST 2020", "Thu Jul 09 20:17:09 PDT 2020", None])
    assert iso_times(times).to_list() == ["2020-11-10T04:17:09Z", "2020-07-10T03:17:09Z", None]


def test_a_batch_can_be_asked_for_by_name(batch: Path) -> None:
    judgments = read_amt(batch, item="item", label="usage", status=("all",))
    assert judgments.frame.select("item", "rater", "label").rows()[0] == ("p7", "W1", "error")
    batch.write_text("item,rater,label\na,b,c\n")
    with pytest.raises(
        BadInput, match="expected a batch of Mechanical Turk, found no column HITId, AssignmentId, WorkerId"
    ):
        read_amt(batch)
