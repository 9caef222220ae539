"""Strata by decision, score and label, and how items are shared out among them."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.errors import GraterError, UsageError
from grater.measure.sampling.plan import (
    Allocation,
    Stratification,
    allocate,
    assign_strata,
    decided,
    decisions_hash,
    strata_of,
)
from grater.tables import read_decisions
from tests.measure.sampling.corpora import decisions_of, oracle

FLAGS = [True] * 10 + [False] * 80
SCORES = [0.9 + place / 1000 for place in range(10)] + [place / 200 for place in range(80)]


def sizes(frame: pl.DataFrame) -> dict[str, float]:
    strata = strata_of(frame)
    return dict(zip(strata.names, strata.sizes.tolist(), strict=True))


def test_decisions_make_two_strata() -> None:
    found = strata_of(assign_strata(decisions_of({"S": FLAGS}), "S"))
    assert found.names == ("flagged", "unflagged")
    assert (found.flagged.tolist(), found.sizes.tolist()) == ([True, False], [10, 80])


def test_scores_cut_flags_evenly_and_the_rest_by_halves() -> None:
    found = assign_strata(decisions_of({"S": FLAGS}, SCORES), "S", strata="score:5")
    assert sizes(found) == {"flagged 1": 5, "flagged 2": 5, "unflagged 1": 40, "unflagged 2": 20, "unflagged 3": 20}


def test_the_small_parts_are_nearest_to_the_flags_in_whatever_direction_scores_run() -> None:
    upward = assign_strata(decisions_of({"S": FLAGS}, SCORES), "S", strata="score:5")
    downward = assign_strata(decisions_of({"S": FLAGS}, [-score for score in SCORES]), "S", strata="score:5")
    assert upward.filter(pl.col("stratum") == "unflagged 3")["item"].to_list()[-1] == "item-00089"
    assert upward.equals(downward)


def test_items_of_one_score_share_a_stratum() -> None:
    found = assign_strata(decisions_of({"S": FLAGS}, [0.5] * 90), "S", strata="score:10")
    assert len(sizes(found)) == 2


def test_the_order_of_rows_changes_no_stratum() -> None:
    table = decisions_of({"S": FLAGS}, SCORES)
    shuffled = read_decisions(table.frame.sample(fraction=1, shuffle=True, seed=1))
    for strata in ("decision", "score:7"):
        assert assign_strata(table, "S", strata=strata).equals(assign_strata(shuffled, "S", strata=strata))
    assert decisions_hash(table, "S") == decisions_hash(shuffled, "S")


def test_decisions_are_crossed_with_a_cheap_label() -> None:
    labels = oracle([place % 4 == 0 for place in range(90)])
    found = assign_strata(decisions_of({"S": FLAGS}), "S", strata="label", labels=labels)
    # of items 0 to 9 the cheap rater calls 0, 4 and 8 errors; of 10 to 89, 12, 16, ... 88
    assert sizes(found) == {"flagged error": 3, "flagged ok": 7, "unflagged error": 20, "unflagged ok": 60}


@pytest.mark.parametrize(
    ("strata", "message"),
    [
        ("score:1", "N from 2 to 100"),
        ("score:many", "N from 2 to 100"),
        ("length", "expected the strata decision, score:N or label"),
        ("label", "the labels of a cheap rater"),
        ("score:4", "expected a score for every item, found 90 without"),
    ],
)
def test_wrong_strata_are_answered_in_one_line(strata: str, message: str) -> None:
    with pytest.raises(GraterError, match=message):
        assign_strata(decisions_of({"S": FLAGS}), "S", strata=strata)


def test_an_unknown_system_is_answered_with_a_guess() -> None:
    with pytest.raises(GraterError, match="Did you mean 'prep-lm'"):
        decided(decisions_of({"prep-lm": FLAGS}), "prep-ln")


def cut(names: list[str], flags: list[bool], sizes: list[float]) -> Stratification:
    return Stratification(tuple(names), np.array(flags), np.array(sizes, float), np.full(len(names), np.nan))


TWO = cut(["flagged", "unflagged"], [True, False], [1000, 9000])
FOUR = cut(["a", "b", "c", "d"], [True, True, False, False], [100, 300, 600, 3000])


@pytest.mark.parametrize(
    ("method", "sizes"),
    [
        ("equal", (900, 900)),
        ("paper", (600, 1200)),  # T&C 2008, 6.3: the OK sample twice the Error sample
        ("proportional", (180, 1620)),
    ],
)
def test_two_strata_share_out_the_items(method: Allocation, sizes: tuple[int, int]) -> None:
    assert allocate(TWO, 1800, method=method) == dict(zip(("flagged", "unflagged"), sizes, strict=True))


def test_what_a_small_stratum_cannot_give_comes_from_the_other() -> None:
    assert allocate(TWO, 2250, method="equal") == {"flagged": 1000, "unflagged": 1250}


def test_the_papers_rule_goes_by_size_within_a_side() -> None:
    assert allocate(FOUR, 300) == {"a": 25, "b": 75, "c": 33, "d": 167}


def test_the_number_of_flagged_items_can_be_fixed() -> None:
    assert allocate(TWO, 1000, n_flagged=100) == {"flagged": 100, "unflagged": 900}


def test_neyman_goes_by_spread_and_by_distance_from_recall() -> None:
    # hits 800, misses 180: R = .816327; weights 1000 * .183673 * .4 = 73.47 and 9000 * .816327 * .14 = 1028.57
    found = allocate(TWO, 1000, method="neyman", rates={"flagged": 0.8, "unflagged": 0.02})
    assert found == {"flagged": 67, "unflagged": 933}


def test_neyman_needs_rates() -> None:
    with pytest.raises(UsageError, match="error rate for stratum 'unflagged'"):
        allocate(TWO, 100, method="neyman", rates={"flagged": 0.8})
    with pytest.raises(UsageError, match="from 0 to 1"):
        allocate(TWO, 100, method="neyman", rates={"flagged": 8, "unflagged": 0.1})


def test_more_than_there_is_and_less_than_two_each_are_refused() -> None:
    for n in (3, 10_001):
        with pytest.raises(UsageError, match="expected from 4 to 10000 items"):
            allocate(TWO, n)


STRATA = st.lists(st.tuples(st.booleans(), st.integers(1, 400), st.floats(0, 1)), min_size=1, max_size=8)


@given(STRATA, st.sampled_from(["equal", "paper", "proportional", "neyman"]), st.floats(0, 1))
def test_sizes_add_up_and_no_stratum_gives_more_than_it_has(
    given_strata: list[tuple[bool, int, float]], method: Allocation, share: float
) -> None:
    flags, numbers = ([row[place] for row in given_strata] for place in (0, 1))
    strata = cut([str(place) for place in range(len(flags))], flags, numbers)  # type: ignore[arg-type]
    rates = {str(place): rate for place, (_, _, rate) in enumerate(given_strata)}
    least, most = (sum(min(2, size) for _, size, _ in given_strata), sum(size for _, size, _ in given_strata))
    n = least + round(share * (most - least))
    found = allocate(strata, n, method=method, rates=rates)
    assert sum(found.values()) == n
    assert all(min(2, size) <= found[str(place)] <= size for place, size in enumerate(numbers))
