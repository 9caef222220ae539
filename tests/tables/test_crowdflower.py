"""Full reports of CrowdFlower, as judgments and gold.  The samples are our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.errors import BadInput
from grater.tables import read_crowdflower, read_gold, read_judgments

HEADER = (
    "_unit_id,_created_at,_golden,_id,_missed,_started_at,_tainted,_channel,_trust,_worker_id,_country,"
    "usage,text,usage_gold,usage_gold_reason\n"
)
ROWS = (
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
    path.write_text(HEADER + ROWS)
    return path


def test_a_report_is_known_by_its_header(report: Path) -> None:
    judgments = read_judgments(report)
    assert judgments.frame.select("item", "rater", "label", "status", "seconds", "at").rows() == [
        ("11", "W1", "error", "valid", 34.0, "2013-11-25T16:27:04"),
        ("12", "W1", "ok", "valid", 2.0, "2013-11-25T16:28:00"),
    ]
    assert judgments.dropped == {"status untrusted": 2}


def test_trust_channel_and_country_are_kept(report: Path) -> None:
    frame = read_judgments(report, status=("all",)).frame
    assert frame.select("_trust", "_channel", "_country", "_golden").row(2) == ("0.41", "elite", "CAN", "false")


def test_test_questions_are_gold_each_once_with_every_accepted_answer(report: Path) -> None:
    assert read_gold(report).frame.to_dicts() == [{"item": "12", "label": "ok|unsure", "reason": "Days take on."}]
    assert len(read_gold(report, columns={"label": "usage"})) == 1
    assert len(read_gold(report, columns={"label": "usage_gold"})) == 1


def test_an_answer_beside_a_unit_that_is_no_test_question_is_no_gold(report: Path) -> None:
    report.write_text(HEADER + ROWS.replace("We met in Monday.,,", "We met in Monday.,error,Days take on."))
    assert read_gold(report).frame["item"].to_list() == ["12"]


def test_two_gold_answers_for_one_unit_are_duplicates(report: Path) -> None:
    report.write_text(HEADER + ROWS.replace('"ok\nunsure"', '"ok"', 1))
    with pytest.raises(BadInput, match="expected item '12' once"):
        read_gold(report)


def test_a_report_without_test_questions_has_no_gold(report: Path) -> None:
    report.write_text(HEADER + ROWS.splitlines()[0] + "\n")
    with pytest.raises(BadInput, match="expected test questions with an answer in 'usage_gold', found none"):
        read_gold(report)


def test_several_questions_are_named(report: Path) -> None:
    report.write_text("_unit_id,_worker_id,a,b,a_gold,b_gold\n1,W,x,y,,\n")
    with pytest.raises(BadInput, match="found 2; choose with --columns label=QUESTION among a, b"):
        read_judgments(report)
    assert read_judgments(report, columns={"label": "b"}).frame["label"].to_list() == ["y"]


def test_a_report_without_gold_columns_asks_for_the_question(report: Path) -> None:
    report.write_text("_unit_id,_worker_id,usage,text\n1,W,ok,Yes.\n")
    with pytest.raises(BadInput, match="found 0; choose with --columns label=QUESTION among usage, text"):
        read_judgments(report)


def test_an_aggregated_report_is_refused(report: Path) -> None:
    report.write_text(
        "_unit_id,_golden,_unit_state,_trusted_judgments,_last_judgment_at,usage,usage:confidence\n1,,,5,,ok,1\n"
    )
    with pytest.raises(BadInput, match="expected a full report, found an aggregated one"):
        read_judgments(report)


def test_a_time_in_another_shape_is_named(report: Path) -> None:
    report.write_text(HEADER + ROWS.replace("11/25/2013 17:00:00", "noon"))
    with pytest.raises(
        BadInput, match="expected a time like 11/25/2013 16:27:04 in '_created_at', found 'noon'"
    ) as caught:
        read_judgments(report)
    assert caught.value.problems[0].line == 5  # the row before holds a line end


def test_judgments_and_gold_come_together(report: Path) -> None:
    judgments, gold = read_crowdflower(report, status=("all",))
    assert len(judgments) == 4
    assert gold is not None
    assert gold.frame["label"].to_list() == ["ok|unsure"]
    report.write_text(HEADER + ROWS.splitlines()[0] + "\n")
    assert read_crowdflower(report)[1] is None


def test_a_report_asked_for_by_name_must_be_one(report: Path) -> None:
    report.write_text("item,rater,label\na,b,c\n")
    with pytest.raises(BadInput, match="expected a full report of CrowdFlower, found no column _unit_id, _worker_id"):
        read_crowdflower(report)
    report.write_text("_unit_id,_trusted_judgments,usage\n1,5,ok\n")
    with pytest.raises(BadInput, match="found an aggregated one"):
        read_crowdflower(report)
