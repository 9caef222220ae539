"""Alignment: costs of Felice, Bryant and Briscoe 2016, and the search against the whole table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.edits import align as module
from grater.corpora.edits.align import Step, Words, align
from tests.examples import examples


def words(text: str, tags: str = "") -> Words:
    texts = tuple(text.split())
    return Words(texts, tuple(tags.split()) or ("NN",) * len(texts))


def steps(source: str, target: str, tags: str = "", new_tags: str = "") -> str:
    return "".join(step.operation for step in align(words(source, tags), words(target, new_tags)))


def test_steps_are_those_of_the_cheapest_path() -> None:
    assert steps("a b c", "a b c") == "MMM"
    assert steps("the Sun shines", "the sun shines") == "MSM"
    (step,) = [
        step for step in align(words("I saw him never ."), words("I never saw him .")) if step.operation == "T"
    ]
    assert (step.start, step.end, step.new_start, step.new_end) == (1, 4, 1, 4)
    # Felice et al. 2016, section 3: plain Levenshtein cannot tell which word a correction belongs to.
    pairs = align(words("We eats fish", "PRP NN NN"), words("We often eat fish", "PRP RB VBP NN"))
    assert Step("S", 1, 2, 2, 3) in pairs
    assert Step("I", 1, 1, 1, 2) in pairs
    # As ERRANT has it: U:PREP on the first of two equal words.
    assert steps("full of of books here", "full of books there") == "MDMMS"


SENTENCES = st.lists(
    st.sampled_from(["a", "an", "the", "dog", "dogs", "walk", "walked", "of", "in", "house"]), max_size=9
)


def cheapest_in_whole_table(old: Words, new: Words) -> float:
    """Damerau-Levenshtein by its definition, every cell computed; equal words always match."""
    n, m = len(old), len(new)
    table = [[float(i + j) for j in range(m + 1)] for i in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if old.lower[i - 1] == new.lower[j - 1]:
                table[i][j] = table[i - 1][j - 1]
                continue
            moves = [
                table[i - length][j - length] + length - 1
                for length in range(2, min(i, j, module.LONGEST_MOVE) + 1)
                if sorted(old.lower[i - length : i]) == sorted(new.lower[j - length : j])
            ]
            substituted = table[i - 1][j - 1] + substitution(old, i - 1, new, j - 1)
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, substituted, *moves)
    return table[n][m]


def substitution(old: Words, i: int, new: Words, j: int) -> float:
    return module._substitution(old.lower[i], old.tags[i], new.lower[j], new.tags[j])


def cost(step: Step, old: Words, new: Words) -> float:
    if step.operation == "S":
        return substitution(old, step.start, new, step.new_start)
    return {"M": 0, "D": 1, "I": 1, "T": step.end - step.start - 1}[step.operation]


@examples(100)
@given(SENTENCES, SENTENCES)
def test_the_search_finds_what_the_whole_table_does(source: list[str], target: list[str]) -> None:
    # ends that differ: nothing is cut off
    old, new = words(" ".join([*source, "x"])), words(" ".join([*target, "y"]))
    start = module._differing(old.lower, new.lower)[0]
    searched = sum(cost(step, old, new) for step in align(old, new))
    rest, new_rest = (Words(side.texts[start:], side.tags[start:]) for side in (old, new))
    assert searched == pytest.approx(cheapest_in_whole_table(rest, new_rest))


def test_long_runs_that_match_cut_a_sentence_into_parts_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = words("every day the old man walks with his dog to a small house near the river and sits down").texts
    source = ["go", *plain, "by", "then", "dogs", *plain[::-1], "often"]
    target = ["goes", *plain, "then", "by", "dog", *plain[::-1], "of", "ten"]
    old, new = words(" ".join(source)), words(" ".join(target))
    assert module._anchors(old.lower, new.lower)
    in_parts = align(old, new)
    monkeypatch.setattr(module, "ANCHOR", 1000)
    assert align(old, new) == in_parts
    assert "".join(step.operation for step in in_parts).replace("M", "") == "STSIS"


def test_a_long_rewritten_sentence_is_aligned_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_PART", 20)
    one, other = (
        words(" ".join(f"{letter * 3}{n}" for n in range(n_words))) for letter, n_words in (("a", 90), ("b", 95))
    )
    aligned = align(one, other)
    assert [index for step in aligned for index in range(step.start, step.end)] == list(range(90))
    assert [index for step in aligned for index in range(step.new_start, step.new_end)] == list(range(95))
