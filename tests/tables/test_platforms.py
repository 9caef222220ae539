"""Batch files of Mechanical Turk, as judgments.  The samples are our own.

Full reports of CrowdFlower, as judgments and gold.  The samples are our own.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from grater.errors import BadInput, UnknownName
from grater.tables import read_gold, read_judgments
from grater.tables.platforms import iso_times

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
    for item in ("Input.item", "item"):
        frame = read_judgments(batch, columns={"item": item}, status=("all",)).frame
        assert frame["item"].to_list() == ["p7", "p7", "p8"]


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


REPORT_HEADER = (
    "_unit_id,_created_at,_golden,_id,_missed,_started_at,_tainted,_channel,_trust,_worker_id,_country,"
    "usage,text,usage_gold,usage_gold_reason\n"
)
REPORT_ROWS = (
    "11,11/25/2013 16:27:04,false,901,,11/25/2013 16:26:30,false,neodev,0.91,W1,NZL,error,We met in Monday.,,\n"
    "12,11/25/2013 16:28:00,true,902,,11/25/2013 16:27:58,false,neodev,0.91,W1,NZL,ok,We met on Friday.,"
    '"ok\nunsure",Days take on.\n'
    "11,11/25/2013 17:00:00,false,903,,11/25/2013 16:59:00,true,elite,0.41,W2,CAN,ok,We met in Monday.,,\n"
    "12,11/25/2013 17:01:00,true,904,true,11/25/2013 17:00:01,true,elite,0.41,W2,CAN,error,We met on Friday.,"
    '"ok\nunsure",Days take on.\n'
)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "f123456.csv"
    path.write_text(REPORT_HEADER + REPORT_ROWS)
    return path


def test_a_report_is_known_by_its_header(report: Path) -> None:
    judgments = read_judgments(report)
    assert judgments.frame.select("item", "rater", "label", "status", "seconds", "at").rows() == [
        ("11", "W1", "error", "valid", 34.0, "2013-11-25T16:27:04"),
        ("12", "W1", "ok", "valid", 2.0, "2013-11-25T16:28:00"),
    ]
    assert judgments.dropped == {"status untrusted": 2}


def test_test_questions_are_gold_each_once(report: Path) -> None:
    assert read_gold(report).frame.to_dicts() == [{"item": "12", "label": "ok|unsure", "reason": "Days take on."}]
    assert len(read_gold(report, columns={"label": "usage"})) == 1
    assert len(read_gold(report, columns={"label": "usage_gold"})) == 1
    stray = REPORT_ROWS.replace("We met in Monday.,,", "We met in Monday.,error,Days take on.")
    report.write_text(REPORT_HEADER + stray)
    assert read_gold(report).frame["item"].to_list() == ["12"]
    report.write_text(REPORT_HEADER + REPORT_ROWS.replace('"ok\nunsure"', '"ok"', 1))
    with pytest.raises(BadInput, match="expected item '12' once"):
        read_gold(report)
    report.write_text(REPORT_HEADER + REPORT_ROWS.splitlines()[0] + "\n")
    with pytest.raises(BadInput, match="expected test questions with an answer in 'usage_gold', found none"):
        read_gold(report)


def test_reports_of_other_shapes_are_refused(report: Path) -> None:
    report.write_text("_unit_id,_worker_id,a,b,a_gold,b_gold\n1,W,x,y,,\n")
    with pytest.raises(BadInput, match=r"found 2; choose with `columns=.*` among a, b"):
        read_judgments(report)
    assert read_judgments(report, columns={"label": "b"}).frame["label"].to_list() == ["y"]
    report.write_text("_unit_id,_worker_id,usage,text\n1,W,ok,Yes.\n")
    with pytest.raises(BadInput, match=r"found 0; choose with `columns=.*` among usage, text"):
        read_judgments(report)
    report.write_text(
        "_unit_id,_golden,_unit_state,_trusted_judgments,_last_judgment_at,usage,usage:confidence\n1,,,5,,ok,1\n"
    )
    with pytest.raises(BadInput, match="expected a full report, found an aggregated one"):
        read_judgments(report)
    report.write_text(REPORT_HEADER + REPORT_ROWS.replace("11/25/2013 17:00:00", "noon"))
    words = "expected a time like 11/25/2013 16:27:04 in '_created_at', found 'noon'"
    with pytest.raises(BadInput, match=words) as caught:
        read_judgments(report)
    assert caught.value.problems[0].line == 5  # the row before holds a line end


def test_summer_time_is_distinguished_from_winter_time() -> None:
    times = pl.Series(["Mon Nov 09 20:17:09 PST 2020", "Thu Jul 09 20:17:09 PDT 2020", None])
    assert iso_times(times).to_list() == ["2020-11-10T04:17:09Z", "2020-07-10T03:17:09Z", None]
