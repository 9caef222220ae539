import pytest

from grater.agreement.summary import FEW_MINOR, FEW_MINOR_OF_TWO
from tests.agreement.coverage import WORLDS, World, coverage, truths

N_SAMPLES = 400
SLACK = 0.022
"""Two standard errors of a share of .95 in 400 samples."""


@pytest.mark.slow
@pytest.mark.parametrize("n_items", [50, 200])
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_limits_cover_the_truth_as_often_as_they_say(world: World, n_items: int) -> None:
    found = coverage(world, n_items, n_samples=N_SAMPLES)
    n_rare = truths(world)[1] * n_items
    is_warned = n_rare < FEW_MINOR
    assert found
    for name, share in found.items():
        if name == "alpha, plain":
            continue  # there to show what the made-up item is for
        if name == "kappa, fce" and n_rare < FEW_MINOR_OF_TWO:
            continue  # the table shows them, and a warning names the bootstrap instead
        assert share >= 0.93 - SLACK, name
        assert share <= 0.97 + SLACK or is_warned, name


def test_coverage_is_counted_where_the_coefficient_is_defined() -> None:
    found = coverage(WORLDS[0], 40, n_samples=5)
    assert set(found) == {"observed", "fleiss", "ac1", "s", "alpha", "alpha, plain", "kappa, fce", "kappa, bootstrap"}
    assert all(0 <= share <= 1 for share in found.values())
