from __future__ import annotations

import pytest

from grater.annotate.tasks import Piece
from grater.annotate.tasks.usage import TASK
from grater.errors import BadInput
from grater.model import Span
from tests.annotate.tasks.units import IN, OF, TEXT, rng, unit_at

WHOLE = {"label": ["2"], "confidence": ["high"]}


def test_the_sentence_before_is_shown_and_the_target_highlighted() -> None:
    shown = TASK.show(unit_at(OF), rng=rng())
    assert shown.before == "The street was very quiet then."
    assert shown.pieces == (Piece("She depends "), Piece("of", "target"), Piece(" her brother for the bread."))


def test_a_target_at_the_start_of_its_sentence_has_no_piece_before_it() -> None:
    assert TASK.show(unit_at(IN), rng=rng()).pieces[0] == Piece("In", "target")


def test_the_first_sentence_has_none_before_it() -> None:
    assert TASK.show(unit_at(Span(0, 4)), rng=rng()).before == ""


def test_a_place_of_no_width_is_a_gap_in_its_sentence() -> None:
    place = TEXT.index(" the bread")
    shown = TASK.show(unit_at(Span(place, place), kind="prep-missing"), rng=rng())
    assert shown.pieces == (Piece("She depends of her brother for"), Piece("", "gap"), Piece(" the bread."))


def test_a_gap_between_two_sentences_belongs_to_the_first() -> None:
    place = TEXT.index(" Nobody")
    shown = TASK.show(unit_at(Span(place, place)), rng=rng())
    assert shown.pieces == (Piece("In the morning they bake."), Piece("", "gap"))


def test_an_incorrect_preposition_comes_with_better_ones_in_order() -> None:
    form = {"label": ["1"], "better": ["Upon; on,  on"], "confidence": ["low"], "flags": ["grammar", "spelling"]}
    (answer,) = TASK.read(unit_at(OF), form, kept={})
    assert (answer.label, answer.confidence) == ("1", "low")
    assert answer.alternatives == ("upon", "on")
    assert answer.flags == ("spelling", "grammar")


def test_words_for_another_label_are_left_out() -> None:
    """Without JavaScript both boxes are on the page, and one may still hold a word."""
    (answer,) = TASK.read(unit_at(OF), {**WHOLE, "better": ["on"], "others": ["to"]}, kept={})
    assert answer.alternatives == ()


def test_equally_good_prepositions_are_listed() -> None:
    (answer,) = TASK.read(unit_at(OF), {**WHOLE, "label": ["e"], "others": ["on"]}, kept={})
    assert answer.alternatives == ("on",)


@pytest.mark.parametrize(
    ("form", "problems"),
    [
        ({"label": ["2"]}, ["confidence: expected"]),
        ({"label": ["1"]}, ["better: expected an answer", "confidence: expected"]),  # all at once
        ({**WHOLE, "label": ["2", "e"], "others": ["on"]}, ["expected one answer, found 2"]),
        ({**WHOLE, "label": ["1"], "better": [",".join("abcdefghijk")]}, ["at most 10 words, found 11"]),
        *(
            ({**WHOLE, "label": ["1"], "better": [words]}, ["better"])
            for words in ("=1+1", "on <b>", "a" * 61, ", ;", "on " * 40)
        ),
    ],
)
def test_a_form_that_is_not_filled_rightly_is_refused(form: dict[str, list[str]], problems: list[str]) -> None:
    with pytest.raises(BadInput) as caught:
        TASK.read(unit_at(OF), form, kept={})
    assert len(caught.value.problems) == len(problems)
    messages = "; ".join(problem.message for problem in caught.value.problems)
    assert all(words in messages for words in problems), messages


def test_gold_accepts_any_of_its_labels() -> None:
    answers = TASK.read(unit_at(OF), WHOLE, kept={})
    item_id = answers[0].item_id
    assert TASK.right(answers, {item_id: frozenset({"2", "e"})})
    assert not TASK.right(answers, {item_id: frozenset({"0", "1"})})
    assert not TASK.right((), {item_id: frozenset({"2"})})
