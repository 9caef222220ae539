"""Edits of the part of a sentence that changed are those of the whole sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.edits.align import Words, align, merge
from grater.corpora.edits.engine import GraterEngine, WordEdit, type_of
from grater.corpora.text.tags import load_tagger
from tests.examples import examples

ENGINE = GraterEngine(load_tagger())
WORDS = st.sampled_from(
    ["The", "the", "dog", "dogs", "has", "been", "walking", "to", "school", ",", "'s", "of", "not"]
)
CHANGES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 2), st.lists(WORDS, max_size=2)), max_size=3)


class WholeSentences:
    """The shipped tagger by another name: the engine cannot ask it for parts."""

    name = "whole"
    card = ENGINE.tagger.card
    tag = ENGINE.tagger.tag
    tag_all = ENGINE.tagger.tag_all


def edits_of_whole_sentence(old: list[str], new: list[str]) -> tuple[WordEdit, ...]:
    source, target = (Words(tuple(side), ENGINE.tagger.tag(side)) for side in (old, new))
    return tuple(
        WordEdit(
            start=step.start,
            end=step.end,
            type=type_of(step, source, target),
            correction=" ".join(new[step.new_start : step.new_end]),
        )
        for step in merge(align(source, target), source, target)
    )


@examples(100)
@given(st.lists(WORDS, min_size=1, max_size=30), CHANGES)
def test_only_the_changed_part_is_looked_at(old: list[str], changes: list[tuple[int, int, list[str]]]) -> None:
    new = old
    for start, n_gone, added in changes:
        new = new[:start] + added + new[start + n_gone :]
    expected = edits_of_whole_sentence(old, new)
    assert list(ENGINE.extract([(old, new)])) == [expected]
    assert list(GraterEngine(WholeSentences()).extract([(old, new)])) == [expected]


@pytest.mark.parametrize("at", [3, 254, 255, 256, 257, 258, 290])
def test_a_change_in_a_very_long_sentence_has_the_tags_of_the_whole(at: int) -> None:
    # The tagger forgets its tags after each 256th word, so a part must begin with the tags that are remembered.
    old = ["She", "likes", "to", "run", "and", "they", "walk", "."] * 40
    new = [*old[:at], "dogs", *old[at + 1 :]]
    assert list(ENGINE.extract([(old, new)])) == [edits_of_whole_sentence(old, new)]
