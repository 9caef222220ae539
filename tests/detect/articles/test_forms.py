from __future__ import annotations

import pytest

from grater.detect.articles.constructions import CONSTRUCTIONS
from grater.detect.articles.forms import Change, changes, noun_as, within_reach, written_as, wrong_form
from grater.detect.articles.phrases import NounPhrase, noun_phrases
from grater.text.analysis import analyse


def the_phrase(text: str) -> NounPhrase:
    return [each for sentence in analyse(text) for each in noun_phrases(sentence) if each.is_open][-1]


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


def test_the_article_fits_the_noun_as_it_will_be() -> None:
    # *children* would have *a*, *an* hour: the singular decides
    assert made("We waited hours.", "a-singular") == [("article", "missing", "an"), ("number", "number", "hour")]


def test_capitals_are_kept() -> None:
    assert made("A dog barked.", "the-singular") == [("article", "choice", "The")]
    assert made("Dog barked.", "the-singular") == [("article", "missing", "The")]


def test_nothing_changes_where_nothing_has_to() -> None:
    assert made("She saw the house.", "the-singular") == []


def test_a_noun_without_the_other_number_has_no_construction_in_it() -> None:
    phrase = the_phrase("We heard the news.")
    assert noun_as(phrase, "plural") is None
    assert [CONSTRUCTIONS[place] for place in within_reach(phrase)] == ["null-singular", "the-singular", "a-singular"]


@pytest.mark.parametrize(
    ("text", "right"), [("It is a apple.", "an"), ("It is an dog.", "a"), ("He is an European.", None)]
)
def test_a_and_an_go_by_sound(text: str, right: str | None) -> None:
    found = wrong_form(the_phrase(text)) if right else None
    assert found == (Change("article", "form", right) if right else None)


def test_a_right_form_is_left_alone() -> None:
    assert wrong_form(the_phrase("She waited an hour.")) is None


def test_raters_see_the_phrase_in_each_construction() -> None:
    phrase = the_phrase("We admired the old stone.")
    shown = [written_as(phrase, target) for target in range(len(CONSTRUCTIONS))]
    assert shown == ["old stone", "the old stone", "old stones", "an old stone", "the old stones"]
