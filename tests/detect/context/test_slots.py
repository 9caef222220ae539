"""Which words `context` asks about, and which it leaves alone."""

from __future__ import annotations

import pytest

from grater.corpora.text.analysis import analyse
from grater.detect.context.slots import ARTICLE, NUMBER, VERB_FORM, slots_of
from grater.detect.prepositions.candidates import PREP, preposition_places


def asked(text: str, kind: str) -> list[str]:
    (sentence,) = analyse(text)
    return [slot.target for slot in slots_of(sentence) if slot.kind == kind]


@pytest.mark.parametrize(
    ("text", "nouns"),
    [
        ("The students read two books.", ["students", "books"]),
        ("The data are on the old Windows machine.", ["machine"]),
        ("It took 100 ms to ask the APIs.", []),
        ("Children play outside.", ["Children"]),
        ("The writ of habeas protects the prisoner.", ["writ", "prisoner"]),
        ("The right-of-way is public and gives informations.", ["informations"]),
        ("Molasses and cilia do not cause diabetes.", []),
        ("Old houses", []),
        ("Old houses are cold", ["houses"]),
    ],
)
def test_nouns_are_asked_about_unless_they_are_names_units_or_of_both_numbers(text: str, nouns: list[str]) -> None:
    assert asked(text, NUMBER) == nouns


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        ("She walks home and was seen.", ["walks", "was", "seen"]),
        ("They reimagined the old town.", []),
        ("Given the weather, we stayed.", ["stayed"]),
        ("The client sends a GET request.", ["sends"]),
        ("Were it so, they would stay.", ["stay"]),
        ("They have long been ignored.", ["have", "been", "ignored"]),
    ],
)
def test_verbs_are_asked_about_if_they_are_known(text: str, verbs: list[str]) -> None:
    assert asked(text, VERB_FORM) == verbs


@pytest.mark.parametrize(
    ("text", "target", "left_out"),
    [
        ("It was proved in 1900.", "proved", "proven"),  # either participle is right
        ("I'm gonna go home.", "go", "to go"),
        ("They wanna go home.", "go", "to go"),
        ("We gotta go home.", "go", "to go"),
    ],
)
def test_a_form_that_is_right_too_or_has_its_to_already_is_not_offered(text: str, target: str, left_out: str) -> None:
    (sentence,) = analyse(text)
    (slot,) = [slot for slot in slots_of(sentence) if slot.target == target]
    assert left_out not in slot.words


@pytest.mark.parametrize(
    ("text", "prepositions"),
    [
        ("As the town grew, they moved after two years.", ["after"]),
        ("They left after we had called.", []),
        ("She worked as a nurse until the war.", ["as", "until"]),
        ("The two were moderately to highly correlated.", []),
    ],
)
def test_a_conjunction_and_a_range_are_no_prepositions(text: str, prepositions: list[str]) -> None:
    (sentence,) = analyse(text)
    slots = [slot for slot in slots_of(sentence) if slot.kind == PREP]
    assert [slot.target for slot in slots if not slot.is_right] == prepositions
    assert [slot.index for slot in slots] == preposition_places(sentence)


@pytest.mark.parametrize(
    ("text", "indefinite"),
    [
        ('It was an "old" friend.', "an"),
        ("It was a “old” friend.", "an"),
        ("It was an historic day.", "an"),
        ("It was a historic day.", "a"),
        ("It was an -", "an"),
    ],
)
def test_the_indefinite_article_is_that_of_the_word_behind_quotation_marks(text: str, indefinite: str) -> None:
    (sentence,) = analyse(text)
    (slot,) = [slot for slot in slots_of(sentence) if slot.kind == ARTICLE]
    assert slot.words[0] == slot.written == indefinite
