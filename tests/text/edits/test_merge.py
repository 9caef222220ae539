"""Which neighbouring operations are one edit: cases of Felice, Bryant and Briscoe 2016, section 4, and of ERRANT."""

from __future__ import annotations

import pytest

from grater.text.edits.align import align
from grater.text.edits.engine import GraterEngine
from grater.text.edits.merge import merge
from grater.text.tags import load_tagger


def edits(source: str, target: str) -> list[tuple[int, int, str]]:
    ((old, new),) = GraterEngine(load_tagger())._tagged([(source.split(), target.split())])
    return [
        (step.start, step.end, " ".join(new.texts[step.new_start : step.new_end]))
        for step in merge(align(old, new), old, new)
    ]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("My friends house is big .", "My friend 's house is big .", [(1, 2, "friend 's")]),
        ("We took the sub way .", "We took the subway .", [(3, 5, "subway")]),
        ("She likes to swims .", "She likes swimming .", [(2, 4, "swimming")]),
        ("He was tired , we left .", "He was tired . We left .", [(3, 5, ". We")]),
        ("Game has five rounds .", "The game has five rounds .", [(0, 1, "The game")]),
        ("The childs goes home .", "The children go home .", [(1, 2, "children"), (2, 3, "go")]),
        ("I go to school yesterday .", "I went to the school yesterday .", [(1, 2, "went"), (3, 3, "the")]),
    ],
)
def test_joined_or_apart(source: str, target: str, expected: list[tuple[int, int, str]]) -> None:
    assert edits(source, target) == expected


def test_a_run_of_insertions_or_of_deletions_is_one_edit() -> None:
    assert edits("He sings .", "He sings very loudly .") == [(2, 2, "very loudly")]
    assert edits("He sings very loudly .", "He sings .") == [(2, 4, "")]


def test_a_word_that_looks_like_its_correction_stands_apart_from_its_neighbour() -> None:
    assert edits("She walk to home .", "She walks home .") == [(1, 2, "walks"), (2, 3, "")]
