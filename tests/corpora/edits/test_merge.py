"""Which neighbouring operations are one edit: cases of Felice, Bryant and Briscoe 2016, section 4, and of ERRANT."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.edits.align import ALIKE, CONTENT, IGNORED, TOGETHER, Step, Words, align, character_ratio, merge
from grater.corpora.text.tags import load_tagger
from tests.examples import examples


def edits(source: str, target: str) -> list[tuple[int, int, str]]:
    old, new = (Words(tuple(side.split()), load_tagger().tag(side.split())) for side in (source, target))
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


def test_runs_of_one_operation_are_one_edit_and_look_alikes_stand_apart() -> None:
    assert edits("He sings .", "He sings very loudly .") == [(2, 2, "very loudly")]
    assert edits("He sings very loudly .", "He sings .") == [(2, 4, "")]
    assert edits("She walk to home .", "She walks home .") == [(1, 2, "walks"), (2, 3, "")]
    old, new = (Words(tuple(f"{side}{n}" for n in range(1500)), ("NN",) * 1500) for side in "ab")
    steps = [Step("S", n, n + 1, n, n + 1) for n in range(1500)]
    assert merge(steps, old, new) == steps


class Plainly:
    """The rules of the module's docstring as they stand there: every stretch is tried, the widest first."""

    def __init__(self, source: Words, target: Words) -> None:
        self.source, self.target = source, target

    def edits(self, run: list[Step]) -> list[Step]:
        if len(run) < 2:
            return run
        if {step.operation for step in run} in ({"D"}, {"I"}):
            return [joined(run)]
        for start, end in stretches(len(run)):
            part = run[start:end]
            if "POS" in self.tags(part[-1]):
                return [*self.edits(run[: end - 2]), joined(run[end - 2 : end]), *self.edits(run[end:])]
            if self.is_cased(part) or self.is_spacing(part) or self.is_phrase(part):
                return [*self.edits(run[:start]), joined(part), *self.edits(run[end:])]
            if len(part) == 2 and self.is_cut(part, is_last=end == len(run)):
                return self.edits(run[: start + 1]) + self.edits(run[start + 1 :])
        return [joined(run)] if self.kinds(run) & CONTENT else run

    def tags(self, step: Step) -> tuple[str, ...]:
        return self.source.tags[step.start : step.end] + self.target.tags[step.new_start : step.new_end]

    def is_cased(self, part: list[Step]) -> bool:
        last, whole = part[-1], joined(part)
        if last.operation != "S" or self.source.lower[last.start] != self.target.lower[last.new_start]:
            return False
        old, new = whole.start, whole.new_start
        marks = self.source.categories(old, old + 1) + self.target.categories(new, new + 1)
        return "PUNCT" in marks or self.target.texts[new][:1].isupper()

    def is_spacing(self, part: list[Step]) -> bool:
        whole = joined(part)
        old, new = self.source.lower[whole.start : whole.end], self.target.lower[whole.new_start : whole.new_end]
        return "".join(old).translate(IGNORED) == "".join(new).translate(IGNORED)

    def is_phrase(self, part: list[Step]) -> bool:
        kinds = self.kinds(part)
        return (len(kinds) == 1 or kinds == TOGETHER) and len({step.operation for step in part}) > 1

    def kinds(self, part: list[Step]) -> set[str]:
        whole = joined(part)
        old = self.source.phrasal(whole.start, whole.end)
        return {*old, *self.target.phrasal(whole.new_start, whole.new_end)}

    def is_cut(self, part: list[Step], *, is_last: bool) -> bool:
        first, second = part
        if first.operation == second.operation == "S":
            return True
        old, new = self.source.texts, self.target.texts
        substituted = [step for step in part if step.operation == "S"]
        if any(character_ratio(old[step.start], new[step.new_start]) > ALIKE for step in substituted):
            return True
        return is_last and "DT" in self.tags(second)


def stretches(n: int) -> Iterator[tuple[int, int]]:
    for length in range(n, 1, -1):
        for start in range(n - length + 1):
            yield start, start + length


def joined(part: list[Step]) -> Step:
    first, last = part[0], part[-1]
    return first if len(part) == 1 else Step("E", first.start, last.end, first.new_start, last.new_end)


WORD = st.tuples(
    st.sampled_from(["sub", "way", "subway", "Way", "the", ",", "-", "to", "go", "goes"]),
    st.sampled_from(["NN", "POS", "DT", "VB", "TO", ",", "IN", "WP"]),
)
OPERATION = st.tuples(st.sampled_from("SDI"), WORD, WORD)


@examples(150)
@given(st.lists(OPERATION, max_size=9))
def test_edits_are_those_of_every_stretch(operations: list[tuple[str, tuple[str, str], tuple[str, str]]]) -> None:
    steps: list[Step] = []
    old: list[tuple[str, str]] = []
    new: list[tuple[str, str]] = []
    for operation, word, other in operations:
        start, new_start = len(old), len(new)
        old += [word] * (operation != "I")
        new += [other] * (operation != "D")
        steps.append(Step(operation, start, len(old), new_start, len(new)))
    source, target = (Words(tuple(text for text, _ in side), tuple(tag for _, tag in side)) for side in (old, new))
    assert merge(steps, source, target) == Plainly(source, target).edits(steps)
