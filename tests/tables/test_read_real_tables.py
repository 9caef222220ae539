"""The crowd data of the field, read as it lies there."""

from __future__ import annotations

import pytest

from grater.errors import BadInput
from grater.tables import read_gold, read_judgments
from tests.real_data import data_path

pytestmark = pytest.mark.data


# Sizes from the data's README: 500 x 20, 1,000 x 20, 807 x 10
@pytest.mark.parametrize(
    ("name", "n_items", "n_judgments"), [("SP_amt", 500, 10_000), ("sentiment", 1_000, 20_000), ("dog", 807, 8_070)]
)
def test_crowd_data_reads_as_it_is(name: str, n_items: int, n_judgments: int) -> None:
    judgments = read_judgments(data_path(f"crowd/{name}/label.csv"))
    gold = read_gold(data_path(f"crowd/{name}/truth.csv"))
    assert len(judgments) == n_judgments
    assert judgments.frame["item"].n_unique() == n_items
    assert set(gold.frame["item"]) == set(judgments.frame["item"])
    assert set(gold.frame["label"]) <= set(judgments.frame["label"])


def test_cf_amt_holds_five_judgments_twice() -> None:
    path = data_path("crowd/CF_amt/label.csv")
    with pytest.raises(BadInput) as caught:
        read_judgments(path)
    *named, counted = caught.value.problems
    assert [problem.line for problem in named] == [2612, 3773, 4002]
    assert counted.message == "5 are there more than once; the first 3 are named above"
    judgments = read_judgments(path, duplicates="first")
    assert len(judgments) == 6_025
    assert judgments.dropped == {"duplicate, first kept": 5}


def test_gug_has_five_judgments_of_nobody_in_a_cell() -> None:
    judgments = read_judgments(
        data_path("gug/gug_annotations.tsv"), columns={"item": "Id", "label": "Crowd Flower Judgements"}
    )
    assert judgments.anonymous_raters
    assert judgments.dropped == {"rows without an answer": 110}
    assert len(judgments) == 5 * (3_129 - 110)
    assert set(judgments.frame["label"]) == {"1", "2", "3", "4"}
    assert judgments.frame["rater"].unique().sort().to_list() == ["1", "2", "3", "4", "5"]
