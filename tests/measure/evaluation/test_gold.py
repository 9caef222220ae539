"""Raters' errors on gold, and scores corrected for them (Rogan & Gladen 1978; statistics.md, rule 8)."""

from math import isnan

import numpy as np
import polars as pl
import pytest

from grater.errors import BadInput
from grater.measure.evaluation.gold import (
    RaterError,
    Sides,
    as_many_votes,
    corrected,
    corrected_counts,
    corrected_difference,
    correction_of,
    limits_of_correction,
    rater_error,
)
from grater.tables import Table, read_decisions, read_gold, read_judgments
from grater.uncertainty import difference
from grater.uncertainty.sampled import SampleScores, Strata, influence_of, sample_scores

FLAGS = np.array([True, False])
KNOWN = RaterError(90, 100, 95, 100)
SURE = RaterError(1e6, 1_000_000, 1e6, 1_000_000)


def alike(raters: RaterError) -> Sides:
    return Sides(raters, raters)


def judged(*cells: tuple[float, float, float]) -> SampleScores:
    sizes, n, errors = (np.array([column], float) for column in zip(*cells, strict=True))
    return sample_scores(Strata(sizes, n, errors), FLAGS)


def table_5(misses: float = 450.0) -> SampleScores:
    """T&C 2008, Table 5: 600 of 750 flagged items are errors, 450 of 1,500 others; a tenth is flagged."""
    return judged((1000, 750, 600), (9000, 1500, misses))


def gold_of(labels: list[str], items: list[str]) -> Table:
    return read_gold(pl.DataFrame({"item": items, "label": labels}))


def shares(**errors: float) -> pl.DataFrame:
    return pl.DataFrame({"item": list(errors), "error": list(errors.values())})


def test_counts_are_corrected_on_both_sides_by_hand() -> None:
    # (80 - .05 * 100) / .85 = 88.235 hits of 100 flagged; (90 - .05 * 900) / .85 = 52.941 misses of 900
    counts = np.array([80.0, 20.0, 90.0, 810.0])
    expected = [75 / 0.85, 100 - 75 / 0.85, 45 / 0.85, 900 - 45 / 0.85]
    assert corrected_counts(counts, [0.9, 0.95]) == pytest.approx(expected, abs=1e-12)
    # all 100 flagged errors caught, 20 of 100 good ones passed: (80 - .8 * 100) / .2 = 0 hits
    assert corrected_counts(counts, [1.0, 0.2, 0.9, 0.95]) == pytest.approx([0, 100, *expected[2:]], abs=1e-9)
    assert corrected_counts(np.array([99.0, 1.0, 10.0, 890.0]), [0.9, 0.95]).tolist() == [100, 0, 0, 900]
    assert np.isnan(corrected_counts(counts, [0.5, 0.5])).all()


def test_precision_recall_and_f_of_table_5_are_corrected_by_hand() -> None:
    # flagged .75 / .85 = .882353 of 1,000; unflagged .25 / .85 = .294118 of 9,000; F1 = 2 H / (1000 + H + M)
    found = corrected(table_5(), 9000, alike(KNOWN))
    hits, misses = 750 / 0.85, 2250 / 0.85
    assert (found.hit.value, found.miss.value) == pytest.approx((hits, misses), abs=1e-9)
    assert found.precision.value == pytest.approx(hits / 1000, abs=1e-12)
    assert found.recall.value == pytest.approx(0.25, abs=1e-12)
    assert found.f[1.0].value == pytest.approx(2 * hits / (1000 + hits + misses), abs=1e-12)
    for each in (found.precision, found.recall, found.f[0.5], found.hit, found.miss):
        assert each.low < each.value < each.high


def test_perfect_raters_known_well_change_nothing() -> None:
    found, own = corrected(table_5(), 9000, alike(SURE)), table_5()
    for name, score in own.named().items():
        ours = found.named()[name]
        assert (ours.value, ours.low, ours.high) == pytest.approx((score.value, score.low, score.high), abs=1e-4)


def test_few_gold_items_widen_the_limits() -> None:
    few, many = (corrected(table_5(), 9000, alike(RaterError(0.9 * n, n, 0.95 * n, n))).recall for n in (40, 4000))
    assert few.high - few.low > 1.5 * (many.high - many.low)


def test_gold_without_a_mistake_is_no_proof_of_perfect_raters() -> None:
    found, own = corrected(table_5(30), 9000, alike(RaterError(30, 30, 30, 30))).recall, table_5(30).recall
    assert found.value == pytest.approx(own.value)
    assert found.high > own.high + 0.05


