from __future__ import annotations

from math import inf

import numpy as np
import pytest

from grater.detect.prepositions.candidates import ANSWERS, COLUMN_OF, NONE
from grater.detect.prepositions.detector import Thresholds, margins
from grater.errors import UsageError


def scores_of(**values: float) -> np.ndarray:
    row = np.full((1, len(ANSWERS)), -20.0)
    for name, value in values.items():
        row[0, NONE if name == "none" else COLUMN_OF[name]] = value
    return row


def test_margins_of_a_preposition_are_over_the_best_other_and_over_none() -> None:
    found = margins(scores_of(at=-1.5, on=-0.5, none=-3.0), [COLUMN_OF["at"]])
    assert found.values.tolist() == [[1.0, -1.5, -inf]]
    assert ANSWERS[found.best[0]] == "on"


def test_where_the_writers_is_best_the_best_other_is_still_named() -> None:
    found = margins(scores_of(at=-0.5, on=-1.5), [COLUMN_OF["at"]])
    assert found.values[0, 0] == -1.0
    assert ANSWERS[found.best[0]] == "on"


def test_a_gap_has_only_the_margin_of_a_missing_one() -> None:
    found = margins(scores_of(at=-0.5, none=-2.0), [NONE])
    assert found.values.tolist() == [[-inf, -inf, 1.5]]


def test_thresholds_come_back_from_a_card() -> None:
    thresholds = Thresholds(1.5, 2.0, 3.25, {"in": 1.25})
    assert Thresholds.of(thresholds.as_json()) == thresholds
    with pytest.raises(UsageError, match="expected thresholds"):
        Thresholds.of(None)


def test_a_preposition_may_have_a_threshold_of_its_own() -> None:
    thresholds = Thresholds(5.0, 6.0, 7.0, {"in": 2.0})
    written = [COLUMN_OF["in"], COLUMN_OF["among"], NONE]
    assert thresholds.rows(written).tolist() == [[2.0, 6.0, 7.0], [5.0, 6.0, 7.0], [5.0, 6.0, 7.0]]
