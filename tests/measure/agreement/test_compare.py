import numpy as np
import pytest

from grater.errors import GraterError
from grater.measure.agreement.coded import coded
from grater.measure.agreement.coefficients import fleiss
from grater.measure.agreement.cohen import Confusion, confusion
from grater.measure.agreement.groups import (
    Comparison,
    compare_pairs,
    compare_tables,
    dependent_test,
    independent_test,
)
from grater.tables import Judgments
from grater.uncertainty.intervals import generator
from tests.measure.agreement.tables import IN_CONTEXT, NO_CONTEXT, judgments, of_confusion, of_matrix


def raters(n_items: int, *skills: float, seed: int = 0, first: int = 0) -> Judgments:
    """Raters who see the truth as often as their skill says."""
    rng = generator(seed, "raters")
    truth = rng.integers(0, 2, size=n_items)
    rows = [[int(label) if rng.random() < skill else 1 - int(label) for skill in skills] for label in truth]
    table = of_matrix(rows)
    return Judgments(table.frame.with_columns(item="x" + str(first) + table.frame["item"]), "table")


def test_tables_without_a_common_item_are_compared_by_z() -> None:
    first, second = of_confusion(IN_CONTEXT), of_confusion(NO_CONTEXT)
    renamed = Judgments(second.frame.with_columns(item="other " + second.frame["item"]), "other")
    comparison = compare_tables(first, renamed, rng=generator(0), error="simple")
    assert comparison.test.z == pytest.approx(1.710226, abs=5e-7)  # Lee et al. 2009, note 5
    assert comparison.n_items == 3680


def test_same_table_twice_does_not_differ() -> None:
    table = raters(80, 0.9, 0.9)
    test = compare_tables(table, table, rng=generator(0)).test
    assert test.difference.value == 0
    assert test.p == 1


def test_shared_items_make_the_test_sharper() -> None:
    # Two pairs who see the same hard items: their kappas rise and fall together.
    rng = generator(8)
    hard = rng.random(300) < 0.5
    rows = [[0, int(is_hard), 0, int(is_hard) if rng.random() < 0.95 else 0] for is_hard in hard]
    rows = [[1 - cell for cell in row] if rng.random() < 0.5 else row for row in rows]
    codes = coded(of_matrix(rows))
    paired = compare_pairs(codes, ("r0", "r1"), ("r2", "r3"), rng=generator(0)).test
    tables = [confusion_of(rows, 0, 1), confusion_of(rows, 2, 3)]
    apart = independent_test(*tables)
    assert paired.difference.value == pytest.approx(apart.difference.value)
    assert paired.p < apart.p / 5


def confusion_of(rows: list[list[int]], first: int, second: int) -> Confusion:
    cells = np.zeros((2, 2), np.int64)
    for row in rows:
        cells[row[first], row[second]] += 1
    return confusion(cells, ("0", "1"))


@pytest.mark.parametrize(("n_tests", "least", "most"), [(40, 0, 7), pytest.param(150, 1, 17, marks=pytest.mark.slow)])
def test_dependent_test_holds_its_level(n_tests: int, least: int, most: int) -> None:
    # Four raters of equal skill: a test at .05 should be significant about one time in twenty.  Of 40 such tests none
    # is with probability .13, more than seven with .0007; of 150 none with .0005.
    n_significant = 0
    for seed in range(n_tests):
        codes = coded(raters(60, 0.85, 0.85, 0.85, 0.85, seed=seed))
        test = compare_pairs(codes, ("r0", "r1"), ("r2", "r3"), rng=generator(seed)).test
        n_significant += test.p < 0.05
    assert least <= n_significant <= most


def test_more_raters_are_compared_by_alpha() -> None:
    good, poor = raters(150, 0.95, 0.95, 0.95), raters(150, 0.7, 0.7, 0.7, seed=1)
    comparison = compare_tables(good, poor, rng=generator(0))
    assert comparison.coefficient == "alpha"
    assert comparison.test.difference.low > 0
    other = compare_tables(good, raters(150, 0.7, 0.7, 0.7, first=1), rng=generator(0))
    assert (other.test.method, other.n_items) == ("delta", 300)
    assert other.test.z > 3


def test_unknown_rater_is_answered_with_the_nearest() -> None:
    codes = coded(judgments("a Ann x", "a Bob y"))
    with pytest.raises(GraterError, match="Did you mean 'Ann'"):
        compare_pairs(codes, ("Anne", "Bob"), ("Ann", "Bob"), rng=generator(0))


def test_undefined_kappa_gives_no_p() -> None:
    test = independent_test(confusion([[5, 0], [0, 0]], ("a", "b")), IN_CONTEXT)
    assert test.difference.undefined_because == "one of the two is undefined"
    assert Comparison("kappa", 5, test).to_dict()["p"] is None


def test_different_items_cannot_be_paired() -> None:
    rows = np.array([[2, 0]]), np.array([[2, 0], [1, 1]])
    with pytest.raises(GraterError, match="found 1 and 2"):
        dependent_test(fleiss(np.eye(2)), fleiss(np.eye(2)), rows, rng=generator(0))
