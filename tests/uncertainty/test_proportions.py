"""Wilson's interval by the textbook, and what intervals say they speak of."""

from __future__ import annotations

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.uncertainty import INDEPENDENT, Scope, wilson


def test_half_of_ten_has_the_textbook_limits() -> None:
    # Brown, Cai & DasGupta 2001, eq. 4, by hand for x = 5, n = 10
    found = wilson(5, 10)
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.236593, 0.763407), abs=1e-6)


def test_no_hit_in_ten_still_leaves_room_above() -> None:
    found = wilson(0, 10)
    assert (found.low, found.high) == (0.0, pytest.approx(0.277533, abs=1e-6))


def test_no_case_is_undefined_and_says_so() -> None:
    found = wilson(0, 0)
    assert isnan(found.value)
    assert found.undefined_because == "no case was counted"


@given(st.integers(1, 500), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_limits_hold_the_share_and_stay_between_0_and_1(n: int, share: float, level: float) -> None:
    found = wilson(share * n, n, level=level)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_a_scope_says_to_what_intervals_generalise() -> None:
    assert Scope("essay", 20, design_effect=1.34).sentence == (
        "95 % intervals generalise to other essays like these 20 (design effect 1.3)."
    )
    assert Scope("item", 500, note=INDEPENDENT).sentence == (
        f"95 % intervals generalise to other items like these 500 ({INDEPENDENT})."
    )
    assert "and other raters like these 5" in Scope("essay", 20, n_raters=5).sentence
    these = Scope("item", 500, population="these")
    assert these.sentence.startswith("95 % intervals are for exactly these 500 items, not for others")


def test_few_essays_and_raters_are_warned_of() -> None:
    assert Scope("essay", 20).warnings == ()
    assert Scope("essay", 9).warnings == ("only 9 essays: intervals by essay are rough below 10",)
    assert len(Scope("essay", 12, is_agreement=True).warnings) == 1
    assert "only 5 raters" in Scope("essay", 30, n_raters=5).warnings[0]
    assert Scope("item", 3).warnings == ()
