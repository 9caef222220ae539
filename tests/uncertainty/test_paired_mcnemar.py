from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.errors import UsageError
from grater.measure.evaluation.cases import cases_of, truth_of
from grater.measure.evaluation.standard import discordant
from grater.uncertainty.named import mcnemar
from tests.examples import examples
from tests.measure.evaluation.worlds import decisions, votes


def test_forty_against_twenty_two() -> None:
    # statistics.md, golden
    found = mcnemar(40, 22)
    assert found.chi2 == pytest.approx(5.225806, abs=5e-7)
    assert found.p == pytest.approx(0.022254, abs=5e-7)
    assert found.exact == pytest.approx(0.030016, abs=5e-7)
    assert found.mid_p == pytest.approx(0.022575, abs=5e-7)


def test_no_discordant_item_is_no_evidence() -> None:
    assert (mcnemar(0, 0).p, mcnemar(0, 0).exact, mcnemar(0, 0).mid_p) == (1, 1, 1)


def test_all_on_one_side_by_hand() -> None:
    # five to nothing: 2 / 2^5 exact, half of it mid-p
    assert mcnemar(5, 0).exact == pytest.approx(1 / 16)
    assert mcnemar(0, 5).mid_p == pytest.approx(1 / 32)


def test_negative_counts_are_refused() -> None:
    with pytest.raises(UsageError, match="expected counts"):
        mcnemar(-1, 2)


@examples(60)
@given(st.integers(0, 300), st.integers(0, 300))
def test_sides_do_not_matter_and_mid_p_is_below_exact(first: int, second: int) -> None:
    one, other = mcnemar(first, second), mcnemar(second, first)
    assert (one.p, one.exact, one.mid_p) == (other.p, other.exact, other.mid_p)
    assert 0 < one.mid_p <= one.exact <= 1


def test_only_items_that_both_decided_and_raters_settled_take_part() -> None:
    # i0 A right, i1 B right, i2 both right, i3 a tie of raters, i4 not decided by B, i5 A right
    table = decisions({"A": [1, 1, 1, 1, 1, 0], "B": [0, 0, 1, 0, None, 1]})
    cases = cases_of(table, votes([4, 0, 4, 2, 4, 1], 4))
    found = discordant(cases, truth_of(cases), 0, 1)
    assert (found.first, found.second) == (2, 1)
