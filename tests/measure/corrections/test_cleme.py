"""CLEME beside the authors' program (github.com/THUKElab/CLEME), and two sets of edits."""

from __future__ import annotations

import pytest

from grater.corpora import read_corpus
from grater.corpora.edits.engine import load_engine
from grater.corpora.formats import ignore_loss
from grater.corpora.parallel import extract_again, parallel_essays
from grater.errors import UsageError
from grater.measure.corrections.ceiling import ceiling
from grater.measure.corrections.cleme import METRIC, TokenEdit, cut, mean_length
from grater.measure.corrections.extraction import EditComparison, compare_edits
from grater.measure.corrections.scores import Hypothesis, References, score_systems
from tests.measure.corrections.essays import REFERENCE, SYSTEM, essays
from tests.real_data import data_path


def test_weighted_counts_are_those_of_the_authors_program() -> None:
    """Its output on these four sentences: tp 2.1081068062330672, fp 1.1418931937669328, fn .8581068062330673."""
    scores = score_systems(
        METRIC, References("ref", essays(REFERENCE)), [Hypothesis("s", "s", sentences=essays(SYSTEM))]
    )
    assert scores.systems[0].overall.counts == pytest.approx(
        {"tp": 2.1081068062330672, "fp": 1.1418931937669328, "fn": 0.8581068062330673}, abs=1e-12
    )


def test_spans_that_touch_are_one_chunk_on_all_sides() -> None:
    source = ["a", "b", "c", "d"]
    ours, theirs = [TokenEdit(1, 2, ("B",))], [TokenEdit(2, 3, ("C",)), TokenEdit(4, 4, ("e",))]
    made = cut(source, [ours, theirs])
    assert made.lengths == (2, 0)
    assert [chunk.words for chunk in made.hypothesis] == [("B", "c"), ()]
    assert [chunk.words for chunk in made.references[0]] == [("b", "C"), ("e",)]
    assert mean_length([made]) == 1.5


def test_an_annotator_who_deletes_the_sentence_is_left_out_and_people_have_no_ceiling() -> None:
    source = ["a", "b"]
    gone = [TokenEdit(0, 2, ())]
    assert len(cut(source, [[], [TokenEdit(0, 1, ("A",))], gone]).references) == 1
    assert cut(source, [[], gone]).lengths == (2,)

    with pytest.raises(UsageError, match="no ceiling"):
        ceiling(METRIC, References("ref", essays(REFERENCE)))


PLAIN = ["She go home .", "I has two dog ."]


def compared(*lines: list[str]) -> EditComparison:
    first, second = (parallel_essays(PLAIN, {"0": each}, load_engine()) for each in lines)
    return compare_edits(first, second)


def test_a_corpus_agrees_with_itself_and_spans_of_one_side_lower_precision_or_recall() -> None:
    right = ["She goes home .", "I have two dogs ."]
    result = compared(right, right)
    assert [score.value for score in result.scores.values()] == [1, 1, 1, 1, 1]
    assert not result.confusions
    result = compared(right, [right[0], PLAIN[1]])
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
