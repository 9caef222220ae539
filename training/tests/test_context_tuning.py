"""Calibrations from edits, and thresholds from text without errors."""

from __future__ import annotations

from math import inf
from pathlib import Path

import numpy as np
import pytest

from grater.detect.context.calibration import LEAST, NAMES, SILENT, Calibration
from grater.errors import UsageError
from grater.model import Edit, Essay, Item, Span
from grater_train.context.tuning import (
    MOSTLY,
    PossibleFlag,
    fit,
    fitted,
    mostly_right_from,
    possible_flags,
    right_items,
    shipped_at,
    usual_share,
)
from tests.detect.context.stand_in import answering, detector

pytest.importorskip("onnxruntime", reason="the tests of context need onnxruntime: pip install 'grater[context]'")


def flag(number: int, name: str, margin: float) -> PossibleFlag:
    return PossibleFlag(item=Item("essay", Span(number, number + 1), "prep"), name=name, margin=margin, word="on")


def test_every_slot_has_its_likeliest_correction_of_each_name(tmp_path: Path) -> None:
    toy = detector(tmp_path, answering({"in": {"prep": "on"}}))
    flags = possible_flags(toy, [Essay("1", "It rained in Monday.")])
    by_name = {one.name: one for one in flags if one.item.kind == "prep"}
    assert set(by_name) == {"prep-choice", "prep-extraneous"}
    assert by_name["prep-choice"].word == "on"
    assert by_name["prep-choice"].margin == pytest.approx(8.0)
    assert by_name["prep-extraneous"].margin == pytest.approx(0.0)


def test_an_item_is_right_if_a_named_annotator_corrects_it_with_a_wanted_tag() -> None:
    text = "It rained in Monday on school."
    edits = (
        Edit(span=Span(10, 12), replacements=("on",), tag="Prep", rater="A"),
        Edit(span=Span(20, 22), replacements=("at",), tag="Prep", rater="B"),
        Edit(span=Span(13, 19), replacements=("Sunday",), tag="Wci", rater="A"),
    )
    essay = Essay("1", text, edits=edits, annotators=("A", "B"))
    items = [Item("1", Span(10, 12), "prep"), Item("1", Span(20, 22), "prep"), Item("1", Span(13, 19), "number")]
    assert right_items([essay], items, tags=["Prep"], raters=["A"]) == {items[0].item_id}
    assert right_items([essay], items, tags=["Prep"]) == {items[0].item_id, items[1].item_id}


def test_a_calibration_is_fitted_for_every_name() -> None:
    flags = [flag(number, name, number % 10) for name in NAMES for number in range(200)]
    right = {one.item.item_id for one in flags if one.margin >= 5}
    calibrations = fitted(flags, {"prep": right})
    assert set(calibrations) == set(NAMES)
    assert all(4 < calibration.threshold(0.95) < 5 for calibration in calibrations.values())


def test_shipped_thresholds_keep_to_the_flags_that_well_formed_text_may_have() -> None:
    """Prepositions share one threshold, whatever the error; a name that was not fitted is never flagged."""
    calibrations = dict.fromkeys(NAMES, Calibration(slope=1.0, intercept=-3.0)) | {"number": SILENT}
    native = [
        flag(number, ("prep-choice", "prep-extraneous", "number")[number % 3], number / 200) for number in range(1500)
    ]
    shipped = shipped_at(calibrations, native, n_words=10_000, per_thousand=5)
    threshold = shipped["prep-choice"].shipped
    assert 40 <= sum(one.margin > threshold for one in native if one.name != "number") <= 50
    assert shipped["prep-missing"].shipped == shipped["prep-extraneous"].shipped == threshold
    assert shipped["verb-form"].shipped == 0
    assert shipped["number"] == SILENT


def test_the_usual_share_counts_what_reaches_the_threshold_or_nearly() -> None:
    flags = [flag(number, "prep-choice", margin) for number, margin in enumerate((0.9, 1.1, 2.5, -3.0))]
    calibration = Calibration(shipped=2.0)
    assert usual_share([*flags, flag(9, "number", 9.0)], "prep-choice", calibration) == 0.5
    assert usual_share(flags, "verb-form", calibration) == 0.0


def test_flags_at_the_shipped_threshold_are_mostly_right() -> None:
    """However few flags well-formed text has; the margin is that of the group, not of a rare name in it."""
    flags = [flag(number, ("prep-choice", "prep-missing")[number % 2], number % 10) for number in range(400)]
    right = {"prep": {one.item.item_id for one in flags if one.margin + one.item.span.start % 3 >= 6}}
    least = mostly_right_from(flags, right)
    assert set(least) == {"prep"}
    by_group = fitted([flag(one.item.span.start, "prep-choice", one.margin) for one in flags], right)
    assert by_group["prep-choice"].probability(least["prep"]) == pytest.approx(MOSTLY)
    shipped = shipped_at(fitted(flags, right), [], n_words=10_000, per_thousand=5, least=least)
    assert shipped["prep-choice"].shipped == shipped["prep-missing"].shipped == pytest.approx(least["prep"], abs=1e-4)


def test_platt_finds_the_numbers_that_made_the_table() -> None:
    rng = np.random.default_rng(7)
    margins = rng.uniform(-2, 6, 20_000)
    is_right = rng.random(20_000) < 1 / (1 + np.exp(-(1.5 * margins - 2)))
    calibration = fit(margins.tolist(), is_right.tolist())
    assert calibration.slope == pytest.approx(1.5, abs=0.1)
    assert calibration.intercept == pytest.approx(-2, abs=0.15)
    assert calibration.probability(3.0) == pytest.approx(0.924, abs=0.02)  # sigmoid(2.5)


def test_a_threshold_reaches_its_precision_and_is_the_lowest_that_does() -> None:
    margins = [float(number) for number in range(100, 0, -1)]
    is_right = [number <= 60 for number in range(1, 101)]  # the 60 highest are right
    calibration = fit(margins, is_right)
    assert calibration.threshold(0.6) == 0.5  # all 100: 60 of 100
    assert calibration.threshold(0.75) == 20.5  # the 80 highest: 60 of 80
    assert calibration.threshold(0.8) == 25.5  # the 75 highest: 60 of 75
    assert calibration.threshold(0.72) == calibration.threshold(0.75)


def test_equal_margins_are_flagged_together() -> None:
    calibration = fit([2.0] * 30 + [1.0] * 30, [True] * 30 + [True] * 15 + [False] * 15)
    assert calibration.threshold(0.95) == 1.5
    assert calibration.threshold(0.75) == 0.5


def test_a_precision_that_was_never_shown_flags_nothing() -> None:
    n_few = LEAST - 1
    calibration = fit([5.0] * n_few + [1.0] * 60, [True] * n_few + [True, False] * 30)
    assert calibration.threshold(0.95) == inf
    assert calibration.threshold(0.6) < 1.0


def test_a_small_table_is_refused() -> None:
    with pytest.raises(UsageError, match="expected at least 20 flags"):
        fit([1.0], [True])


def test_flags_that_would_never_be_made_do_not_bend_the_fit() -> None:
    near = [number / 100 - 2 for number in range(400)]
    is_right = [margin > 0.3 * (number % 7 - 3) for number, margin in enumerate(near)]
    far = [-20.0 + number / 100 for number in range(1000)]
    alone, beside = fit(near, is_right), fit([*near, *far], [*is_right, *([False] * 999), True])
    assert (beside.slope, beside.intercept) == (alone.slope, alone.intercept)
