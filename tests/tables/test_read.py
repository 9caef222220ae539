"""Tables from every type of file: names, types, several judgments in a row, batches of Mechanical Turk."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from grater.errors import BadInput, GraterError, UnknownName, UsageError
from grater.tables import (
    as_decisions,
    as_gold,
    as_items,
    as_judgments,
    as_sample,
    parse_columns,
    read_decisions,
    read_gold,
    read_judgments,
    read_sample,
    read_table,
)
from tests.real_data import data_path

JUDGMENTS = "item,rater,label\nn1,Ada,error\nn1,Bo,ok\nn2,Ada,ok\n"


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def problems(path: Path, text: str, kind: str = "judgments", **options: object) -> list[str]:
    """What reading the text complains of, without the folder."""
    source = write(path, text)
    with pytest.raises(GraterError) as caught:
        read_judgments(source, **options) if kind == "judgments" else read_table(kind, source, **options)  # type: ignore[arg-type]
    return str(caught.value).replace(f"{path.parent}/", "").splitlines()


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    return tmp_path / "j.csv"


def test_synonyms_and_capitals_name_the_same_columns_and_one_column_has_each_name(csv: Path) -> None:
    for header in ("task,worker,response", "item,annotator,label", "Item,RATER,Label"):
        judgments = read_judgments(write(csv, JUDGMENTS.replace("item,rater,label", header)))
        assert judgments.frame.columns == ["item", "rater", "label"]
    assert read_gold(write(csv, "item,truth\nn1,ok\n")).frame.rows() == [("n1", "ok")]
    assert "'label' or 'response'" in problems(csv, "item,rater,truth\nn1,Ada,ok\n")[0]
    frame = read_judgments(write(csv, "item,task,rater,label\nn1,essay 4,Ada,ok\n")).frame
    assert frame.to_dicts() == [{"item": "n1", "rater": "Ada", "label": "ok", "task": "essay 4"}]
    found = problems(csv, "item,worker,annotator,label\nn1,Ada,Bo,ok\n")
    assert found == ["j.csv: expected one column for 'rater', found 'worker' and 'annotator'; choose with "
                     '`columns={"rater": "worker"}`']  # fmt: skip


def test_columns_can_be_named_and_misspelt_names_are_answered_with_the_nearest(csv: Path) -> None:
    source = write(csv, "orig_id,!who,verdict,label\n7,Ada,ok,x\n")
    columns = parse_columns(["item=orig_id,rater=!who", "label=verdict"])
    assert read_judgments(source, columns=columns).frame.to_dicts() == [
        {"item": "7", "rater": "Ada", "label": "ok", "label.file": "x"}
    ]
    with pytest.raises(UnknownName, match=r"unknown column 'orig_ids'. Did you mean 'orig_id'\?"):
        read_judgments(write(csv, "orig_id,rater,label\n7,Ada,ok\n"), columns={"item": "orig_ids"})
    with pytest.raises(UnknownName, match=r"unknown column of judgments 'itm'\. Did you mean 'item'"):
        read_judgments(write(csv, JUDGMENTS), columns={"itm": "item"})
    for setting in ("item", "=x", "item=a,,"):
        with pytest.raises(UsageError, match="expected NAME=COLUMN"):
            parse_columns([setting])


def test_missing_columns_and_cells_are_named_up_to_twenty(csv: Path) -> None:
    assert problems(csv, "item_id,who,verdict\n1,Ada,ok\n") == [
        "j.csv: expected columns 'item' and 'label', found item_id, who, verdict. Did you mean 'item_id'? "
        'Then pass `columns={"item": "item_id", "label": "NAME"}`; '
        "if every rater has a column, name these with `rater_columns`"
    ]
    text = "item,rater,label\nn1,Ada,ok\n,Ada,ok\nn2,,ok\nn3,Ada,\n"
    assert problems(csv, text) == [
        "j.csv:3: expected a value in column 'item', found an empty cell",
        "j.csv:4: expected a value in column 'rater', found an empty cell",
        "j.csv:5: expected a value in column 'label', found an empty cell",
    ]
    found = problems(csv, "item,rater,label\n" + ",Ada,ok\n" * 30)
    assert len(found) == 21
    assert found[-1] == "j.csv: stopped after 20 problems; there may be more"
    found = problems(csv, "item,rater,label,seconds\nn1,Ada,ok,-1\n")
    assert found == ["j.csv:2: expected a number at least 0 in column 'seconds', found '-1'"]


def test_confidence_is_a_finite_number_and_a_probability_above_zero_and_at_most_one(csv: Path) -> None:
    for cell, expected in (
        ("nan", "finite number"),
        ("-inf", "finite number"),
        ("sure", "number"),
        ("1,5", "number"),
    ):
        complaint = f"j.csv:2: expected a {expected} in column 'confidence', found {cell!r}"
        assert problems(csv, f'item,rater,label,confidence\nn1,Ada,ok,"{cell}"\n') == [complaint]
    for cell in ("0", "1.01", "-0.5", "inf"):
        (found,) = problems(csv, f"item,stratum,probability\nn1,flagged,{cell}\n", "sample")
        assert found.endswith(f"in column 'probability', found {cell!r}")
    sample = read_sample(write(csv, "item,stratum,probability\nn1,flagged,1\n"))
    assert (sample.meta, sample.frame.rows()) == (None, [("n1", "flagged", 1.0)])


def test_flagged_is_zero_one_true_or_false_and_a_suggestion_may_be_blank(csv: Path) -> None:
    cells = ("0,", "1,-NONE-", "true,at", "FALSE,", " True,")
    rows = "".join(f"n{n},S,{cell}\n" for n, cell in enumerate(cells))
    table = read_decisions(write(csv, f"item,system,flagged,suggestion\n{rows}"))
    assert table.frame["flagged"].to_list() == [False, True, True, False, True]
    assert table.frame["suggestion"].to_list() == [None, "-NONE-", "at", None, None]
    for cell in ("yes", "2", "-1", "0.5"):
        found = problems(csv, f"item,system,flagged\nn1,S,{cell}\n", "decisions")
        assert found == [f"j.csv:2: expected 0, 1, true or false in column 'flagged', found {cell!r}"]


def test_items_start_before_they_end(csv: Path) -> None:
    text = (
        "item,essay,start,end,kind\na,e,3,5,prep\nb,e,5,5,prep-missing\nc,e,6,5,prep\nd,e,1.5,x,prep\ne,e,-1,2,prep\n"
    )
    assert problems(csv, text, "items") == [
        "j.csv:5: expected a whole number in column 'start', found '1.5'",
        "j.csv:6: expected a whole number at least 0 in column 'start', found '-1'",
        "j.csv:5: expected a whole number in column 'end', found 'x'",
        "j.csv:4: expected start at or before end, found 6 and 5",
    ]


def test_damaged_and_missing_files_and_unknown_kinds_are_one_line(tmp_path: Path, csv: Path) -> None:
    path = tmp_path / "j.csv.gz"
    path.write_bytes(gzip.compress(JUDGMENTS.encode())[:-9])
    with pytest.raises(BadInput, match=r"j\.csv\.gz: cannot be read"):
        read_judgments(path)
    for name in ("none.csv", "none.jsonl"):
        with pytest.raises(BadInput, match=f"{name}: cannot be read: No such file"):
            read_judgments(tmp_path / name)
    with pytest.raises(BadInput, match=r"none\.parquet: cannot be read as parquet"):
        read_judgments(tmp_path / "none.parquet")
    with pytest.raises(UnknownName, match="Known: judgments, decisions, items, gold, sample"):
        read_table("judgements", csv)  # type: ignore[arg-type]
    for name in ("j.ods", "j", "j.parquet.gz", "j.csv.zip"):
        with pytest.raises(UsageError, match=r"expected a table with extension \.csv, \.tsv, \.jsonl, \.parquet"):
            read_judgments(write(tmp_path / name, JUDGMENTS))


def test_checked_tables_pass_as_they_are_and_other_kinds_are_refused() -> None:
    judgments = as_judgments(pl.DataFrame({"item": ["1", "2"], "rater": ["a", "a"], "label": ["ok", "error"]}))
    decisions = as_decisions(pl.DataFrame({"item": ["1"], "system": ["s"], "flagged": [1]}))
    sample = as_sample(pl.DataFrame({"item": ["1"], "stratum": ["s"], "probability": [0.5]}))
    assert as_judgments(judgments) is judgments
    assert as_decisions(decisions) is decisions
    assert as_sample(sample) is sample
    with pytest.raises(UsageError, match="expected items, found a table of gold"):
        as_items(as_gold(pl.DataFrame({"item": ["1"], "label": ["ok"]})))
    with pytest.raises(UsageError, match="expected decisions, found a judgments table"):
        as_decisions(judgments)


def test_a_list_in_a_cell_is_many_judgments_by_nobody(tmp_path: Path) -> None:
    path = tmp_path / "w.tsv"
    path.write_text("Id\tSentence\tScores\n7\tShe go.\t[3, 4, 3.0]\n8\tYes.\t[]\n9\tNo.\t['a', b]\n")
    judgments = read_judgments(path, columns={"item": "Id", "label": "Scores"})
    assert judgments.frame.rows() == [
        ("7", "1", "3", "She go."),
        ("7", "2", "4", "She go."),
        ("7", "3", "3", "She go."),
        ("9", "1", "a", "No."),
        ("9", "2", "b", "No."),
    ]
    assert judgments.anonymous_raters
    assert judgments.dropped == {"rows without an answer": 1}


@pytest.mark.data
def test_gug_has_five_judgments_of_nobody_in_a_cell() -> None:
    columns = {"item": "Id", "label": "Crowd Flower Judgements"}
    judgments = read_judgments(data_path("gug/gug_annotations.tsv"), columns=columns)
    assert judgments.anonymous_raters
    assert (len(judgments), judgments.dropped) == (5 * (3_129 - 110), {"rows without an answer": 110})
    assert set(judgments.frame["label"]) == {"1", "2", "3", "4"}


def test_lists_in_cells_are_judgments_only_without_raters() -> None:
    judgments = read_judgments(pl.DataFrame({"item": ["a", "b"], "label": [["x", "y"], None], "other": [[1], [2]]}))
    assert judgments.frame.rows() == [("a", "1", "x", "[1]"), ("a", "2", "y", "[1]")]
    assert judgments.dropped == {"rows without an answer": 1}
    with pytest.raises(BadInput, match="row 2: expected a list of labels in column 'label'"):
        read_judgments(pl.DataFrame({"item": ["a", "b"], "label": ["[1]", "[[1]]"]}))
    frame = pl.DataFrame({"item": ["a"], "rater": ["r"], "label": ["[1]"]})
    assert read_judgments(frame).frame["label"].to_list() == ["[1]"], "one odd label"


def test_a_sheet_with_a_column_per_rater_is_read_where_these_are_named(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("sentence;Ada;Bo\nn1;wrong;ok\nn2;ok;\n;;\n")
    judgments = read_judgments(
        path, columns={"item": "sentence"}, rater_columns=["Ada", "Bo"], merge={"wrong": "error"}
    )
    assert judgments.frame.rows() == [("n1", "Ada", "error"), ("n1", "Bo", "ok"), ("n2", "Ada", "ok")]
    assert not judgments.anonymous_raters
    with pytest.raises(UnknownName, match=r"unknown column 'Adda'\. Did you mean 'Ada'"):
        read_judgments(path, columns={"item": "sentence"}, rater_columns=["Adda", "Bo"])
    path.write_text("item,Ada,Bo\nn1,error,ok\n")
    with pytest.raises(BadInput, match="if every rater has a column, name these with `rater_columns`"):
        read_judgments(path)


HEADER = (
    '"HITId","Title","AssignmentId","WorkerId","AssignmentStatus","SubmitTime","WorkTimeInSeconds",'
    '"Input.item","Input.text","Answer.usage","Approve","Reject"\n'
)
ROWS = (
    '"H1","Judge a word","S1","W1","Approved","Mon Nov 09 20:17:09 PST 2020","31","p7","We met in Monday.","error"\n'
    '"H1","Judge a word","S2","W2","Rejected","Thu Jul 09 20:17:09 PDT 2020","2","p7","We met in Monday.","ok"\n'
    '"H2","Judge a word","S3","W1","Submitted","yesterday","12.5","p8","We said ""on Monday"".","ok"\n'
)


def test_a_batch_is_known_by_its_header_and_its_summer_time_from_winter_time(tmp_path: Path) -> None:
    batch = write(tmp_path / "Batch_1_batch_results.csv", HEADER + ROWS)
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
