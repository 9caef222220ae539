from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from grater.errors import BadInput, GraterError
from grater.measure.evaluation.cases import error_shares
from grater.measure.sampling.draw import add_system, crossed, draw_sample, drawn, draws_of, to_judge, with_numbers
from grater.measure.sampling.plan import assign_strata, recall_width
from grater.tables import Sample, Table, read_decisions, read_sample, write_table
from grater.uncertainty import permanent_number
from grater.uncertainty.sampled import Strata
from tests.measure.sampling.corpora import decisions_of, oracle

OLD = [place < 1000 for place in range(10_000)]
NEW = [350 <= place < 1350 for place in range(10_000)]
"""A version that shares 650 of its 1,000 flags with the old one."""


@pytest.fixture(scope="module")
def two() -> Table:
    return decisions_of({"A": OLD, "B": NEW})


@pytest.fixture(scope="module")
def first(two: Table) -> Sample:
    return draw_sample(two, "A", 2250)


def test_a_draw_takes_the_smallest_numbers_of_each_stratum() -> None:
    sample = draw_sample(decisions_of({"S": [True] * 20 + [False] * 80}), "S", 15, n_flagged=5, seed=7)
    numbers = sorted(permanent_number(7, f"item-{place:05}") for place in range(20))
    taken = sample.frame.filter(pl.col("stratum") == "flagged").sort("random")
    assert taken["random"].to_list() == numbers[:5]
    assert taken["probability"].unique().to_list() == [0.25]
    assert sample.frame["stratum_size"].unique().sort().to_list() == [20, 80]


def test_sizes_are_exact_and_the_threshold_tells_who_was_drawn(two: Table, first: Sample) -> None:
    assert len(first) == 2250
    draw = draws_of(first)[0]
    assert {name: (each.size, each.n) for name, each in draw.by_stratum.items()} == {
        "flagged": (1000, 750),
        "unflagged": (9000, 1500),
    }
    again = drawn(with_numbers(assign_strata(two, "A"), 0), draw.by_stratum).filter("is_drawn")
    assert set(again["item"]) == set(first.frame["item"])


def test_the_union_includes_an_item_with_the_largest_of_its_chances(two: Table, first: Sample) -> None:
    union = add_system(first, two, "B")
    cells = union.frame.group_by("item").agg(
        pl.col("stratum").sort_by("system").str.join("/"), pl.col("probability").first()
    )
    found = dict(cells.group_by("stratum").agg(pl.col("probability").unique().first()).iter_rows())
    assert found == pytest.approx(
        {"flagged/flagged": 0.75, "flagged/unflagged": 0.75, "unflagged/flagged": 0.75, "unflagged/unflagged": 1 / 6}
    )


def test_chances_are_what_happens_over_many_seeds() -> None:
    table = decisions_of({"A": [place < 20 for place in range(100)], "B": [10 <= place < 30 for place in range(100)]})
    counts, chances = np.zeros(100), np.zeros(100)
    for seed in range(60):
        sample = add_system(draw_sample(table, "A", 30, n_flagged=10, seed=seed), table, "B")
        whole = crossed(table, sample).sort("item")
        counts += whole["is_drawn"].to_numpy()
        chances += whole["probability"].to_numpy()
    for part in (slice(0, 10), slice(10, 20), slice(20, 30), slice(30, 100)):
        # thresholds differ a little from chances, so the union takes a little more than the largest chance
        assert counts[part].sum() / chances[part].sum() == pytest.approx(1.05, abs=0.1)


def test_a_sample_comes_back_from_its_file_and_takes_a_system(two: Table, first: Sample, tmp_path: Path) -> None:
    write_table(first, tmp_path / "sample.csv")
    back = read_sample(tmp_path / "sample.csv")
    assert draws_of(back) == draws_of(first)
    assert set(add_system(back, two, "B").frame["item"]) == set(add_system(first, two, "B").frame["item"])


def test_a_sample_of_another_corpus_other_decisions_or_from_elsewhere_cannot_take_a_system(
    two: Table, first: Sample
) -> None:
    smaller = two.frame.filter(pl.col("item") != "item-09999")
    part = two.frame.filter((pl.col("system") == "A") | (pl.col("item") < "item-05000"))
    for frame in (smaller, part):
        with pytest.raises(BadInput, match="was drawn from another corpus"):
            add_system(first, read_decisions(frame), "B")
    with pytest.raises(
        BadInput, match=r"expected the decisions of 'A' as they were .* give the new version a new name"
    ):
        add_system(first, decisions_of({"A": NEW, "B": NEW}), "B")
    with pytest.raises(BadInput, match=r"keep NAME\.meta\.json next to the file"):
        add_system(Sample(first.frame, "theirs.csv"), two, "B")


def test_five_new_flags_ask_for_about_three_labels_and_no_more() -> None:
    # 5 flags (3/4 - 1/6) = 2.9; version 0.1 drew for a whole sample once more
    more, fewer = ([start <= place < 1005 for place in range(10_000)] for start in (0, 1000))
    table = decisions_of({"A": OLD, "more": more, "fewer": fewer})
    first = draw_sample(table, "A", 2250)
    judged = first.frame["item"].to_list()
    for name in ("more", "fewer"):
        assert len(to_judge(add_system(first, table, name), judged)) <= 5


@pytest.mark.parametrize("wanted", [[0.12, 0.07], pytest.param([0.12, 0.09, 0.07], marks=pytest.mark.slow)], ids=len)
def test_a_wanted_width_is_reached_with_few_new_labels(wanted: list[float]) -> None:
    table = decisions_of({"A": OLD, "B": NEW})
    truth = [place < 800 or 1000 <= place < 1300 or place % 50 == 0 for place in range(len(OLD))]
    first = draw_sample(table, "A", 600)
    drawn = set(first.frame["item"])
    judgments = oracle(truth)
    so_far = replace(judgments, frame=judgments.frame.filter(pl.col("item").is_in(drawn)))
    errors = error_shares(so_far)
    numbers, widths = [], []
    for width in wanted:
        union = add_system(first, table, "B", width=width, errors=errors)
        numbers.append(len(to_judge(union, drawn)))
        cells = crossed(table, union).join(
            pl.DataFrame({"item": judgments.frame["item"], "is_error": truth}), on="item"
        )
        rows = cells.group_by("stratum 0", "stratum 1").agg(
            pl.len(), pl.col("is_drawn").sum(), errors=(pl.col("is_drawn") & pl.col("is_error")).sum()
        )
        strata = Strata(*(rows[name].to_numpy()[None].astype(float) for name in ("len", "is_drawn", "errors")))
        widths.append(recall_width(strata, (rows["stratum 1"] == "flagged").to_numpy()))
    assert numbers == sorted(numbers)
    assert numbers[0] < numbers[-1] < 2000
    assert widths == pytest.approx(wanted, rel=0.1)
    with pytest.raises(GraterError, match="expected judgments with a target width"):
        add_system(first, table, "B", width=0.1)
