from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.detect.ngrams.counts import START
from grater.detect.ngrams.language_model import LanguageModel
from grater.errors import UsageError
from grater_train.kneser_ney import N_CODES, language_model, perplexity, quantised
from grater_train.ngrams import ModelSize, train
from slow_kneser_ney import SlowKneserNey
from tests.detect.ngrams.texts import SENTENCES, random_sentences
from tests.examples import examples


def exact(sentences: Sequence[Sequence[str]], wish: ModelSize) -> LanguageModel:
    trained = train(sentences, wish)
    return language_model(trained.smoothed, trained.vocabulary, is_exact=True)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("prune", [(), (0, 1), (0, 0, 1), (0, 1, 2, 2)])
def test_every_sentence_has_the_probability_of_the_textbook(order: int, prune: tuple[int, ...]) -> None:
    texts = [SENTENCES, random_sentences(1), random_sentences(2, n=300, n_words=8)]
    for sentences in texts:
        thresholds = [*prune, *[prune[-1] if prune else 0] * order][:order]
        model = exact(sentences, ModelSize(order=order, prune=prune[:order]))
        slow = SlowKneserNey(sentences, order, prune=thresholds)
        for words in [*sentences[:8], ["the", "unheard", "train"], []]:
            assert model.sentence_log_p(words) == pytest.approx(slow.log_p(words), abs=1e-9)


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=7), min_size=1, max_size=12).filter(any))
@examples(40)
def test_any_text_gives_the_textbook_probabilities(sentences: list[list[str]]) -> None:
    model, slow = exact(sentences, ModelSize(order=3, prune=(0,))), SlowKneserNey(sentences, 3)
    for words in [*sentences, ["a", "x", "b"]]:
        assert model.sentence_log_p(words) == pytest.approx(slow.log_p(words), abs=1e-9)


@pytest.mark.parametrize("prune", [(0,), (0, 0, 1, 1), (0, 1, 1, 2)])
def test_the_words_after_any_context_have_a_probability_of_one_together(prune: tuple[int, ...]) -> None:
    model = exact(random_sentences(3, n=200), ModelSize(prune=prune))
    rng = np.random.default_rng(0)
    words = np.array([number for number in range(len(model.vocabulary)) if number != START])
    for _ in range(30):
        context = rng.choice(words, 3)
        rows = np.concatenate([np.tile(context, (len(words), 1)), words[:, None]], axis=1)
        assert np.exp(model.log_p(rows)).sum() == pytest.approx(1.0, abs=1e-9)


def test_counts_that_were_spilled_to_disk_in_many_runs_give_the_same_model() -> None:
    sentences = random_sentences(4, n=400)
    at_once, in_runs = (train(sentences, ModelSize(most_records=most)).smoothed for most in (1 << 20, 50))
    for one, other in zip(at_once.levels, in_runs.levels, strict=True):
        assert (one.keys == other.keys).all()
        assert (one.log_p == other.log_p).all()
        assert (one.log_backoff == other.log_backoff).all()


def test_words_beyond_the_wanted_number_become_unknown_and_are_counted_as_such() -> None:
    model = exact(SENTENCES, ModelSize(n_words=8, prune=(0,)))
    assert model.vocabulary.words == ("<unk>", "<s>", "</s>", "the", ".", "and", "went", "at")
    known = {"the", ".", "and", "went", "at"}
    replaced = [[word if word in known else "<unk>" for word in words] for words in SENTENCES]
    slow = SlowKneserNey(replaced, 4)
    assert model.sentence_log_p(SENTENCES[0]) == pytest.approx(slow.log_p(replaced[0]), abs=1e-9)


def test_words_of_one_frequency_are_numbered_in_order_of_spelling() -> None:
    trained = train([["pear", "apple", "fig", "fig"]], ModelSize())
    assert trained.vocabulary.words[3:] == ("fig", "apple", "pear")


