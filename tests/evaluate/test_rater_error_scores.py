from math import isnan

import numpy as np
import polars as pl
import pytest

from grater.errors import UsageError
from grater.evaluate.cases import cases_of
from grater.evaluate.comparison import compare_systems
from grater.evaluate.evaluation import EvaluationOptions, evaluate
from grater.evaluate.rater_error import Correction, RaterError, corrected_scores, corrected_sums
from grater.evaluate.truth import truth_of
from grater.tables import Judgments, Table, read_gold
from tests.evaluate.worlds import QUICK, decisions, votes

KNOWN = Correction(RaterError(90, 100, 95, 100), "gold")


def test_counts_are_corrected_on_both_sides_by_hand() -> None:
    # (80 - .05 * 100) / .85 = 88.235 hits of 100 flagged; (90 - .05 * 900) / .85 = 52.941 misses of 900
    found = corrected_sums(np.array([80.0, 20.0, 90.0, 810.0]), np.array(0.9), np.array(0.95))
    assert found == pytest.approx([75 / 0.85, 100 - 75 / 0.85, 45 / 0.85, 900 - 45 / 0.85])


def test_counts_stay_within_their_side_and_are_undefined_for_raters_who_guess() -> None:
    sums = np.array([99.0, 1.0, 10.0, 890.0])
    assert corrected_sums(sums, np.array(0.9), np.array(0.95)).tolist() == [100, 0, 0, 900]
    assert np.isnan(corrected_sums(sums, np.array(0.5), np.array(0.5))).all()


def world() -> tuple[Table, Judgments]:
    """Two systems on 400 items; one vote each, 100 called errors."""
    called = [1] * 80 + [0] * 20 + [1] * 20 + [0] * 280
    first, second = ([1] * n + [0] * (400 - n) for n in (100, 80))
    return decisions({"first": first, "second": second}), votes(called, 1)


def test_scores_after_the_correction_carry_the_doubt_about_raters() -> None:
    table, judged = world()
    cases = cases_of(table, judged)
    few, many = (
        corrected_scores(cases, truth_of(cases), Correction(RaterError(0.9 * n, n, 0.95 * n, n), ""), chance=QUICK)
        for n in (40, 4000)
    )
    # precision of the first: (.8 - .05) / .85
    assert few[0]["precision"].value == many[0]["precision"].value == pytest.approx(0.75 / 0.85)
    for name in ("recall", "f0.5"):
        assert few[0][name].high - few[0][name].low > many[0][name].high - many[0][name].low


def test_a_comparison_after_the_correction_stays_paired() -> None:
    table, judged = world()
    cases = cases_of(table, judged)
    truth = truth_of(cases)
    plain = compare_systems(cases, truth, chance=QUICK, score="precision")
    found = compare_systems(cases, truth, chance=QUICK, score="precision", correction=KNOWN)
    (before,), (after,) = plain.pairs, found.pairs
    # as judged 1 and .8; (1 - .05) / .85 is above 1 and set to it
    assert before.test.difference.value == pytest.approx(0.2)
    assert after.test.difference.value == pytest.approx(1 - 0.75 / 0.85)
    assert after.mcnemar == before.mcnemar
    assert found.systems[1]["precision"].value == pytest.approx(0.75 / 0.85)


def test_gold_corrects_where_it_is_not_the_truth_itself() -> None:
    table, judged = world()
    items = [f"i{place}" for place in range(40)]
    # 20 of 20 gold errors are called errors, 0 of 20 others good: raters who call all of these errors know nothing
    useless = read_gold_of(items, ["error"] * 20 + ["ok"] * 20)
    found = evaluate(table, judged, gold=useless, options=EvaluationOptions(chance=QUICK))
    assert isnan(found.corrected[0]["recall"].value)
    assert any("nothing is corrected" in each for each in found.warnings)
    informed = read_gold_of([*items[:20], *(f"i{place}" for place in range(380, 400))], ["error"] * 20 + ["ok"] * 20)
    found = evaluate(table, judged, gold=informed, options=EvaluationOptions(chance=QUICK))
    value = found.to_dict()
    assert found.corrected[0]["recall"].value == pytest.approx(found.whole.standard[0]["recall"].value)
    assert value["rater_error"]["gold"] == {"error": 20, "ok": 20, "left_out": 0}  # type: ignore[index, call-overload]
    assert "correction:rogan-gladen" in str(found.signature)
    adjudicated = evaluate(table, judged, gold=informed, options=EvaluationOptions("adjudicated", chance=QUICK))
    assert adjudicated.correction is None


def read_gold_of(items: list[str], labels: list[str]) -> Table:
    return read_gold(pl.DataFrame({"item": items, "label": labels}))


def test_what_cannot_be_corrected_is_not_compared() -> None:
    cases = cases_of(*world())
    with pytest.raises(UsageError, match="nothing can be corrected: expected 10 judged gold items"):
        compare_systems(cases, truth_of(cases), chance=QUICK, correction=Correction(RaterError(3, 3, 30, 30), ""))
