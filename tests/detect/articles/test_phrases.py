"""Noun phrases, in good English and in a learner's, and what the classifier sees of them; all sentences our own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.text.analysis import analyse
from grater.detect.articles.constructions import CONSTRUCTIONS
from grater.detect.articles.features import CLASSES, FIELDS, WORDS, Memory, PlacedPhrase, placed_phrases
from grater.detect.articles.phrases import NounPhrase, changes, noun_as, noun_phrases, within_reach
from tests.examples import examples

PIECES = ["the", "a", "An", "dogs", "informations", "of", "many", "3", "'s", "😀", "\n", ".", "growing", "is", "his"]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=25).map(" ".join)


def phrases(text: str) -> list[NounPhrase]:
    return [phrase for sentence in analyse(text) for phrase in noun_phrases(sentence)]


def shown(text: str) -> list[tuple[str, str]]:
    """The open phrases and their constructions."""
    names = (*CONSTRUCTIONS, "a-plural")
    return [
        (" ".join(each.sentence.words[each.left : each.head + 1]), names[each.construction])
        for each in phrases(text)
        if each.is_open
    ]


def test_the_five_constructions_are_distinguished() -> None:
    text = "She drank milk with a friend while the dogs and the old cat ate meat and birds sang."
    assert shown(text) == [
        ("milk", "null-singular"),
        ("a friend", "a-singular"),
        ("the dogs", "the-plural"),
        ("the old cat", "the-singular"),
        ("meat", "null-singular"),
        ("birds", "null-plural"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("They visited Paris.", "proper noun"),
        ("We saw them.", "pronoun"),
        ("I like this car.", "determiner"),
        ("I like every car.", "determiner"),
        ("I washed my car.", "possessive"),
        ("We bought two cars.", "number"),
        ("They own many cars.", "quantifier"),
        ("We met all the students.", "determiner"),
    ],
)
def test_phrases_whose_article_is_not_free_are_closed_for_a_reason(text: str, reason: str) -> None:
    assert phrases(text)[-1].closed == reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am student of biology.", [("student", "null-singular"), ("biology", "null-singular")]),
        ("He gave me good advices.", [("good advices", "null-plural")]),
        ("She bought a new shoes yesterday.", [("a new shoes", "a-plural")]),
        ("The traffics is the big problem.", [("The traffics", "the-plural"), ("the big problem", "the-singular")]),
        (
            "We built new hospital for old peoples.",
            [("new hospital", "null-singular"), ("old peoples", "null-plural")],
        ),
        ("They lives in small village near sea.", [("small village", "null-singular"), ("sea", "null-singular")]),
        ("An university need good teachers", [("An university", "a-singular"), ("good teachers", "null-plural")]),
    ],
)
def test_phrases_hold_on_learner_text(text: str, expected: list[tuple[str, str]]) -> None:
    found = shown(text)
    assert [each for each in expected if each not in found] == []


@pytest.mark.parametrize(
    ("with_article", "without"),
    [
        ("We met the growing problem.", "We met growing problem."),
        ("She lives in a developed country.", "She lives in developed country."),
        ("By eating the apple he became ill.", "By eating apple he became ill."),
        ("The girl saw a very old house.", "The girl saw very old house."),
        ("I read the letter.", "I read letter."),
    ],
)
def test_where_a_phrase_begins_does_not_depend_on_its_article(with_article: str, without: str) -> None:
    one, other = the_phrase(with_article), the_phrase(without)
    words = [each.sentence.words[each.start : each.head + 1] for each in (one, other)]
    assert words[0] == words[1]


@examples(60)
@given(TEXTS)
def test_any_text_has_phrases_that_lie_inside_it(text: str) -> None:
    for sentence in analyse(text):
        ends = 0
        for phrase in noun_phrases(sentence):
            assert ends <= phrase.left <= phrase.start <= phrase.head < len(sentence.words) or phrase.closed
            assert 0 <= phrase.left <= phrase.head < len(sentence.words)


def the_phrase(text: str) -> NounPhrase:
    return [phrase for phrase in phrases(text) if phrase.is_open][-1]


def made(text: str, name: str) -> list[tuple[str, str, str]]:
    found = changes(the_phrase(text), CONSTRUCTIONS.index(name))
    return [(each.kind, each.type, each.suggestion) for each in found]


def test_each_kind_of_change_has_its_type_and_words() -> None:
    assert made("She saw old house.", "a-singular") == [("article", "missing", "an")]
    assert made("She saw the house.", "null-singular") == [("article", "extraneous", "-NONE-")]
    assert made("She saw an house.", "the-singular") == [("article", "choice", "the")]
    assert made("She saw the child.", "the-plural") == [("number", "number", "children")]
    assert made("She saw a wolf.", "null-plural") == [
        ("article", "extraneous", "-NONE-"),
        ("number", "number", "wolves"),
    ]
    assert made("She saw the house.", "the-singular") == []


def test_a_noun_without_the_other_number_has_no_construction_in_it() -> None:
    phrase = the_phrase("We heard the news.")
    assert noun_as(phrase, "plural") is None
    assert [CONSTRUCTIONS[place] for place in within_reach(phrase)] == ["null-singular", "the-singular", "a-singular"]


def fields_of(text: str) -> dict[str, object]:
    """The fields of the last open phrase; words as words."""
    placed: PlacedPhrase = list(placed_phrases(analyse(text), Memory()))[-1]
    return {
        **dict(zip(WORDS, placed.words, strict=True)),
        **dict(zip(FIELDS[len(WORDS) : CLASSES[0]], placed.rest, strict=True)),
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("She opened the door quickly.", "She opened door quickly."),
        ("She opened a heavy door.", "She opened heavy doors."),
        ("They read the long letter to me.", "They read long letters to me."),
    ],
)
def test_a_row_does_not_depend_on_its_own_article_and_number(one: str, other: str) -> None:
    assert fields_of(one) == fields_of(other)
