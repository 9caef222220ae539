from math import isnan

import numpy as np
import polars as pl
import pytest
from grater.measure.evaluation.rater_error import RaterError, rater_error, true_rate
from grater.measure.evaluation.sampled import Sampled, SystemEstimate, sampled
from grater.measure.evaluation.sampled.estimates import HorvitzThompson
from grater.measure.evaluation.sampled.results import CorrectedSample, correct, corrected

from grater.errors import BadInput
from grater.measure.sampling.draw import draw_sample
from grater.model import Interval
from grater.tables import Judgments, Table, read_gold, read_judgments
from grater.uncertainty import generator
from grater.uncertainty.stratified import Stratum, normal_scores, scores
from tests.measure.sampling.corpora import decisions_of, item_ids

N = 20_000
FLAGGED = [place < 2000 for place in range(N)]
TRUTH = [place < 1600 or (place >= 2000 and place % 20 == 0) for place in range(N)]
RECALL = 1600 / (1600 + 900)


def estimate_of(*strata: Stratum) -> SystemEstimate:
    none = Interval(0.0, 0.0, 0.0)
    return SystemEstimate("S", scores(strata), normal_scores(strata), HorvitzThompson(none, none), strata)


def table_5(errors: float = 450.0) -> SystemEstimate:
    """T&C 2008, Table 5: 600 of 750 flagged items are errors, 450 of 1,500 others; a tenth is flagged."""
    return estimate_of(Stratum("flagged", True, 1000, 750, 600), Stratum("unflagged", False, 9000, 1500, errors))


def verdicts(rng: np.random.Generator, truth: list[bool], sensitivity: float, specificity: float) -> list[str]:
    chance = np.where(truth, sensitivity, 1 - specificity)
    return ["error" if is_error else "ok" for is_error in rng.random(len(truth)) < chance]


def judged_by(labels: list[str], items: list[str]) -> Judgments:
    return read_judgments(pl.DataFrame({"item": items, "rater": ["ann"] * len(items), "label": labels}))


def gold_of(labels: list[str], items: list[str]) -> Table:
    return read_gold(pl.DataFrame({"item": items, "label": labels}))


def erring(seed: int, *, n_gold: int = 600) -> tuple[Sampled, CorrectedSample]:
    """A sample judged by raters of sensitivity .9 and specificity .95, with gold items of their own."""
    rng = generator(seed, "test")
    items, extra = item_ids(N), [f"gold-{place}" for place in range(n_gold)]
    known = [place % 2 == 0 for place in range(n_gold)]
    judgments = judged_by(verdicts(rng, [*TRUTH, *known], 0.9, 0.95), [*items, *extra])
    decisions = decisions_of({"S": FLAGGED})
    found = sampled(decisions, draw_sample(decisions, "S", 2250, seed=seed), judgments)
    return found, correct(found, judgments, gold_of(["error" if each else "ok" for each in known], extra))


def test_rogan_and_gladen_by_hand() -> None:
    # (.30 + .95 - 1) / (.9 + .95 - 1) = .25 / .85
    assert true_rate(0.30, 0.9, 0.95) == pytest.approx(0.294118, abs=1e-6)
    assert true_rate(0.30, 1.0, 1.0) == pytest.approx(0.30)
    assert true_rate(0.04, 0.9, 0.95) < 0
    assert isnan(true_rate(0.30, 0.5, 0.5))


def test_precision_recall_and_f_of_table_5_are_corrected_by_hand() -> None:
    # flagged .75 / .85 = .882353 of 1,000; unflagged .25 / .85 = .294118 of 9,000; F1 = 2 H / (1000 + H + M)
    found = corrected(table_5(), RaterError(90, 100, 95, 100), rng=generator(0))
    hits, misses = 882.352941, 2647.058824
    assert found.hit.value == pytest.approx(hits)
    assert found.miss.value == pytest.approx(misses)
    assert found.precision.value == pytest.approx(hits / 1000)
    assert found.recall.value == pytest.approx(0.25)
    assert found.f[1.0].value == pytest.approx(2 * hits / (1000 + hits + misses))
    for each in (found.precision, found.recall, found.f[0.5]):
        assert each.low < each.value < each.high


