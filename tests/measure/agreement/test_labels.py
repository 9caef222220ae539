"""Labels in two spellings, and orders by the alphabet."""

from __future__ import annotations

from typing import Any

import pytest

from grater.errors import GraterError
from grater.measure.agreement.summary import agreement
from grater.measure.units import spelled_alike
from tests.measure.agreement.tables import judgments

WORDS = judgments("a 1 bad", "a 2 bad", "b 1 good", "b 2 excellent", "c 1 poor", "c 2 good")


@pytest.mark.parametrize("options", [{"scale": "ordinal"}, {"weights": "linear"}, {"weights": "quadratic"}])
def test_order_by_the_alphabet_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(GraterError, match=r"needs the order of labels that are not numbers \(bad, excellent, good"):
        agreement(WORDS, **options)


def test_words_in_their_order_and_numbers_without_one_are_fine() -> None:
    order = ("bad", "poor", "good", "excellent")
    assert agreement(WORDS, scale="ordinal", order=order).alpha.value > 0
    numbers = judgments("a 1 1", "a 2 2", "b 1 3", "b 2 3", "c 1 1", "c 2 10")
    assert agreement(numbers, scale="ordinal").labels == ("1", "2", "3", "10")


def test_order_matters_so_much_that_the_alphabet_is_no_guess() -> None:
    # Krippendorff's example in words: 1 = bad, 2 = poor, 3 = fair, 4 = good; the ordinal alpha of the right order
    # differs from that of the alphabet
    rows = ["a 1 bad", "a 2 poor", "b 1 good", "b 2 fair", "c 1 fair", "c 2 fair", "d 1 bad", "d 2 bad", "e 1 poor"]
    table = judgments(*rows, "e 2 fair")
    right, wrong = (
        agreement(table, scale="ordinal", order=order).alpha.value
        for order in (("bad", "poor", "fair", "good"), ("bad", "fair", "good", "poor"))
    )
    assert right - wrong > 0.3


def test_spellings_of_one_label_are_found() -> None:
    labels = ["Error", "error", "ok", "1", "1.0", "a  b", "a b", "2", "x"]
    assert spelled_alike(labels) == [("1", "1.0"), ("a  b", "a b"), ("Error", "error")]


def test_verdicts_are_one_label_however_they_are_spelled() -> None:
    rows = ["a 1 Error", "a 2 error", "b 1 ok", "b 2 OK", "c 1 ok", "c 2 error"]
    result = agreement(judgments(*rows))
    assert result.labels == ("error", "ok")
    assert result.observed.value == pytest.approx(2 / 3)
    assert "labels that differ only in spelling were taken as one: 'Error' / 'error', 'OK' / 'ok'" in result.warnings


def test_other_labels_in_two_spellings_are_warned_about() -> None:
    result = agreement(judgments("a 1 1", "a 2 1.0", "b 1 2", "b 2 2"))
    assert result.observed.value == 0.5
    [warning] = [text for text in result.warnings if "number format" in text]
    assert "'1' / '1.0'" in warning
    assert "merge them" in warning


def test_one_spelling_keeps_its_capitals() -> None:
    assert agreement(judgments("a 1 OK", "a 2 Error")).labels == ("Error", "OK")


def test_label_that_one_rater_alone_uses_in_place_of_another_is_named() -> None:
    rows = [f"i{n} {rater} {'error' if n % 3 else 'ok'}" for n in range(30) for rater in ("A", "B")]
    rows += [f"i{n} C {'Err' if n % 3 else 'ok'}" for n in range(30)]
    [warning] = [text for text in agreement(judgments(*rows)).warnings if "'Err'" in text]
    assert warning.startswith("only C says 'Err', and never 'error'")
    same = [row.replace("Err", "error") for row in rows]
    assert not any("only C" in text for text in agreement(judgments(*same)).warnings)
