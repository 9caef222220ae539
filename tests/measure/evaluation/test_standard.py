"""Scores against the majority, each rater, shares and bins of agreement; what intervals rest on and speak of."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from math import isnan, sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

import grater
from grater.errors import UsageError
from grater.measure.evaluation.evaluation import Evaluation
from grater.measure.evaluation.standard import Scored, spread
from grater.tables import read_decisions
from grater.uncertainty import wilson
from tests.examples import examples
from tests.measure.agreement.tables import MERGED, judgments, of_confusion
from tests.measure.evaluation.worlds import decisions, items, limits, madnani, votes, width

ESSAYS = [str(place // 10) for place in range(240)]
"""24 essays of ten items."""
CLUSTERED = [3 * (int(essay) % 3 == 0) for essay in ESSAYS]
"""Every third essay is nothing but errors: one item of an essay says all."""
HALF = [place % 2 for place in range(240)]


def clustered(**options: Any) -> Evaluation:
    """A system that flags every other of these items."""
    return grater.evaluate(decisions({"S": HALF}), votes(CLUSTERED, 3), **options)


def one(flags: list[int], n_error: list[int], n_raters: int = 3, **options: Any) -> Scored:
    [found] = grater.evaluate(decisions({"S": flags}), votes(n_error, n_raters), **options).systems
    return found


def test_against_the_majority_with_wilson_limits_of_items() -> None:
    # two hits, one false alarm, one miss; the fifth item is a tie and flagged: half a hit, half a false alarm
    found = one([1, 1, 1, 0, 1], [4, 3, 0, 4, 2], 4)
    assert found.counts.row().tolist() == [2.5, 1.5, 1, 0]
    assert found["precision"].value == 2.5 / 4
    assert one([1] * 5 + [0] * 5, [3, 3, 3, 3, 0] + [0] * 5)["precision"] == wilson(4, 5)  # .80 [.376, .964]


def test_a_system_that_is_always_right_or_always_wrong_has_the_width_of_its_few_cases() -> None:
    flags = decisions({"S": [1] * 10 + [0] * 30, "N": [0] * 10 + [1] * 30})
    evaluation = grater.evaluate(flags, votes([1] * 10 + [0] * 30, 1))
    for systems in (evaluation.systems, evaluation.whole.by_rater["r0"], evaluation.whole.weighted):
        f = {each.system: each["f0.5"] for each in systems}
        assert f == {"S": wilson(10, 10), "N": wilson(0, 40)}  # ten hits; thirty false alarms and ten misses


def test_each_rater_in_turn_moves_precision() -> None:
    """T&C 2008, Table 3: a system that says what rater 1 says, held against either rater."""
    table = of_confusion(MERGED)
    first = table.frame.filter(pl.col("rater") == "r0")
    flags = read_decisions(first.select("item", system=pl.lit("R1"), flagged=pl.col("label") == "error"))
    evaluation = grater.evaluate(flags, table)
    found = evaluation.whole.by_rater
    assert found["r0"][0]["precision"].value == 1
    # 60 of the 86 errors of R1 are errors to R2; R2 has 97
    assert found["r1"][0]["precision"].value == pytest.approx(60 / 86, abs=1e-12)
    assert found["r1"][0]["recall"].value == pytest.approx(60 / 97, abs=1e-12)
    apart = spread([scored[0]["precision"] for scored in found.values()])
    assert (apart.low, apart.high) == pytest.approx((60 / 86, 1))
    made: Any = evaluation.to_dict()["systems"]
    assert made[0]["spread"]["precision"] == asdict(apart)
    assert evaluation.warnings[0].startswith("rater r0 gives the answer of system R1 on all 1,336 shared items")
    # Each of more than forty raters has no interval.
    for n, is_too_many in ((40, False), (41, True)):
        many = grater.evaluate(decisions({"S": [1, 1, 0, 0] * 10}), votes([n, 0, n, 0] * 10, n))
        precision = many.whole.by_rater["r0"][0]["precision"]
        assert (precision.value, isnan(precision.low)) == (0.5, is_too_many)


# Weighted


def test_weighted_scores_of_the_worked_example_come_from_tables() -> None:
    # statistics.md, golden: Madnani 2011, by hand
    [found] = grater.evaluate(*madnani()).whole.weighted
    assert found["precision"].value == pytest.approx(0.7, abs=1e-12)
    assert found["recall"].value == pytest.approx(2.8 / 4.15, abs=1e-12)
    assert found["recall"].low < 0.674699 < found["recall"].high
    assert found["f0.5"].value == pytest.approx(3.5 / (4 + 4.15 / 4), abs=1e-12)  # .694789
    assert found.counts.row()[:3] == pytest.approx([2.8, 1.2, 1.35], abs=1e-12)
    assert found.n == 8
    [share] = grater.evaluate(*madnani(), truth="share").systems
    assert share.scores == found.scores


# What intervals rest on


def test_essays_are_the_units_where_a_table_knows_them() -> None:
    by_item, by_essay = clustered(), clustered(items=items(ESSAYS))
    loose, honest = by_item.systems[0]["precision"], by_essay.systems[0]["precision"]
    assert limits(loose) == pytest.approx(limits(wilson(40, 120)), abs=1e-12)
    assert honest.value == loose.value
    # Rules 1 to 3 by hand: 24 equal essays, 8 of them all errors, are 24 cases with Student's t.
    p, m, k = 1 / 3, 24, 120
    variance = p * (1 - p) / (m - 1)
    n = (p * (1 - p) + 0.5 / k) / (variance + 0.5 / k**2)
    fourth = 8 * (2 / 3) ** 4 + 16 * (1 / 3) ** 4
    freedom = min(m - 1, 2 / (fourth / (m * p * (1 - p)) ** 2 - 1 / m))
    t = student.ppf(0.975, freedom)
    middle, half = (p + t * t / (2 * n)) / (1 + t * t / n), t * sqrt(p * (1 - p) / n + t * t / (4 * n * n))
    assert (honest.low, honest.high) == pytest.approx(
        (middle - half / (1 + t * t / n), middle + half / (1 + t * t / n)), abs=1e-12
    )
    assert by_essay.systems[0].design_effect["precision"] == pytest.approx(5 * 24 / 23 * 119 / 120, abs=1e-9)
    assert "other essays like these 24 (design effect" in str(by_essay.sheets()[-1])
    assert "items taken as independent: their essays are not known" in str(by_item.sheets()[-1])
    assert by_essay.to_dict()["scope"]["unit"] == "essay"  # type: ignore[index, call-overload]
    rater = [each.whole.by_rater["r0"][0]["precision"] for each in (by_item, by_essay)]
    assert width(rater[1]) > 1.5 * width(rater[0])


def test_an_essay_is_taken_from_whichever_table_has_it() -> None:
    table, judged = decisions({"S": HALF}).frame, votes(CLUSTERED, 3).frame
    essays = items(ESSAYS).frame.select("item", "essay")
    asked = clustered(items=items(ESSAYS)).systems[0].scores
    assert grater.evaluate(table.join(essays, on="item"), judged).systems[0].scores == asked
    assert grater.evaluate(table, judged.join(essays, on="item")).systems[0].scores == asked
    two_essays = votes([3, 0], 3).frame.with_columns(essay=pl.Series(list("abaccc")))
    with pytest.raises(grater.GraterError, match="expected one essay for item 'i0', found a, b"):
        grater.evaluate(decisions({"S": [1, 0]}), two_essays)


def test_an_item_without_an_essay_is_a_unit_of_its_own_and_fewer_than_three_essays_give_no_interval() -> None:
    known = items(ESSAYS).frame
    found, all_known = (clustered(items=each) for each in (known.filter(pl.col("item") != "i7"), known))
    assert (found.scope.unit, found.scope.n_units) == ("essay", 25)
    assert "1 item without a known essay, each taken as one of its own" in found.scope.sentence
    assert width(found.systems[0]["precision"]) == pytest.approx(width(all_known.systems[0]["precision"]), rel=0.1)
    single = clustered(items=items(["e"] * 240))
    precision = single.systems[0]["precision"]
    assert precision.value == pytest.approx(1 / 3)
    assert isnan(precision.low)
    assert precision.undefined_because == "its cases come from 1 essay; an interval needs 3"
    assert "No interval: its cases come from 1 essay; an interval needs 3." in str(single.sheets()[0])
    assert single.warnings == ("only 1 essay: intervals by essay are rough below 10",)
    assert "design effect" not in single.scope.sentence


def test_units_can_be_named_and_documents_stand_for_their_sentences() -> None:
    known = items(ESSAYS).frame.with_columns(document=pl.col("essay").cast(pl.Int64) // 2, topic=pl.lit("sport"))
    run = partial(clustered, items=known)
    assert (run().scope.unit, run().scope.n_units) == ("document", 12)
    assert (run(units="essay").scope.unit, run(units="topic").scope.n_units) == ("essay", 1)
    asked = run(units="item")
    assert limits(asked.systems[0]["precision"]) == pytest.approx(limits(wilson(40, 120)), abs=1e-12)
    assert "items taken as independent, as asked" in asked.scope.sentence
    with pytest.raises(grater.GraterError, match="unknown column 'learner'"):
        run(units="learner")


def test_exactly_these_items_leave_a_census_without_width() -> None:
    flags, errors = [1] * 5 + [0] * 5, [3, 3, 3, 3, 0, 3, 0, 0, 0, 0]
    these = grater.evaluate(decisions({"S": flags}), votes(errors, 3), population="these")
    for name in ("precision", "recall", "f0.5", "f1", "kappa", "error_rate"):
        score = these.systems[0][name]
        assert score.low == score.value == score.high
    assert "exactly these 10 items, not for others" in these.scope.sentence
    table = decisions({"S": flags, "T": flags[::-1]})
    [pair] = grater.compare(table, votes(errors, 3), population="these").pairs
    assert pair.test.difference.low == pair.test.difference.value == pair.test.difference.high > 0
    assert pair.test.p == 0
    # Half of the flags judged halve the variance for these items.
    scored = one([1] * 200, [3 * (place % 4 > 0) for place in range(100)], population="these")
    assert scored["precision"] == wilson(0.75 * 100 * 199 / 100, 100 * 199 / 100)


def noisy(n_raters: int) -> dict[str, Any]:
    """Forty essays of six items by raters of different strictness."""
    rng = np.random.default_rng(3)
    place, strict = rng.normal(-0.5, 1.5, 240), np.linspace(-1.2, 1.2, n_raters)
    is_error = rng.random((240, n_raters)) < 1 / (1 + np.exp(-place[:, None] - strict))
    rows = [(f"i{i}", f"r{r}", "error" if is_error[i, r] else "ok") for i in range(240) for r in range(n_raters)]
    return {
        "decisions": decisions({"S": (place + rng.normal(0, 1, 240) > 0.5).astype(int).tolist()}),
        "judgments": pl.DataFrame(rows, ["item", "rater", "label"], orient="row"),
        "items": items([str(n // 6) for n in range(240)]),
    }


@pytest.mark.parametrize("truth", ["majority", "share"])
def test_other_raters_widen_intervals_and_there_must_be_three_with_names(truth: str) -> None:
    these, others = (grater.evaluate(**noisy(5), truth=truth, raters=raters) for raters in ("these", "random"))
    for name in ("precision", "recall", "f0.5"):
        before, after = these.systems[0][name], others.systems[0][name]
        assert before.value == after.value
        assert width(after) > 1.1 * width(before)
    assert "other essays like these 40 and other raters like these 5" in others.scope.sentence
    assert "raters:random" in str(others.signature)
    two = grater.evaluate(**noisy(2), truth=truth, raters="random").systems[0]["recall"]
    assert (isnan(two.low), two.undefined_because) == (True, "an interval for other raters needs 3 raters")
    with pytest.raises(UsageError, match="share or the majority"):
        grater.evaluate(**noisy(5), truth="rater:r0", raters="random")
    nameless = pl.DataFrame({"item": ["i0", "i0"], "label": ["error", "ok"]})
    with pytest.raises(UsageError, match="rater ids"):
        grater.evaluate(decisions({"S": [1]}), nameless, truth=truth, raters="random")


def test_the_bootstrap_is_near_the_jackknife_and_the_jackknife_has_no_seed() -> None:
    plain, other_seed = (grater.evaluate(**noisy(5), seed=seed) for seed in (0, 7))
    assert plain.to_dict() == other_seed.to_dict()
    drawn = grater.evaluate(**noisy(5), interval="bootstrap", resamples=2000)
    assert "interval:bootstrap" in str(drawn.signature)
    for name in ("precision", "recall", "f0.5", "kappa"):
        ours, theirs = plain.systems[0][name], drawn.systems[0][name]
        assert ours.value == theirs.value
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.2 * width(ours))


def test_no_interval_for_other_items_is_a_point() -> None:
    truth = [3 * (place % 3 == 0) for place in range(12)]
    right = [int(n > 0) for n in truth]
    table = decisions({"right": right, "wrong": [1 - flag for flag in right], "copy": right})
    for known in (None, items([str(place // 3) for place in range(12)])):
        for raters in ("these", "random"):
            made = [
                grater.evaluate(table, votes(truth, 3), items=known, raters=raters).to_dict(),
                grater.compare(table, votes(truth, 3), items=known, raters=raters).to_dict()["systems"],
            ]
            assert not [point for each in made for point in points(each)]


def points(value: Any) -> list[dict[str, float]]:
    """Every interval of no width in a result."""
    found = []
    if isinstance(value, dict):
        if "value" in value and value["low"] is not None and value["low"] == value["high"]:
            found.append(value)
        value = list(value.values())
    return found + [point for part in (value if isinstance(value, list) else ()) for point in points(part)]


# What is no estimate


def test_what_is_no_estimate_has_no_interval_or_no_value() -> None:
    # Who flags everything has recall 1 and kappa 0 by definition.
    evaluation = grater.evaluate(decisions({"S": [1] * 240}), votes(CLUSTERED, 3))
    recall, kappa = (evaluation.systems[0][name].as_json() for name in ("recall", "kappa"))
    assert (recall["value"], recall["low"], kappa["value"], kappa["low"]) == (1, None, 0, None)
    assert "recall is 1 by definition, not an estimate" in str(evaluation)
    # T&C 2008, Table 7, "verification": only flags were judged, so there is precision and nothing else.
    found = one([1] * 6 + [0] * 6, [3, 3, 3, 3, 0, 0])
    assert found["precision"].value == pytest.approx(4 / 6)
    for name in ("recall", "f0.5", "f1", "kappa"):
        assert isnan(found[name].value)
        assert found[name].undefined_because
    assert one([0, 0], [1, 1], 2)["precision"].undefined_because == "no judged item is flagged"


# Bins of agreement


def bins_of(flagged: list[int], n_error: list[int], n_raters: int, **options: Any) -> list[tuple[float, float, int]]:
    evaluation = grater.evaluate(decisions({"S": flagged}), votes(n_error, n_raters), **options)
    return [(each.low, each.high, each.n) for each in evaluation.whole.bins]


def test_low_edge_is_closed_high_edge_open_and_the_last_closed() -> None:
    # agreement .5, .75, .9, 1 of twenty raters, from either side
    assert bins_of([1] * 6, [10, 15, 5, 18, 2, 20], 20) == [(0.5, 0.75, 1), (0.75, 0.9, 2), (0.9, 1.0, 3)]
    below = bins_of([1] * 3, [10, 14, 20], 20, bins=(0.6, 0.8, 1.0))
    assert below == [(0.0, 0.6, 1), (0.6, 0.8, 1), (0.8, 1.0, 1)]
    # an empty bin is shown, an empty row below is not
    assert bins_of([1], [20], 20) == [(0.5, 0.75, 0), (0.75, 0.9, 0), (0.9, 1.0, 1)]
    for edges in [(0.5,), (0.9, 0.5), (0.5, 0.5, 1), (0.5, 1.2), (-1, 1)]:
        with pytest.raises(UsageError, match="edges"):
            bins_of([1], [1], 2, bins=edges)


def test_scores_in_a_bin_are_against_the_majority_with_half_ties() -> None:
    evaluation = grater.evaluate(*madnani())
    low, middle, high = (each.systems[0] for each in evaluation.whole.bins)
    # .6 flagged, .5 not, .3 flagged: one hit, one false alarm, half a miss and half a rejection
    assert low.counts.row().tolist() == [1, 1, 0.5, 0.5]
    assert (low["precision"].value, low["error_rate"].value) == (0.5, 0.5)
    assert middle.counts.row().tolist() == [0, 0, 1, 0]
    assert high.counts.row().tolist() == [2, 0, 0, 2]
    assert high["kappa"].value == 1
    assert high["kappa"].undefined_because == "the rarer label has 2 cases, too few for an interval"
    assert any(warning.startswith("only 3 items with an agreement of 50-75 %;") for warning in evaluation.warnings)
    assert high["precision"].value == 1


def test_the_histogram_has_a_bar_of_its_own_for_full_agreement() -> None:
    evaluation = grater.evaluate(decisions({"S": [1] * 5}), votes([10, 15, 19, 20, 0], 20), bins=[0.5, 1])
    assert [n for _, _, n in evaluation.whole.histogram] == [1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 2]
    [sheet] = [sheet for sheet in evaluation.sheets() if sheet.name == "agreement"]
    assert [row[:2] for row in sheet.rows[-2:]] == [("95-100 %", "1"), ("100 %", "2")]


def test_two_raters_have_no_bin_at_one_half() -> None:
    flags, judged = decisions({"S": [1, 0, 1, 0] * 10}), votes([2, 0, 1, 1] * 10, 2)
    evaluation = grater.evaluate(flags, judged, bins=[0.5, 0.75, 0.9, 1])
    [only] = evaluation.whole.bins
    assert (only.title, only.n, only.systems[0]["precision"].value) == ("100 %", 20, 1)
    notes = [note for sheet in evaluation.sheets() for note in sheet.notes]
    assert "20 items on which two raters differ have no majority and are left out of the bins." in notes
    tied, clear = grater.evaluate(flags, judged, bins=[0.5, 0.75, 1]).whole.bins
    assert tied.n == clear.n == 20
    assert tied.systems[0]["precision"].as_json()["value"] is None
    assert "no majority" in tied.systems[0]["kappa"].undefined_because


# Invariance

worlds = st.tuples(
    st.lists(
        st.tuples(
            st.sampled_from([0, 1, None]),
            st.sampled_from([0, 1]),
            st.lists(st.sampled_from(["error", "ok", "unknown", ""]), min_size=3, max_size=3),
        ),
        min_size=1,
        max_size=12,
    ),
    st.randoms(use_true_random=False),
)


@pytest.mark.parametrize("options", [{"units": "item"}, {}, {"raters": "random"}], ids=["items", "essays", "raters"])
@examples(12)
@given(world=worlds)
def test_neither_order_nor_names_of_raters_change_a_number(options: dict[str, Any], world: Any) -> None:
    drawn, random = world
    first, second, labels = zip(*drawn, strict=True)
    rows = [
        (f"i{item}", f"r{rater}", label)
        for item, given_labels in enumerate(labels)
        for rater, label in enumerate(given_labels)
        if label
    ]
    if not rows:
        return
    flags = decisions({"A": first, "B": second}, essay=[str(place // 2) for place in range(len(first))])
    before = grater.evaluate(flags, judgments(*map(" ".join, rows)), **options)
    random.shuffle(rows)
    shuffled = flags.frame.sample(fraction=1, shuffle=True, seed=random.randrange(1000))
    names = {"r0": "zoe", "r1": "adam", "r2": "mia"}
    renamed = judgments(*(f"{item} {names[rater]} {label}" for item, rater, label in rows))
    after = grater.evaluate(shuffled, renamed, **options)
    for one_system, other in zip(numbers(before), numbers(after), strict=True):
        assert one_system == pytest.approx(other, abs=1e-9, nan_ok=True)


def numbers(found: Evaluation) -> list[list[float]]:
    """All that does not go by the names of raters."""
    parts = [found.systems, found.whole.weighted, *(within.systems for within in found.whole.bins)]
    return [[each for score in scored.scores.values() for each in limits(score)] for part in parts for scored in part]
