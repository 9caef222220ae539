from __future__ import annotations

from math import isnan, nan

import polars as pl
import pytest

from grater.errors import BadInput, UnknownName, UsageError
from grater.measure.evaluation.selection import choice_study, cloze_study, corrected_accuracy
from grater.model import Interval
from grater.tables import Judgments, read_decisions, read_judgments
from grater.uncertainty import wilson


def words(**by_rater: str) -> Judgments:
    """The words of each rater for blanks b0, b1, ..."""
    rows = [(f"b{place}", rater, word) for rater, text in by_rater.items() for place, word in enumerate(text.split())]
    return read_judgments(pl.DataFrame(rows, schema=["item", "rater", "label"], orient="row"))


def system(text: str) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"item": f"b{place}", "system": "S", "flagged": True, "suggestion": word}
            for place, word in enumerate(text.split())
        ]
    )


def test_the_rows_of_table_2_are_writer_with_raters_then_systems_then_raters() -> None:
    table = words(writer="in on at in", ann="in on at on", bob="In at at in")
    found = cloze_study(table, decisions=read_decisions(system("in on on in"))).pairs
    assert [(pair.first, pair.second) for pair in found] == [
        ("writer", "ann"),
        ("writer", "bob"),
        ("writer", "S"),
        ("ann", "bob"),
    ]
    assert [pair.agreement.value for pair in found] == [0.75, 0.75, 0.75, 0.5]
    # writer in 2, on 1, at 1; ann in 1, on 2, at 1: by chance (2 + 2 + 1) / 16
    assert found[0].kappa.value == pytest.approx((0.75 - 5 / 16) / (1 - 5 / 16))
    assert found[0].n == 4


def test_a_cloze_study_needs_the_writer() -> None:
    with pytest.raises(UnknownName, match="writer"):
        cloze_study(words(ann="in on", bob="in on"))


def test_a_system_may_not_bear_a_raters_name() -> None:
    with pytest.raises(UsageError, match="different names"):
        cloze_study(words(writer="in", S="in"), decisions=read_decisions(system("in")))


def choices(*rows: tuple[str, str]) -> Judgments:
    """A row an item: what ann and bob chose."""
    cells = [
        (f"c{place}", rater, label)
        for place, labels in enumerate(rows)
        for rater, label in zip(("ann", "bob"), labels, strict=True)
    ]
    return read_judgments(pl.DataFrame(cells, schema=["item", "rater", "label"], orient="row"))


def limits(share: Interval) -> tuple[float, float, float]:
    return share.value, share.low, share.high


def test_shares_equal_or_better_per_rater_and_for_both() -> None:
    found = choice_study(
        choices(
            ("system", "equally-good"),
            ("writer", "system"),
            ("equally good", "writer"),
            ("writer", "writer"),
            ("equally bad", "system"),
        )
    ).choice
    for share, expected in (("ann", wilson(2, 4)), ("bob", wilson(3, 5)), ("all raters", wilson(1, 4))):
        assert limits(found.shares[share]) == pytest.approx(limits(expected))
    assert (found.n_items, found.n_equally_bad) == (5, 1)


def test_equally_bad_may_count_against_the_system() -> None:
    table = choices(("system", "system"), ("equally bad", "writer"))
    assert limits(choice_study(table).choice.by_rater["ann"]) == pytest.approx(limits(wilson(1, 1)))
    assert limits(choice_study(table, equally_bad="worse").choice.by_rater["ann"]) == pytest.approx(
        limits(wilson(1, 2))
    )


def test_other_labels_are_refused() -> None:
    with pytest.raises(BadInput, match="better"):
        choice_study(choices(("better", "system")))


def test_accuracy_of_75_is_82_where_28_percent_of_mismatches_are_no_errors() -> None:
    # T&C 2008, 4.2; 150 of 200 sentences, 56 of 200 mismatches
    found = corrected_accuracy(wilson(150, 200), wilson(56, 200))
    assert found.value == pytest.approx(0.82)
    assert 0.75 < found.low < 0.82 < found.high < 0.88


def test_a_share_that_is_known_leaves_the_limits_of_the_accuracy() -> None:
    found = corrected_accuracy(Interval(0.75, 0.7, 0.8), Interval(0.28, 0.28, 0.28))
    assert (found.low, found.high) == pytest.approx((0.784, 0.856))


def test_a_share_without_limits_gives_a_value_without_limits() -> None:
    found = corrected_accuracy(Interval(0.75, nan, nan, "as printed"), Interval(0.28, nan, nan))
    assert found.value == pytest.approx(0.82)
    assert isnan(found.low)
    assert found.undefined_because == "as printed"
    with pytest.raises(UsageError, match="from 0 to 1"):
        corrected_accuracy(Interval(75, 70, 80), Interval(0.28, 0.2, 0.3))