def test_perfect_raters_known_well_change_nothing_and_leave_the_limits() -> None:
    estimate = table_5()
    found = corrected(estimate, RaterError(1e6, 1_000_000, 1e6, 1_000_000), n_resamples=20_000, rng=generator(0))
    for name in ("precision", "recall"):
        ours, judged = getattr(found, name), getattr(estimate.scores, name)
        assert ours.value == pytest.approx(judged.value)
        assert (ours.low, ours.high) == pytest.approx((judged.low, judged.high), abs=0.002)


def test_a_corpus_judged_whole_is_still_in_doubt_where_raters_err() -> None:
    strata = Stratum("flagged", True, 200, 200, 160), Stratum("unflagged", False, 800, 800, 80)
    sure = corrected(estimate_of(*strata), RaterError(1e6, 1_000_000, 1e6, 1_000_000), rng=generator(0)).recall
    found = corrected(estimate_of(*strata), RaterError(9e5, 1_000_000, 9.5e5, 1_000_000), rng=generator(0)).recall
    assert sure.high - sure.low < 0.005
    assert found.high - found.low > 0.03


def test_few_gold_items_widen_the_limits() -> None:
    few, many = (
        corrected(table_5(), RaterError(0.9 * n, n, 0.95 * n, n), rng=generator(0)).recall for n in (40, 4000)
    )
    assert few.high - few.low > 1.5 * (many.high - many.low)


def test_gold_without_a_mistake_is_no_proof_of_perfect_raters() -> None:
    found = corrected(table_5(30), RaterError(30, 30, 30, 30), rng=generator(0)).recall
    judged = table_5(30).scores.recall
    assert found.value == pytest.approx(judged.value)
    assert found.high > judged.high + 0.05


@pytest.mark.parametrize(
    ("raters", "reason"),
    [
        (RaterError(9, 9, 95, 100), "expected 10 judged gold items with an error or more, found 9"),
        (RaterError(90, 100, 3, 4), "expected 10 judged gold items without an error or more, found 4"),
        (RaterError(0, 0, 20, 20), "with an error or more, found 0"),
        (RaterError(50, 100, 50, 100), "add up to 1 or less"),
    ],
)
def test_what_cannot_be_corrected_is_undefined_with_the_reason(raters: RaterError, reason: str) -> None:
    found = corrected(table_5(), raters, rng=generator(0))
    for each in (found.precision, found.recall, found.f[1.0], found.hit, found.miss):
        assert isnan(each.value)
        assert reason in each.undefined_because


