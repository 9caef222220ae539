"""Margins as probabilities."""

from __future__ import annotations

import pytest

from grater.detect.context.calibration import NAMES, USUAL, Calibration, calibrations_of


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
