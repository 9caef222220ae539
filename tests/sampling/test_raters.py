import pytest

from grater.errors import UsageError
from grater.sampling.raters import Skill, majority_of, panel, skill_of_kappa


def test_the_majority_of_three_by_hand() -> None:
    # .8³ + 3 * .8² * .2 = .896, and .9³ + 3 * .9² * .1 = .972
    found = majority_of(3, Skill(0.8, 0.9))
    assert (found.sensitivity, found.specificity) == pytest.approx((0.896, 0.972))


def test_an_even_number_is_no_better_than_the_odd_one_below() -> None:
    # statistics.md: with random ties N = 2m and N = 2m - 1 have the same expected agreement
    for n in (2, 4, 8):
        even, odd = (majority_of(each, Skill(0.7, 0.85)) for each in (n, n - 1))
        assert (even.sensitivity, even.specificity) == pytest.approx((odd.sensitivity, odd.specificity))


def test_the_smallest_panel_that_is_right_often_enough_on_both_kinds() -> None:
    found = panel(Skill(0.8, 0.95), 0.95)
    # the majority of five is right on .942 of errors, that of seven on .967
    assert found.n == 7
    assert majority_of(5, Skill(0.8, 0.95)).sensitivity == pytest.approx(0.94208)
    assert panel(Skill(0.97, 0.99), 0.95).n == 1


@pytest.mark.parametrize(
    ("skill", "wanted", "message"),
    [
        (Skill(0.5, 0.9), 0.95, "right more often than not, found 0.50"),
        (Skill(0.51, 0.9), 0.99, "at most 99 raters"),
        (Skill(0.8, 0.9), 1.0, "--right between 0.5 and 1"),
    ],
)
def test_what_no_panel_reaches_is_refused(skill: Skill, wanted: float, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        panel(skill, wanted)


def test_a_kappa_says_how_often_two_equal_raters_are_right() -> None:
    # a = .9 at 30 % errors: called .34; agreement .82, by chance .34² + .66² = .5512; kappa .2688 / .4488
    found = skill_of_kappa(0.2688 / 0.4488, 0.3)
    assert (found.sensitivity, found.specificity) == pytest.approx((0.9, 0.9))
    assert skill_of_kappa(1.0, 0.1).least == pytest.approx(1.0)
    with pytest.raises(UsageError, match="--kappa above 0"):
        skill_of_kappa(0.0, 0.1)
