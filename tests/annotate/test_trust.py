"""The rules of gold.

What a rule of gold does to raters.
"""

from __future__ import annotations

from math import comb
from pathlib import Path

import numpy as np
import pytest

from grater.annotate.terms import (
    TrustRule,
    gold_on_page,
    gold_rate,
    is_below,
    is_suspect,
    odds,
    passes_quiz,
    quiz_needed,
    steady,
    turning,
)


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


def test_gold_comes_as_often_as_an_average_page_holds_it() -> None:
    assert [gold_rate(page) for page in (2, 10, 19, 20, 29, 30)] == [1 / 2, 1 / 10, 1 / 19, 2 / 20, 2 / 29, 3 / 30]


RULE = TrustRule(minimum=0.7, least_seen=8, quiz=8)


def at_most(right: int, seen: int, chance: float) -> float:
    return sum(comb(seen, n) * chance**n * (1 - chance) ** (seen - n) for n in range(right + 1))


def test_the_quiz_alone_is_a_binomial_tail() -> None:
    found = odds(RULE, steady(0.5, 8))
    assert found.fails_quiz == found.out == pytest.approx(219 / 256)  # five of eight or fewer
    assert odds(RULE, steady(0.88, 8)).out == pytest.approx(at_most(5, 8, 0.88))


def test_another_attempt_helps_the_lucky() -> None:
    twice = TrustRule(minimum=0.7, least_seen=8, quiz=8, attempts=2)
    assert odds(twice, steady(0.5, 8)).fails_quiz == pytest.approx((219 / 256) ** 2)


def test_without_a_quiz_one_gold_too_many_decides() -> None:
    rule = TrustRule(minimum=0.6, least_seen=2)
    # Out after two: not both right.  In for good after two right: 2 of 3 is above .6.
    assert odds(rule, steady(0.5, 3)).out == pytest.approx(0.75)
    assert odds(rule, steady(0.5, 3)).met == pytest.approx(1 + 1 + 0.25)


@pytest.mark.parametrize("sure", [0.0, 0.9])
def test_they_are_what_a_crowd_shows(sure: float) -> None:
    rule = TrustRule(minimum=0.75, least_seen=6, quiz=6, sure=sure)
    chances = turning(0.9, 9, 25)
    rng, n_raters = np.random.default_rng(7), 4000
    out = sum(_is_out(rule, rng.random(len(chances)) < chances) for _ in range(n_raters))
    found = odds(rule, chances).out
    assert out / n_raters == pytest.approx(found, abs=4 * (found * (1 - found) / n_raters) ** 0.5)


def _is_out(rule: TrustRule, answers: np.ndarray) -> bool:
    if not passes_quiz(rule, right=int(answers[: rule.quiz].sum())):
        return True
    counts = np.cumsum(answers)
    return any(
        is_below(rule, seen=seen, right=int(counts[seen - 1])) for seen in range(rule.quiz + 1, len(answers) + 1)
    )


def test_the_better_a_rater_the_safer() -> None:
    outs = [odds(RULE, steady(skill, 40)).out for skill in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)]
    assert outs == sorted(outs, reverse=True)
    assert outs[-1] == 0.0


def rows_of_the_page() -> list[list[str]]:
    page = (Path(__file__).parents[2] / "docs" / "crowd-jobs.md").read_text("utf-8").replace("*", "")
    lines = page[page.index("| `minimum` | `sure`") :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("cells", rows_of_the_page(), ids=lambda cells: "-".join(cells[:4]))
def test_the_table_of_rules_is_what_they_do(cells: list[str]) -> None:
    minimum, sure, quiz, attempts = float(cells[0]), float(cells[1]), int(cells[2]), int(cells[3])
    rule = TrustRule(minimum, quiz, quiz, attempts, sure)
    guesser, turned = odds(rule, steady(0.5, quiz + 35)), odds(rule, turning(0.9, quiz + 2, quiz + 35))
    passes = 1 - guesser.fails_quiz
    told = [f"{100 * passes:.0f} %", f"{100 * (1 - guesser.out):.1f} %", f"{10 * passes * guesser.met:.0f}"]
    told += [f"{100 * turned.out:.0f} %"]
    told += [f"{100 * odds(rule, steady(skill, quiz + 35)).out:.1f} %" for skill in (0.8, 0.85, 0.9, 0.95)]
    assert cells[4:] == told
