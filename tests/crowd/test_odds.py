"""What a rule of gold does to raters."""

from __future__ import annotations

from math import comb
from pathlib import Path

import numpy as np
import pytest

from grater.crowd.odds import odds, steady, turning
from grater.crowd.trust import TrustRule, is_below, passes_quiz

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
