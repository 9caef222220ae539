"""The simulated crowd of the sample: it follows the annotators where they agree and parts where they do not."""

from __future__ import annotations

import polars as pl
import pytest

from grater.sample.raters import CrowdWish, gold_items, sample_crowd

MARKED = {f"i{place}": (2 if place % 10 == 0 else 1 if place % 10 == 1 else 0) for place in range(300)}


@pytest.fixture(scope="module")
def crowd() -> pl.DataFrame:
    return sample_crowd(MARKED)


def shares(frame: pl.DataFrame) -> dict[int, float]:
    """The mean share of errors among valid judgments, by how many annotators marked the item."""
    valid = frame.filter(pl.col("status") == "valid")
    marks = pl.col("item").replace_strict(MARKED, return_dtype=pl.Int64)
    grouped = valid.group_by(marks.alias("marks")).agg((pl.col("label") == "error").mean().alias("share"))
    return dict(grouped.iter_rows())


def test_every_item_has_as_many_valid_judgments_as_wished(crowd: pl.DataFrame) -> None:
    counts = crowd.filter(pl.col("status") == "valid").group_by("item").len()["len"]
    assert set(counts) == {10}
    assert crowd["item"].n_unique() == len(MARKED)


def test_nobody_judges_an_item_twice(crowd: pl.DataFrame) -> None:
    assert not crowd.select("item", "rater").is_duplicated().any()


def test_the_crowd_leans_on_the_annotators(crowd: pl.DataFrame) -> None:
    found = shares(crowd)
    assert found[2] > 0.8
    assert found[0] < 0.15
    assert 0.3 < found[1] < 0.7


def test_hidden_gold_keeps_guessers_out(crowd: pl.DataFrame) -> None:
    without = sample_crowd(MARKED, CrowdWish(has_gold=False))
    assert set(without["status"]) == {"valid"}
    assert "untrusted" in set(crowd["status"])
    assert shares(without)[2] < shares(crowd)[2]


def test_gold_is_what_both_annotators_say_and_half_of_it_errors() -> None:
    gold = gold_items(MARKED, n=20)
    assert len(gold) == 20
    assert {MARKED[item] for item in gold} == {0, 2}
    assert sum(MARKED[item] == 2 for item in gold) == 10


def test_the_same_wish_gives_the_same_crowd(crowd: pl.DataFrame) -> None:
    assert sample_crowd(MARKED).equals(crowd)
