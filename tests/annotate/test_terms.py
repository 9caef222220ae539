"""The terms of a job: redundancy, money, and what a rule of gold does to raters."""

from __future__ import annotations

import re
from collections import Counter
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.annotate.terms import (
    POLICIES,
    Pay,
    Policy,
    Redundancy,
    Terms,
    TrustRule,
    UnitsAnswered,
    Work,
    bill,
    earned,
    gold_on_page,
    gold_rate,
    hourly,
    is_below,
    is_suspect,
    lead_of,
    odds,
    owed,
    paid_once,
    passes_quiz,
    quiz_needed,
    still_wanted,
    terms_json,
    terms_of,
)
from grater.errors import UsageError
from grater.model import Json
from tests.each import for_each

rules = st.builds(
    lambda least, more, lead: Redundancy(least, least + more, lead),
    *(st.integers(*limits) for limits in ((1, 5), (0, 6), (1, 4))),
)
answers = st.lists(st.sampled_from(["error", "ok", "unknown"]), max_size=30)


@given(rules, answers)
def test_asking_ends_between_the_least_and_the_most(rule: Redundancy, labels: list[str]) -> None:
    assert len(labels) + still_wanted(rule, labels) <= max(rule.most, len(labels))
    so_far: list[str] = []
    for label in labels + ["ok"] * 30:
        if not still_wanted(rule, so_far):
            break
        so_far.append(label)
    assert rule.least <= len(so_far) <= rule.most
    assert len(so_far) == rule.most or lead_of(so_far) >= rule.lead


def test_agreement_ends_early_and_a_split_goes_on() -> None:
    rule = Redundancy(least=3, most=7, lead=3)
    for labels, n_wanted in (("ooo", 0), ("ooe", 2), ("oeoe", 3), ("oeoeoeo", 0)):
        assert still_wanted(rule, list(labels)) == n_wanted
    assert [str(each) for each in (rule, Redundancy(5, 5))] == ["3-7:lead=3", "5"], "for signatures"


GOLD: dict[str, Json] = {"minimum": 0.8, "least_seen": 5, "quiz": 6, "attempts": 2}
WHOLE: dict[str, Json] = {
    "page": 20,
    "gold": {**GOLD, "sure": 0.9, "exposure": 7, "shows_misses": True},
    "redundancy": {"least": 2, "most": 5, "lead": 2},
    "pay": {"cents": 7, "currency": "NOK", "policy": "valid", "least_hourly": 20000},
    "limit": 300,
    "qualifications": [{"job": "first", "judgments": 50, "accuracy": 0.8}],
    "countries": ["Norway"],
    "languages": ["English", "Norwegian"],
    "pilot": "How clear is it?",
    "pool": 40,
}


def test_terms_come_back_as_they_were_written_and_a_job_without_any_asks_for_nothing() -> None:
    assert terms_json(Terms.checked(**WHOLE)) == WHOLE
    assert terms_of({"crowd": WHOLE}) == Terms.checked(**WHOLE)
    assert terms_of({}) == Terms()
    assert terms_json(Terms()) == {}
    assert Terms.checked(gold=GOLD).gold.sure == 0.0, "before a rule could be sure"
    assert terms_of({"crowd": {**WHOLE, "opening": {"days": [0]}}}) == Terms.checked(**WHOLE), "a term of 0.2"


@for_each(
    [
        ({"golds": {}}, "unknown field 'golds'. Did you mean 'gold'?"),
        ({"gold": {"minimun": 1}}, "gold.minimun: there is no such field"),
        ({"gold": {"sure": None}}, "gold.sure: expected a number"),
        ({"redundancy": {"least": 3, "most": 2}}, "least <= most"),
        ({"pay": {"cents": 5, "currency": "ÄÖÜ"}}, "three letters"),
        ({"countries": "Norway"}, "expected a list"),
    ]
)
def test_what_is_wrong_is_named(case: tuple[dict[str, Json], str]) -> None:
    wrong, words = case
    with pytest.raises(UsageError, match=re.escape(words)):
        Terms.checked(**wrong)


STATUSES = ("valid", "surplus", "untrusted", "withdrawn")
works = st.lists(
    st.builds(Work, st.sampled_from("ab"), st.sampled_from(STATUSES), st.none(), st.sampled_from("uvwxyz"))
)


