"""What intervals speak of: essays where they are known, the population, and the design effect."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import grater
from grater.measure.evaluation.standard import unit_of_items
from grater.uncertainty import wilson
from tests.measure.evaluation.worlds import decisions, items, votes

ESSAYS = [str(place // 10) for place in range(240)]
"""24 essays of ten items."""
CLUSTERED = [3 * (int(essay) % 3 == 0) for essay in ESSAYS]
"""Every third essay is nothing but errors: one item of an essay says all."""
FLAGS = [1] * 240


def flagged_half() -> list[int]:
    return [place % 2 for place in range(240)]


def evaluated(flags: list[int], n_error: list[int], **options: object) -> grater.Evaluation:  # type: ignore[name-defined]
    return grater.evaluate(decisions({"S": flags}).frame, votes(n_error, 3).frame, resamples=400, **options)  # type: ignore[arg-type]


def test_essays_are_drawn_where_the_items_table_knows_them() -> None:
    by_item = evaluated(flagged_half(), CLUSTERED)
    by_essay = evaluated(flagged_half(), CLUSTERED, items=items(ESSAYS).frame)
    loose, honest = by_item.whole.standard[0]["precision"], by_essay.whole.standard[0]["precision"]
    assert loose.value == honest.value
    # Five flags of an essay are alike: the interval is that of 24 cases, not of 120
    assert honest.high - honest.low > 1.8 * (loose.high - loose.low)
    assert by_essay.whole.standard[0].design_effect["precision"] == pytest.approx(5 * 24 / 23 * 239 / 240, rel=1e-3)
    assert "other essays like these 24 (resampled by essay, design effect" in str(by_essay)
    assert "Design effects: S precision 5.2" in str(by_essay)
    assert "taken as independent (their essays are not known)" in str(by_item)
    assert by_essay.to_dict()["scope"]["unit"] == "essay"


def test_kappa_by_essay_is_symmetric_on_the_scale_of_what_is_left_to_one() -> None:
    flags = [(n == 3) != (place % 7 == 0) for place, n in enumerate(CLUSTERED)]
    kappa = evaluated(list(map(int, flags)), CLUSTERED, items=items(ESSAYS).frame).whole.standard[0]["kappa"]
    assert -1 < kappa.low < kappa.value < kappa.high < 1
    assert (1 - kappa.low) / (1 - kappa.value) == pytest.approx((1 - kappa.value) / (1 - kappa.high))


def test_without_resamples_kappa_by_essay_has_no_interval_and_says_why() -> None:
    few = grater.evaluate(
        decisions({"S": flagged_half()}).frame,
        votes([place % 4 for place in range(240)], 3).frame,
        resamples=0,
        items=items(ESSAYS).frame,
    )
    assert few.whole.standard[0]["kappa"].undefined_because == "no resample was drawn"


def test_items_can_still_be_drawn_where_it_is_asked() -> None:
    asked = evaluated(flagged_half(), CLUSTERED, items=items(ESSAYS).frame, cluster="item")
    assert asked.whole.standard[0]["precision"] == wilson(40, 120)
    assert "taken as independent (as asked)" in str(asked)


def test_few_essays_warn_and_have_students_t() -> None:
    eight = [str(place // 30) for place in range(240)]
    shown = evaluated(flagged_half(), CLUSTERED, items=items(eight).frame)
    assert any("only 8 essays" in warning for warning in shown.warnings)
    assert "Student's t" in str(shown)


def test_each_rater_in_turn_is_drawn_by_essay_too() -> None:
    by_item, by_essay = (
        evaluated(flagged_half(), CLUSTERED, **known).whole.by_rater["r0"][0]["precision"]
        for known in ({}, {"items": items(ESSAYS).frame})
    )
    assert by_essay.high - by_essay.low > 1.5 * (by_item.high - by_item.low)


def test_exactly_these_items_leave_a_census_without_width() -> None:
    flags, errors = [1] * 5 + [0] * 5, [3, 3, 3, 3, 0, 3, 0, 0, 0, 0]
    these = evaluated(flags, errors, population="these")
    wider = evaluated(flags, errors)
    exact = these.whole.standard[0]["precision"]
    assert (exact.low, exact.value, exact.high) == (0.8, 0.8, 0.8)
    assert wider.whole.standard[0]["precision"] == wilson(4, 5)  # .80 [.38, .96]
    assert these.whole.standard[0]["recall"].low == these.whole.standard[0]["recall"].value == 0.8
    assert "exactly these 10 items, not for others" in str(these)


def test_half_of_the_flags_judged_halve_the_variance_for_these_items() -> None:
    flags, errors = [1] * 200, [3 * (place % 4 > 0) for place in range(100)]
    [scored] = evaluated(flags, errors, population="these").whole.standard
    assert scored["precision"] == wilson(0.75 * 100 * 199 / 100, 100 * 199 / 100)


def test_sentences_of_documents_are_drawn_by_document() -> None:
    columns = pl.DataFrame({"essay": ["a", "b", "c", "d"], "document": ["x", "x", "y", "y"]})
    assert unit_of_items(columns) == ("document", "")
    assert unit_of_items(columns.drop("document")) == ("item", "each of another essay")
    assert unit_of_items(columns.with_columns(document=pl.lit("x"))) == ("item", "all of one document")
    holes = pl.DataFrame({"essay": ["a", "a", None, "b"]})
    assert unit_of_items(holes) == ("item", "the essay of 1 is not known")


def test_a_paired_test_by_essay_does_not_take_items_for_independent() -> None:
    # Two systems that differ in whole essays: 7 essays for one, 5 for the other
    rng = np.random.default_rng(0)
    sides = rng.permutation(["A"] * 7 + ["B"] * 5 + [""] * 12)
    right = {name: [int(sides[int(essay)] in (name, "")) for essay in ESSAYS] for name in "AB"}
    errors = [3 * (place % 2) for place in range(240)]
    flags = {name: [ok if place % 2 else 1 - ok for place, ok in enumerate(right[name])] for name in "AB"}
    table = decisions(flags).frame
    compared = grater.compare(table, votes(errors, 3).frame, items=items(ESSAYS).frame, score="f1", resamples=500)
    [pair] = compared.pairs
    assert pair.mcnemar.mid_p > 0.03  # 70 against 50 items
    assert pair.mcnemar.mid_p < 0.1
    assert pair.test.p["bootstrap"] > 0.3
    assert pair.test.p["randomisation"] > 0.3
    assert "McNemar treats items as independent" in compared.sheets()[1].notes[0]


def test_a_system_that_flags_everything_has_recall_1_by_definition() -> None:
    shown = evaluated(FLAGS, CLUSTERED)
    recall = shown.whole.standard[0]["recall"].as_json()
    assert (recall["value"], recall["low"]) == (1, None)
    assert "recall is 1 by definition, not an estimate" in str(shown)


def test_recall_is_unknown_where_nobody_looked_at_what_was_passed_over() -> None:
    flags, errors = [1] * 6 + [0] * 6, [3, 3, 3, 3, 0, 0]
    shown = evaluated(flags, errors)
    scored = shown.whole.standard[0]
    assert scored["recall"].as_json()["value"] is None
    assert scored["f0.5"].as_json()["value"] is None
    assert scored["precision"].value == pytest.approx(4 / 6)
    assert "no unflagged item was judged" in str(shown)
