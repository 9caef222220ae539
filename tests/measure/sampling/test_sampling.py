"""How many items a wanted width takes, in hours and money, by each way of sampling; which are drawn."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.errors import BadInput, GraterError, UsageError
from grater.measure.evaluation.cases import error_shares
from grater.measure.sampling.draw import add_system, crossed, draw_sample, drawn, draws_of, to_judge, with_numbers
from grater.measure.sampling.plan import (
    WIDEST,
    Allocation,
    Expected,
    PlanRow,
    Stratification,
    allocate,
    assign_strata,
    decisions_hash,
    expected_of,
    more_needed,
    plan,
    recall_warning,
    recall_width,
    strata_of,
)
from grater.tables import Sample, Table, read_decisions, read_sample, write_table
from grater.uncertainty import Population, permanent_number
from grater.uncertainty.sampled import Strata, sample_scores
from tests.each import for_each
from tests.measure.sampling.corpora import decisions_of, oracle

FLAGS = np.array([True, False])


def strata(*cells: tuple[float, float, float], population: Population = "these") -> Strata:
    """Cells of size, judged items and errors."""
    sizes, judged, errors = (np.array([column], float) for column in zip(*cells, strict=True))
    return Strata(sizes, judged, errors, population=population)


def rows(expected: Expected, width: float = 0.1, **options: object) -> dict[str, PlanRow]:
    return {row.method: row for row in plan(expected, width, **options).rows}  # type: ignore[arg-type]


def test_a_thousand_errors_at_a_tenth_take_eighty_hours() -> None:
    # T&C 2008, section 6: 10,000 items, 500 in 4 hours
    tenth = Expected(0.1, 0.8, missed=0.02 / 0.9)
    found = rows(tenth, errors=1000)["exhaustive"]
    assert (found.items, found.hours) == pytest.approx((10_000, 80))


def test_every_way_reaches_the_width_with_no_item_to_spare() -> None:
    expected = Expected(0.1, 0.8, 0.02)
    found = rows(expected)
    assert list(found) == ["exhaustive", "verification", "sampling", "ours"]
    assert all(row.width <= 0.1 for row in found.values())
    ours = found["ours"]
    shares = [ours.flagged / ours.items, 1 - ours.flagged / ours.items]
    n = [0.99 * ours.items * share for share in shares]
    fewer = strata((0.1, n[0], 0.8 * n[0]), (0.9, n[1], 0.02 * n[1]), population="wider")
    assert recall_width(fewer, FLAGS) > 0.1


@for_each([2, 3, 5, 10, 15, 20])
def test_a_tiny_corpus_is_judged_whole_and_never_more(size: int) -> None:
    found = rows(Expected(0.1, 0.8, 0.13, size, population="these"), 0.05)
    for method in ("sampling", "ours"):
        assert found[method].items == size
        assert found[method].width < 1e-6


def test_what_was_assumed_is_reported_with_the_error_rate_that_follows() -> None:
    # issue 34, defect 12: --width .1 --recall .2 assumed 40 % errors without saying so
    found = plan(expected_of(recall=0.2), 0.1)
    assert found.warnings == (
        "flag rate and precision are assumed, which makes 40.0% of all items errors; give your own",
    )
    made: Any = found.to_dict()
    assert made["expected"]["assumed"] == ["flag rate", "precision"]
    assert made["expected"]["error_rate"] == pytest.approx(0.4)
    assert made["warnings"] == list(found.warnings)
    assert "flag rate .100 (assumed), precision .800 (assumed), recall .200, error rate .400" in repr(found)


def test_more_judgments_bring_the_width_down_as_promised() -> None:
    cells = ((1000, 60, 48), (9000, 120, 20))
    these, wider = strata(*cells), strata(*cells, population="wider")
    assert recall_width(these, FLAGS) > 0.1
    more = more_needed(these, FLAGS, 0.1)
    assert more is not None
    assert more > 0
    assert more_needed(these, FLAGS, 0.05) > more  # type: ignore[operator]
    assert more_needed(these, FLAGS, 0.9) == 0
    assert more_needed(wider, FLAGS, 0.1) >= more  # type: ignore[operator]
    # The whole corpus is always enough, and no number is where recall is undefined.
    assert more_needed(strata((100, 10, 8), (900, 10, 1)), FLAGS, 1e-9) == 980
    assert more_needed(strata((0.1, 10, 0), (0.9, 10, 0), population="wider"), FLAGS, 0.1) is None


def test_essays_that_differ_need_more_judgments_than_independent_items() -> None:
    by_essay = Strata(
        sizes=np.tile([20.0, 180.0], (10, 1)),
        judged=np.tile([6.0, 30.0], (10, 1)),
        errors=np.array([[6.0, 0.0]] * 5 + [[2.0, 8.0]] * 5),
        unit="essay",
    )
    items = strata((200, 60, 40), (1800, 300, 40), population="wider")
    assert recall_width(by_essay, FLAGS) > recall_width(items, FLAGS)
    assert more_needed(by_essay, FLAGS, 0.25) > more_needed(items, FLAGS, 0.25)  # type: ignore[operator]


def test_a_sample_that_cannot_measure_recall_says_how_many_more_to_judge() -> None:
    # at 1 to 2 % errors recall is valid but wide (statistics.md, "Where it does not hold")
    few = strata((100, 30, 24), (2900, 60, 1), population="wider")
    n = more_needed(few, FLAGS, WIDEST, ~FLAGS)
    assert n is not None
    assert recall_warning(few, FLAGS) == f"this sample cannot measure recall; judge about {n:,} more unflagged items"
    enough = strata((100, 30, 24), (2900, 60 + n, (60 + n) / 60), population="wider")
    assert sample_scores(enough, FLAGS).recall.value == pytest.approx(sample_scores(few, FLAGS).recall.value)
    assert recall_width(enough, FLAGS) <= 0.5 < recall_width(few, FLAGS)
    assert not recall_warning(enough, FLAGS)


MARKS = [True] * 10 + [False] * 80
SCORES = [0.9 + place / 1000 for place in range(10)] + [place / 200 for place in range(80)]


def sizes(frame: pl.DataFrame) -> dict[str, float]:
    strata = strata_of(frame)
    return dict(zip(strata.names, strata.sizes.tolist(), strict=True))


def test_strata_by_scores_and_by_a_cheap_label() -> None:
    # Scores cut flags evenly and the rest by halves.
    found = assign_strata(decisions_of({"S": MARKS}, SCORES), "S", strata="score:5")
    assert sizes(found) == {"flagged 1": 5, "flagged 2": 5, "unflagged 1": 40, "unflagged 2": 20, "unflagged 3": 20}
    # The small parts are nearest to the flags in whatever direction scores run.
    downward = assign_strata(decisions_of({"S": MARKS}, [-score for score in SCORES]), "S", strata="score:5")
    assert found.filter(pl.col("stratum") == "unflagged 3")["item"].to_list()[-1] == "item-00089"
    assert found.equals(downward)
    # The order of rows changes no stratum.
    table = decisions_of({"S": MARKS}, SCORES)
    shuffled = read_decisions(table.frame.sample(fraction=1, shuffle=True, seed=1))
    for strata in ("decision", "score:7"):
        assert assign_strata(table, "S", strata=strata).equals(assign_strata(shuffled, "S", strata=strata))
    assert decisions_hash(table, "S") == decisions_hash(shuffled, "S")
    # Decisions are crossed with a cheap label.
    labels = oracle([place % 4 == 0 for place in range(90)])
    found = assign_strata(decisions_of({"S": MARKS}), "S", strata="label", labels=labels)
    # of items 0 to 9 the cheap rater calls 0, 4 and 8 errors; of 10 to 89, 12, 16, ... 88
    assert sizes(found) == {"flagged error": 3, "flagged ok": 7, "unflagged error": 20, "unflagged ok": 60}


def test_edits_are_drawn_by_type_and_within_large_types_by_score() -> None:
    types = ["R:DET"] * 60 + ["M:PREP"] * 40 + ["U:NOUN"] * 5
    table = decisions_of({"S": [True] * 105}, [place / 105 for place in range(105)])
    typed = read_decisions(table.frame.with_columns(type=pl.Series(types)))
    found = assign_strata(typed, "S", strata="type+score:3")
    det = {"flagged R:DET 1": 20, "flagged R:DET 2": 20, "flagged R:DET 3": 20}
    assert sizes(found) == {**det, "flagged M:PREP": 40, "flagged other": 5}
    assert set(found.filter(stratum="flagged R:DET 1")["item"]) == set(table.frame["item"][:20])


def test_wrong_strata_are_answered_in_one_line() -> None:
    for strata, message in (
        ("score:1", "N from 2 to 100"),
        ("score:many", "N from 2 to 100"),
        ("type+score:1", "N from 2 to 100"),
        ("length", "expected the strata decision, type, score:N, type\\+score:N or label"),
        ("label", "the labels of a cheap rater"),
        ("score:4", "expected a score for every item, found 90 without"),
    ):
        with pytest.raises(GraterError, match=message):
            assign_strata(decisions_of({"S": MARKS}), "S", strata=strata)


def cut(names: list[str], flags: list[bool], sizes: list[float]) -> Stratification:
    return Stratification(tuple(names), np.array(flags), np.array(sizes, float), np.full(len(names), np.nan))


TWO = cut(["flagged", "unflagged"], [True, False], [1000, 9000])
FOUR = cut(["a", "b", "c", "d"], [True, True, False, False], [100, 300, 600, 3000])


def test_items_are_shared_out_equally_by_the_papers_rule_by_size_and_by_neyman() -> None:
    assert allocate(TWO, 1800, method="equal") == {"flagged": 900, "unflagged": 900}
    assert allocate(TWO, 1800, method="proportional") == {"flagged": 180, "unflagged": 1620}
    # T&C 2008, 6.3: the OK sample twice the Error sample, and by size within a side.
    assert allocate(TWO, 1800, method="paper") == {"flagged": 600, "unflagged": 1200}
    assert allocate(FOUR, 300) == {"a": 25, "b": 75, "c": 33, "d": 167}
    # What a small stratum cannot give comes from the other.
    assert allocate(TWO, 2250, method="equal") == {"flagged": 1000, "unflagged": 1250}
    # Neyman goes by spread and by distance from recall.
    # hits 800, misses 180: R = .816327; weights 1000 * .183673 * .4 = 73.47 and 9000 * .816327 * .14 = 1028.57
    found = allocate(TWO, 1000, method="neyman", rates={"flagged": 0.8, "unflagged": 0.02})
    assert found == {"flagged": 67, "unflagged": 933}
    with pytest.raises(UsageError, match="error rate for stratum 'unflagged'"):
        allocate(TWO, 100, method="neyman", rates={"flagged": 0.8})
    with pytest.raises(UsageError, match="from 0 to 1"):
        allocate(TWO, 100, method="neyman", rates={"flagged": 8, "unflagged": 0.1})
    for n in (3, 10_001):  # at least two of each stratum, and not more than there are
        with pytest.raises(UsageError, match="expected from 4 to 10000 items"):
            allocate(TWO, n)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(1, 400), st.floats(0, 1)), min_size=1, max_size=8),
    st.sampled_from(["equal", "paper", "proportional", "neyman"]),
    st.floats(0, 1),
)
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


# Drawing


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
