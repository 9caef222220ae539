"""Margins as probabilities, and thresholds for a precision."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from grater.detect.context.calibration import LEAST, NAMES, USUAL, Calibration, calibrations_of, fit
from grater.errors import UsageError


def test_platt_finds_the_numbers_that_made_the_table() -> None:
    rng = np.random.default_rng(7)
    margins = rng.uniform(-2, 6, 20_000)
    is_right = rng.random(20_000) < 1 / (1 + np.exp(-(1.5 * margins - 2)))
    calibration = fit(margins.tolist(), is_right.tolist())
    assert calibration.slope == pytest.approx(1.5, abs=0.1)
    assert calibration.intercept == pytest.approx(-2, abs=0.15)
    assert calibration.probability(3.0) == pytest.approx(0.924, abs=0.02)  # sigmoid(2.5)


def test_a_threshold_reaches_its_precision_and_is_the_lowest_that_does() -> None:
    margins = [float(number) for number in range(100, 0, -1)]
    is_right = [number <= 60 for number in range(1, 101)]  # the 60 highest are right
    calibration = fit(margins, is_right)
    assert calibration.threshold(0.6) == 0.5  # all 100: 60 of 100
    assert calibration.threshold(0.75) == 20.5  # the 80 highest: 60 of 80
    assert calibration.threshold(0.8) == 25.5  # the 75 highest: 60 of 75
    assert calibration.threshold(0.72) == calibration.threshold(0.75)


def test_equal_margins_are_flagged_together() -> None:
    calibration = fit([2.0] * 30 + [1.0] * 30, [True] * 30 + [True] * 15 + [False] * 15)
    assert calibration.threshold(0.95) == 1.5
    assert calibration.threshold(0.75) == 0.5


def test_a_precision_that_was_never_shown_flags_nothing() -> None:
    n_few = LEAST - 1
    calibration = fit([5.0] * n_few + [1.0] * 60, [True] * n_few + [True, False] * 30)
    assert calibration.threshold(0.95) == inf
    assert calibration.threshold(0.6) < 1.0


def test_no_precision_means_the_shipped_threshold() -> None:
    assert Calibration(shipped=1.25, thresholds={0.8: 3.0}).threshold(None) == 1.25


def test_numbers_of_a_card_come_back() -> None:
    calibrations = {
        name: Calibration(slope=0.5, intercept=-1.0, shipped=2.0, thresholds={0.8: 3.0}, usual=0.01) for name in NAMES
    }
    calibrations["number"] = Calibration()
    assert calibrations_of({name: calibrations[name].as_json() for name in NAMES}) == calibrations


def test_a_card_without_usual_signs_has_those_of_the_model_that_comes_with_grater() -> None:
    numbers = {name: Calibration(shipped=2.0).as_json() for name in NAMES}
    for own in numbers.values():
        del own["usual"]
    assert {name: one.usual for name, one in calibrations_of(numbers).items()} == USUAL


@pytest.mark.parametrize("numbers", [None, {}, {name: {} for name in NAMES}, {"prep-choice": 1}])
def test_other_numbers_are_refused(numbers: object) -> None:
    with pytest.raises((ValueError, KeyError)):
        calibrations_of(numbers)


def test_a_small_table_is_refused() -> None:
    with pytest.raises(UsageError, match="expected at least 20 flags"):
        fit([1.0], [True])


def test_flags_that_would_never_be_made_do_not_bend_the_fit() -> None:
    near = [number / 100 - 2 for number in range(400)]
    is_right = [margin > 0.3 * (number % 7 - 3) for number, margin in enumerate(near)]
    far = [-20.0 + number / 100 for number in range(1000)]
    alone, beside = fit(near, is_right), fit([*near, *far], [*is_right, *([False] * 999), True])
    assert (beside.slope, beside.intercept) == (alone.slope, alone.intercept)
