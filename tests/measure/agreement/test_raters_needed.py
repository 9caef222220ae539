"""How many raters reach experts or known answers, and what the number speaks of."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import isnan
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import grater
from grater.errors import GraterError
from grater.measure.agreement.raters_needed import MEAN, RatersNeeded, raters_needed, win_probabilities
from grater.tables import Judgments
from grater.uncertainty import Basis, wilson
from tests.cli.running import grater as run
from tests.examples import examples
from tests.measure.agreement.tables import judgments

COUNTS = st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(lambda counts: 0 < sum(counts) <= 9)


def by_enumeration(counts: list[int]) -> list[list[Fraction]]:
    """Every draw of every size, one by one."""
    bag = [label for label, n in enumerate(counts) for _ in range(n)]
    table = [[Fraction(0)] * len(bag) for _ in counts]
    for size in range(1, len(bag) + 1):
        draws = list(combinations(bag, size))
        for draw in draws:
            most = max(draw.count(label) for label in set(draw))
            winners = [label for label in set(draw) if draw.count(label) == most]
            for label in winners:
                table[label][size - 1] += Fraction(1, len(winners) * len(draws))
    return table


@examples(40)
@given(COUNTS)
def test_exact_wins_are_those_of_all_draws(counts: list[int]) -> None:
    expected = [[float(share) for share in row] for row in by_enumeration(counts)]
    assert win_probabilities(counts) == pytest.approx(np.array(expected), abs=1e-12)


def crowd_of(*items: str) -> Judgments:
    """Labels of each item's raters, a letter each."""
    return judgments(
        *(f"i{n} w{rater} {label}" for n, labels in enumerate(items) for rater, label in enumerate(labels))
    )


def experts_of(**experts: str) -> Judgments:
    return judgments(
        *(
            f"i{n} {name} {label}"
            for name, labels in experts.items()
            for n, label in enumerate(labels)
            if label != "-"
        )
    )


def values(found: RatersNeeded, against: str, what: str = "kappa") -> list[float]:
    return [getattr(point, what).value for point in found.curve(against).points]


def test_the_curve_by_hand() -> None:
    # i0: aab, i1: bbb; the expert says a, b.  N = 1 and 2: i0 agrees in 2/3; N = 3: always
    found = raters_needed(crowd_of("aab", "bbb"), experts_of(E="ab"))
    assert values(found, "E", "agreement") == pytest.approx([5 / 6, 5 / 6, 1])
    # the expected table at N = 1: expert a: a 2/3, b 1/3; expert b: b 1; po 5/6, pe (1/2)(2/6) + (1/2)(4/6) = 1/2
    assert values(found, "E") == pytest.approx([2 / 3, 2 / 3, 1])


def test_experts_are_matched_with_each_other_or_with_the_writer() -> None:
    crowd = crowd_of(*["aab", "bba", "aab", "bbb", "aaa", "bbb"])
    experts = {"E": "abaaab", "F": "abbbab"}
    without = raters_needed(crowd, experts_of(**experts))
    assert [pair[:2] for pair in without.target.pairs] == [("E", "F")]
    with_writer = raters_needed(crowd, experts_of(**experts, writer="ababab"))
    assert [pair[:2] for pair in with_writer.target.pairs] == [("E", "writer"), ("F", "writer")]
    kappas = [pair[2] for pair in with_writer.target.pairs]
    assert with_writer.target.kappa.value == pytest.approx(sum(kappas) / 2)
    assert "writer" in with_writer.target.what


def test_the_smallest_crowd_that_reaches_the_experts() -> None:
    # E and F agree on 5 of 6: po 5/6, pe (3/6)(4/6) + (3/6)(2/6) = 1/2, kappa 2/3
    crowd = crowd_of(*["aab", "bba", "aab", "bba", "aab", "bba"])
    found = raters_needed(crowd, experts_of(E="ababab", F="ababaa"))
    assert found.target.kappa.value == pytest.approx(2 / 3)
    # N = 1: po with E 2/3, kappa 1/3; with F (5 * 2/3 + 1/3) / 6 = 11/18, pe 1/2, kappa 2/9: below; N = 3: 1 and 2/3
    assert values(found, MEAN) == pytest.approx([5 / 18, 5 / 18, 5 / 6])
    assert found.smallest.value == 3


