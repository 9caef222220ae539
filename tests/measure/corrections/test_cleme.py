"""CLEME beside the authors' program (github.com/THUKElab/CLEME): independent, weighted by length, of a corpus."""

from __future__ import annotations

import pytest

from grater.errors import UsageError
from grater.measure.corrections.ceiling import ceiling
from grater.measure.corrections.cleme import METRIC, TokenEdit, cut, mean_length
from grater.measure.corrections.scores import Hypothesis, References, score_systems
from tests.measure.corrections.essays import REFERENCE, SYSTEM, essays


def test_weighted_counts_are_those_of_the_authors_program() -> None:
    """Its output on these four sentences: tp 2.1081068062330672, fp 1.1418931937669328, fn .8581068062330673."""
    scores = score_systems(
        METRIC,
        References("ref", essays(REFERENCE)),
        [Hypothesis("s", "s", sentences=essays(SYSTEM))],
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


def test_an_annotator_who_deletes_the_sentence_is_left_out_where_another_remains() -> None:
    source = ["a", "b"]
    gone = [TokenEdit(0, 2, ())]
    assert len(cut(source, [[], [TokenEdit(0, 1, ("A",))], gone]).references) == 1
    assert cut(source, [[], gone]).lengths == (2,)


def test_people_have_no_ceiling_by_chunks() -> None:
    with pytest.raises(UsageError, match="no ceiling"):
        ceiling(METRIC, References("ref", essays(REFERENCE)))
