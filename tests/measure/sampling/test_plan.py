"""How many items a wanted width takes, in hours and money, by each way of sampling."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.errors import GraterError, UsageError
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
from grater.tables import read_decisions
from grater.uncertainty import Population
from grater.uncertainty.sampled import Strata, sample_scores
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


@pytest.mark.parametrize("size", [2, 3, 5, 10, 15, 20])
def test_a_tiny_corpus_is_judged_whole_and_never_more(size: int) -> None:
    rows = plan(Expected(0.1, 0.8, 0.13, size, population="these"), 0.05).rows
    by_method = {row.method: row for row in rows}
    for method in ("sampling", "ours"):
        assert by_method[method].items == size
        assert by_method[method].width < 1e-6


def test_what_was_assumed_is_reported_with_the_error_rate_that_follows() -> None:
    # issue 34, defect 12: --width .1 --recall .2 assumed 40 % errors without saying so
    found = plan(expected_of(recall=0.2), 0.1)
    assert found.warnings == (
        "flag rate and precision are assumed, which makes 40.0% of all items errors; give your own",
    )
    assert found.to_dict()["expected"]["assumed"] == ["flag rate", "precision"]  # type: ignore[index, call-overload]
    assert found.to_dict()["expected"]["error_rate"] == pytest.approx(0.4)  # type: ignore[index, call-overload]
    assert found.to_dict()["warnings"] == list(found.warnings)
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
    upward = assign_strata(decisions_of({"S": MARKS}, SCORES), "S", strata="score:5")
    downward = assign_strata(decisions_of({"S": MARKS}, [-score for score in SCORES]), "S", strata="score:5")
    assert upward.filter(pl.col("stratum") == "unflagged 3")["item"].to_list()[-1] == "item-00089"
    assert upward.equals(downward)
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


@pytest.mark.parametrize(
    ("strata", "message"),
    [
        ("score:1", "N from 2 to 100"),
        ("score:many", "N from 2 to 100"),
        ("type+score:1", "N from 2 to 100"),
        ("length", "expected the strata decision, type, score:N, type\\+score:N or label"),
        ("label", "the labels of a cheap rater"),
        ("score:4", "expected a score for every item, found 90 without"),
    ],
)
def test_wrong_strata_are_answered_in_one_line(strata: str, message: str) -> None:
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
    # Neyman needs rates.
    with pytest.raises(UsageError, match="error rate for stratum 'unflagged'"):
        allocate(TWO, 100, method="neyman", rates={"flagged": 0.8})
    with pytest.raises(UsageError, match="from 0 to 1"):
        allocate(TWO, 100, method="neyman", rates={"flagged": 8, "unflagged": 0.1})
    # More than there is and less than two each are refused.
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
