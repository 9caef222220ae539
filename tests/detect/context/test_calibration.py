"""Margins as probabilities, what the rest of a text says about a flag, and the columns of the answers."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from scipy import integrate, stats

from grater.detect.context.calibration import NAMES, NEARLY, SHAPE, USUAL, Calibration, calibrations_of, shifts
from grater.detect.context.detector import ContextDetector
from grater.model import Essay
from tests.detect.context.stand_in import CALIBRATIONS, answering, detector


@pytest.mark.parametrize("numbers", [None, {}, {name: {} for name in NAMES}, {"prep-choice": 1}])
def test_other_numbers_are_refused(numbers: object) -> None:
    with pytest.raises((ValueError, KeyError)):
        calibrations_of(numbers)


SHIPPED = 1.0


def calibrations(usual: float) -> dict[str, Calibration]:
    return dict.fromkeys(NAMES, Calibration(shipped=SHIPPED, usual=usual))


@pytest.mark.parametrize(("n_signs", "n_slots", "usual"), [(0, 400, 0.02), (3, 30, 0.03), (25, 400, 0.02)])
def test_a_shift_is_the_log_of_how_frequent_errors_are_given_the_signs(
    n_signs: int, n_slots: int, usual: float
) -> None:
    """The mean of a gamma distribution after Poisson counts, here by integration."""
    margins = [SHIPPED - NEARLY / 2] * n_signs + [-5.0] * (n_slots - n_signs) + [-5.0]
    shift = shifts([[("number", margin)] for margin in margins], calibrations(usual))[-1]
    prior = stats.gamma(SHAPE, scale=1 / SHAPE)

    def weight(times: float) -> float:
        return float(prior.pdf(times) * stats.poisson(times * usual * n_slots).pmf(n_signs))

    whole = integrate.quad(weight, 0, 20, limit=200)[0]
    mean = integrate.quad(lambda times: times * weight(times), 0, 20, limit=200)[0] / whole
    assert exp(shift) == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize("times", [0.2, 2.0])
def test_flags_are_as_often_right_as_they_say_where_errors_are_rarer_or_more_frequent(times: float) -> None:
    """Texts whose margins are exactly the log-odds of an error where errors are as frequent as usual."""
    rng, rate, apart = np.random.default_rng(5), 0.05, 5.0

    def texts(share: float) -> tuple[np.ndarray, np.ndarray]:
        is_error = rng.random((200, 400)) < share
        noise, side = rng.standard_normal(is_error.shape), np.where(is_error, 1, -1)
        return is_error, log(rate / (1 - rate)) + apart * noise + side * apart**2 / 2

    usual = float((texts(rate)[1] > SHIPPED - NEARLY).mean())
    claimed, moved, right = [], [], []
    for is_error, margins in zip(*texts(times * rate), strict=True):
        by_text = np.array(shifts([[("number", margin)] for margin in margins.tolist()], calibrations(usual)))
        flagged = margins + by_text > SHIPPED
        claimed += (1 / (1 + np.exp(-margins[flagged]))).tolist()
        moved += (1 / (1 + np.exp(-(margins + by_text)[flagged]))).tolist()
        right += is_error[flagged].tolist()
    assert abs(np.mean(moved) - np.mean(right)) < 0.5 * abs(np.mean(claimed) - np.mean(right))


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> ContextDetector:
    """Sure of *on* for *in*, and of no other change."""
    made = detector(tmp_path_factory.mktemp("toy"), answering({"in": {"prep": "on"}, "on": {"prep": "on"}}))
    return replace(made, calibrations={name: replace(one, usual=0.02) for name, one in CALIBRATIONS.items()})


WRONG, RIGHT = "It is always in Monday. ", "It is always on Monday. "


def score(toy: ContextDetector, *texts: str) -> float:
    """By how much the last *in* of the last essay exceeds the threshold."""
    found = list(toy.find(Essay(str(n), text) for n, text in enumerate(texts)))
    return next(f.decision.score or 0.0 for f in reversed(found) if f.target == "in")


def test_the_rest_of_an_essay_moves_a_flag_and_how_sure_it_is_and_other_essays_do_not(toy: ContextDetector) -> None:
    alone = score(toy, WRONG)
    assert score(toy, 40 * RIGHT + WRONG) < alone < score(toy, 40 * WRONG)
    assert score(toy, 40 * RIGHT, 40 * WRONG, WRONG) == alone
    sure, less = (
        next(finding.confidence for finding in toy.find([Essay("e", text)]) if finding.target == "in")
        for text in (40 * WRONG, 40 * RIGHT + WRONG)
    )
    assert (sure or 0) > (less or 1)


def test_a_card_without_usual_signs_has_those_of_the_model_that_comes_with_grater() -> None:
    numbers = {name: Calibration(shipped=2.0).as_json() for name in NAMES}
    for own in numbers.values():
        del own["usual"]
    assert {name: one.usual for name, one in calibrations_of(numbers).items()} == USUAL