@pytest.mark.parametrize(
    ("raters", "reason"),
    [
        (RaterError(9, 9, 95, 100), "expected 10 judged gold items with an error or more, found 9"),
        (RaterError(90, 100, 3, 4), "expected 10 judged gold items without an error or more, found 4"),
        (RaterError(50, 100, 50, 100), "add up to 1 or less"),
    ],
)
def test_what_cannot_be_corrected_is_undefined_with_the_reason(raters: RaterError, reason: str) -> None:
    found = corrected(table_5(), 9000, alike(raters))
    for each in (*found.named().values(), found.hit, found.miss):
        assert isnan(each.value)
        assert reason in each.undefined_because


def test_raters_barely_better_than_guessing_leave_everything_possible() -> None:
    found = corrected(judged((1000, 750, 0), (9000, 1500, 450)), 9000, alike(RaterError(10, 15, 6, 15))).precision
    assert (found.low, found.value, found.high) == (0.0, 0.0, 1.0)


def test_a_system_that_flags_nothing_has_no_precision_and_recall_0() -> None:
    found = corrected(judged((0, 0, 0), (900, 300, 90)), 900, alike(KNOWN))
    assert isnan(found.precision.value)
    assert found.recall.value == 0.0


def test_corrected_limits_hold_and_judged_ones_do_not() -> None:
    # raters of sensitivity .9 and specificity .95, 100 gold items of each kind; recall is 1600 / 2500
    rng, truth = np.random.default_rng(0), 0.64
    held = np.zeros(2)
    for _ in range(400):
        hits = rng.binomial(750, 0.8 * 0.9 + 0.2 * 0.05)
        misses = rng.binomial(1500, 0.05 * 0.9 + 0.95 * 0.05)
        own = judged((2000, 750, hits), (18_000, 1500, misses))
        raters = RaterError(float(rng.binomial(100, 0.9)), 100, float(rng.binomial(100, 0.95)), 100)
        found = corrected(own, 18_000, alike(raters)).recall
        held += [found.low <= truth <= found.high, own.recall.low <= truth <= own.recall.high]
    assert held[0] >= 0.94 * 400
    assert held[1] < 0.05 * 400


FOUR = (np.array([True, True, False, False]), np.array([True, False, True, False]))


def both(scale: float = 1.0) -> Strata:
    """Cells that both systems flag, the first, the second, neither."""
    sizes = scale * np.array([[400.0, 200, 200, 3200]])
    return Strata(sizes, sizes / 4, sizes / 4 * np.array([[0.8, 0.6, 0.3, 0.1]]))


def test_a_corrected_difference_has_p_and_interval_of_one_fact() -> None:
    raw = difference(influence_of(both(), "recall", FOUR[0]) - influence_of(both(), "recall", FOUR[1]))
    sure = corrected_difference(both(), "recall", *FOUR, SURE)
    assert sure.difference.value == pytest.approx(raw.difference.value, abs=1e-12)
    assert (sure.difference.low, sure.p) == pytest.approx((raw.difference.low, raw.p), abs=1e-4)
    for scale in (0.3, 0.5, 1.0, 3.0):
        found = corrected_difference(both(scale), "recall", *FOUR, RaterError(45, 50, 48, 50))
        assert (found.p < 0.05) == (found.difference.low > 0)
    doubted = corrected_difference(both(), "recall", *FOUR, RaterError(18, 20, 19, 20)).difference
    assert doubted.high - doubted.low > raw.difference.high - raw.difference.low
    same = corrected_difference(both(), "f0.5", FOUR[0], FOUR[0], KNOWN)
    assert (same.difference.value, same.p) == (0.0, 1.0)
    assert (
        "add up to 1"
        in corrected_difference(both(), "f1", *FOUR, RaterError(5, 10, 5, 10)).difference.undefined_because
    )


def test_raters_on_gold_by_hand() -> None:
    found = rater_error(shares(a=1.0, b=0.5, c=0.0), gold_of(["error", "ok", "ok"], ["a", "b", "c"]))
    assert (found.n_caught, found.n_errors, found.n_passed, found.n_ok) == (1.0, 1, 1.5, 2)


def test_gold_that_accepts_both_or_was_not_judged_is_left_out_and_counted() -> None:
    gold = gold_of(["error", "OK", "error|ok", "ok"], ["a", "b", "c", "d"])
    found = rater_error(shares(a=1.0, b=0.0, c=0.0), gold)
    assert (found.n_errors, found.n_ok, found.n_left_out) == (1, 1, 2)


