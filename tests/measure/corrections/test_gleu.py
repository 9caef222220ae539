"""GLEU: numbers worked by hand, a slow twin, the published script's draws, and limits that cover what they say."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.errors import UsageError
from grater.measure.corrections.gleu import METRIC, gleu_counts
from grater.measure.corrections.scores import MetricOptions, SentenceCounts
from grater.uncertainty import Numbers
from tests.examples import examples
from tests.measure.corrections import slow_gleu

SOURCE = "the cat sat in mat ."
HYPOTHESIS = "the cat sat on mat ."
REFERENCE = "the cat sat on the mat ."


def corpus_gleu(counts: SentenceCounts) -> float:
    return float(METRIC.scores(METRIC.rows(counts).sum(axis=0), MetricOptions())[0])


def sentence_gleu(counts: SentenceCounts) -> Numbers:
    return METRIC.sentence_scores(counts, MetricOptions())[:, 0]


def test_statistics_worked_by_hand() -> None:
    # Unigrams: all six words of the hypothesis are in the reference ("the" once of two).  Bigrams: the cat, cat sat,
    # sat on, mat . of five.  Trigrams: the cat sat, cat sat on of four.  Four-grams: one of three.  What the source
    # has and the reference lacks (in; sat in, in mat; ...) is not in the hypothesis, so nothing is taken off.
    statistics = gleu_counts("s", [SOURCE], [HYPOTHESIS], [[REFERENCE]])
    assert statistics.cells.tolist() == [[[6, 7, 6, 6, 4, 5, 2, 4, 1, 3]]]
    expected = math.exp(1 - 7 / 6) * (1 * 4 / 5 * 2 / 4 * 1 / 3) ** 0.25
    assert corpus_gleu(statistics) == pytest.approx(expected)


WORDS = st.lists(st.sampled_from("abc"), max_size=7).map(" ".join)
SENTENCES = st.lists(st.tuples(WORDS, WORDS, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=5)


@examples(80)
@given(sentences=SENTENCES)
def test_random_sentences_score_as_in_the_slow_twin(sentences: list[tuple[str, str, list[str]]]) -> None:
    sources, hypotheses, references = (list(column) for column in zip(*sentences, strict=True))
    statistics = gleu_counts("s", sources, hypotheses, references)
    for index, (source, hypothesis, texts) in enumerate(sentences):
        expected = [slow_gleu.stats(source, hypothesis, text) for text in texts]
        assert statistics.cells[index, : len(texts)].tolist() == expected
    assert corpus_gleu(statistics) == pytest.approx(
        slow_gleu.corpus_gleu(sources, hypotheses, references)[0], abs=1e-12
    )
    slow = [slow_gleu.sentence_gleu(*sentence) for sentence in sentences]
    assert sentence_gleu(statistics).tolist() == pytest.approx(slow)


def test_unequal_numbers_of_sentences_and_sentences_without_reference_are_refused() -> None:
    with pytest.raises(UsageError, match=r"as sources \(2\), found 1 and 2"):
        gleu_counts("s", ["a", "b"], ["a"], [["a"], ["b"]])
    with pytest.raises(UsageError, match="found none for sentence 2"):
        gleu_counts("s", ["a", "b"], ["a", "b"], [["a"], []])
