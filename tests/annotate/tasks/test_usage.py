from __future__ import annotations

import pytest

from grater.annotate.tasks import Piece
from grater.annotate.tasks.usage import TASK
from grater.errors import BadInput
from grater.model import Span
from tests.annotate.tasks.units import IN, OF, TEXT, rng, unit_at
from tests.each import for_each

WHOLE = {"label": ["2"], "confidence": ["high"]}


AROUND_OF = (Piece("She depends "), Piece("of", "target"), Piece(" her brother for the bread."))
BREAD, NOBODY = TEXT.index(" the bread"), TEXT.index(" Nobody")


@for_each(
    [
        (OF, "The street was very quiet then.", AROUND_OF),
        (IN, None, (Piece("In", "target"), Piece(" the morning they bake."))),
        (Span(0, 4), "", None),  # nothing is before the first sentence
        (Span(BREAD, BREAD), None, (Piece("She depends of her brother for"), Piece("", "gap"), Piece(" the bread."))),
        (Span(NOBODY, NOBODY), None, (Piece("In the morning they bake."), Piece("", "gap"))),  # of the first of two
    ]
)
def test_the_place_is_marked_in_its_sentence_with_the_one_before(
    case: tuple[Span, str | None, tuple[Piece, ...] | None],
) -> None:
    span, before, pieces = case
    shown = TASK.show(unit_at(span), rng=rng())
    assert before is None or shown.before == before
    assert pieces is None or shown.pieces == pieces


def test_an_incorrect_preposition_comes_with_better_ones_in_order() -> None:
    form = {"label": ["1"], "better": ["Upon; on,  on"], "confidence": ["low"], "flags": ["grammar", "spelling"]}
    (answer,) = TASK.read(unit_at(OF), form, kept={})
    assert (answer.label, answer.confidence) == ("1", "low")
    assert answer.alternatives == ("upon", "on")
    assert answer.flags == ("spelling", "grammar")


def test_words_count_for_their_own_label_alone() -> None:
    """Without JavaScript both boxes are on the page, and one may still hold a word."""
    for form, words in (({"better": ["on"], "others": ["to"]}, ()), ({"label": ["e"], "others": ["on"]}, ("on",))):
        (answer,) = TASK.read(unit_at(OF), {**WHOLE, **form}, kept={})
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