def test_without_a_reachable_target_there_is_no_number() -> None:
    never = raters_needed(crowd_of("abb", "aab", "baa"), experts_of(E="aba", F="aba")).smallest
    alone = raters_needed(crowd_of("aab", "bbb"), experts_of(E="ab")).smallest
    assert isnan(never.value)
    assert isnan(alone.value)
    assert "stays below" in never.undefined_because
    assert "no two experts" in alone.undefined_because


def test_items_and_experts_that_one_side_lacks_are_left_out_and_counted() -> None:
    # Items with too few judgments are left out and counted.
    found = raters_needed(crowd_of("aab", "b", "ba"), experts_of(E="abb"))
    points = found.curve("E").points
    assert [(point.n_items, point.n_left_out) for point in points] == [(3, 0), (2, 1), (1, 2)]
    assert points[2].agreement.value == 1
    # An expert who skipped an item is compared on the others.
    found = raters_needed(crowd_of("aaa", "bbb", "aaa"), experts_of(E="ab-", F="aba"))
    assert [found.curve(name).points[0].n_items for name in ("E", "F")] == [2, 3]
    assert values(found, "E", "agreement") == pytest.approx([1, 1, 1])
    # Items of one side only are counted.
    found = raters_needed(crowd_of("aab", "bbb", "aaa"), experts_of(E="ab", F="ab"))
    assert (found.n_items, found.n_crowd_only, found.n_experts_only) == (2, 1, 0)
    assert any("1 items have no expert" in warning for warning in found.warnings)
    with pytest.raises(GraterError, match="found none of them"):
        raters_needed(judgments("x w a"), experts_of(E="ab"))


