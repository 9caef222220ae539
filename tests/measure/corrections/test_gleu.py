"""GLEU: numbers worked by hand, a slow twin, the published script's draws, and limits that cover what they say."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.errors import UsageError
from grater.measure.corrections.gleu import (
    GleuStatistics,
    corpus_gleu,
    gleu_of_sums,
    gleu_signature,
    gleu_statistics,
    sentence_gleu,
)
from grater.uncertainty.intervals import generator
from tests.examples import examples
from tests.measure.corrections import slow_gleu
from tests.real_data import data_path

SOURCE = "the cat sat in mat ."
HYPOTHESIS = "the cat sat on mat ."
REFERENCE = "the cat sat on the mat ."


def test_statistics_worked_by_hand() -> None:
    # Unigrams: all six words of the hypothesis are in the reference ("the" once of two).  Bigrams: the cat, cat sat,
    # sat on, mat . of five.  Trigrams: the cat sat, cat sat on of four.  Four-grams: one of three.  What the source
    # has and the reference lacks (in; sat in, in mat; ...) is not in the hypothesis, so nothing is taken off.
    statistics = gleu_statistics([SOURCE], [HYPOTHESIS], [[REFERENCE]])
    assert statistics.counts.tolist() == [[[6, 7, 6, 6, 4, 5, 2, 4, 1, 3]]]
    expected = math.exp(1 - 7 / 6) * (1 * 4 / 5 * 2 / 4 * 1 / 3) ** 0.25
    assert corpus_gleu(statistics).value == pytest.approx(expected)


def test_words_left_from_the_source_that_the_reference_changed_are_taken_off() -> None:
    # The source itself: five words match and "in" is taken off; the bigrams the cat, cat sat and mat . match, and
    # "sat in", "in mat" are taken off; of trigrams one matches and three are taken off, which is not below 0.
    statistics = gleu_statistics([SOURCE], [SOURCE], [[REFERENCE]])
    assert statistics.counts.tolist() == [[[6, 7, 4, 6, 1, 5, 0, 4, 0, 3]]]
    assert corpus_gleu(statistics).value == 0


def test_an_ngram_that_the_reference_has_less_often_is_not_taken_off() -> None:
    # "so" stands twice in the source and once in the reference: not among what the reference lacks altogether.
    statistics = gleu_statistics(["so so sad"], ["so so sad"], [["so sad"]])
    assert statistics.counts[0, 0, 2] == 2


def test_the_reference_itself_scores_one() -> None:
    texts = ["One two three four five .", "Rain fell all day ."]
    statistics = gleu_statistics(
        ["One too three four five .", "Rain fall all day ."], texts, [[text] for text in texts]
    )
    assert corpus_gleu(statistics).value == 1
    assert sentence_gleu(statistics).tolist() == [1, 1]


def test_a_sentence_is_smoothed_and_averaged_over_its_references() -> None:
    statistics = gleu_statistics([SOURCE], [SOURCE], [[REFERENCE, SOURCE]])
    expected = (math.exp(1 - 7 / 6) * (4 / 6 * 1 / 5 * 1 / 4 * 1 / 3) ** 0.25 + 1) / 2
    assert sentence_gleu(statistics).tolist() == pytest.approx([expected])


def test_sentences_may_have_different_numbers_of_references() -> None:
    statistics = gleu_statistics(["a b c d", "e f g h"], ["a b c d", "e f g h"], [["a b c d", "x"], ["e f g h"]])
    assert statistics.n_references.tolist() == [2, 1]
    assert statistics.counts[1, 1].tolist() == [0] * 10
    assert sentence_gleu(statistics)[1] == 1


WORDS = st.lists(st.sampled_from("abc"), max_size=7).map(" ".join)
SENTENCES = st.lists(st.tuples(WORDS, WORDS, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=5)


@examples(80)
@given(sentences=SENTENCES)
def test_random_sentences_score_as_in_the_slow_twin(sentences: list[tuple[str, str, list[str]]]) -> None:
    sources, hypotheses, references = (list(column) for column in zip(*sentences, strict=True))
    statistics = gleu_statistics(sources, hypotheses, references)
    for index, (source, hypothesis, texts) in enumerate(sentences):
        expected = [slow_gleu.stats(source, hypothesis, text) for text in texts]
        assert statistics.counts[index, : len(texts)].tolist() == expected
    value, deviation = slow_gleu.corpus_gleu(sources, hypotheses, references, iterations=7)
    found = corpus_gleu(statistics, iterations=7)
    assert (found.value, found.deviation) == pytest.approx((value, deviation), abs=1e-12)
    slow = [slow_gleu.sentence_gleu(*sentence) for sentence in sentences]
    assert sentence_gleu(statistics).tolist() == pytest.approx(slow)


def test_without_a_seed_references_are_drawn_as_the_published_script_draws_them() -> None:
    # One sentence, whose references score 1 and 0: the mean over 500 draws is the share of the first.
    statistics = gleu_statistics(["a b c d"], ["a b c d"], [["a b c d", "x y"]])
    first = 0
    for j in range(500):
        random.seed(101 * j)
        first += int(random.random() * 2) == 0
    assert corpus_gleu(statistics).value == pytest.approx(first / 500)


def test_a_seed_gives_other_draws_and_the_same_ones_again() -> None:
    statistics = gleu_statistics(["a b c d"] * 9, ["a b c d"] * 9, [["a b c d e", "a b c d", "b c d"]] * 9)
    assert corpus_gleu(statistics, seed=1) == corpus_gleu(statistics, seed=1)
    assert corpus_gleu(statistics, seed=1) != corpus_gleu(statistics, seed=2)


def random_statistics(n_sentences: int, *, seed: int = 5) -> GleuStatistics:
    """Twelve-word sentences with errors; three references that mend them differently."""
    rng = generator(seed, "sentences")
    words = np.array([f"w{number}" for number in range(40)])

    def changed(text: list[str], share: float) -> list[str]:
        new = [word if rng.random() > share else str(rng.choice(words)) for word in text]
        return [word for word in new if rng.random() > share / 3]

    sources = [rng.choice(words, 12).tolist() for _ in range(n_sentences)]
    references = [[" ".join(changed(source, 0.2)) for _ in range(3)] for source in sources]
    hypotheses = [" ".join(changed(texts[0].split(), 0.1)) for texts in references]
    return gleu_statistics([" ".join(source) for source in sources], hypotheses, references)


def test_with_one_reference_nothing_is_left_to_chance() -> None:
    statistics = random_statistics(20)
    alone = GleuStatistics(statistics.counts[:, :1], np.ones(20, np.int64))
    found = corpus_gleu(alone)
    assert found.deviation == pytest.approx(0, abs=1e-15)
    assert gleu_of_sums(alone.counts[:, 0].sum(axis=0)) == pytest.approx(found.value)


def test_unequal_numbers_of_sentences_and_sentences_without_reference_are_refused() -> None:
    with pytest.raises(UsageError, match=r"as sources \(2\), found 1 and 2"):
        gleu_statistics(["a", "b"], ["a"], [["a"], ["b"]])
    with pytest.raises(UsageError, match="found none for sentence 2"):
        gleu_statistics(["a", "b"], ["a", "b"], [["a"], []])


def test_empty_lines_score_nothing_and_break_nothing() -> None:
    statistics = gleu_statistics(["", "a b c d e"], ["", ""], [[""], ["a b c d e"]])
    assert corpus_gleu(statistics).value == 0


def test_the_signature_names_draws_and_references() -> None:
    first = gleu_signature(["a"], [["a", "b"]])
    assert first.options["draws"] == "published"
    assert first.options["references"] == "2"
    assert gleu_signature(["a"], [["a", "c"]]).options["reference"] != first.options["reference"]
    assert gleu_signature(["a"], [["a", "b"]], seed=4).options["draws"] == "seed-4"


@pytest.mark.data
def test_the_beginning_of_jfleg_dev_scores_as_in_the_slow_twin() -> None:
    sources = data_path("jfleg/dev/dev.src").read_text(encoding="utf-8").splitlines()[:150]
    files = [data_path(f"jfleg/dev/dev.ref{k}").read_text(encoding="utf-8").splitlines()[:150] for k in range(4)]
    for hypotheses, references in (
        (sources, list(zip(*files, strict=True))),
        (files[3], list(zip(*files[:3], strict=True))),
    ):
        statistics = gleu_statistics(sources, hypotheses, references)
        value, deviation = slow_gleu.corpus_gleu(sources, hypotheses, references)
        found = corpus_gleu(statistics)
        assert (found.value, found.deviation) == pytest.approx((value, deviation), abs=1e-12)
        slow = [slow_gleu.sentence_gleu(*one) for one in zip(sources, hypotheses, references, strict=True)]
        assert sentence_gleu(statistics) == pytest.approx(np.array(slow))
