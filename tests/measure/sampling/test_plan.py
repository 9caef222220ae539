"""How many items a wanted width takes, in hours and money, by each way of sampling."""

import numpy as np
import pytest

from grater.errors import UsageError
from grater.measure.sampling.plan import (
    Expected,
    PlanRow,
    Skill,
    Work,
    expected_of,
    majority_of,
    more_needed,
    more_unflagged,
    panel,
    plan,
    recall_warning,
    recall_width,
    skill_of_kappa,
)
from grater.uncertainty import Population
from grater.uncertainty.sampled import Strata, sample_scores

FLAGS = np.array([True, False])


def strata(*cells: tuple[float, float, float], population: Population = "these") -> Strata:
    """Cells of size, judged items and errors."""
    sizes, judged, errors = (np.array([column], float) for column in zip(*cells, strict=True))
    return Strata(sizes, judged, errors, population=population)


def rows(expected: Expected, width: float = 0.1, **options: object) -> dict[str, PlanRow]:
    return {row.method: row for row in plan(expected, width, **options).rows}  # type: ignore[arg-type]


def test_a_thousand_errors_at_a_tenth_take_eighty_hours() -> None:
    # T&C 2008, section 6: 10,000 items, 500 in 4 hours
    tenth = Expected(0.1, 0.8, missed=0.02 / 0.9)
    found = rows(tenth, errors=1000)["exhaustive"]
    assert (found.items, found.hours) == pytest.approx((10_000, 80))


def test_raters_and_wages_multiply() -> None:
    tenth = Expected(0.1, 0.8, missed=0.02 / 0.9)
    found = rows(tenth, errors=1000, work=Work(raters=2, items_per_hour=250, wage=15))["exhaustive"]
    assert (found.hours, found.cost) == pytest.approx((80, 1200))


def test_every_way_reaches_the_width_with_no_item_to_spare() -> None:
    expected = Expected(0.1, 0.8, 0.02)
    found = rows(expected)
    assert list(found) == ["exhaustive", "verification", "sampling", "ours"]
    assert all(row.width <= 0.1 for row in found.values())
    ours = found["ours"]
    shares = [ours.flagged / ours.items, 1 - ours.flagged / ours.items]
    n = [0.99 * ours.items * share for share in shares]
    fewer = strata((0.1, n[0], 0.8 * n[0]), (0.9, n[1], 0.02 * n[1]), population="wider")
    assert recall_width(fewer, FLAGS) > 0.1


def test_ours_needs_fewer_items_than_the_papers_sampling() -> None:
    for missed in (0.01, 0.02, 0.3):
        found = rows(Expected(0.1, 0.8, missed))
        assert found["ours"].items <= found["sampling"].items


def test_verification_says_that_it_knows_no_recall() -> None:
    assert "not recall" in rows(Expected(0.1, 0.8, 0.02))["verification"].note


def test_a_finite_corpus_asks_for_no_more_than_it_has() -> None:
    found = rows(Expected(0.1, 0.8, 0.02, size=2000, population="these"), width=0.01)
    assert found["verification"].items <= 200
    assert found["sampling"].flagged <= 200
    assert found["ours"].items <= 2000
    assert found["exhaustive"].note.endswith("more than the corpus has")


@pytest.mark.parametrize("size", [2, 3, 5, 10, 15, 20])
def test_a_tiny_corpus_is_judged_whole_and_never_more(size: int) -> None:
    rows = plan(Expected(0.1, 0.8, 0.13, size, population="these"), 0.05).rows
    by_method = {row.method: row for row in rows}
    for method in ("sampling", "ours"):
        assert by_method[method].items == size
        assert by_method[method].width < 1e-6


def test_a_stratum_of_one_item_can_be_planned_for() -> None:
    more = more_needed(strata((50, 40, 30), (400, 90, 9), (1, 0, 0)), np.array([True, False, False]), 0.05)
    assert more is not None
    assert 0 < more <= 321


def test_a_recall_stands_for_a_rate_of_missed_errors() -> None:
    expected = expected_of(flag_rate=0.1, precision=0.8, recall=0.228571)
    assert expected.missed == pytest.approx(0.3, abs=1e-5)
    assert expected.recall == pytest.approx(0.228571)
    assert not expected.warnings


