import numpy as np
import polars as pl
import pytest

from grater.measure.agreement.summary import (
    Comparison,
    agreement,
    agreement_by_group,
    by_column,
    compare_pairs,
    compare_tables,
    independent_test,
    without_flagged,
)
from grater.measure.units import coded
from grater.tables import Judgments, read_items
from grater.uncertainty import generator
from tests.measure.agreement.tables import IN_CONTEXT, NO_CONTEXT, confusion, judgments, of_confusion, of_matrix

ROWS = ("a 1 x", "a 2 x", "b 1 x", "b 2 y", "c 1 y", "c 2 y", "d 1 y", "d 2 x")


def test_parts_by_a_column_of_judgments_or_items_are_in_the_order_of_its_values() -> None:
    places = judgments(*ROWS, place=[10, 10, 9, 9, 9, 9, None, 10])
    assert {name: len(part) for name, part in by_column(places, "place").items()} == {"(none)": 1, "10": 3, "9": 4}
    assert list(by_column(judgments(*ROWS, place=[10, 9] * 4), "place")) == ["9", "10"]
    where = {"essay": "e", "start": 0, "end": 1, "kind": "prep"}
    items = read_items(pl.DataFrame({"item": list("abc"), **where, "mention": ["first", "new", "first"]}))
    parts = by_column(judgments(*ROWS), "mention", items=items)
    assert {name: len(part) for name, part in parts.items()} == {"(none)": 2, "first": 4, "new": 2}


def test_flagged_by_any_takes_out_more_than_flagged_by_all() -> None:
    flags = ["spelling", None, "spelling|style", "grammar", "style", None, None, None]
    table = judgments(*ROWS, flags=flags)
    named = ("spelling", "grammar")
    assert set(without_flagged(table, named, by="any").frame["item"]) == {"c", "d"}
    assert set(without_flagged(table, named, by="all").frame["item"]) == {"a", "c", "d"}
    assert without_flagged(table, named, by="any").dropped == {"item flagged spelling or grammar by any rater": 4}


def test_range_and_tests_over_parts() -> None:
    table = judgments(*(row.replace(" ", f"{copy} ", 1) for copy in range(8) for row in ROWS))
    half = table.frame["item"].str.slice(1).cast(pl.Int64) < 4
    table = Judgments(table.frame.with_columns(half=half), "table")
    found = agreement_by_group(by_column(table, "half"), agreement, by="half")
    assert found.range == (0.0, 0.0)
    [test] = found.tests
    assert test.groups == ("false", "true")
    assert test.test.p == pytest.approx(1)


def raters(n_items: int, *skills: float, seed: int = 0, first: int = 0) -> Judgments:
    """Raters who see the truth as often as their skill says."""
    rng = generator(seed, "raters")
    truth = rng.integers(0, 2, size=n_items)
    rows = [[int(label) if rng.random() < skill else 1 - int(label) for skill in skills] for label in truth]
    table = of_matrix(rows)
    return Judgments(table.frame.with_columns(item="x" + str(first) + table.frame["item"]), "table")


def test_tables_without_a_common_item_are_compared_as_two_samples() -> None:
    first, second = of_confusion(IN_CONTEXT), of_confusion(NO_CONTEXT)
    renamed = Judgments(second.frame.with_columns(item="other " + second.frame["item"]), "other")
    comparison = compare_tables(first, renamed)
    assert comparison.test.method == "two samples"
    assert comparison.test.difference.value == pytest.approx(0.597853 - 0.550228, abs=1e-6)
    by_fce = independent_test(IN_CONTEXT, NO_CONTEXT)
    assert by_fce.z == pytest.approx(1.758089, abs=5e-7)  # statistics.md, golden
    assert comparison.test.p == pytest.approx(by_fce.p, abs=0.002)
    assert comparison.n_items == 3680


def test_shared_items_make_the_test_sharper() -> None:
    # Two pairs who see the same hard items: their kappas rise and fall together.
    rng = generator(8)
    hard = rng.random(300) < 0.5
    rows = [[0, int(is_hard), 0, int(is_hard) if rng.random() < 0.95 else 0] for is_hard in hard]
    rows = [[1 - cell for cell in row] if rng.random() < 0.5 else row for row in rows]
    codes = coded(of_matrix(rows))
    paired = compare_pairs(codes, ("r0", "r1"), ("r2", "r3")).test
    first, second = (np.zeros((2, 2), np.int64) for _ in range(2))
    for a, b, c, d in rows:
        first[a, b] += 1
        second[c, d] += 1
    apart = independent_test(confusion(first, "01"), confusion(second, "01"))
    assert paired.difference.value == pytest.approx(apart.difference.value)
    assert paired.p < apart.p / 5


@pytest.mark.parametrize(("n_tests", "least", "most"), [(40, 0, 7), pytest.param(150, 1, 17, marks=pytest.mark.slow)])
def test_dependent_test_holds_its_level(n_tests: int, least: int, most: int) -> None:
    # Four raters of equal skill: a test at .05 should be significant about one time in twenty.  Of 40 such tests none
    # is with probability .13, more than seven with .0007; of 150 none with .0005.
    n_significant = 0
    for seed in range(n_tests):
        codes = coded(raters(60, 0.85, 0.85, 0.85, 0.85, seed=seed))
        test = compare_pairs(codes, ("r0", "r1"), ("r2", "r3")).test
        n_significant += test.p < 0.05
    assert least <= n_significant <= most


def test_more_raters_are_compared_by_alpha() -> None:
    good, poor = raters(150, 0.95, 0.95, 0.95), raters(150, 0.7, 0.7, 0.7, seed=1)
    comparison = compare_tables(good, poor)
    assert comparison.coefficient == "alpha"
    assert comparison.test.difference.low > 0
    other = compare_tables(good, raters(150, 0.7, 0.7, 0.7, first=1))
    assert (other.test.method, other.n_items) == ("two samples", 300)
    assert other.test.p < 0.001


def test_undefined_kappa_gives_no_p() -> None:
    test = independent_test(confusion([[5, 0], [0, 0]], ("a", "b")), IN_CONTEXT)
    assert test.difference.undefined_because == "one of the two is undefined"
    assert Comparison("kappa", 5, test).to_dict()["p"] is None
