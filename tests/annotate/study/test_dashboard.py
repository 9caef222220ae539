"""The dashboard's numbers, worked by hand."""

from __future__ import annotations

import pytest

from grater.annotate.money import Costs
from grater.annotate.study.dashboard import confusion_of, forecasts, pairs_of, sizes
from grater.annotate.study.evaluation import ScoresSoFar, SystemLine
from grater.annotate.study.status import JobPace
from grater.annotate.terms import Pay
from grater.model import Interval, Json

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


def test_half_the_width_takes_four_times_the_judgments() -> None:
    line = SystemLine("s", 50, precision=Interval(0.7, 0.6, 0.8), recall=Interval(0.5, 0.48, 0.52))
    costs = Costs(
        judgments=100, valid=100, raters=3, hours=1.0, share_valid=Interval(1, 1, 1), pay=Pay(cents=12), cents=1200
    )
    pace = JobPace(an_hour=60.0, hours_left=0.0)
    precision, recall = forecasts(ScoresSoFar(systems=(line,)), 100, costs, pace, width=0.1)
    # the width is .2: 100 x 4 - 100 = 300 more, 5 hours at 60 an hour, 36 euros at 12 cents
    assert (precision.more, precision.hours, precision.cost) == (300, 5.0, "36.00 EUR")
    assert recall.more == 0  # narrow enough already
