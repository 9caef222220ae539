"""Tasks about a word in its sentence: what is hidden, what is marked, how an edit reads."""

from __future__ import annotations

import pytest

from grater.annotate.tasks import TASKS, Piece, Task, choice, cloze, error, usage, verify
from grater.annotate.tasks.task import Unit, UnitItem, is_right
from grater.errors import BadInput, UsageError
from grater.model import DELETE, Essay, Span, edit_item
from grater.uncertainty import generator
from tests.annotate.tasks.units import IN, OF, TEXT, rng, span_of, unit_at
from tests.each import for_each

DIFFERS = unit_at(OF, payload={"suggestion": "on"})


def test_cloze_shows_the_sentence_alone_and_takes_one_preposition_in_any_case_and_spelling() -> None:
    shown = cloze.TASK.show(unit_at(OF), rng=rng())
    assert "".join(piece.text for piece in shown.pieces) == "She depends _____ her brother for the bread."
    assert (shown.before, shown.after) == ("", "")
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
def test_an_item_without_a_suggestion_cannot_be_compared(task: Task) -> None:
    with pytest.raises(UsageError, match="expected a suggestion"):
        task.show(unit_at(OF), rng=rng())


EDITED = "Of course I agree. however we met at at noon."


@for_each(
    [
        (Span(19, 26), "However", "However we met at at noon."),
        (Span(27, 27), ",", "however, we met at at noon."),
        (Span(37, 39), DELETE, "however we met at noon."),
        (Span(0, 2), "of", "of course I agree."),
        (Span(30, 30), "have", "however we have met at at noon."),
    ]
)
def test_an_edit_is_read_in_its_sentence(case: tuple[Span, str, str]) -> None:
    words, suggestion, reading = case
    item = edit_item("e", words, suggestion)
    unit = Unit("u", Essay("e", EDITED), (UnitItem(item, {"suggestion": suggestion}),))
    [field] = TASKS["verify"].show(unit, rng=generator(0, "verify")).fields
    assert "".join(piece.text for piece in field.choices[0].reading).strip() == reading
    assert edit_item("e", words, "other").item_id != item.item_id


def test_the_question_is_that_of_the_items_kind() -> None:
    for kind, words in {
        "prep-extraneous": "should there be none",
        "article": "article or determiner",
        "collocation": "go together",
        "something-new": "an error",
    }.items():
        assert words in error.TASK.show(unit_at(OF, kind=kind), rng=rng()).fields[0].question


WHOLE = {"label": ["2"], "confidence": ["high"]}
AROUND_OF = (Piece("She depends "), Piece("of", "target"), Piece(" her brother for the bread."))
BREAD, NOBODY = TEXT.index(" the bread"), TEXT.index(" Nobody")
TWO = TEXT[TEXT.index("She depends") : NOBODY]


@for_each(
    [
        (OF, "The street was very quiet then.", AROUND_OF),
        (IN, None, (Piece("In", "target"), Piece(" the morning they bake."))),
        (Span(0, 4), "", None),  # nothing is before the first sentence
        (Span(BREAD, BREAD), None, (Piece("She depends of her brother for"), Piece("", "gap"), Piece(" the bread."))),
        (Span(NOBODY, NOBODY), None, (Piece("In the morning they bake."), Piece("", "gap"))),  # of the first of two
        (
            span_of("bread. In the"),
            None,
            (Piece(TWO.partition("bread")[0]), Piece("bread. In the", "target"), Piece(" morning they bake.")),
        ),
    ]
)
def test_the_place_is_marked_in_its_sentences_with_the_one_before(
    case: tuple[Span, str | None, tuple[Piece, ...] | None],
) -> None:
    span, before, pieces = case
    shown = usage.TASK.show(unit_at(span), rng=rng())
    assert before is None or shown.before == before
    assert pieces is None or shown.pieces == pieces


def test_an_incorrect_preposition_comes_with_better_ones_in_order() -> None:
    form = {"label": ["1"], "better": ["Upon; on,  on"], "confidence": ["low"], "flags": ["grammar", "spelling"]}
    (answer,) = usage.TASK.read(unit_at(OF), form, kept={})
    assert (answer.label, answer.confidence) == ("1", "low")
    assert answer.alternatives == ("upon", "on")
    assert answer.flags == ("spelling", "grammar")


def test_words_count_for_their_own_label_alone() -> None:
    """Without JavaScript both boxes are on the page, and one may still hold a word."""
    for form, words in (({"better": ["on"], "others": ["to"]}, ()), ({"label": ["e"], "others": ["on"]}, ("on",))):
        (answer,) = usage.TASK.read(unit_at(OF), {**WHOLE, **form}, kept={})
        assert answer.alternatives == words


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
        usage.TASK.read(unit_at(OF), form, kept={})
    assert len(caught.value.problems) == len(problems)
    messages = "; ".join(problem.message for problem in caught.value.problems)
    assert all(words in messages for words in problems), messages


def test_gold_accepts_any_of_its_labels() -> None:
    answers = usage.TASK.read(unit_at(OF), WHOLE, kept={})
    for given, known, expected in ((answers, "2e", True), (answers, "01", False), ((), "2", False)):
        assert is_right(usage.TASK, given, {answers[0].item_id: frozenset(known)}) == expected
