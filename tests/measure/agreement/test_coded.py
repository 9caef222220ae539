"""Labels in two spellings, and orders by the alphabet."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from grater.errors import GraterError
from grater.measure import units as coded_module
from grater.measure.agreement.summary import agreement
from grater.measure.units import Coded, coded, from_rows, in_order, reordered, spelled_alike, tally
from grater.tables import Judgments
from tests.measure.agreement.tables import judgments


def named(codes: Coded) -> list[tuple[str, str, str]]:
    triples = zip(codes.item.tolist(), codes.rater.tolist(), codes.label.tolist(), strict=True)
    return [(codes.items[item], codes.raters[rater], codes.labels[label]) for item, rater, label in triples]


def test_numbers_count_by_size_and_an_order_must_name_every_label() -> None:
    # Numbers are in the order of their size.
    codes = coded(judgments("a 10 2", "a 9 10", "b 9 -1"))
    assert codes.raters == ("9", "10")
    assert codes.labels == ("-1", "2", "10")
    # Given order holds and must name every label.
    codes = reordered(coded(judgments("a r low", "b r high")), ["low", "mid", "high"])
    assert named(codes) == [("a", "r", "low"), ("b", "r", "high")]
    with pytest.raises(GraterError, match="no place for low"):
        reordered(coded(judgments("a r low", "b r high")), ["high"])
    # Empty cell is refused.
    frame = pl.DataFrame({"item": ["a", None], "rater": ["r", "s"], "label": ["x", "y"]})
    with pytest.raises(GraterError, match="'item', found 1 empty"):
        coded(Judgments(frame, "frame"))


def test_names_stand_in_the_order_in_which_people_count() -> None:
    for ordered in (
        ["r1", "r2", "r10"],
        ["a1b9", "a1b10", "a1b11"],
        ["-1", "9", "10"],
        ["r1", "r02", "r2"],
        ["r", "r1", "s2"],
        [],
    ):
        names = sorted(ordered)[::-1]
        assert [names[place] for place in in_order(names)] == ordered


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


def test_order_by_the_alphabet_is_refused_and_a_given_order_or_numbers_are_fine() -> None:
    words = judgments("a 1 bad", "a 2 bad", "b 1 good", "b 2 excellent", "c 1 poor", "c 2 good")
    for options in ({"scale": "ordinal"}, {"weights": "linear"}, {"weights": "quadratic"}):
        with pytest.raises(
            GraterError, match=r"needs the order of labels that are not numbers \(bad, excellent, good"
        ):
            agreement(words, **options)  # type: ignore[arg-type]
    assert agreement(words, scale="ordinal", order=("bad", "poor", "good", "excellent")).alpha.value > 0
    numbers = judgments("a 1 1", "a 2 2", "b 1 3", "b 2 3", "c 1 1", "c 2 10")
    assert agreement(numbers, scale="ordinal").labels == ("1", "2", "3", "10")


def test_labels_in_two_spellings_are_one_or_named() -> None:
    # Verdicts are one label however they are spelled.
    rows = ["a 1 Error", "a 2 error", "b 1 ok", "b 2 OK", "c 1 ok", "c 2 error"]
    result = agreement(judgments(*rows))
    assert result.labels == ("error", "ok")
    assert result.observed.value == pytest.approx(2 / 3)
    assert "labels that differ only in spelling were taken as one: 'Error' / 'error', 'OK' / 'ok'" in result.warnings
    # Other labels in two spellings are warned about.
    result = agreement(judgments("a 1 1", "a 2 1.0", "b 1 2", "b 2 2"))
    assert result.observed.value == 0.5
    [warning] = [text for text in result.warnings if "number format" in text]
    assert "'1' / '1.0'" in warning
    assert "merge them" in warning
    # One spelling keeps its capitals.
    assert agreement(judgments("a 1 OK", "a 2 Error")).labels == ("Error", "OK")
    # Spellings of one label are found.
    labels = ["Error", "error", "ok", "1", "1.0", "a  b", "a b", "2", "x"]
    assert spelled_alike(labels) == [("1", "1.0"), ("a  b", "a b"), ("Error", "error")]


def test_label_that_one_rater_alone_uses_in_place_of_another_is_named() -> None:
    rows = [f"i{n} {rater} {'error' if n % 3 else 'ok'}" for n in range(30) for rater in ("A", "B")]
    rows += [f"i{n} C {'Err' if n % 3 else 'ok'}" for n in range(30)]
    [warning] = [text for text in agreement(judgments(*rows)).warnings if "'Err'" in text]
    assert warning.startswith("only C answers 'Err', and never 'error'")
    same = [row.replace("Err", "error") for row in rows]
    assert not any("only C" in text for text in agreement(judgments(*same)).warnings)