def test_labels_of_gold_are_merged_like_those_of_judgments_or_refused() -> None:
    gold = gold_of(["wrong|extra", "ok"], ["a", "b"])
    assert rater_error(shares(a=1.0, b=0.0), gold, merge={"wrong": "error", "extra": "error"}).n_errors == 1
    with pytest.raises(BadInput, match="merge extra into error or ok"):
        rater_error(shares(a=1.0, b=0.0), gold)
    with pytest.raises(BadInput, match="are these the same items"):
        rater_error(shares(a=1.0), gold_of(["error"], ["z"]))


def sided(n: int, *, caught_passed: int) -> tuple[pl.DataFrame, Table, Table]:
    """Gold of n errors and n good items on each side; raters catch all flagged errors and some of the others."""
    items = [f"g{place}" for place in range(4 * n)]
    is_error = [place % 2 == 0 for place in range(4 * n)]
    flagged = [place < 2 * n for place in range(4 * n)]
    missed = set([place for place in range(2 * n, 4 * n) if place % 2 == 0][caught_passed:])
    said = [float(error and place not in missed) for place, error in enumerate(is_error)]
    decisions = read_decisions(pl.DataFrame({"item": items, "system": "S", "flagged": flagged}))
    gold = gold_of(["error" if error else "ok" for error in is_error], items)
    return pl.DataFrame({"item": items, "error": said}), gold, decisions


def test_sides_are_corrected_apart_where_asked_or_where_raters_err_differently() -> None:
    world = sided(40, caught_passed=24)
    asked = correction_of(*world, ["S"], by_flag=True)
    assert asked.sides["S"].is_apart
    assert asked.sides["S"].passed.sensitivity.value == 0.6
    assert asked.options["errors"] == "by-flag"
    assert len(asked.notes) == 3
    itself = correction_of(*world, ["S"], by_flag=None)
    assert itself.sides["S"].is_apart
    assert itself.warnings[0].endswith("each side is corrected by itself")
    plain = correction_of(*world, ["S"])
    assert not plain.sides["S"].is_apart
    assert plain.warnings[0].endswith("correct each side by itself")
    assert plain.raters.sensitivity.value == pytest.approx(64 / 80)
    alone = correction_of(*sided(40, caught_passed=40), ["S"], by_flag=None)
    assert not alone.sides["S"].is_apart
    assert not alone.warnings


def test_too_little_gold_on_one_side_falls_back_on_all_of_it() -> None:
    found = correction_of(*sided(8, caught_passed=6), ["S"], by_flag=True)
    assert not found.sides["S"].is_apart
    assert "too few gold items on one side" in found.warnings[0]
    few = correction_of(*sided(3, caught_passed=3), ["S"])
    assert few.warnings == (f"nothing is corrected: {few.raters.undefined_because}",)


def test_what_limits_a_correction_is_told() -> None:
    # no mistake on 100 good gold items: Wilson's low limit is 1 / (1 + 1.96² / 100) = .963
    clean = alike(RaterError(100, 100, 100, 100))
    rare, frequent = (list(limits_of_correction("S", table_5(misses), 9000, clean)) for misses in (75, 750))
    assert "specificity limits what can be known of recall" in rare[0]
    assert not frequent
    # every fourth good gold item is called an error, far more than the 2 % of unflagged items
    told = list(limits_of_correction("S", table_5(30), 9000, alike(RaterError(20, 20, 15, 20))))
    assert told[0].startswith("S: the corrected rate of errors in unflagged items is -")
    assert told[0].endswith("set to 0")


def test_a_majority_on_gold_is_of_as_many_raters_as_elsewhere() -> None:
    raters = [f"r{place}" for place in range(9)]
    everywhere = read_judgments(pl.DataFrame({"item": ["a"] * 3 + ["b"] * 3, "rater": raters[:3] * 2, "label": "ok"}))
    on_gold = read_judgments(pl.DataFrame({"item": ["g"] * 9 + ["h"], "rater": [*raters, "r0"], "label": "error"}))
    kept = as_many_votes(on_gold, everywhere).frame
    assert kept["item"].to_list() == ["g"] * 3
    assert set(as_many_votes(on_gold, everywhere, truth="share").frame["item"]) == {"g", "h"}
    assert as_many_votes(on_gold, everywhere, truth="rater:r0") is on_gold
