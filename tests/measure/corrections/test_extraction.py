"""Two sets of edits beside each other, and our engine beside the edits that ERRANT wrote for CWEB."""

from __future__ import annotations

import pytest

from grater.corpora import read_corpus
from grater.corpora.edits.engine import load_engine
from grater.corpora.formats import ignore_loss
from grater.corpora.parallel import extract_again, parallel_essays
from grater.measure.corrections.extraction import EditComparison, compare_edits
from tests.real_data import data_path

SOURCE = ["She go home .", "I has two dog ."]


def compared(first: list[str], second: list[str]) -> EditComparison:
    engine = load_engine()
    sides = (parallel_essays(SOURCE, {"0": lines}, engine) for lines in (first, second))
    return compare_edits(*sides)


def test_a_corpus_agrees_with_itself() -> None:
    result = compared(["She goes home .", "I have two dogs ."], ["She goes home .", "I have two dogs ."])
    assert [score.value for score in result.scores.values()] == [1, 1, 1, 1, 1]
    assert not result.confusions


def test_spans_of_one_side_alone_lower_precision_or_recall() -> None:
    result = compared(["She goes home .", "I have two dogs ."], ["She goes home .", "I has two dog ."])
    assert result.scores["precision"].value == 1
    assert result.scores["recall"].value == pytest.approx(1 / 3)
    assert result.to_dict()["edits"] == {"first": 3, "second": 1}


@pytest.mark.data
def test_our_edits_are_those_of_errant_on_cweb() -> None:
    """Bars of the project's plan: spans .98, type .94, both .92; rules were chosen on CWEB-G, this is CWEB-S."""
    for annotator in "01":
        theirs = list(read_corpus(data_path(f"cweb/CWEB-S.dev.ann{annotator}.m2")))
        result = compare_edits(theirs, extract_again(theirs, load_engine(), ignore_loss))
        assert result.scores["f1"].value >= 0.98
        assert result.scores["type_accuracy"].value >= 0.94
        assert result.scores["f1_with_type"].value >= 0.92
