"""Systems on different data (Madnani et al. 2011, 4.2): own n, kappa by bin, standardised scores, and no ranking."""

from __future__ import annotations

from typing import Any

import pytest

import grater
from tests.measure.evaluation.worlds import decisions, items, votes


def halves(*, flags_of_b: list[int] | None = None) -> tuple[object, object, object]:
    """A on 200 items, half of them errors, B on 200, a tenth of them; both flag 8 of 10 errors and 1 of 10 others."""
    errors = [3 * (place % 2) for place in range(200)] + [3 * (place % 10 == 0) for place in range(200)]
    flags = [_flag(place, is_error=n > 0) for place, n in enumerate(errors)]
    second = flags_of_b or flags[200:]
    table = decisions({"A": [*flags[:200], *[None] * 200], "B": [*[None] * 200, *second]})
    return table.frame, votes(errors, 3).frame, items([str(place // 10) for place in range(400)]).frame


def _flag(place: int, *, is_error: bool) -> int:
    step = place // 10 if place >= 200 else place // 2
    return int(step % 10 < 8) if is_error else int((place // 2) % 10 == 3)


def test_systems_without_a_common_item_are_standardised_and_not_ranked() -> None:
    table, judged, known = halves()
    compared = grater.compare(table, judged, items=known, resamples=300)
    assert compared.pairs == ()
    made: dict[str, Any] = dict(compared.to_dict())
    assert [system["group"] for system in made["systems"]] == [None, None]
    different = compared.different
    assert different is not None
    assert [each.own.n for each in different.systems] == [200, 200]
    raw = [each.own["precision"].value for each in different.systems]
    same = [each.scores["precision"].value for each in different.systems]
    assert raw[0] > raw[1] + 0.3  # the error rate alone
    assert same[0] == pytest.approx(same[1], abs=0.05)
    [pair] = different.pairs
    assert pair.n_common == 0
    assert pair.differences["precision"].low < 0 < pair.differences["precision"].high
    text = str(compared)
    assert "not ranked" in text
    assert "best" not in text
    assert compared.sheets()[1].title == "Kappa by agreement of raters"


def test_no_system_is_said_to_have_the_essays_of_the_other() -> None:
    table, judged, known = halves()
    compared = grater.compare(table, judged, items=known, resamples=100)
    evaluation = grater.evaluate(table, judged, items=known, resamples=100)
    for text in (str(compared), str(evaluation)):
        assert "generalise to other essays like these (resampled by essay" in text
        assert "like these 40" not in text
    own = compared.sheets()[0]
    assert own.columns[:3] == ("", "items", "essays")
    assert [row[:3] for row in own.rows] == [("A", "200", "20"), ("B", "200", "20")]


def test_few_essays_of_one_system_are_warned_of() -> None:
    table, judged, _ = halves()
    known = items([str(place // (50 if place < 200 else 10)) for place in range(400)]).frame
    compared = grater.compare(table, judged, items=known, resamples=100)
    assert "A: only 4 essays: intervals by essay are rough below 10" in compared.warnings
    assert not any(warning.startswith("B: only") for warning in compared.warnings)


def test_standardised_scores_by_hand() -> None:
    # A: 8 of 10 errors caught, 2 of 10 others flagged; B: 5 of 10 and 1 of 10, on twice as many good items
    errors = [3] * 10 + [0] * 10 + [3] * 10 + [0] * 20
    first = [1] * 8 + [0] * 2 + [1] * 2 + [0] * 8
    second = [1] * 5 + [0] * 5 + [1] * 2 + [0] * 18
    table = decisions({"A": [*first, *[None] * 30], "B": [*[None] * 20, *second]}).frame
    different = grater.compare(table, votes(errors, 3).frame, resamples=200).different
    assert different is not None
    # The standard: 20 errors, 30 good items
    assert different.prevalence == pytest.approx(0.4)
    a, b = (each.scores for each in different.systems)
    assert (a["recall"].value, a["precision"].value) == pytest.approx((0.8, 16 / (16 + 0.2 * 30)))
    assert (b["recall"].value, b["precision"].value) == pytest.approx((0.5, 10 / (10 + 0.1 * 30)))


def test_evaluate_says_so_too_and_each_system_has_its_own_n_in_every_bin() -> None:
    table, judged, known = halves()
    evaluation = grater.evaluate(table, judged, items=known, resamples=100, bins=[0.5, 0.75, 0.9, 1])
    made: dict[str, Any] = dict(evaluation.to_dict())
    sizes = [[within["n"] for within in system["bins"]] for system in made["systems"]]
    assert sizes == [[0, 0, 200], [0, 0, 200]]
    assert evaluation.different is not None
    assert "they are not ranked against each other" in " ".join(evaluation.warnings)


def test_partly_common_items_are_compared_in_pairs_and_all_items_apart() -> None:
    errors = [3 * (place % 2) for place in range(120)]
    flags = [int(place % 3 == 0) for place in range(120)]
    table = decisions({"A": [*flags[:80], *[None] * 40], "B": [*[None] * 40, *flags[40:]]}).frame
    compared = grater.compare(table, votes(errors, 3).frame, resamples=100)
    assert (compared.n_items, compared.n_left_out) == (40, 80)
    assert set(compared.groups) == {"A", "B"}  # on the 40 common items
    assert compared.different is not None
    assert compared.different.pairs[0].n_common == 40


def test_rank_groups_are_only_among_systems_that_share_their_items() -> None:
    errors = [3 * (place % 2) for place in range(80)]
    good, bad = [place % 2 for place in range(40)], [1 - place % 2 for place in range(40)]
    table = decisions({"A": [*good, *[None] * 40], "B": [*bad, *[None] * 40], "C": [*[None] * 40, *good]}).frame
    compared = grater.compare(table, votes(errors, 3).frame, resamples=200)
    assert compared.groups == {}
    assert dict(compared.parts["A, B"].groups) == {"A": "A", "B": "B"}


def test_systems_on_the_same_items_are_ranked_as_ever() -> None:
    errors = [3 * (place % 2) for place in range(40)]
    flags = [place % 2 for place in range(40)]
    compared = grater.compare(decisions({"A": flags, "B": flags[::-1]}).frame, votes(errors, 3).frame, resamples=100)
    assert compared.different is None
    assert set(compared.groups) == {"A", "B"}
