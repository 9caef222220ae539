"""Edits between two texts: alignment, merging and types (Felice et al. 2016; Bryant et al. 2017)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.edits import align as module
from grater.corpora.edits.align import ALIKE, CONTENT, IGNORED, TOGETHER, Step, Words, align, character_ratio, merge
from grater.corpora.edits.engine import load_engine
from grater.corpora.text.tags import load_tagger
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


@pytest.mark.parametrize(
    ("expected", "source", "target"),
    [
        ("R:ADJ", "It was a large surprise .", "It was a big surprise ."),
        ("R:ADJ:FORM", "This one is more big .", "This one is bigger ."),
        ("R:ADV", "He often comes late .", "He always comes late ."),
        ("M:CONJ", "I like tea coffee .", "I like tea and coffee ."),
        ("R:CONTR", "I do not know .", "I do n't know ."),
        ("M:DET", "She bought car .", "She bought a car ."),
        ("U:DET", "I like the music in general .", "I like music in general ."),
        ("R:DET", "She is a owner .", "She is the owner ."),
        ("R:PRON", "We met those at noon .", "We met them at noon ."),
        ("R:PRON", "It is a cat on the roof .", "There is a cat on the roof ."),
        ("R:CONTR", "He 's my uncle .", "He is my uncle ."),
        ("R:MORPH", "The testing took an hour .", "The test took an hour ."),
        ("R:NOUN:NUM", "We did the thing .", "We did the things ."),
        ("R:VERB:FORM", "You should telling us more .", "You should tell us more ."),
        ("R:MORPH", "It was a beauty day .", "It was a beautiful day ."),
        ("R:NOUN", "He opened the doorway with his elbow .", "He opened the gate with his elbow ."),
        ("R:NOUN:INFL", "We saw two oxes there .", "We saw two oxen there ."),
        ("R:NOUN:NUM", "I have two dog .", "I have two dogs ."),
        ("M:NOUN:POSS", "My brother car is red .", "My brother 's car is red ."),
        ("R:NOUN:POSS", "My brothers car is red .", "My brother 's car is red ."),
        ("R:ORTH", "We visited london in May .", "We visited London in May ."),
        ("R:OTHER", "At this moment I agree .", "Now I agree ."),
        ("R:PREP", "We arrived in the station .", "We arrived at the station ."),
        ("M:PREP", "I listen music .", "I listen to music ."),
        ("R:PRON", "I gave it to they .", "I gave it to them ."),
        ("M:PUNCT", "However he left .", "However , he left ."),
        ("R:PUNCT", "Did he leave .", "Did he leave ?"),
        ("R:SPELL", "It was beautifull .", "It was beautiful ."),
        ("R:VERB", "He made his homework .", "He did his homework ."),
        ("R:VERB:FORM", "I enjoy to swim .", "I enjoy swimming ."),
        ("R:VERB:INFL", "He getted a prize .", "He got a prize ."),
        ("R:VERB:SVA", "She like tea .", "She likes tea ."),
        ("R:VERB:TENSE", "I eat fish yesterday .", "I ate fish yesterday ."),
        ("M:VERB:TENSE", "She been there .", "She has been there ."),
        ("R:WO", "I know not it .", "I know it not ."),
        # a word that only changes case at the end does not make a replacement
        ("M:DET", "Price with either case is low .", "The price with either case is low ."),
    ],
)
def test_each_category(expected: str, source: str, target: str) -> None:
    (edits,) = load_engine().extract([(source.split(), target.split())])
    assert [edit.type for edit in edits] == [expected]