def test_what_was_assumed_is_said_with_the_error_rate_that_follows() -> None:
    # issue 34, defect 12: --width .1 --recall .2 assumed 40 % errors without saying so
    found = plan(expected_of(recall=0.2), 0.1)
    assert found.warnings == (
        "flag rate and precision are assumed, which makes 40.0% of all items errors; give your own",
    )
    assert found.to_dict()["expected"]["assumed"] == ["flag rate", "precision"]  # type: ignore[index, call-overload]
    assert found.to_dict()["expected"]["error_rate"] == pytest.approx(0.4)  # type: ignore[index, call-overload]
    assert found.to_dict()["warnings"] == list(found.warnings)
    assert "flag rate .100 (assumed), precision .800 (assumed), recall .200, error rate .400" in repr(found)


@pytest.mark.parametrize("expected", [Expected(0, 0.8, 0.1), Expected(0.1, 1, 0.1), Expected(0.1, 0.8, 0)])
def test_shares_at_the_rim_are_refused(expected: Expected) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        plan(expected, 0.1)


def test_more_judgments_bring_the_width_down_as_promised() -> None:
    cells = ((1000, 60, 48), (9000, 120, 20))
    these, wider = strata(*cells), strata(*cells, population="wider")
    assert recall_width(these, FLAGS) > 0.1
    more = more_needed(these, FLAGS, 0.1)
    assert more is not None
    assert more > 0
    assert more_needed(these, FLAGS, 0.05) > more  # type: ignore[operator]
    assert more_needed(these, FLAGS, 0.9) == 0
    assert more_needed(wider, FLAGS, 0.1) >= more  # type: ignore[operator]


def test_essays_that_differ_need_more_judgments_than_independent_items() -> None:
    by_essay = Strata(
        sizes=np.tile([20.0, 180.0], (10, 1)),
        judged=np.tile([6.0, 30.0], (10, 1)),
        errors=np.array([[6.0, 0.0]] * 5 + [[2.0, 8.0]] * 5),
        unit="essay",
    )
    items = strata((200, 60, 40), (1800, 300, 40), population="wider")
    assert recall_width(by_essay, FLAGS) > recall_width(items, FLAGS)
    assert more_needed(by_essay, FLAGS, 0.25) > more_needed(items, FLAGS, 0.25)  # type: ignore[operator]


def test_the_whole_corpus_is_always_enough() -> None:
    assert more_needed(strata((100, 10, 8), (900, 10, 1)), FLAGS, 1e-9) == 980


def test_no_number_is_enough_where_recall_is_undefined() -> None:
    assert more_needed(strata((0.1, 10, 0), (0.9, 10, 0), population="wider"), FLAGS, 0.1) is None


def test_a_sample_that_cannot_measure_recall_says_how_many_more_to_judge() -> None:
    # at 1 to 2 % errors recall is valid but wide (statistics.md, "Where it does not hold")
    few = strata((100, 30, 24), (2900, 60, 1), population="wider")
    n = more_unflagged(few, FLAGS)
    assert n is not None
    assert recall_warning(few, FLAGS) == f"this sample cannot measure recall; judge about {n:,} more unflagged items"
    enough = strata((100, 30, 24), (2900, 60 + n, (60 + n) / 60), population="wider")
    assert sample_scores(enough, FLAGS).recall.value == pytest.approx(sample_scores(few, FLAGS).recall.value)
    assert recall_width(enough, FLAGS) <= 0.5 < recall_width(few, FLAGS)
    assert not recall_warning(enough, FLAGS)


def test_a_corpus_with_too_few_unflagged_items_says_so() -> None:
    few = strata((100, 10, 3), (60, 20, 1), population="wider")
    assert more_unflagged(few, FLAGS, 0.1) is None
    assert recall_warning(few, FLAGS, 0.1).endswith("this corpus has too few unflagged items")


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
        (Skill(0.51, 0.9), 0.99, "more than 99 raters"),
        (Skill(0.8, 0.9), 1.0, "right between 0.5 and 1"),
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
    with pytest.raises(UsageError, match="kappa above 0"):
        skill_of_kappa(0.0, 0.1)


def test_a_corpus_that_stands_for_others_may_be_too_small() -> None:
    wider, these = (
        rows(Expected(0.1, 0.8, 0.02, size=2000, population=each), width=0.05)["ours"] for each in ("wider", "these")
    )
    assert wider.note.endswith("the corpus is too small for this width")
    assert these.items < wider.items == 2000