@given(st.integers(0, 10**6), st.sampled_from(POLICIES), works)
def test_what_raters_get_adds_up_to_what_the_job_cost_and_each_unit_is_paid_once(
    cents: int, policy: Policy, done: list[Work]
) -> None:
    pay = Pay(cents, "EUR", policy)
    found = bill(pay, done)
    once = paid_once(done)
    assert found.cents == sum(found.by_rater.values()) == sum(owed(pay, work) for work in once)
    assert found.cents - found.wasted == cents * sum(work.status == "valid" for work in once)
    n_units = len({(work.rater, work.unit) for work in done})
    assert found.cents <= cents * n_units
    assert bill(Pay(cents, policy="all"), done).cents == cents * n_units


answers_to_units = st.dictionaries(
    st.sampled_from("uvwxyz"),
    st.tuples(
        st.sampled_from(["valid", "untrusted", ""]), st.lists(st.sampled_from(["surplus", "withdrawn"]), max_size=2)
    ),
)


@given(st.sampled_from(POLICIES), answers_to_units)
def test_what_one_rater_has_earned_is_counted_as_it_is_billed(
    policy: Policy, by_unit: dict[str, tuple[str, list[str]]]
) -> None:
    done = [
        Work("a", status, None, unit)
        for unit, (deciding, others) in by_unit.items()
        for status in (deciding, *others)
        if status
    ]
    n_by_status = Counter(work.status for work in done)
    answered = UnitsAnswered(
        n_units=len({work.unit for work in done}),
        n_valid=n_by_status["valid"],
        n_untrusted=n_by_status["untrusted"],
    )
    pay = Pay(7, policy=policy)
    assert earned(pay, answered) == bill(pay, done).cents


def test_the_answer_that_counts_speaks_for_its_unit() -> None:
    mended = [Work("a", "withdrawn", 30.0, "essay"), Work("a", "valid", 10.0, "essay")]
    assert paid_once(mended) == [Work("a", "valid", 40.0, "essay")]
    assert [bill(Pay(10, policy=policy), mended).cents for policy in POLICIES] == [10, 10, 10]
    removed = [Work("a", "untrusted", None, "u"), Work("a", "surplus", None, "u")]
    assert [bill(Pay(10, policy=policy), removed).cents for policy in POLICIES] == [10, 0, 0]
    assert hourly(Pay(10), mended).median == 900.0  # 10 cents for 40 seconds


def test_the_hour_is_that_of_the_median_rater_and_of_the_slow_quarter() -> None:
    # 10 cents in 36 s is 10.00 an hour; raters at 20, 36, 40, 60 seconds make 18, 10, 9, 6
    done = [Work(str(seconds), "valid", seconds, "u") for seconds in (20.0, 36.0, 40.0, 60.0)]
    found = hourly(Pay(10, least_hourly=950), done)
    assert (found.median, found.slow_quarter) == pytest.approx((950, 825))
    assert found.warning == "a quarter of the raters make less than 9.50 EUR an hour"
    assert hourly(Pay(10, least_hourly=1200), done).warning.startswith("half of the raters")
    assert not hourly(Pay(10), done).warning
    assert hourly(Pay(10), [Work("a", "valid", None, "u")]).n_raters == 0, "without times there is no hour"


def test_gold_comes_as_often_as_an_average_page_holds_it() -> None:
    """One on a page of up to 19, two from 20 to 29."""
    rates = {2: 1, 10: 1, 19: 1, 20: 2, 29: 2, 30: 3}
    assert {page: (gold_on_page(page), gold_rate(page)) for page in rates} == {
        page: (n, n / page) for page, n in rates.items()
    }


SURE = TrustRule(minimum=0.8, least_seen=8, quiz=8, sure=0.9)
"""With .8 right, 5 of 8 or fewer happens to .2031, 4 or fewer to .0563 (binomial, by hand)."""


@for_each(
    [
        (TrustRule(minimum=0.7, least_seen=4), 3, 0, False),  # not before enough gold
        (TrustRule(minimum=0.7, least_seen=4), 4, 2, True),
        (TrustRule(minimum=0.7, least_seen=4), 4, 3, False),
        (TrustRule(minimum=0.75, least_seen=1), 8, 6, False),  # exactly the minimum is enough
        (TrustRule(minimum=0.56), 25, 14, False),  # 25 x .56 is a little over 14 in binary
        (TrustRule(minimum=0.56), 25, 13, True),
        (SURE, 8, 4, True),  # nobody is removed on uncertain evidence
        (SURE, 8, 5, False),
        (TrustRule(minimum=0.5, least_seen=1, sure=0.01), 10, 5, False),  # the share still comes first
    ]
)
def test_a_rater_is_removed_below_the_minimum(case: tuple[TrustRule, int, int, bool]) -> None:
    rule, seen, right, is_out = case
    assert is_below(rule, seen=seen, right=right) == is_out