def simulated(seed: int = 1, n_items: int = 120, n_judgments: int = 9) -> tuple[Judgments, Judgments]:
    """Five labels; a crowd that is right in 55 % of its judgments and guesses otherwise, experts in 85 %."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 5, n_items)

    def answers(share: float, n: int) -> list[str]:
        right = rng.random((n_items, n)) < share
        labels = np.where(right, truth[:, None], rng.integers(0, 5, (n_items, n)))
        return ["".join("abcde"[label] for label in row) for row in labels.tolist()]

    experts = {name: "".join(answers(0.85, 1)) for name in ("E", "F")}
    return crowd_of(*answers(0.55, n_judgments)), experts_of(**experts)


def test_draws_come_near_the_exact_answer() -> None:
    crowd, experts = simulated()
    exact = raters_needed(crowd, experts)
    drawn = raters_needed(crowd, experts, n_draws=400)
    assert (exact.method, drawn.method) == ("exact", "draws")
    for what in ("agreement", "kappa"):
        # one draw of 120 items has a standard deviation of about .04: the mean of 400 is within .01
        assert values(drawn, "E", what) == pytest.approx(values(exact, "E", what), abs=0.01)
    widths = [[point.kappa.high - point.kappa.low for point in of.curve("E").points] for of in (exact, drawn)]
    assert widths[1] == pytest.approx(widths[0], abs=0.005)
    assert "draws:400" in str(drawn.signature)


def test_the_interval_of_the_smallest_number_inverts_the_tests_of_each_number() -> None:
    crowd, experts = simulated(n_items=200)
    found = raters_needed(crowd, experts)
    kappas, target = values(found, MEAN), found.target.kappa.value
    smallest = found.smallest
    assert smallest.value == 1 + next(n for n, kappa in enumerate(kappas) if kappa >= target - 1e-9)
    assert 1 <= smallest.low <= smallest.value <= smallest.high
    # Nothing is drawn, and the order of items and raters does not matter.
    again = raters_needed(Judgments(crowd.frame.reverse(), crowd.name), experts, basis=Basis(seed=9))
    assert again.smallest == smallest
    assert values(again, MEAN) == pytest.approx(kappas)
    drawn = raters_needed(crowd, experts, basis=Basis(interval="bootstrap", n_resamples=300)).smallest
    assert abs(drawn.low - smallest.low) <= 1


def skilled_crowd(skill: float, n_items: int, *, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Nine raters of one skill, and the truth; ten items to an essay."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(n_items) < 0.4, "error", "ok")
    wrong = {"error": "ok", "ok": "error"}
    rows = [
        (f"i{item}", f"r{rater}", label if rng.random() < skill else wrong[label], item // 10)
        for item, label in enumerate(truth.tolist())
        for rater in range(9)
    ]
    gold = pl.DataFrame({"item": [f"i{item}" for item in range(n_items)], "label": truth})
    return pl.DataFrame(rows, schema=["item", "rater", "label", "essay"], orient="row"), gold


def test_gold_takes_the_place_of_experts() -> None:
    judgments, gold = skilled_crowd(0.8, 300)
    needed = grater.raters_needed(judgments, gold=gold, reach=0.95)
    # Majorities of 3, 5, 7 and 9 raters who are right in 80 of 100 cases are right in .896, .942, .967 and .980
    # (binomial): the seventh is the first odd one to reach .95.
    assert needed.experts == ("gold",)
    assert needed.smallest.value in (5, 6, 7, 8)
    assert needed.smallest.low <= needed.smallest.value <= needed.smallest.high
    assert any("agrees on .95 of the items" in note for note in needed.sheets()[-1].notes)
    assert needed.to_dict()["reach"] == 0.95
    assert needed.sheets()[0].columns == ("raters", "items", "agreement", "kappa, gold")


def test_a_share_is_reached_with_experts_not_with_the_writer() -> None:
    judgments, gold = skilled_crowd(0.8, 60)
    experts = [gold.with_columns(rater=pl.lit(name)) for name in ("E", "writer")]
    both = grater.raters_needed(judgments, pl.concat(experts), reach=0.8)
    assert both.headline.against == "mean of experts"
    alone = grater.raters_needed(judgments, experts[1], reach=0.8)
    assert (alone.headline.against, alone.smallest.value) == ("writer", both.smallest.value)


def test_few_and_rare_items_and_gold_with_several_answers_are_warned_about() -> None:
    judgments, gold = skilled_crowd(0.8, 20)
    rare = gold.with_columns(label=pl.when(pl.col("item") == "i3").then(pl.lit("error")).otherwise(pl.lit("ok")))
    warnings = grater.raters_needed(judgments, gold=rare).warnings
    assert any(text.startswith("only 20 items in common") for text in warnings)
    assert any("another label than the most frequent one to 1.0 items" in text for text in warnings)
    assert any(text.startswith("only 2 essays") for text in warnings)
    several = gold.with_columns(
        label=pl.col("label") + pl.when(pl.col("item") == "i3").then(pl.lit("|a")).otherwise(pl.lit(""))
    )
    result = grater.raters_needed(judgments, gold=several)
    assert result.n_items == 19
    assert any("accept several labels" in text for text in result.warnings)


def test_command_reads_gold_with_columns_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judgments, gold = skilled_crowd(0.8, 60)
    judgments.write_csv(tmp_path / "crowd.csv")
    gold.rename({"item": "id", "label": "answer"}).write_csv(tmp_path / "gold.csv")
    options = ("--gold", tmp_path / "gold.csv", "--expert-columns", "item=id", "--expert-columns", "label=answer")
    result = run(capsys, "raters", "--needed", tmp_path / "crowd.csv", *options, "--reach", 0.8)
    assert result.status == 0
    assert "agrees on .80 of the items" in result.out
    assert run(capsys, "raters", "--needed", tmp_path / "crowd.csv").status == 2


def test_a_crowd_that_is_never_wrong_is_not_certain_to_be_right() -> None:
    judgments, gold = skilled_crowd(1.0, 75)
    needed = grater.raters_needed(judgments.drop("essay"), gold=gold, reach=0.98)
    for point in needed.headline.points:
        assert point.agreement.low == pytest.approx(wilson(75, 75).low)  # 0 wrong of 75 has the interval [0, .049]
        assert (point.kappa.value, np.isnan(point.kappa.low)) == (1, True)
    assert (needed.smallest.value, needed.smallest.high) == (1, np.inf)
    assert grater.raters_needed(judgments.drop("essay"), gold=gold, reach=0.95).smallest.high == 1
    of_one_label = gold.with_columns(label=pl.lit("ok"))
    kappa = grater.raters_needed(judgments, gold=of_one_label, reach=0.95).headline.points[0].kappa
    assert np.isnan(kappa.low)
    assert kappa.undefined_because == "the experts use only one label, so kappa is 0 whatever the crowd says"