def test_raters_barely_better_than_guessing_leave_everything_possible() -> None:
    # 10/15 + 6/15 = 1.07; in many a resample the sum is below 1, and then even flags without one error may be right
    strata = Stratum("flagged", True, 1000, 750, 0), Stratum("unflagged", False, 9000, 1500, 450)
    found = corrected(estimate_of(*strata), RaterError(10, 15, 6, 15), rng=generator(0))
    assert (found.precision.low, found.precision.value, found.precision.high) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("n_samples", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_corrected_recall_comes_nearer_to_the_truth_than_the_judged_one(n_samples: int) -> None:
    found = [erring(seed) for seed in range(n_samples)]
    judged = [each.systems[0].scores.recall for each, _ in found]
    after = [correction.systems[0].recall for _, correction in found]
    off_judged, off_after = (np.mean([abs(each.value - RECALL) for each in part]) for part in (judged, after))
    # .47 is what raters see for .64: half of the errors they call among unflagged items are none
    assert off_judged > 0.14
    assert off_after < 0.08
    assert sum(each.low <= RECALL <= each.high for each in after) >= n_samples - 1
    assert sum(each.low <= RECALL <= each.high for each in judged) == 0


def test_a_seed_gives_the_same_numbers_and_the_signature_names_the_gold() -> None:
    (_, first), (_, second) = erring(1), erring(1)
    assert first == second
    assert str(first.signature).startswith("sampled-corrected|")
    assert "correction:rogan-gladen" in str(first.signature)
    assert first.raters.n_errors == first.raters.n_ok == 300


def test_specificity_is_said_to_limit_recall_where_misses_are_rare_and_gold_is_short() -> None:
    rare, frequent = (
        [place < 80 or (place >= 100 and place % every == 0) for place in range(1000)] for every in (20, 2)
    )
    extra = [f"gold-{place}" for place in range(200)]
    known = ["error"] * 100 + ["ok"] * 100
    decisions = decisions_of({"S": [place < 100 for place in range(1000)]})
    told = []
    for truth in (rare, frequent):
        labels = ["error" if each else "ok" for each in truth]
        judgments = judged_by([*labels, *known], [*item_ids(1000), *extra])
        found = sampled(decisions, draw_sample(decisions, "S", 600), judgments)
        warnings = correct(found, judgments, gold_of(known, extra)).warnings
        told.append(any("specificity limits what can be known of recall" in each for each in warnings))
    # no mistake on 100 good gold items: Wilson's low limit is 1 / (1 + 1.96² / 100) = .963
    assert told == [True, False]


def test_a_rate_below_what_false_calls_explain_is_set_to_0_and_told() -> None:
    items, extra = item_ids(1000), [f"gold-{place}" for place in range(40)]
    flags = [place < 100 for place in range(1000)]
    labels = ["error" if place < 80 or place % 50 == 0 else "ok" for place in range(1000)]
    # every fourth good gold item is called an error, far more than the 2 % of unflagged items
    on_gold = ["error" if place < 20 or place % 4 == 0 else "ok" for place in range(40)]
    judgments = judged_by([*labels, *on_gold], [*items, *extra])
    decisions = decisions_of({"S": flags})
    found = sampled(decisions, draw_sample(decisions, "S", 600), judgments)
    correction = correct(found, judgments, gold_of(["error"] * 20 + ["ok"] * 20, extra))
    assert correction.raters.specificity.value == 0.75
    assert correction.systems[0].recall.value == correction.systems[0].recall.high == 1.0
    assert any("in unflagged items is -" in each and each.endswith("set to 0") for each in correction.warnings)


def test_raters_are_taken_together_as_in_the_estimate() -> None:
    rows = {"item": ["a"] * 3 + ["b"] * 2 + ["c"], "rater": ["1", "2", "3", "1", "2", "1"]}
    judgments = read_judgments(pl.DataFrame(rows | {"label": ["error", "error", "ok", "error", "ok", "ok"]}))
    gold = gold_of(["error", "ok", "ok"], ["a", "b", "c"])
    found = rater_error(judgments, gold)
    assert (found.n_caught, found.n_errors, found.n_passed, found.n_ok) == (1.0, 1, 1.5, 2)
    assert rater_error(judgments, gold, truth="share").n_caught == pytest.approx(2 / 3)
    assert rater_error(judgments, gold, truth="rater:2").n_ok == 1


def test_gold_that_accepts_both_or_was_not_judged_is_left_out_and_counted() -> None:
    judgments = judged_by(["error", "ok", "ok"], ["a", "b", "c"])
    found = rater_error(judgments, gold_of(["error", "OK", "error|ok", "ok"], ["a", "b", "c", "d"]))
    assert (found.n_errors, found.n_ok, found.n_left_out) == (1, 1, 2)


def test_labels_of_gold_are_merged_like_those_of_judgments_or_refused() -> None:
    judgments = judged_by(["error", "ok"], ["a", "b"])
    gold = gold_of(["wrong|extra", "ok"], ["a", "b"])
    assert rater_error(judgments, gold, merge={"wrong": "error", "extra": "error"}).n_errors == 1
    with pytest.raises(BadInput, match="merge extra into error or ok"):
        rater_error(judgments, gold)


def test_gold_of_other_items_is_refused() -> None:
    with pytest.raises(BadInput, match="are these the same items"):
        rater_error(judged_by(["error"], ["a"]), gold_of(["error"], ["z"]))


def test_a_system_that_flags_nothing_has_no_precision_and_recall_0() -> None:
    found = corrected(
        estimate_of(Stratum("unflagged", False, 900, 300, 90)), RaterError(90, 100, 95, 100), rng=generator(0)
    )
    assert isnan(found.precision.value)
    assert found.precision.undefined_because
    assert found.recall.value == 0.0
