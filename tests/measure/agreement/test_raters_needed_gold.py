"""How many raters reach known answers, and what the number speaks of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import grater
from grater.errors import GraterError
from grater.measure.agreement.raters_needed import RatersNeeded
from grater.sheet import interval, number
from grater.uncertainty import wilson
from tests.cli.running import grater as run


def crowd_of(skill: float, n_items: int, *, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Nine raters of one skill, and the truth; ten items to an essay."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(n_items) < 0.4, "error", "ok")
    rows = [
        (f"i{item}", f"r{rater}", label if rng.random() < skill else ("ok" if label == "error" else "error"))
        for item, label in enumerate(truth)
        for rater in range(9)
    ]
    judgments = pl.DataFrame(rows, schema=["item", "rater", "label"], orient="row")
    essay = pl.col("item").str.slice(1).cast(pl.Int64) // 10
    gold = pl.DataFrame({"item": [f"i{item}" for item in range(n_items)], "label": truth})
    return judgments.with_columns(essay=essay), gold


@pytest.fixture(scope="module")
def needed() -> RatersNeeded:
    judgments, gold = crowd_of(0.8, 300)
    return grater.raters_needed(judgments, gold=gold, reach=0.95)


def test_gold_takes_the_place_of_experts(needed: RatersNeeded) -> None:
    # Majorities of 3, 5, 7 and 9 raters who are right in 80 of 100 cases are right in .896, .942, .967 and .980
    # (binomial): the seventh is the first odd one to reach .95.
    assert needed.experts == ("gold",)
    assert needed.smallest.value in (5, 6, 7, 8)
    assert needed.smallest.low <= needed.smallest.value <= needed.smallest.high
    assert any("agrees on .95 of the items" in note for note in needed.sheets()[-1].notes)
    assert needed.to_dict()["reach"] == 0.95
    assert needed.sheets()[0].columns == ("raters", "items", "agreement", "kappa, gold")


def test_a_share_to_reach_is_shown_and_drawn_as_agreement_with_its_interval(needed: RatersNeeded) -> None:
    [first, *_] = needed.sheets()[0].rows
    assert first[2] == interval(needed.headline.points[0].agreement)
    assert "[" in first[2]
    lines = list(needed.plot())
    top = max(0.95, *(point.agreement.value for point in needed.headline.points))
    assert lines[0].strip().startswith(number(top))
    assert any(line.endswith("to reach") for line in lines)


def test_a_share_is_reached_with_experts_not_with_the_writer() -> None:
    judgments, gold = crowd_of(0.8, 60)
    experts = [gold.with_columns(rater=pl.lit(name)) for name in ("E", "writer")]
    both = grater.raters_needed(judgments, pl.concat(experts), reach=0.8)
    assert both.headline.against == "mean of experts"
    alone = grater.raters_needed(judgments, experts[1], reach=0.8)
    assert (alone.headline.against, alone.smallest.value) == ("writer", both.smallest.value)


def test_few_and_rare_items_are_warned_about() -> None:
    judgments, gold = crowd_of(0.8, 20)
    rare = gold.with_columns(label=pl.when(pl.col("item") == "i3").then(pl.lit("error")).otherwise(pl.lit("ok")))
    warnings = grater.raters_needed(judgments, gold=rare).warnings
    assert any(text.startswith("only 20 items in common") for text in warnings)
    assert any("another label than the most frequent one to 1.0 items" in text for text in warnings)
    assert any(text.startswith("only 2 essays") for text in warnings)


def test_gold_with_several_answers_takes_no_part() -> None:
    judgments, gold = crowd_of(0.8, 60)
    some = gold.with_columns(
        label=pl.when(pl.col("item") == "i3").then(pl.lit("error|ok")).otherwise(pl.col("label"))
    )
    result = grater.raters_needed(judgments, gold=some)
    assert result.n_items == 59
    assert any("accept several labels" in text for text in result.warnings)


def test_experts_or_gold_but_not_both() -> None:
    judgments, gold = crowd_of(0.8, 20)
    with pytest.raises(GraterError, match="either `experts` or `gold`"):
        grater.raters_needed(judgments)
    with pytest.raises(GraterError, match="above 0 and at most 1"):
        grater.raters_needed(judgments, gold=gold, reach=95)


def test_command_reads_gold_with_columns_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judgments, gold = crowd_of(0.8, 60)
    judgments.write_csv(tmp_path / "crowd.csv")
    gold.rename({"item": "id", "label": "answer"}).write_csv(tmp_path / "gold.csv")
    options = ("--gold", tmp_path / "gold.csv", "--expert-columns", "item=id", "--expert-columns", "label=answer")
    result = run(capsys, "raters", "--needed", tmp_path / "crowd.csv", *options, "--reach", 0.8)
    assert result.status == 0
    assert "agrees on .80 of the items" in result.out
    assert run(capsys, "raters", "--needed", tmp_path / "crowd.csv").status == 2


def test_a_crowd_that_is_never_wrong_is_not_certain_to_be_right() -> None:
    judgments, gold = crowd_of(1.0, 75)
    needed = grater.raters_needed(judgments.drop("essay"), gold=gold, reach=0.98)
    for point in needed.headline.points:
        assert point.agreement.low == pytest.approx(wilson(75, 75).low)  # 0 wrong of 75 has the interval [0, .049]
        assert (point.kappa.value, np.isnan(point.kappa.low)) == (1, True)
    assert (needed.smallest.value, needed.smallest.high) == (1, np.inf)
    assert grater.raters_needed(judgments.drop("essay"), gold=gold, reach=0.95).smallest.high == 1


def test_gold_of_one_label_leaves_kappa_without_an_interval() -> None:
    judgments, gold = crowd_of(0.9, 20)
    fine = gold.with_columns(label=pl.lit("ok"))
    kappa = grater.raters_needed(judgments, gold=fine, reach=0.95).headline.points[0].kappa
    assert np.isnan(kappa.low)
    assert kappa.undefined_because == "the experts use only one label, so kappa is 0 whatever the crowd says"
