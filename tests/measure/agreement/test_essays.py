"""Essays are drawn where they are known, and the result says in words what its intervals speak of."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import grater
from grater.errors import GraterError
from grater.measure.agreement.summary import (
    Agreement,
    agreement,
    agreement_by_group,
    by_column,
    compare_pairs,
    compare_tables,
)
from grater.measure.units import coded, essays_of, with_essays
from grater.tables import read_judgments
from tests.measure.evaluation.worlds import width


def clustered(*, n_essays: int, n_items: int, n_raters: int, seed: int, spread: float = 1.2) -> pl.DataFrame:
    """Essays of more or fewer errors, easier or harder to judge; columns item, rater, label, essay."""
    rng = np.random.default_rng(seed)
    rows = []
    for essay in range(n_essays):
        error_rate, skill = 1 / (1 + np.exp(-rng.normal([-1.4, 2.0], spread)))
        for item in range(n_items):
            is_error = rng.random() < error_rate
            for rater in range(n_raters):
                says_error = is_error == (rng.random() < skill)
                rows.append((f"e{essay}-{item}", f"R{rater + 1}", "error" if says_error else "ok", f"e{essay}"))
    return pl.DataFrame(rows, schema=["item", "rater", "label", "essay"], orient="row")


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return clustered(n_essays=20, n_items=25, n_raters=3, seed=1)


def result(frame: pl.DataFrame, **options: object) -> Agreement:
    return grater.agreement(frame, **options)  # type: ignore[arg-type]


def test_essays_in_the_judgments_are_drawn_and_named(frame: pl.DataFrame) -> None:
    known, unknown = result(frame), result(frame.drop("essay"))
    assert known.alpha.value == unknown.alpha.value
    assert width(known.alpha) > 1.3 * width(unknown.alpha)
    assert width(known.pairs[0].kappa) > 1.2 * width(unknown.pairs[0].kappa)
    assert width(known.pairs[0].table.observed) > 1.1 * width(unknown.pairs[0].table.observed)
    assert known.scope.design_effect > 1.5
    assert "to other essays like these 20, with these raters (design effect" in known.scope.sentence
    assert "items taken as independent: their essays are not known" in unknown.scope.sentence
    assert known.scope.sentence in known.sheets()[-1].notes
    assert known.to_dict()["interval"]["unit"] == "essay"  # type: ignore[index,call-overload]


def test_essays_of_an_items_table_documents_or_any_column_may_be_the_unit(frame: pl.DataFrame) -> None:
    known = result(frame).alpha
    items = frame.select("item", "essay").unique().with_columns(start=0, end=1, kind=pl.lit("prep"))
    assert result(frame.drop("essay"), items=items).alpha == known
    alone = result(frame, units="item")
    assert alone.alpha == result(frame.drop("essay")).alpha
    assert "as asked" in alone.scope.sentence
    learners = frame.with_columns(learner=pl.col("essay").str.slice(0, 2)).drop("essay")
    assert "other learners like these" in result(learners, units="learner").scope.sentence
    with pytest.raises(GraterError, match=r"unknown column 'lerner'. Did you mean 'learner'"):
        result(learners, units="lerner")
    sentences = frame.with_columns(document=pl.col("essay"), essay=pl.col("item"))
    assert result(sentences).alpha == known
    assert result(sentences.with_columns(document=pl.lit("file"))).scope.unit == "essay"


def test_few_essays_have_a_warning_and_very_few_no_interval() -> None:
    twelve = result(clustered(n_essays=12, n_items=40, n_raters=2, seed=2))
    assert not any("rough below 10" in text for text in twelve.warnings)
    six = result(clustered(n_essays=6, n_items=40, n_raters=2, seed=2))
    assert "only 6 essays: intervals by essay are rough below 10" in six.warnings
    assert any("hold in 80 to 93 % of cases" in text for text in six.warnings)
    assert width(six.alpha) > width(twelve.alpha)
    one = result(clustered(n_essays=1, n_items=40, n_raters=3, seed=2))
    assert one.alpha.value == one.alpha.value
    assert one.alpha.low != one.alpha.low
    assert "its cases come from 1 essay" in one.alpha.undefined_because
    assert any("item takes items as independent" in text for text in one.warnings)


def test_parts_and_comparisons_draw_essays_too(frame: pl.DataFrame) -> None:
    halves = frame.with_columns(half=pl.col("essay").is_in([f"e{n}" for n in range(10)]).cast(pl.String))
    table = read_judgments(halves)
    groups = agreement_by_group(by_column(table, "half"), agreement, by="half")
    assert all("to other essays" in part.scope.sentence for part in groups.parts.values())
    assert groups.tests[0].test.method == "two samples by essay"
    codes = with_essays(coded(table), essays_of(table))
    by_essay = compare_pairs(codes, ("R1", "R2"), ("R1", "R3")).test
    by_item = compare_pairs(coded(table), ("R1", "R2"), ("R1", "R3")).test
    assert by_essay.method == "paired by essay"
    assert by_essay.difference.value == by_item.difference.value
    few = read_judgments(frame.filter(pl.col("essay").is_in([f"e{n}" for n in range(8)])))
    test = compare_tables(few, few).test
    assert test.difference.value == 0


def test_random_raters_speak_of_others_like_them(frame: pl.DataFrame) -> None:
    these, others = result(frame), result(frame, raters="random")
    assert others.alpha.value == these.alpha.value
    assert width(others.alpha) > width(these.alpha)
    assert width(others.specific["error"]) > width(these.specific["error"])
    assert "and other raters like these 3" in others.scope.sentence
    assert others.pairs[0].kappa == these.pairs[0].kappa
    with pytest.raises(GraterError, match="at least 3 raters"):
        result(frame.filter(pl.col("rater") != "R3"), raters="random")


def test_agreement_of_two_essays_by_hand_has_kish_design_effect() -> None:
    """Two essays of n items that are all alike inside: the design effect is close to the size of an essay."""
    rows = [
        (f"e{e}-{i}", f"R{r}", "ok" if r == 1 or e % 2 else "error", f"e{e}")
        for e in range(30)
        for i in range(8)
        for r in (1, 2)
    ]
    table = pl.DataFrame(rows, schema=["item", "rater", "label", "essay"], orient="row")
    assert agreement(read_judgments(table)).scope.design_effect == pytest.approx(8, rel=0.05)