def test_a_quiz_needs_the_minimum_or_what_is_not_surely_below_it() -> None:
    assert [passes_quiz(SURE, right=right) for right in (4, 5)] == [False, True]
    assert [passes_quiz(TrustRule(minimum=0.75, quiz=8), right=right) for right in (5, 6)] == [False, True]
    assert [quiz_needed(rule) for rule in (SURE, TrustRule(minimum=0.8, quiz=8), TrustRule(quiz=0))] == [5, 7, 0]


def test_gold_missed_by_more_than_half_of_five_is_suspect() -> None:
    assert [is_suspect(seen=seen, missed=missed) for seen, missed in ((5, 3), (4, 4), (6, 3))] == [True, False, False]


RULE = TrustRule(minimum=0.7, least_seen=8, quiz=8)


def at_most(right: int, seen: int, chance: float) -> float:
    return sum(comb(seen, n) * chance**n * (1 - chance) ** (seen - n) for n in range(right + 1))


def test_the_quiz_alone_is_a_binomial_tail_and_another_attempt_helps_the_lucky() -> None:
    found = odds(RULE, [0.5] * 8)
    assert found.fails_quiz == found.out == pytest.approx(219 / 256)  # five of eight or fewer
    assert odds(RULE, [0.88] * 8).out == pytest.approx(at_most(5, 8, 0.88))
    twice = TrustRule(minimum=0.7, least_seen=8, quiz=8, attempts=2)
    assert odds(twice, [0.5] * 8).fails_quiz == pytest.approx((219 / 256) ** 2)


def test_without_a_quiz_one_gold_too_many_decides() -> None:
    rule = TrustRule(minimum=0.6, least_seen=2)
    # Out after two: not both right.  In for good after two right: 2 of 3 is above .6.
    assert odds(rule, [0.5] * 3).out == pytest.approx(0.75)
    assert odds(rule, [0.5] * 3).met == pytest.approx(1 + 1 + 0.25)


@pytest.mark.parametrize("sure", [0.0, 0.9])
def test_they_are_what_a_crowd_shows(sure: float) -> None:
    rule = TrustRule(minimum=0.75, least_seen=6, quiz=6, sure=sure)
    chances = [0.9] * 9 + [0.5] * 16
    rng, n_raters = np.random.default_rng(7), 4000
    out = sum(_is_out(rule, rng.random(len(chances)) < chances) for _ in range(n_raters))
    found = odds(rule, chances).out
    assert out / n_raters == pytest.approx(found, abs=4 * (found * (1 - found) / n_raters) ** 0.5)


def _is_out(rule: TrustRule, answers: np.ndarray) -> bool:
    if not passes_quiz(rule, right=int(answers[: rule.quiz].sum())):
        return True
    later = range(rule.quiz + 1, len(answers) + 1)
    return any(is_below(rule, seen=seen, right=int(answers[:seen].sum())) for seen in later)


def rows_of_the_page() -> list[list[str]]:
    page = (Path(__file__).parents[2] / "docs" / "crowd.md").read_text("utf-8").replace("*", "")
    lines = page[page.index("| `minimum` | `sure`") :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("cells", rows_of_the_page(), ids=lambda cells: "-".join(cells[:4]))
def test_the_table_of_rules_is_what_they_do(cells: list[str]) -> None:
    minimum, sure, quiz, attempts = float(cells[0]), float(cells[1]), int(cells[2]), int(cells[3])
    rule = TrustRule(minimum, quiz, quiz, attempts, sure)
    guesser, turned = odds(rule, [0.5] * (quiz + 35)), odds(rule, [0.9] * (quiz + 2) + [0.5] * 33)
    passes = 1 - guesser.fails_quiz
    told = [f"{100 * passes:.0f} %", f"{100 * (1 - guesser.out):.1f} %", f"{10 * passes * guesser.met:.0f}"]
    told += [f"{100 * turned.out:.0f} %"]
    told += [f"{100 * odds(rule, [skill] * (quiz + 35)).out:.1f} %" for skill in (0.8, 0.85, 0.9, 0.95)]
    assert cells[4:] == told
