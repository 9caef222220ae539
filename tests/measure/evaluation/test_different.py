"""Systems on different data (Madnani et al. 2011, 4.2): own n, kappa by bin, standardised scores, and no ranking."""

from __future__ import annotations

from typing import Any

import pytest

import grater
from tests.measure.evaluation.worlds import decisions, items, votes


def halves() -> dict[str, Any]:
    """A on 200 items, half of them errors, B on 200, a tenth of them; both flag 8 of 10 errors and 1 of 10 others."""
    errors = [3 * (place % 2) for place in range(200)] + [3 * (place % 10 == 0) for place in range(200)]
    flags = [_flag(place, is_error=n > 0) for place, n in enumerate(errors)]
    table = decisions({"A": [*flags[:200], *[None] * 200], "B": [*[None] * 200, *flags[200:]]})
    return {"decisions": table, "judgments": votes(errors, 3), "items": items([str(n // 10) for n in range(400)])}


def _flag(place: int, *, is_error: bool) -> int:
    step = place // 10 if place >= 200 else place // 2
    return int(step % 10 < 8) if is_error else int((place // 2) % 10 == 3)


def test_systems_without_a_common_item_are_standardised_and_not_ranked() -> None:
    compared = grater.compare(**halves())
    assert (compared.pairs, compared.groups) == ((), {})
    made: Any = compared.to_dict()
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
    assert "not ranked" in repr(compared)
    assert "best" not in str(compared)
    assert compared.sheets()[1].title == "Kappa by agreement of raters"


def test_no_system_is_said_to_have_the_essays_of_the_other() -> None:
    compared, evaluation = grater.compare(**halves()), grater.evaluate(**halves())
    made: Any = evaluation.to_dict()
    assert [[within["n"] for within in system["bins"]] for system in made["systems"]] == [[0, 0, 200]] * 2
    assert "they are not ranked" in " ".join(evaluation.warnings)
    for result in (compared, evaluation):
        notes = " ".join(result.sheets()[-1].notes)
        assert "generalise to other essays like these" in notes
        assert "like these 40" not in notes
    own = compared.sheets()[0]
    assert own.columns[:3] == ("", "items", "essays")
    assert [row[:3] for row in own.rows] == [("A", "200", "20"), ("B", "200", "20")]
    known = items([str(place // (50 if place < 200 else 10)) for place in range(400)])
    few = grater.compare(**{**halves(), "items": known})
    assert "A: only 4 essays: intervals by essay are rough below 10" in few.warnings
    assert not any(warning.startswith("B: only") for warning in few.warnings)


def test_standardised_scores_by_hand() -> None:
    # A: 8 of 10 errors caught, 2 of 10 others flagged; B: 5 of 10 and 1 of 10, on twice as many good items
    errors = [3] * 10 + [0] * 10 + [3] * 10 + [0] * 20
    first = [1] * 8 + [0] * 2 + [1] * 2 + [0] * 8
    second = [1] * 5 + [0] * 5 + [1] * 2 + [0] * 18
    table = decisions({"A": [*first, *[None] * 30], "B": [*[None] * 20, *second]})
    different = grater.compare(table, votes(errors, 3)).different
    assert different is not None
    # The standard: 20 errors, 30 good items
    assert different.prevalence == pytest.approx(0.4)
    a, b = (each.scores for each in different.systems)
    assert (a["recall"].value, a["precision"].value) == pytest.approx((0.8, 16 / (16 + 0.2 * 30)), abs=1e-12)
    assert (b["recall"].value, b["precision"].value) == pytest.approx((0.5, 10 / (10 + 0.1 * 30)), abs=1e-12)


def test_partly_common_items_are_compared_in_pairs_and_all_items_apart() -> None:
    errors = [3 * (place % 2) for place in range(120)]
    flags = [int(place % 3 == 0) for place in range(120)]
    table = decisions({"A": [*flags[:80], *[None] * 40], "B": [*[None] * 40, *flags[40:]]})
    compared = grater.compare(table, votes(errors, 3))
    assert (compared.n_items, compared.n_left_out) == (40, 80)
    assert set(compared.groups) == {"A", "B"}  # on the 40 common items
    assert compared.different is not None
    assert compared.different.pairs[0].n_common == 40


def test_rank_groups_are_only_among_systems_that_share_their_items() -> None:
    errors = [3 * (place % 2) for place in range(80)]
    good, bad = [place % 2 for place in range(40)], [1 - place % 2 for place in range(40)]
    table = decisions({"A": [*good, *[None] * 40], "B": [*bad, *[None] * 40], "C": [*[None] * 40, *good]})
    compared = grater.compare(table, votes(errors, 3))
    assert compared.groups == {}
    assert dict(compared.parts["A, B"].groups) == {"A": "A", "B": "B"}
    same = grater.compare(decisions({"A": good, "B": good[::-1]}), votes(errors[:40], 3))
    assert same.different is None
    assert set(same.groups) == {"A", "B"}
