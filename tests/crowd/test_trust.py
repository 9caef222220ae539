"""The rules of gold."""

from __future__ import annotations

from collections import Counter

import pytest

from grater.crowd.trust import (
    TrustRule,
    gold_on_page,
    gold_turns,
    is_below,
    is_suspect,
    passes_quiz,
    quiz_needed,
)
from grater.errors import UsageError
from grater.rng import generator


@pytest.mark.parametrize(("size", "n_gold"), [(2, 1), (10, 1), (19, 1), (20, 2), (29, 2), (30, 3)])
def test_a_page_of_up_to_19_has_one_gold_and_of_20_to_29_two(size: int, n_gold: int) -> None:
    assert gold_on_page(size) == n_gold


def test_a_rater_is_not_judged_before_enough_gold() -> None:
    rule = TrustRule(minimum=0.7, least_seen=4)
    assert not is_below(rule, seen=3, right=0)
    assert is_below(rule, seen=4, right=2)
    assert not is_below(rule, seen=4, right=3)


def test_exactly_the_minimum_is_enough() -> None:
    assert not is_below(TrustRule(minimum=0.75, least_seen=1), seen=8, right=6)
    assert passes_quiz(TrustRule(minimum=0.75, quiz=8), right=6)
    assert not passes_quiz(TrustRule(minimum=0.75, quiz=8), right=5)
    assert not is_below(TrustRule(minimum=0.56), seen=25, right=14)  # 25 x .56 is a little over 14 in binary
    assert is_below(TrustRule(minimum=0.56), seen=25, right=13)


def test_in_doubt_nobody_is_put_out() -> None:
    # With .8 right, 5 of 8 or fewer happens to .2031, 4 or fewer to .0563 (binomial, by hand).
    sure = TrustRule(minimum=0.8, least_seen=8, quiz=8, sure=0.9)
    assert [is_below(sure, seen=8, right=right) for right in (4, 5, 6)] == [True, False, False]
    assert [passes_quiz(sure, right=right) for right in (4, 5)] == [False, True]
    assert quiz_needed(sure) == 5
    assert quiz_needed(TrustRule(minimum=0.8, quiz=8)) == 7
    assert quiz_needed(TrustRule(minimum=0.8, quiz=0)) == 0


def test_a_rule_that_is_never_sure_enough_still_wants_the_share_first() -> None:
    assert not is_below(TrustRule(minimum=0.5, least_seen=1, sure=0.01), seen=10, right=5)


def test_gold_missed_by_more_than_half_of_five_is_suspect() -> None:
    assert is_suspect(seen=5, missed=3)
    assert not is_suspect(seen=4, missed=4)
    assert not is_suspect(seen=6, missed=3)


def test_gold_comes_at_any_turn_alike() -> None:
    rng = generator(1, "turns")
    turns = Counter(turn for _ in range(3000) for turn in gold_turns(10, rng=rng))
    assert set(turns) == set(range(10))
    assert min(turns.values()) > 230  # 300 expected; five standard errors below is 218


@pytest.mark.parametrize(
    "options", [{"minimum": 1.2}, {"least_seen": 0}, {"quiz": -1}, {"attempts": 0}, {"sure": 1.0}]
)
def test_senseless_rules_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        TrustRule(**options)  # type: ignore[arg-type]


def test_a_page_without_room_for_work_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 2 units"):
        gold_on_page(1)
