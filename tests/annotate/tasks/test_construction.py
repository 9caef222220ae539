"""Five constructions in two stages (Lee and others 2009, section 3)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grater.annotate.tasks.construction import CONSTRUCTIONS, TASK
from grater.errors import BadInput, UsageError
from tests.annotate.tasks.units import noun_unit, rng, span_of, unit_at

ALL_NO = {name: ["no"] for name in CONSTRUCTIONS}


def values(unit_stage: str, *, grey: bool = False) -> list[str]:
    return [choice.value for choice in TASK.show(noun_unit(unit_stage, grey=grey), rng=rng()).fields[0].choices]


def test_the_noun_is_hidden_and_the_five_stand_in_the_papers_order_whatever_the_order_of_items() -> None:
    shown = TASK.show(noun_unit("no-context"), rng=rng())
    forms = ["bakery", "a bakery", "the bakery", "bakeries", "the bakeries"]
    assert [field.question for field in shown.fields] == forms
    assert "".join(piece.text for piece in shown.pieces) == "Last spring my cousin opened [?]."


def test_the_first_stage_has_no_context() -> None:
    unit = noun_unit("no-context")
    later = replace(
        unit, items=tuple(replace(each, item=replace(each.item, span=span_of("bread"))) for each in unit.items)
    )
    assert TASK.show(later, rng=rng()).before == ""
    in_context = TASK.show(replace(later, stage="in-context"), rng=rng())
    assert in_context.before == "Last spring my cousin opened a bakery. The street was very quiet then."


def test_the_star_belongs_to_the_second_stage_and_the_grey_answer_where_the_study_wants_it() -> None:
    assert values("no-context") == ["yes", "no"]
    assert values("in-context") == ["yes*", "yes", "no"]
    assert values("no-context", grey=True) == ["yes", "grey", "no"]


def test_a_star_in_the_first_stage_and_a_missing_answer_are_refused() -> None:
    with pytest.raises(BadInput, match="a-singular: expected one of yes, no"):
        TASK.read(noun_unit("no-context"), {**ALL_NO, "a-singular": ["yes*"]}, kept={})
    with pytest.raises(BadInput, match="the-plural"):
        TASK.read(noun_unit("no-context"), {**ALL_NO, "the-plural": []}, kept={})


def test_answers_go_to_the_items_of_their_construction() -> None:
    unit = noun_unit("in-context")
    answers = TASK.read(unit, {**ALL_NO, "a-singular": ["yes*"]}, kept={})
    starred = next(answer for answer in answers if answer.label == "yes*")
    kinds = {each.item.item_id: each.item.kind for each in unit.items}
    assert kinds[starred.item_id] == "construction/in-context/a-singular"


def test_grey_counts_as_yes_in_gold() -> None:
    unit = noun_unit("no-context", grey=True)
    answers = TASK.read(unit, {**ALL_NO, "a-singular": ["grey"]}, kept={})
    grey = next(answer.item_id for answer in answers if answer.label == "grey")
    assert TASK.right(answers, {grey: frozenset({"yes"})})
    assert not TASK.right(answers, {grey: frozenset({"no"})})


def test_a_unit_of_other_items_is_refused() -> None:
    with pytest.raises(UsageError, match="expected null-singular, a-singular"):
        TASK.show(unit_at(span_of("bread")), rng=rng())
