"""Which words `context` asks about, and which it leaves alone."""

from __future__ import annotations

import pytest

from grater.detect.context.slots import NUMBER, VERB_FORM, slots_of
from grater.text.analysis import analyse


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
    ],
)
def test_verbs_are_asked_about_if_they_are_known(text: str, verbs: list[str]) -> None:
    assert asked(text, VERB_FORM) == verbs


def test_either_participle_of_a_verb_is_right() -> None:
    (sentence,) = analyse("It was proved in 1900.")
    (slot,) = [slot for slot in slots_of(sentence) if slot.target == "proved"]
    assert "proven" not in slot.words
