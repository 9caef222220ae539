"""Batch files of Mechanical Turk, as judgments.  The samples are our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.errors import BadInput, UnknownName
from grater.tables import read_judgments

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


def test_a_batch_is_known_by_its_header_and_its_summer_time_from_winter_time(batch: Path) -> None:
    judgments = read_judgments(batch)
    assert judgments.frame.select("item", "rater", "label", "status", "seconds", "at").rows() == [
        ("H1", "W1", "error", "valid", 31.0, "2020-11-10T04:17:09Z"),
        ("H2", "W1", "ok", "valid", 12.5, "yesterday"),
    ]
    assert judgments.dropped == {"status untrusted": 1}
    for item in ("Input.item", "item"):
        frame = read_judgments(batch, columns={"item": item}, status=("all",)).frame
        assert frame["item"].to_list() == ["p7", "p7", "p8"]
        assert frame["at"].to_list() == ["2020-11-10T04:17:09Z", "2020-07-10T03:17:09Z", "yesterday"]


def test_answers_of_a_batch_are_one_column_or_named(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("HITId,AssignmentId,WorkerId,Answer.usage,Answer.comment\nH1,S1,W1,ok,fine\n")
    with pytest.raises(
        BadInput, match=r"b\.csv:1: expected one column Answer\.\*, found Answer\.usage, Answer\.comm"
    ):
        read_judgments(path)
    for label in ("Answer.usage", "usage"):
        assert read_judgments(path, columns={"label": label}).frame["label"].to_list() == ["ok"]
    with pytest.raises(UnknownName, match=r"unknown column 'usge'. (Did you mean|Known: Answer.usage)"):
        read_judgments(path, columns={"label": "usge"})
    path.write_text("HITId,AssignmentId,WorkerId\nH1,S1,W1\n")
    with pytest.raises(BadInput, match=r"found none"):
        read_judgments(path)
