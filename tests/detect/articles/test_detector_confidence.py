from __future__ import annotations

from math import inf, log, log2

import numpy as np
import pytest

from grater.detect.articles.constructions import CONSTRUCTIONS, NONE_OF_THEM, is_confusable
from grater.detect.articles.detector import Caution, confidences, excesses, strengths, type_of
from grater.errors import UsageError

NULL_SINGULAR, THE_SINGULAR, NULL_PLURAL, A_SINGULAR, THE_PLURAL = range(5)
SCORES = np.log(np.array([[0.1, 0.5, 0.1, 0.2, 0.1]]))
NOTHING = np.zeros((1, 5))


def test_the_pairs_that_raters_confuse_are_those_of_the_paper() -> None:
    # section 4, "the most frequent combinations of yes* constructions"
    pairs = {frozenset((one, other)) for one in range(5) for other in range(one) if is_confusable(one, other)}
    assert pairs == {
        frozenset((NULL_PLURAL, THE_PLURAL)),
        frozenset((A_SINGULAR, THE_SINGULAR)),
        frozenset((A_SINGULAR, NULL_PLURAL)),
        frozenset((THE_SINGULAR, THE_PLURAL)),
    }


def test_without_corrections_confidence_is_the_margin() -> None:
    found = confidences(SCORES, [A_SINGULAR], NOTHING, Caution())
    assert found[0, THE_SINGULAR] == pytest.approx(log(0.5 / 0.2))
    assert found[0, A_SINGULAR] == -inf


def test_confidence_is_lower_inside_a_confusable_pair() -> None:
    plain, careful = (confidences(SCORES, [A_SINGULAR], NOTHING, Caution(confusable=-c)) for c in (0.0, 0.7))
    assert plain[0, THE_SINGULAR] - careful[0, THE_SINGULAR] == pytest.approx(0.7)
    assert plain[0, NULL_SINGULAR] == careful[0, NULL_SINGULAR]


def test_the_noun_s_own_construction_and_every_other_have_corrections_of_their_own() -> None:
    strength = strengths([(0.0, 1.0, 0.0, 0.0, 0.0)])
    caution = Caution(own=1.0, other=-2.0)
    plain, careful = (confidences(SCORES, [A_SINGULAR], strength, each) for each in (Caution(), caution))
    assert careful[0, THE_SINGULAR] - plain[0, THE_SINGULAR] == pytest.approx(1)
    assert careful[0, NULL_PLURAL] - plain[0, NULL_PLURAL] == pytest.approx(-2)


def test_strength_shrinks_with_entropy() -> None:
    half, open_, unknown = strengths([(0.5, 0.5, 0, 0, 0), (0.2,) * 5, None])
    assert half[0] == pytest.approx(1 - 1 / log2(5))
    assert half[1] == -half[0]
    assert open_[0] == pytest.approx(0)
    assert unknown.tolist() == [0] * 5


@pytest.mark.parametrize(
    ("written", "target", "expected"),
    [
        (NULL_SINGULAR, A_SINGULAR, "missing"),
        (THE_PLURAL, NULL_PLURAL, "extraneous"),
        (A_SINGULAR, THE_SINGULAR, "choice"),
        (THE_SINGULAR, THE_PLURAL, "number"),
        (A_SINGULAR, NULL_PLURAL, "both"),
        (NONE_OF_THEM, A_SINGULAR, "number"),
        (NONE_OF_THEM, NULL_PLURAL, "extraneous"),
    ],
)
def test_each_change_mends_a_type_of_error(written: int, target: int, expected: str) -> None:
    assert type_of(written, target) == expected


def test_a_confidence_must_exceed_the_threshold_of_its_type() -> None:
    caution = Caution(missing=0.5, extraneous=0.5, choice=0.5, number=3.0, both=0.5)
    found = excesses(confidences(SCORES, [A_SINGULAR], NOTHING, caution), [A_SINGULAR], caution)
    assert found[0, THE_SINGULAR] == pytest.approx(log(2.5) - 0.5)
    assert found[0, A_SINGULAR] == -inf


def test_a_with_a_plural_is_never_believed() -> None:
    found = confidences(SCORES, [NONE_OF_THEM], NOTHING, Caution())
    assert (found > 0).all()


def test_caution_travels_in_a_card_and_silence_is_null() -> None:
    caution = Caution(missing=1.5, own=0.5)
    assert caution.as_json()["choice"] is None
    assert Caution.of(caution.as_json()) == caution
    with pytest.raises(UsageError, match="expected thresholds"):
        Caution.of({"loud": 1})
    assert len(CONSTRUCTIONS) == 5
