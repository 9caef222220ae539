"""Reference and hypothesis must be of the same sentences; the first that differs is shown."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from grater.errors import BadInput
from grater.measure.corrections.scores import require_same_sources
from grater.model import Essay, Span


def essay(text: str, line: int | None = None) -> Essay:
    return Essay("x", text, line=line)


def message(references: list[Essay], hypotheses: Sequence[Essay | str]) -> str:
    with pytest.raises(BadInput) as caught:
        require_same_sources(references, hypotheses, reference_name="ref.m2", hypothesis_name="hyp")
    return str(caught.value)


def test_equal_sentences_pass() -> None:
    require_same_sources([essay("It rains ."), essay("So what ?")], [essay("It  rains ."), essay("So what ?")])


def test_plain_text_needs_only_as_many_lines() -> None:
    require_same_sources([essay("It rain ."), essay("So what ?")], ["It rains .", "Well ?"])


def test_the_first_sentence_that_differs_is_shown_in_both_files() -> None:
    said = message([essay("It rains .", 1), essay("So what ?", 4)], [essay("It rains .", 1), essay("So who ?", 9)])
    assert said == (
        "hyp:9: expected in sentence 2 the source of ref.m2:4, found 'who' in place of 'what' as token 1: 'So who ?'"
    )


def test_a_sentence_that_only_ends_earlier_is_shown() -> None:
    assert "found nothing in place of '.' as token 2" in message([essay("It rains .")], [essay("It rains")])


def test_another_tokenisation_of_the_same_text_is_called_so() -> None:
    said = message([essay("I can not go")], [essay("I cannot go")])
    assert "found 'cannot' in place of 'can' as token 1; the two are tokenised in different ways" in said


def test_tokens_that_came_with_the_text_are_the_words() -> None:
    joined = Essay("x", "cannot", tokens=(Span(0, 3), Span(3, 6)))
    require_same_sources([essay("can not")], [joined])
    assert "tokenised in different ways" in message([essay("cannot")], [joined])


def test_a_missing_line_is_told_by_the_first_sentence_without_one() -> None:
    said = message([essay("It rains .", 1), essay("So what ?", 4)], ["It rained ."])
    assert said == "hyp: expected 2 sentences, as in ref.m2, found 1; nothing for sentence 2 of ref.m2:4: 'So what ?'"


def test_a_line_too_many_is_shown() -> None:
    said = message([essay("It rains .")], ["It rained .", "Then not ."])
    assert said == "hyp:2: expected 1 sentence, as in ref.m2, found 2; sentence 2 is the first too many: 'Then not .'"


def test_a_sentence_lost_in_the_middle_is_shown_where_the_files_part() -> None:
    said = message([essay("One ."), essay("Two ."), essay("Three .")], [essay("One ."), essay("Three .")])
    assert "expected in sentence 2 the source of ref.m2, found 'Three' in place of 'Two'" in said
    assert said.endswith("(3 sentences there, 2 here)")
