import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grater.errors import UsageError
from grater.sampling.allocate import Allocation, allocate
from grater.sampling.scores import Stratum

TWO = [Stratum("flagged", True, 1000), Stratum("unflagged", False, 9000)]
FOUR = [Stratum(name, name < "c", size) for name, size in (("a", 100), ("b", 300), ("c", 600), ("d", 3000))]


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
    with pytest.raises(UsageError, match="rate of errors for stratum 'unflagged'"):
        allocate(TWO, 100, method="neyman", rates={"flagged": 0.8})
    with pytest.raises(UsageError, match="from 0 to 1"):
        allocate(TWO, 100, method="neyman", rates={"flagged": 8, "unflagged": 0.1})


def test_more_than_there_is_and_less_than_two_each_are_refused() -> None:
    for n in (3, 10_001):
        with pytest.raises(UsageError, match="expected from 4 to 10000 items"):
            allocate(TWO, n)


STRATA = st.lists(st.tuples(st.booleans(), st.integers(1, 400), st.floats(0, 1)), min_size=1, max_size=8)


@settings(deadline=None)
@given(STRATA, st.sampled_from(["equal", "paper", "proportional", "neyman"]), st.floats(0, 1))
def test_sizes_add_up_and_no_stratum_gives_more_than_it_has(
    given_strata: list[tuple[bool, int, float]], method: Allocation, share: float
) -> None:
    strata = [Stratum(str(place), side, size) for place, (side, size, _) in enumerate(given_strata)]
    rates = {str(place): rate for place, (_, _, rate) in enumerate(given_strata)}
    least, most = (sum(min(2, size) for _, size, _ in given_strata), sum(size for _, size, _ in given_strata))
    n = least + round(share * (most - least))
    found = allocate(strata, n, method=method, rates=rates)
    assert sum(found.values()) == n
    assert all(min(2, each.size) <= found[each.name] <= each.size for each in strata)
