"""Money adds up."""

from __future__ import annotations

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.annotate.terms import (
    POLICIES,
    Pay,
    Policy,
    UnitsAnswered,
    Work,
    bill,
    earned,
    hourly,
    money,
    owed,
    paid_once,
    valid_share,
)
from grater.errors import UsageError

STATUSES = ("valid", "surplus", "untrusted", "withdrawn")
works = st.lists(st.builds(Work, st.sampled_from("abc"), st.sampled_from(STATUSES), st.floats(1, 100)))


@given(st.integers(0, 10**6), st.sampled_from(POLICIES), works)
def test_what_raters_get_adds_up_to_what_the_job_cost(cents: int, policy: Policy, done: list[Work]) -> None:
    pay = Pay(cents, "EUR", policy)
    found = bill(pay, done)
    assert found.cents == sum(found.by_rater.values()) == sum(owed(pay, work) for work in done)
    assert found.cents - found.wasted == cents * found.n_valid


@given(st.lists(st.builds(Work, st.sampled_from("ab"), st.sampled_from(STATUSES), st.none(), st.sampled_from("uv"))))
def test_a_rater_is_paid_for_a_unit_once(done: list[Work]) -> None:
    n_units = len({(work.rater, work.unit) for work in done})
    assert bill(Pay(10, policy="all"), done).cents == 10 * n_units
    for policy in POLICIES:
        assert bill(Pay(10, policy=policy), done).cents <= 10 * n_units


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
        Work("a", status, unit=unit)
        for unit, (deciding, others) in by_unit.items()
        for status in (deciding, *others)
        if status
    ]
    statuses = [work.status for work in done]
    answered = UnitsAnswered(
        n_units=len({work.unit for work in done}),
        n_valid=statuses.count("valid"),
        n_untrusted=statuses.count("untrusted"),
    )
    pay = Pay(7, policy=policy)
    assert earned(pay, answered) == bill(pay, done).cents


def test_the_answer_that_counts_speaks_for_its_unit() -> None:
    mended = [Work("a", "withdrawn", 30.0, "essay"), Work("a", "valid", 10.0, "essay")]
    assert paid_once(mended) == [Work("a", "valid", 40.0, "essay")]
    assert [bill(Pay(10, policy=policy), mended).cents for policy in POLICIES] == [10, 10, 10]
    put_out = [Work("a", "untrusted", unit="u"), Work("a", "surplus", unit="u")]
    assert [bill(Pay(10, policy=policy), put_out).cents for policy in POLICIES] == [10, 0, 0]
    assert hourly(Pay(10), mended).median == 900.0  # 10 cents for 40 seconds


def test_policies_pay_what_they_say() -> None:
    done = [Work("a", status) for status in STATUSES]
    assert [bill(Pay(10, "EUR", policy), done).cents for policy in POLICIES] == [40, 30, 10]


def test_the_cost_of_a_valid_judgment_carries_the_waste() -> None:
    found = bill(Pay(5), [Work("a", "valid"), Work("b", "untrusted")])
    assert (found.cents, found.wasted, found.per_valid) == (10, 5, 10)
    assert isnan(bill(Pay(5), []).per_valid)


def test_the_hour_is_that_of_the_median_rater_and_of_the_slow_quarter() -> None:
    # 10 cents in 36 s is 10.00 an hour; raters at 20, 36, 40, 60 seconds make 18, 10, 9, 6
    done = [Work(str(seconds), "valid", seconds) for seconds in (20.0, 36.0, 40.0, 60.0)]
    found = hourly(Pay(10, least_hourly=950), done)
    assert found.median == pytest.approx(950)
    assert found.slow_quarter == pytest.approx(825)
    assert found.warning == "a quarter of the raters make less than 9.50 EUR an hour"
    assert hourly(Pay(10, least_hourly=1200), done).warning.startswith("half of the raters")
    assert not hourly(Pay(10), done).warning


def test_without_times_there_is_no_hour() -> None:
    assert hourly(Pay(10), [Work("a", "valid")]).n_raters == 0


@pytest.mark.parametrize("currency", ["eur", "EURO", "", "ÄÖÜ"])
def test_a_currency_has_three_letters(currency: str) -> None:
    with pytest.raises(UsageError, match="three letters"):
        Pay(1, currency)


def test_money_reads_as_people_write_it() -> None:
    assert money(120_005, "USD") == "1,200.05 USD"


def test_the_share_that_counts_has_limits() -> None:
    found = valid_share([Work("a", "valid")] * 9 + [Work("b", "surplus")])
    assert found.value == 0.9
    assert found.low < 0.9 < found.high
