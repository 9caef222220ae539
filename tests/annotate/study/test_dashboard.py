"""The dashboard's numbers, worked by hand."""

from __future__ import annotations

import pytest

from grater.annotate.dashboard import confusion_of, pairs_of, sizes
from grater.model import Json

SAID = (
    ("i1", "A", "error"),
    ("i1", "B", "error"),
    ("i1", "C", "ok"),
    ("i2", "A", "ok"),
    ("i2", "B", "ok"),
    ("i3", "A", "error"),
)


def rows() -> list[dict[str, Json]]:
    return [{"item": i, "rater": r, "label": label, "at": "1", "group": "crowd"} for i, r, label in SAID]


def test_confusions_count_every_ordered_pair_of_answers_to_one_item() -> None:
    confusion = confusion_of(rows())
    assert confusion is not None
    # i1: A and B say error twice over, C says ok against both; i2: ok twice over; i3 has one answer and no pair
    assert (confusion.labels, confusion.counts) == (("error", "ok"), ((2, 2), (2, 2)))


def test_a_pair_is_compared_on_what_both_answered() -> None:
    pairs = {(pair.first, pair.second): (pair.agreed, pair.n) for pair in pairs_of(rows())}
    assert pairs == {("A", "B"): (2, 2), ("A", "C"): (0, 1), ("B", "C"): (0, 1)}


@pytest.mark.parametrize(("n", "expected"), [(0, []), (7, [7]), (20, [20]), (100, [20, 40, 80, 100])])
def test_history_doubles_and_ends_with_everything(n: int, expected: list[int]) -> None:
    assert sizes(n) == expected
