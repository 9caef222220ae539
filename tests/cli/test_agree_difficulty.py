from __future__ import annotations

from functools import partial
from pathlib import Path

import polars as pl
import pytest

from grater.corpora import write_corpus
from grater.model import Essay
from grater.tables import write_table
from tests.cli.running import as_json, invoked, widest
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
