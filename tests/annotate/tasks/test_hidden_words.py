"""Cloze and choice: the word is hidden, or its owner is."""

from __future__ import annotations

import pytest

from grater.annotate.tasks import choice, cloze, verify
from grater.errors import BadInput, UsageError
from grater.uncertainty import generator
from tests.annotate.tasks.units import IN, OF, rng, unit_at
from tests.each import for_each

DIFFERS = unit_at(OF, payload={"suggestion": "on"})


def test_cloze_shows_the_sentence_alone() -> None:
    shown = cloze.TASK.show(unit_at(OF), rng=rng())
    assert "".join(piece.text for piece in shown.pieces) == "She depends _____ her brother for the bread."
    assert (shown.before, shown.after) == ("", "")


def test_cloze_takes_one_preposition_in_any_case_and_spelling() -> None:
    for written, label in (("On", "on"), ("towards", "toward"), ("out of", "out of")):
        assert cloze.TASK.read(unit_at(OF), {"label": [written]}, kept={})[0].label == label
    with pytest.raises(BadInput, match="expected one preposition, found 2"):
        cloze.TASK.read(unit_at(OF), {"label": ["on, of"]}, kept={})


def test_choice_shows_the_writers_word_first_half_of_the_time() -> None:
    firsts = [choice.TASK.show(DIFFERS, rng=generator(seed, "sides")).kept["first"] for seed in range(400)]
    assert 160 <= firsts.count("writer") <= 240  # 200 expected; four standard deviations are 40


@for_each([
    ("first", "writer", "writer"), ("first", "system", "system"),
    ("second", "writer", "system"), ("second", "system", "writer"),
    ("equally good", "writer", "equally good"), ("equally bad", "system", "equally bad"),
])  # fmt: skip
def test_choice_says_whose_word_was_picked(case: tuple[str, str, str]) -> None:
    picked, first, label = case
    (answer,) = choice.TASK.read(DIFFERS, {"label": [picked]}, kept={"first": first})
    assert (answer.label, answer.payload) == (label, {"first": first})


def test_choice_needs_its_sides_and_a_browser_cannot_say_whose_word_it_picked() -> None:
    with pytest.raises(UsageError, match="whose word stood first"):
        choice.TASK.read(DIFFERS, {"label": ["first"]}, kept={})
    with pytest.raises(BadInput, match="label"):
        choice.TASK.read(DIFFERS, {"label": ["system"]}, kept={"first": "writer"})


def test_a_suggestion_takes_the_writers_capital_and_one_to_delete_is_no_word() -> None:
    for place, suggestion, words in ((IN, "at", {"In", "At"}), (OF, "-NONE-", {"of", "(no word)"})):
        shown = choice.TASK.show(unit_at(place, payload={"suggestion": suggestion}), rng=rng())
        assert {picked.text for picked in shown.fields[0].choices[:2]} == words


@pytest.mark.parametrize("task", [choice.TASK, verify.TASK], ids=["choice", "verify"])
def test_an_item_without_a_suggestion_cannot_be_compared(task: choice.WhichFits | verify.Verify) -> None:
    with pytest.raises(UsageError, match="expected a suggestion"):
        task.show(unit_at(OF), rng=rng())


def test_verify_says_which_word_is_whose() -> None:
    assert verify.TASK.show(DIFFERS, rng=rng()).fields[0].question == "Writer: of · Suggestion: on"
