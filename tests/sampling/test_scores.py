from math import isnan

import pytest

from grater.model import Interval
from grater.sampling.scores import Stratum, normal_scores, scores
from tests.sampling.coverage import (
    cheap_strata,
    exact,
    of_any_corpora,
    saving,
    score_strata,
    simulated,
    two_strata,
    unseen,
)

# T&C 2008, Table 5: the Error sub-corpus is a tenth, 600 errors in 750; the OK sub-corpus the rest, 450 in 1,500
TABLE_5 = [Stratum("flagged", True, 0.1, 750, 600), Stratum("unflagged", False, 0.9, 1500, 450)]


def limits(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def test_rates_and_scores_of_the_paper() -> None:
    found = scores(TABLE_5, fpc=False)
    assert (found.hit.value, found.false_alarm.value, found.miss.value) == pytest.approx((0.08, 0.02, 0.27))
    numbers = (found.precision.value, found.recall.value, found.f[0.5].value)
    assert numbers == pytest.approx((0.8, 0.228571, 0.533333), abs=1e-6)


def test_intervals_of_the_paper() -> None:
    # statistics.md, from p ± 1.96 sqrt(p (1 - p) / n)
    found = normal_scores(TABLE_5)
    assert limits(found.hit) == pytest.approx((0.077137, 0.082863), abs=1e-6)
    assert limits(found.precision) == pytest.approx((0.771373, 0.828627), abs=1e-6)
    assert limits(found.miss) == pytest.approx((0.249128, 0.290872), abs=1e-6)


def test_our_interval_for_the_recall_of_the_paper() -> None:
    found = scores(TABLE_5, fpc=False)
    assert found.method == "mover-wilson"
    assert limits(found.recall) == pytest.approx((0.213896, 0.243938), abs=1e-6)


def test_a_finite_corpus_makes_limits_closer() -> None:
    strata = [Stratum("flagged", True, 1000, 750, 600), Stratum("unflagged", False, 9000, 1500, 450)]
    finite, endless = scores(strata), scores(strata, fpc=False)
    assert endless.recall.low < finite.recall.low < finite.recall.high < endless.recall.high
    assert finite.recall.value == endless.recall.value


def test_a_corpus_judged_whole_has_no_doubt_left() -> None:
    found = scores([Stratum("flagged", True, 10, 10, 8), Stratum("unflagged", False, 90, 90, 4)])
    assert limits(found.recall) == pytest.approx((8 / 12, 8 / 12))
    assert limits(found.precision) == (0.8, 0.8)


def test_strata_of_one_side_add_up() -> None:
    # 100 * .5 + 300 * .1 = 80 hits of 400 flagged
    strata = [Stratum("a", True, 100, 20, 10), Stratum("b", True, 300, 20, 2), Stratum("c", False, 600, 60, 2)]
    found = scores(strata)
    assert found.method == "mover-score"
    assert (found.hit.value, found.miss.value) == pytest.approx((80, 20))
    assert (found.precision.value, found.recall.value) == pytest.approx((0.2, 0.8))


def test_a_stratum_judged_whole_moves_limits_and_leaves_no_doubt_of_its_own() -> None:
    rest = [Stratum("a", True, 100, 20, 10), Stratum("b", False, 600, 60, 2)]
    alone, beside = scores(rest), scores([*rest, Stratum("c", True, 30, 30, 12)])
    assert limits(beside.hit) == pytest.approx((alone.hit.low + 12, alone.hit.high + 12))


def test_jeffreys_limits_stay_available_under_their_name() -> None:
    assert scores(TABLE_5, fpc=False, limits="jeffreys").method == "mover-jeffreys"


def test_a_system_that_flags_nothing_has_no_precision_and_recall_0() -> None:
    found = scores([Stratum("unflagged", False, 100, 50, 5)])
    assert isnan(found.precision.value)
    assert found.precision.undefined_because == "the system flags nothing"
    assert (found.recall.value, *limits(found.recall)) == (0, 0, 0)


def test_no_error_anywhere_leaves_recall_undefined() -> None:
    found = scores([Stratum("flagged", True, 10, 5, 0), Stratum("unflagged", False, 90, 5, 0)])
    assert isnan(found.recall.value)
    assert found.recall.undefined_because
    assert found.precision.value == 0


def test_a_side_without_judgments_leaves_recall_undefined() -> None:
    found = scores([Stratum("flagged", True, 10, 5, 3), Stratum("unflagged", False, 90)])
    assert isnan(found.recall.value)
    assert "judged" in found.recall.undefined_because
    assert found.precision.value == pytest.approx(0.6)


def test_a_stratum_that_nobody_judged_widens_the_limits() -> None:
    judged = [Stratum("a", True, 100, 50, 40), Stratum("b", False, 800, 80, 8)]
    seen, unseen = scores([*judged, Stratum("c", False, 100, 10, 1)]), scores([*judged, Stratum("c", False, 100)])
    assert seen.recall.value == pytest.approx(unseen.recall.value)
    assert unseen.recall.low < seen.recall.low


@pytest.mark.parametrize(("missed", "n", "ours"), [(0.01, 500, 0.962), (0.02, 200, 0.944)])
def test_our_interval_holds_where_the_papers_does_not(missed: float, n: int, ours: float) -> None:
    # statistics.md: exact coverage .944 to .962, against .889
    found = exact(two_strata(0.8, missed, n, n))
    assert found["ours"] == pytest.approx(ours, abs=1e-3)
    assert found["paper"] < 0.9


def test_with_one_expected_miss_even_ours_fails() -> None:
    assert exact(two_strata(0.8, 0.002, 500, 500))["ours"] < 0.94


def test_four_strata_with_a_cheap_rater_hold() -> None:
    found = simulated(cheap_strata(250), n_draws=1500)
    assert 0.935 < found["ours"] < 0.97
    assert found["paper"] < 0.8


def test_ten_score_strata_hold_where_limits_added_up_by_stratum_do_not() -> None:
    found = simulated(score_strata(400), n_draws=2000)
    assert 0.945 < found["ours"] < 0.975
    assert found["jeffreys"] < 0.94
    assert found["paper"] < 0.92


@pytest.mark.slow
def test_limits_hold_in_designs_that_had_no_part_in_the_choice_of_the_method() -> None:
    # docs/sampling.md; 3,000 samples know a share to about .004
    for strata in unseen().values():
        assert 0.936 < simulated(strata, n_draws=3000)["ours"] < 0.974


@pytest.mark.slow
def test_limits_hold_in_corpora_of_any_kind() -> None:
    # 1,000 samples know a share to about .007
    shares = of_any_corpora(10, n_draws=1000)
    assert shares[0] > 0.915
    assert sum(0.93 < share < 0.98 for share in shares) >= 9


def test_score_strata_save_labels() -> None:
    # statistics.md claims 37 to 57 %; our example corpus, by the linearised variance
    found = saving()
    assert found["neyman"] == pytest.approx(0.456, abs=5e-3)
    assert found["paper"] == pytest.approx(0.598, abs=5e-3)
