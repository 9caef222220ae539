import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from grater.errors import GraterError
from grater.measure import units as coded_module
from grater.measure.units import coded, from_rows, tally
from grater.tables import Judgments
from grater.uncertainty import Ints
from tests.examples import examples
from tests.measure.agreement.tables import judgments, krippendorff_matrix, of_matrix

TABLES = arrays(np.int64, st.tuples(st.integers(0, 12), st.integers(1, 4)), elements=st.integers(0, 9))


def test_items_with_equal_counts_are_one_pattern() -> None:
    counts = tally(judgments("a 1 x", "a 2 y", "b 1 y", "b 2 x", "c 1 x", "c 2 x"))
    assert counts.patterns.tolist() == [[1, 1], [2, 0]]
    assert counts.n_items.tolist() == [2, 1]
    assert (counts.labels, counts.n_compared, counts.n_judgments) == (("x", "y"), 3, 6)


def test_item_with_one_judgment_is_left_out_and_counted() -> None:
    counts = tally(of_matrix(krippendorff_matrix()))
    assert (counts.n_compared, counts.n_left_out, counts.n_judgments) == (11, 1, 40)  # Krippendorff 2011: n.. = 40


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical])
def test_frame_and_codes_give_the_same_counts(kind: pl.DataType) -> None:
    table = of_matrix(krippendorff_matrix())
    frame = Judgments(table.frame.cast(kind), "frame")
    ours, theirs = tally(frame), tally(coded(table))
    assert (ours.patterns == theirs.patterns).all()
    assert (ours.n_items == theirs.n_items).all()


@pytest.mark.parametrize("n_labels", [2, 3, 12])
def test_counts_do_not_depend_on_the_order_of_rows(n_labels: int) -> None:
    rng = np.random.default_rng(7)
    item = np.repeat(rng.permutation(900), rng.integers(1, 20, 900))
    label = rng.integers(0, n_labels - 1, item.size)
    label[-1] = n_labels - 1  # a label that the first thousands of rows do not show
    frame = pl.DataFrame({"item": item, "rater": np.arange(item.size), "label": label}).cast(pl.String)
    together, apart = (
        tally(Judgments(rows.cast(pl.Categorical), "rows"))
        for rows in (frame, frame.sample(fraction=1, shuffle=True))
    )
    assert together.labels == apart.labels
    assert together.patterns.tolist() == apart.patterns.tolist()
    assert together.n_items.tolist() == apart.n_items.tolist()
    assert together.n_left_out == apart.n_left_out
    assert together.n_judgments + together.n_left_out == item.size


@given(TABLES)
@examples(60)
def test_patterns_are_the_distinct_rows(rows: Ints) -> None:
    counts = from_rows(rows, tuple("wxyz"[: rows.shape[1]]), unit_of=np.arange(len(rows)))
    expected, n_times = np.unique(rows[rows.sum(axis=1) > 1], axis=0, return_counts=True)
    assert counts.patterns.tolist() == expected.tolist()
    assert counts.n_items.tolist() == n_times.tolist()
    assert counts.place is not None
    assert counts.patterns[counts.place].tolist() == rows[rows.sum(axis=1) > 1].tolist()


def test_patterns_of_many_labels_do_not_overflow() -> None:
    rows = np.zeros((4, 70), np.int64)
    rows[:, 0], rows[1:3, 69] = 2, 9
    counts = from_rows(rows, tuple(map(str, range(70))))
    assert counts.n_items.tolist() == [2, 2]
    assert counts.patterns[1, 69] == 9


def test_too_many_labels_for_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coded_module, "MOST_CELLS", 5)
    with pytest.raises(GraterError, match="at most 2 different labels for 2 items, found 3"):
        tally(coded(judgments("a 1 x", "a 2 y", "b 1 z")))


def test_no_item_at_all_is_no_pattern() -> None:
    assert from_rows(np.zeros((0, 2), np.int64), ("x", "y")).n_compared == 0


@pytest.mark.parametrize("n_each", [5, 300])
def test_items_with_equally_many_judgments_are_counted_as_when_their_rows_are_shuffled(n_each: int) -> None:
    rng = np.random.default_rng(0)
    items = np.repeat([f"i{number}" for number in range(12)], n_each)
    raters = [f"r{number}" for number in range(n_each)] * 12
    frame = pl.DataFrame({"item": items, "rater": raters, "label": rng.choice(["a", "b", "c"], 12 * n_each)})
    together, apart = (
        tally(Judgments(each, "x")) for each in (frame, frame.sample(fraction=1.0, shuffle=True, seed=1))
    )
    assert together.patterns.tolist() == apart.patterns.tolist()
    assert together.n_items.tolist() == apart.n_items.tolist()
