from __future__ import annotations

from math import isnan

import pytest

from grater.errors import UsageError
from grater.measure.evaluation.cases import cases_of, truth_of
from grater.measure.evaluation.standard import agreement_of, binned, curve, different_rates, histogram, small_bins
from tests.measure.evaluation.worlds import QUICK, decisions, madnani, votes


def bins_of(
    flagged: list[int], n_error: list[int], n_raters: int, **options: object
) -> list[tuple[float, float, int]]:
    cases = cases_of(decisions({"S": flagged}), votes(n_error, n_raters))
    found = binned(cases, truth_of(cases), chance=QUICK, **options)  # type: ignore[arg-type]
    return [(each.low, each.high, each.n) for each in found]


def test_low_edge_is_closed_high_edge_open_and_the_last_closed() -> None:
    # agreement .5, .75, .9, 1 of twenty raters, from either side
    assert bins_of([1] * 6, [10, 15, 5, 18, 2, 20], 20) == [(0.5, 0.75, 1), (0.75, 0.9, 2), (0.9, 1.0, 3)]


def test_items_below_the_lowest_edge_are_a_row_of_their_own() -> None:
    found = bins_of([1] * 3, [10, 14, 20], 20, edges=(0.6, 0.8, 1.0))
    assert found == [(0.0, 0.6, 1), (0.6, 0.8, 1), (0.8, 1.0, 1)]


def test_an_empty_bin_is_shown_but_an_empty_row_below_is_not() -> None:
    assert bins_of([1], [20], 20) == [(0.5, 0.75, 0), (0.75, 0.9, 0), (0.9, 1.0, 1)]


def test_scores_in_a_bin_are_against_the_majority_with_half_ties() -> None:
    cases = madnani()
    low, middle, high = (each.systems[0] for each in binned(cases, truth_of(cases), chance=QUICK))
    # .6 flagged, .5 not, .3 flagged: one hit, one false alarm, half a miss and half a rejection
    assert low.counts.row().tolist() == [1, 1, 0.5, 0.5]
    assert (low["precision"].value, low["error_rate"].value) == (0.5, 0.5)
    assert middle.counts.row().tolist() == [0, 0, 1, 0]
    assert high.counts.row().tolist() == [2, 0, 0, 2]
    assert high["kappa"].value == 1
    assert high["kappa"].low < 1


@pytest.mark.parametrize("edges", [(0.5,), (0.9, 0.5), (0.5, 0.5, 1), (0.5, 1.2), (-1, 1)])
def test_edges_that_make_no_bins_are_refused(edges: tuple[float, ...]) -> None:
    with pytest.raises(UsageError, match="edges"):
        bins_of([1], [1], 2, edges=edges)


def test_the_histogram_counts_every_judged_item_once() -> None:
    cases = cases_of(decisions({"S": [1] * 4}), votes([10, 15, 20, 0], 20))
    bars = histogram(cases)
    assert [n for _, _, n in bars] == [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2]
    assert agreement_of(cases).tolist() == [0.5, 0.75, 1, 1]


@pytest.mark.parametrize("n_raters", [10, 20, 100])
def test_full_agreement_has_a_bar_of_its_own(n_raters: int) -> None:
    # shares of .5, .6, ... 1 come to stand in the bar that begins with them, .9 and 1 apart
    errors = [n_raters * tenths // 10 for tenths in range(5, 11)]
    bars = histogram(cases_of(decisions({"S": [1] * 6}), votes(errors, n_raters)), n_bars=5)
    assert [(round(low, 9), round(high, 9), n) for low, high, n in bars[-2:]] == [(0.9, 1, 1), (1, 1, 1)]
    assert [n for _, _, n in bars] == [1] * 6


def test_kappa_of_a_system_that_flags_everything_is_0_by_definition() -> None:
    cases = cases_of(decisions({"all": [1, 1, 1, 1], "some": [1, 0, 1, 0]}), votes([5, 0, 5, 5], 5))
    [everything, some] = binned(cases, truth_of(cases), chance=QUICK)[-1].systems
    assert everything["kappa"].value == 0
    assert isnan(everything["kappa"].low)
    assert "by definition" in everything["kappa"].undefined_because
    assert not isnan(some["kappa"].low)


def test_small_bins_warn() -> None:
    cases = madnani()
    warnings = small_bins(binned(cases, truth_of(cases), chance=QUICK))
    assert warnings[0].startswith("only 3 items have an agreement of 50-75 %;")


def test_a_curve_has_the_middles_of_the_bins() -> None:
    cases = madnani()
    points = curve(binned(cases, truth_of(cases), chance=QUICK), "S", "precision")
    assert [round(middle, 3) for middle, _ in points] == [0.625, 0.825, 0.95]
    assert points[2][1].value == 1


def test_data_sets_of_other_error_rates_are_told_to_compare_kappa() -> None:
    def unanimous(n_errors: int) -> list[object]:
        cases = cases_of(decisions({"S": [1] * 100}), votes([4] * n_errors + [0] * (100 - n_errors), 4))
        return binned(cases, truth_of(cases), chance=QUICK)  # type: ignore[return-value]

    few, many, alike = unanimous(10), unanimous(60), unanimous(12)
    assert "compare kappa" in different_rates(few, many)[0]  # type: ignore[arg-type]
    assert different_rates(few, alike) == []  # type: ignore[arg-type]
