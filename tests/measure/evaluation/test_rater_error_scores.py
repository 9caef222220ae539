from math import isnan

import numpy as np
import polars as pl
import pytest
from grater.measure.evaluation.rater_error import (
    Correction,
    RaterError,
    as_many_votes,
    corrected_scores,
    corrected_sums,
)

from grater.errors import UsageError
from grater.measure.evaluation.cases import TRUTHS, cases_of, truth_of
from grater.measure.evaluation.comparison import compare_systems
from grater.measure.evaluation.evaluation import EvaluationOptions, evaluate
from grater.tables import Judgments, Table, read_gold, read_judgments
from tests.measure.evaluation.worlds import QUICK, decisions, votes

COLUMNS = ["item", "rater", "label"]
KNOWN = Correction(RaterError(90, 100, 95, 100), "gold")


def test_counts_are_corrected_on_both_sides_by_hand() -> None:
    # (80 - .05 * 100) / .85 = 88.235 hits of 100 flagged; (90 - .05 * 900) / .85 = 52.941 misses of 900
    raters = np.array(0.9), np.array(0.95)
    found = corrected_sums(np.array([80.0, 20.0, 90.0, 810.0]), raters, raters)
    assert found == pytest.approx([75 / 0.85, 100 - 75 / 0.85, 45 / 0.85, 900 - 45 / 0.85])


def test_counts_stay_within_their_side_and_are_undefined_for_raters_who_guess() -> None:
    sums = np.array([99.0, 1.0, 10.0, 890.0])
    good, guessing = (np.array(0.9), np.array(0.95)), (np.array(0.5), np.array(0.5))
    assert corrected_sums(sums, good, good).tolist() == [100, 0, 0, 900]
    assert np.isnan(corrected_sums(sums, guessing, guessing)).all()


def test_each_side_is_corrected_by_its_own_gold() -> None:
    # Flagged items: all 100 errors caught, 20 of 100 good ones passed, so (80 - .8 * 100) / .2 = 0 hits of 100; the
    # rest as in the test above.
    flagged, passed = RaterError(100, 100, 20, 100), RaterError(90, 100, 95, 100)
    both = Correction(RaterError(190, 200, 115, 200), "gold", by_side=((flagged, passed),))
    found = both.seen(np.array([[80.0, 20.0, 90.0, 810.0]]))
    assert found[0] == pytest.approx([0, 100, 45 / 0.85, 900 - 45 / 0.85])
    draws = both.drawn(np.tile([80.0, 20.0, 90.0, 810.0], (50, 1, 1)), seed=1)
    assert draws.shape == (50, 1, 4)
    assert both.options["errors"] == "by-flag"


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


def test_what_a_system_flags_is_corrected_by_the_gold_that_it_flags() -> None:
    table, judged = world()
    # Of gold that the first flags, raters catch all 10 errors and pass 20 of 30 good items; of the rest they get all
    # right.  By side: (80 - 100 / 3) / (2 / 3) = 70 hits, 20 misses; together, with 40 of 50 passed: 75 hits.
    places = [*range(10), *range(70, 100), *range(100, 110), *range(200, 220)]
    gold = read_gold_of(
        [f"i{place}" for place in places], ["error"] * 10 + ["ok"] * 30 + ["error"] * 10 + ["ok"] * 20
    )
    pooled, asked, where_they_differ = (
        evaluate(table, judged, gold=gold, options=EvaluationOptions(chance=QUICK, errors_by_flag=by_flag))
        for by_flag in (False, True, None)
    )
    assert pooled.corrected[0]["precision"].value == pytest.approx(0.75)
    assert asked.corrected[0]["precision"].value == pytest.approx(0.7)
    assert asked.corrected[0]["recall"].value == pytest.approx(70 / 90)
    assert where_they_differ.corrected[0]["precision"] == asked.corrected[0]["precision"]
    assert any(line.endswith("correct each side by itself") for line in pooled.warnings)
    assert any(line.endswith("each side is corrected by itself") for line in where_they_differ.warnings)


def test_a_majority_on_gold_is_of_as_many_raters_as_elsewhere() -> None:
    many = read_judgments(pl.DataFrame([(f"g{n % 4}", f"r{n}", "error") for n in range(40)], COLUMNS, orient="row"))
    few = read_judgments(pl.DataFrame([(f"i{n % 5}", f"r{n}", "ok") for n in range(15)], COLUMNS, orient="row"))
    assert as_many_votes(many, few).frame.group_by("item").len()["len"].to_list() == [3] * 4


def test_gold_with_fewer_answers_than_other_items_have_says_nothing_of_their_majority() -> None:
    rows = [("g0", rater, "error") for rater in ("A", "B", "C")] + [("g1", "A", "ok"), ("g1", "B", "ok")]
    on_gold = read_judgments(pl.DataFrame(rows, COLUMNS, orient="row"))
    work = read_judgments(pl.DataFrame([(f"i{n % 5}", f"r{n}", "ok") for n in range(15)], COLUMNS, orient="row"))
    kept = {truth: as_many_votes(on_gold, work, truth=truth).frame["item"].to_list() for truth in TRUTHS}
    assert set(kept["majority"]) == set(kept["dawid-skene"]) == {"g0"}
    assert len(kept["share"]) == len(kept["rater:NAME"]) == 5


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
