from __future__ import annotations

from dataclasses import replace
from math import isnan

import pytest

from grater.errors import UsageError
from grater.measure.evaluation.cases import cases_of, truth_of
from grater.measure.evaluation.evaluation import EvaluationOptions, verified, verify
from grater.uncertainty import wilson
from grater.uncertainty.bootstrap import Chance
from tests.measure.agreement.tables import judgments
from tests.measure.evaluation.worlds import QUICK, decisions, votes


def test_precision_is_that_of_judged_flags_and_recall_is_undefined() -> None:
    table = judgments("i0 a error", "i1 a ok", "i2 a error", "i4 a error")
    cases = cases_of(decisions({"S": [1, 1, 1, 1, 0]}), table)
    [found] = verified(cases, truth_of(cases), chance=QUICK)
    assert (found.n_flagged, found.n_judged, found.hit, found.false_alarm) == (4, 3, 2, 1)
    assert found.precision == wilson(2, 3)
    assert isnan(found.recall.value)
    assert "misses are unknown" in found.recall.undefined_because


def test_each_system_is_verified_on_its_own_flags() -> None:
    cases = cases_of(decisions({"A": [1, 0, 1], "B": [0, 1, 0]}), votes([2, 0, 2], 2))
    first, second = verified(cases, truth_of(cases), chance=QUICK)
    assert (first.precision.value, second.precision.value) == (1, 0)


def test_a_finite_corpus_narrows_limits_down_to_nothing() -> None:
    table = votes([2] * 30 + [0] * 10, 2)
    cases = cases_of(decisions({"S": [1] * 50}), table)
    [plain] = verified(cases, truth_of(cases), chance=QUICK)
    [finite] = verified(cases, truth_of(cases), chance=replace(QUICK, population="these"))
    # 40 of 50 judged count as 40 * 49 / 10 = 196
    assert finite.precision == wilson(0.75 * 196, 196)
    assert finite.precision.low > plain.precision.low
    every = cases_of(decisions({"S": [1] * 40}), table)
    [whole] = verified(every, truth_of(every), chance=replace(QUICK, population="these"))
    assert (whole.precision.low, whole.precision.high) == (0.75, 0.75)


def test_exactly_these_items_leave_no_room_for_other_raters() -> None:
    options = EvaluationOptions(chance=Chance("rater", 10, population="these"))
    with pytest.raises(UsageError, match="no room for other raters"):
        verify(decisions({"S": [1, 1]}), votes([1, 1], 2), options=options)


def test_a_system_without_a_judged_flag_has_no_precision() -> None:
    cases = cases_of(decisions({"S": [0, 0]}), votes([1, 1], 2))
    [found] = verified(cases, truth_of(cases), chance=QUICK)
    assert isnan(found.precision.value)
    assert found.precision.undefined_because
