"""Alignment: costs of Felice, Bryant and Briscoe 2016, and the band against the whole table."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grater.text.edits import align as module
from grater.text.edits.align import Step, align, character_ratio
from grater.text.edits.tokens import Words


def words(text: str, tags: str = "") -> Words:
    texts = tuple(text.split())
    return Words(texts, tuple(tags.split()) or ("NN",) * len(texts))


def steps(source: str, target: str, tags: str = "", new_tags: str = "") -> str:
    return "".join(step.operation for step in align(words(source, tags), words(target, new_tags)))


def test_equal_sentences_match_word_by_word() -> None:
    assert steps("a b c", "a b c") == "MMM"


def test_a_change_of_case_is_a_substitution_that_costs_nothing() -> None:
    assert steps("the Sun shines", "the sun shines") == "MSM"


def test_words_in_another_order_are_one_step() -> None:
    (step,) = [
        step for step in align(words("I saw him never ."), words("I never saw him .")) if step.operation == "T"
    ]
    assert (step.start, step.end, step.new_start, step.new_end) == (1, 4, 1, 4)


def test_a_word_is_paired_with_its_own_form_and_not_with_its_neighbour() -> None:
    # Felice et al. 2016, section 3: plain Levenshtein cannot tell which word a correction belongs to.
    pairs = align(words("We eats fish", "PRP NN NN"), words("We often eat fish", "PRP RB VBP NN"))
    assert Step("S", 1, 2, 2, 3) in pairs
    assert Step("I", 1, 1, 1, 2) in pairs


def test_of_a_word_written_twice_the_first_is_in_excess() -> None:
    # As ERRANT has it: U:PREP on the first of two equal words.
    assert steps("full of of books here", "full of books there") == "MDMMS"


@pytest.mark.parametrize(
    ("one", "other", "ratio"), [("cat", "cat", 1.0), ("cat", "cats", 6 / 7), ("ab", "cd", 0.0), ("", "", 1.0)]
)
def test_character_ratio(one: str, other: str, ratio: float) -> None:
    assert character_ratio(one, other) == pytest.approx(ratio)


SENTENCES = st.lists(
    st.sampled_from(["a", "an", "the", "dog", "dogs", "walk", "walked", "of", "in", "house"]), max_size=9
)


@settings(max_examples=60, derandomize=True)
@given(SENTENCES, SENTENCES)
def test_steps_cover_both_sides_in_order(source: list[str], target: list[str]) -> None:
    aligned = align(words(" ".join(source)), words(" ".join(target)))
    old = [index for step in aligned for index in range(step.start, step.end)]
    new = [index for step in aligned for index in range(step.new_start, step.new_end)]
    assert old == list(range(len(source)))
    assert new == list(range(len(target)))
    assert all(source[step.start] == target[step.new_start] for step in aligned if step.operation == "M")


@settings(max_examples=60, derandomize=True)
@given(SENTENCES.filter(bool), SENTENCES.filter(bool))
def test_the_band_finds_what_the_whole_table_does(source: list[str], target: list[str]) -> None:
    one, other = words(" ".join(source)), words(" ".join(target))
    whole = module._Table(one, other, 0, len(source), len(target), max(len(source), len(target)))
    width = abs(len(source) - len(target)) + 4
    while True:
        band = module._Table(one, other, 0, len(source), len(target), width)
        if band.cost <= width - abs(len(source) - len(target)) or width >= max(len(source), len(target)):
            break
        width *= 2
    assert band.cost == pytest.approx(whole.cost)