def test_perplexity_is_the_inverse_mean_probability_over_words_and_ends() -> None:
    model = exact(SENTENCES, ModelSize(prune=(0,)))
    found = perplexity(model, SENTENCES)
    total = sum(model.sentence_log_p(words) for words in SENTENCES)
    n_words = sum(len(words) + 1 for words in SENTENCES)
    assert (found.n_sentences, found.n_words, found.n_unknown) == (8, n_words, 0)
    assert found.value == found.known == pytest.approx(np.exp(-total / n_words))


def test_unknown_words_are_left_out_of_the_perplexity_of_known_ones() -> None:
    model = exact(SENTENCES, ModelSize(prune=(0,)))
    found = perplexity(model, [["the", "zebra"]])
    assert found.n_unknown == 1
    rows = model.rows(model.vocabulary.sentence(["the", "zebra"]))
    without = model.log_p(rows)[[0, 2]]
    assert found.known == pytest.approx(np.exp(-without.mean()))


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (ModelSize(prune=(0, 2, 1)), "expected up to 4 pruning thresholds that do not fall"),
        (ModelSize(prune=(1,)), "expected a threshold of 0 for single words, found 1"),
        (ModelSize(order=5), "expected at most 4,096 words for order 5, found 65,536"),
        (ModelSize(order=0), "expected order 1 or more"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(wish: ModelSize, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        train(SENTENCES, wish)


def test_a_text_without_words_is_refused() -> None:
    with pytest.raises(UsageError, match="found no words"):
        train([[]], ModelSize())


def test_each_pair_of_neighbours_in_the_sorted_keys_rises() -> None:
    for level in train(random_sentences(5, n=200), ModelSize(prune=(0,))).smoothed.levels:
        assert all(one < other for one, other in pairwise(level.keys.tolist()))


# log10 of whole sentences by KenLM 0.3.0: `lmplz -o 4 --discount_fallback --prune ...` on the sentences of
# random_sentences(7, n=400, n_words=30), asked by its Python module.
KENLM: dict[tuple[int, ...], tuple[float, ...]] = {
    (0, 0, 0, 0): (-4.584064960479736, -8.386978149414062, -1.110778570175171, -9.137802124023438),
    (0, 0, 1, 2): (-4.487756252288818, -8.184823036193848, -1.110778570175171, -9.045741081237793),
}


@pytest.mark.parametrize("prune", KENLM)
def test_kenlm_gives_the_same_probabilities(prune: tuple[int, ...]) -> None:
    model = exact(random_sentences(7, n=400, n_words=30), ModelSize(prune=prune))
    for line, theirs in zip(("wa wb wa wc", "wd wa wa zz wb", "", "wj wk wl wa wb wb"), KENLM[prune], strict=True):
        assert model.sentence_log_p(line.split()) / np.log(10) == pytest.approx(theirs, abs=1e-5)


def test_quantised_numbers_move_probabilities_by_little() -> None:
    trained = train([*SENTENCES, *random_sentences(6, n=300, n_words=40)], ModelSize(prune=(0, 0, 0, 1)))
    model, exact = (language_model(trained.smoothed, trained.vocabulary, is_exact=each) for each in (False, True))
    for words in SENTENCES:
        assert model.sentence_log_p(words) == pytest.approx(exact.sentence_log_p(words), abs=0.05 * (len(words) + 1))


def test_no_number_is_off_by_more_than_a_bin() -> None:
    numbers = -np.random.default_rng(1).exponential(2, 10_000)
    column = quantised(numbers)
    assert len(column.values) <= N_CODES
    width = (numbers.max() - numbers.min()) / (N_CODES - 1)
    assert np.abs(column.at(np.arange(len(numbers))) - numbers).max() <= width + 1e-6


def test_few_different_numbers_are_kept_as_they_are() -> None:
    numbers = np.array([-1.5, -0.25, -1.5, 0.0])
    assert quantised(numbers).at(np.arange(4)).tolist() == numbers.tolist()


def test_a_probability_of_zero_does_not_blur_the_others() -> None:
    numbers = np.concatenate([[-np.inf], -np.random.default_rng(2).random(1000)])
    column = quantised(numbers)
    assert column.at(np.array([0])).tolist() == [-99.0]
    assert np.abs(column.at(np.arange(1, 1001)) - numbers[1:]).max() < 1 / 200
