"""Chunks on our own sentences, well-formed and not; tags are given by hand, so the tagger plays no part."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.text.chunks import LETTERS, chunks


def shown(tagged: str) -> list[str]:
    """`NP the big dog` for each chunk of `the/DT big/JJ dog/NN`, the head last."""
    pairs = [each.rsplit("/", 1) for each in tagged.split()]
    words, tags = [word for word, _ in pairs], [tag for _, tag in pairs]
    found = chunks(words, tags)
    assert all(chunk.head == chunk.end - 1 for chunk in found)
    return [" ".join([chunk.kind, *words[chunk.start : chunk.end]]) for chunk in found]


@pytest.mark.parametrize(
    ("tagged", "expected"),
    [
        ("the/DT very/RB big/JJ dog/NN barks/VBZ", ["NP the very big dog", "VP barks"]),
        ("she/PRP has/VBZ not/RB really/RB been/VBN seen/VBN", ["NP she", "VP has not really been seen"]),
        ("he/PRP wants/VBZ to/TO go/VB", ["NP he", "VP wants", "VP to go"]),
        ("the/DT boy/NN 's/POS dog/NN", ["NP the boy", "NP 's dog"]),
        ("the/DT poor/JJ need/VBP this/DT", ["NP the poor", "VP need", "NP this"]),
        ("all/PDT the/DT two/CD hundred/CD houses/NNS", ["NP all the two hundred houses"]),
        ("a/DT big/JJ and/CC heavy/JJ box/NN", ["NP a big and heavy box"]),
        ("the/DT growing/VBG demand/NN", ["NP the growing demand"]),
        ("costs/NNS are/VBP growing/VBG", ["NP costs", "VP are growing"]),
        ("$/$ 5/CD million/CD were/VBD lost/VBN", ["NP $ 5 million", "VP were lost"]),
        ("two/CD came/VBD", ["NP two", "VP came"]),
        ("we/PRP left/VBD school/NN yesterday/NN", ["NP we", "VP left", "NP school", "NP yesterday"]),
        ("a/DT well/RB -/HYPH known/VBN plan/NN", ["NP a", "VP known", "NP plan"]),
    ],
)
def test_chunks_end_at_their_head(tagged: str, expected: list[str]) -> None:
    assert shown(tagged) == expected


@pytest.mark.parametrize(
    ("tagged", "expected"),
    [
        ("I/PRP buyed/VBD new/JJ car/NN", ["NP I", "VP buyed", "NP new car"]),
        ("many/JJ informations/NNS is/VBZ needed/VBN", ["NP many informations", "VP is needed"]),
        ("he/PRP have/VBP went/VBD home/RB", ["NP he", "VP have went"]),
        ("the/DT the/DT car/NN", ["NP the", "NP the car"]),
        ("i/PRP dont/VBP know/VB he/PRP is/VBZ right/JJ", ["NP i", "VP dont know", "NP he", "VP is"]),
        ("student/NN must/MD to/TO study/VB", ["NP student", "VP must", "VP to study"]),
        ("it/PRP rained/VBD we/PRP stayed/VBD", ["NP it", "VP rained", "NP we", "VP stayed"]),
    ],
)
def test_learners_errors_do_not_break_chunks(tagged: str, expected: list[str]) -> None:
    assert shown(tagged) == expected


def test_nothing_has_no_chunks() -> None:
    assert chunks((), ()) == ()
    assert chunks((",",), (",",)) == ()


@given(st.lists(st.sampled_from([*LETTERS, ".", "IN", "UH", "XX"]), max_size=60))
def test_chunks_are_in_order_and_disjoint_with_the_head_inside(tags: list[str]) -> None:
    words = ["is" if index % 3 else "walk" for index in range(len(tags))]
    end = 0
    for chunk in chunks(words, tags):
        assert end <= chunk.start <= chunk.head < chunk.end <= len(tags)
        assert chunk.kind in ("NP", "VP")
        end = chunk.end


@given(st.lists(st.sampled_from(list(LETTERS)), min_size=1, max_size=60))
def test_every_noun_pronoun_and_verb_is_in_a_chunk(tags: list[str]) -> None:
    inside = {index for chunk in chunks(["w"] * len(tags), tags) for index in range(chunk.start, chunk.end)}
    must = {index for index, tag in enumerate(tags) if LETTERS[tag] in "nhvmga"}
    assert must <= inside


def test_a_thousand_adjectives_take_no_longer_than_they_should() -> None:
    assert chunks(["big"] * 100_000, ["JJ"] * 100_000) == ()  # quadratic matching would take minutes
