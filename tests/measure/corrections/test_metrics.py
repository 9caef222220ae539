"""Counts of sentences and the scores of their sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.measure.corrections.scores import METRICS, MetricOptions, SentenceCounts, of_rows, precision_recall_f
from tests.examples import examples


def test_precision_recall_and_f_are_those_of_the_hand() -> None:
    # P = 2/3, R = 2/5, F0.5 = 1.25 * (4/15) / (1/6 + 2/5) = (1/3) / (17/30) = 10/17
    assert precision_recall_f([2, 1, 3], beta=0.5) == pytest.approx([2 / 3, 2 / 5, 10 / 17])
    assert precision_recall_f([2, 1, 3], beta=1) == pytest.approx([2 / 3, 2 / 5, 0.5])


def test_nothing_over_nothing_is_one_as_in_the_official_tools() -> None:
    assert precision_recall_f([0, 0, 0], beta=0.5).tolist() == [1, 1, 1]
    assert precision_recall_f([0, 0, 4], beta=0.5).tolist() == [1, 0, 0]
    assert precision_recall_f([0, 3, 0], beta=0.5).tolist() == [0, 1, 0]
    assert precision_recall_f([0, 3, 4], beta=0.5).tolist() == [0, 0, 0]


def test_the_name_of_f_has_its_beta() -> None:
    assert METRICS["m2"].score_names(MetricOptions()) == ("precision", "recall", "f0.5")
    assert METRICS["m2"].score_names(MetricOptions(beta=1.0))[-1] == "f1"


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=2, max_size=12), st.integers(0, 12))
@examples(50)
def test_counts_of_two_parts_add_up_to_those_of_the_whole(rows: list[tuple[int, int, int]], cut: int) -> None:
    whole = np.array(rows)
    halves = whole[:cut].sum(axis=0) + whole[cut:].sum(axis=0)
    assert (precision_recall_f(halves, beta=0.5) == precision_recall_f(whole.sum(axis=0), beta=0.5)).all()


def test_the_mean_row_of_one_reference_is_its_own() -> None:
    counts = of_rows("s", np.array([[1, 0, 2], [0, 0, 0]]), references=["0", "1"])
    assert counts.expected.tolist() == [[1, 0, 2], [0, 0, 0]]


def test_a_sentence_with_fewer_references_shares_them_among_its_own() -> None:
    cells = np.array([[[2], [4]], [[6], [0]]])
    counts = SentenceCounts("s", cells, np.array([2, 1]))
    assert counts.expected.tolist() == [[3], [6]]
