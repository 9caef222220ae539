from __future__ import annotations

from functools import partial
from pathlib import Path

import polars as pl
import pytest

from grater.corpora import write_corpus
from grater.errors import GraterError
from grater.model import Essay
from grater.tables import write_table
from tests.cli.running import as_json, invoked, widest
from tests.measure.agreement.tables import judgments
from tests.measure.agreement.test_difficulty import items_table
from tests.measure.agreement.test_raters_needed import crowd_of, experts_of

run = partial(invoked, "agree --hardest")
found = partial(as_json, "agree --hardest")


@pytest.fixture
def tables(tmp_path: Path) -> list[object]:
    write_table(crowd_of("aabb", "aaab", "aaaa"), tmp_path / "crowd.csv")
    write_table(experts_of(E="aaa", F="aab"), tmp_path / "experts.csv")
    write_table(items_table(use=["time", "place", "time"]), tmp_path / "items.csv")
    return [tmp_path / "crowd.csv", "--experts", tmp_path / "experts.csv", "--items", tmp_path / "items.csv"]


def test_both_ends_the_split_and_columns_are_in_json_and_on_a_terminal(tables: list[object]) -> None:
    value = found(*tables)
    assert [item["item"] for item in value["crowd"]["hardest"]] == ["i0", "i1", "i2"]
    assert value["crowd"]["majority_share"]["value"] == pytest.approx((0.5 + 0.75 + 1) / 3)
    assert value["experts"]["hardest"][0]["item"] == "i2"
    assert [each["crowd"]["item"] for each in value["split"]] == ["i0"]
    assert value["unanimous"] == 2
    assert [(part["column"], part["value"], part["items"]) for part in value["crowd"]["by"]] == [
        ("use", "place", 1),
        ("use", "time", 2),
    ]
    shown = run(*tables).stdout
    for text in (
        "Easiest for the crowd",
        "Hardest for the experts",
        "Only the crowd is split: 1 of 2 items",
        "What goes with disagreement, crowd",
        "difficulty|",
    ):
        assert text in shown
    assert widest(shown.split("95 %")[0]) <= 80
    value = found(*tables, "--top", 1, "--split", 0.8)
    assert len(value["crowd"]["easiest"]) == 1
    assert [each["crowd"]["item"] for each in value["split"]] == ["i0", "i1"]


def test_factors_of_difficulty_are_worked_out_from_the_essays(tmp_path: Path) -> None:
    texts = ("He waited for the bus in the morning.", "The gondolier bargained for pomegranates.")
    places = [(f"i{at}", f"e{at}", text.index("for"), text.index("for") + 3, "prep") for at, text in enumerate(texts)]
    frame = pl.DataFrame(places, schema=["item", "essay", "start", "end", "kind"], orient="row")
    frame.write_csv(tmp_path / "items.csv")
    write_corpus([Essay(f"e{at}", text) for at, text in enumerate(texts)], tmp_path / "e.jsonl", lambda _: None)
    write_table(crowd_of("aaaa", "aabb"), tmp_path / "crowd.csv")
    files = (tmp_path / "crowd.csv", "--items", tmp_path / "items.csv", "--essays", tmp_path / "e.jsonl")
    by = found(*files)["crowd"]["by"]
    lengths = {part["value"]: part["majority_share"]["value"] for part in by if part["column"] == "length"}
    columns = {part["column"] for part in by}
    assert columns == {"frequency", "surprise", "length", "alternatives"}, "use and errors do not vary"
    assert lengths == {"9": 1.0, "6": 0.5}, "the crowd is split on the shorter, rarer sentence"


needed = partial(invoked, "raters --needed")
as_needed = partial(as_json, "raters --needed")


@pytest.fixture
def a_crowd(tmp_path: Path) -> Path:
    write_table(crowd_of(*["aab", "bba"] * 3), tmp_path / "crowd.csv")
    return tmp_path / "crowd.csv"


@pytest.fixture
def experts(tmp_path: Path) -> Path:
    write_table(experts_of(E="ababab", F="ababaa"), tmp_path / "experts.csv")
    return tmp_path / "experts.csv"


def test_json_and_a_terminal_have_the_curve_and_the_answer(a_crowd: Path, experts: Path) -> None:
    value = as_needed(a_crowd, "--experts", experts)
    assert [curve["against"] for curve in value["curves"]] == ["E", "F", "mean of experts"]
    points = value["curves"][2]["points"]
    assert [point["raters"] for point in points] == [1, 2, 3]
    # by hand in tests/measure/agreement/test_raters_needed.py
    assert [point["kappa"]["value"] for point in points] == pytest.approx([5 / 18, 5 / 18, 5 / 6])
    assert value["target"]["kappa"]["value"] == pytest.approx(2 / 3)
    assert value["smallest"]["value"] == 3
    assert value["method"] == "exact"
    output = needed(a_crowd, "--experts", experts).stdout
    shown = ("A crowd of N raters, 6 items", ".833", "---", "  o", "3 raters match the experts", "raters-needed|")
    for text in shown:
        assert text in output
    assert widest(output) <= 120


def test_a_limit_beyond_all_judgments_is_null_with_a_reason(tmp_path: Path) -> None:
    write_table(crowd_of("abb", "aab", "baa"), tmp_path / "bad.csv")
    write_table(experts_of(E="aba", F="aba"), tmp_path / "e2.csv")
    smallest = as_needed(tmp_path / "bad.csv", "--experts", tmp_path / "e2.csv")["smallest"]
    assert (smallest["value"], smallest["high"]) == (None, None)
    assert "stays below" in smallest["reason"]


def test_unknown_is_left_out_with_a_word(experts: Path, tmp_path: Path) -> None:
    write_table(judgments("i0 w a", "i0 v unknown", "i1 w b"), tmp_path / "crowd.csv")
    result = needed(tmp_path / "crowd.csv", "--experts", experts)
    assert "left out 1 judgment: label unknown" in result.stderr
    write_table(judgments("i0 w unknown"), tmp_path / "none.csv")
    with pytest.raises(GraterError, match="every judgment is unknown"):
        needed(tmp_path / "none.csv", "--experts", experts)
