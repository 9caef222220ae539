from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora import normalise
from grater.corpora.normalise import align

some_words = st.lists(st.sampled_from(["a", "b", "ab", "abc", "B"]), max_size=6)


def distance(source: list[str], target: list[str]) -> int:
    """Levenshtein's definition, written as plainly as it gets."""
    if not source or not target:
        return len(source) + len(target)
    if source[0] == target[0]:
        return distance(source[1:], target[1:])
    return 1 + min(distance(source[1:], target), distance(source, target[1:]), distance(source[1:], target[1:]))


@given(some_words, some_words)
def test_an_alignment_is_whole_and_as_cheap_as_can_be(source: list[str], target: list[str]) -> None:
    pairs = align(source, target)
    assert [word for word, _ in pairs if word is not None] == source
    assert [other for _, other in pairs if other is not None] == target
    assert sum(word != other for word, other in pairs) == distance(source, target)


def test_of_two_cheapest_alignments_the_one_with_like_or_equal_words_is_taken() -> None:
    assert align(["their", "possible"], ["possibility"]) == [("their", None), ("possible", "possibility")]
    assert align(["Possible", "their"], ["possibility"]) == [("Possible", "possibility"), ("their", None)]
    assert align(["the", "tea"], ["tea", "cup"]) == [("the", None), ("tea", "tea"), (None, "cup")]
    assert align(["x", "y"], ["z"]) == [("x", None), ("y", "z")]
    assert align(["z"], ["x", "y"]) == [(None, "x"), ("z", "y")]


def test_a_rewritten_text_is_paired_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normalise, "MOST_CELLS", 5)
    assert align(["a", "b", "c"], ["b", "c"]) == [("a", "b"), ("b", "c"), ("c", None)]
