import numpy as np
import pytest

from grater.errors import BadInput
from grater.measure.crowd.aggregate import accuracy, aggregate
from tests.measure.crowd.tables import gold, judgments, mixed_crowd
from tests.measure.crowd.test_aggregate import EVERY, QUICK, THREE


@pytest.mark.parametrize("method", EVERY)
def test_gold_is_held_fast_against_everybody(method: str) -> None:
    found = aggregate(THREE, method, gold=gold(**{"1": "y"}), options=QUICK)
    assert found.posteriors[0].tolist() == [0, 1]
    assert found.to_frame()["label"][0] == "y"


@pytest.mark.parametrize("method", EVERY)
def test_gold_may_accept_several_labels(method: str) -> None:
    table = judgments("1 a x", "1 b y", "1 c z", "1 d z", "2 a x", "2 b x", "2 c x", "2 d z")
    found = aggregate(table, method, gold=gold(**{"1": "x|y"}), options=QUICK)
    x, y, z = found.posteriors[0]
    assert z == 0
    assert x + y == pytest.approx(1)
    assert min(x, y) > 0


@pytest.mark.parametrize("method", EVERY)
def test_gold_may_know_a_label_that_nobody_gave(method: str) -> None:
    found = aggregate(THREE, method, gold=gold(**{"3": "w"}), options=QUICK)
    assert found.labels == ("w", "x", "y")
    assert found.posteriors[2].tolist() == [1, 0, 0]
    assert found.to_frame()["label"][2] == "w"


@pytest.mark.parametrize("method", ["wawa", "dawid-skene", "one-coin"])
def test_raters_are_judged_by_gold(method: str) -> None:
    plain = aggregate(THREE, method, options=QUICK).skill
    told = aggregate(THREE, method, gold=gold(**{"1": "y", "2": "x"}), options=QUICK).skill
    assert plain[2] < plain[0]
    assert told[2] > told[0]


def test_gold_of_other_items_is_an_error_and_of_some_is_counted() -> None:
    with pytest.raises(BadInput, match="expected gold for some of the judged items, found 1 others"):
        aggregate(THREE, "majority", gold=gold(n7="x"))
    found = aggregate(THREE, "majority", gold=gold(**{"1": "x", "n7": "x"}))
    assert found.ballots.gold is not None
    assert (len(found.ballots.gold), found.ballots.gold.n_unjudged) == (1, 1)


def test_items_given_as_gold_do_not_count_as_found() -> None:
    truth = gold(**{"1": "y", "2": "y", "3": "x|y"})
    assert accuracy(aggregate(THREE, "majority"), truth).share.value == pytest.approx(2 / 3)
    checked = accuracy(aggregate(THREE, "majority", gold=gold(**{"1": "y"})), truth)
    assert (checked.n_items, checked.share.value) == (2, 1)
    told = accuracy(aggregate(THREE, "majority", gold=truth), truth)
    assert told.n_items == 0
    assert told.share.undefined_because == "no case was counted"


def test_gold_helps_on_other_items() -> None:
    crowd = mixed_crowd(5)
    some = type(crowd.truth)("gold", crowd.truth.frame.head(100), "gold")
    checked = [accuracy(aggregate(crowd.judgments, "dawid-skene", gold=known), crowd.truth) for known in (None, some)]
    assert [each.n_items for each in checked] == [300, 200]
    assert checked[1].share.value >= checked[0].share.value
    assert np.isfinite(checked[1].share.low)
