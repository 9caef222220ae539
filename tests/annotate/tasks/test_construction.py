"""Five constructions in two stages (Lee and others 2009, section 3)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grater.annotate.tasks.construction import CONSTRUCTIONS, TASK
from grater.errors import BadInput, UsageError
from tests.annotate.tasks.units import noun_unit, rng, span_of, unit_at
from tests.each import for_each

ALL_NO = {name: ["no"] for name in CONSTRUCTIONS}


def test_the_noun_is_hidden_and_the_five_stand_in_the_papers_order_whatever_the_order_of_items() -> None:
    shown = TASK.show(noun_unit("no-context"), rng=rng())
    forms = ["bakery", "a bakery", "the bakery", "bakeries", "the bakeries"]
    assert [field.question for field in shown.fields] == forms
    assert "".join(piece.text for piece in shown.pieces) == "Last spring my cousin opened [?]."


def test_the_first_stage_has_no_context() -> None:
    unit = noun_unit("no-context")
    moved = tuple(replace(each, item=replace(each.item, span=span_of("bread"))) for each in unit.items)
    shown = [TASK.show(replace(unit, items=moved, stage=stage), rng=rng()) for stage in ("no-context", "in-context")]
    before = "Last spring my cousin opened a bakery. The street was very quiet then."
    assert [each.before for each in shown] == ["", before]


@for_each(
    [
        ("no-context", False, ["yes", "no"]),
        ("in-context", False, ["yes*", "yes", "no"]),
        ("no-context", True, ["yes", "grey", "no"]),
    ]
)
def test_the_star_belongs_to_the_second_stage_and_the_grey_answer_where_the_study_wants_it(
    case: tuple[str, bool, list[str]],
) -> None:
    stage, grey, expected = case
    field = TASK.show(noun_unit(stage, grey=grey), rng=rng()).fields[0]
    assert [choice.value for choice in field.choices] == expected


def test_a_star_in_the_first_stage_a_missing_answer_and_other_items_are_refused() -> None:
    for name, answers, words in (("a-singular", ["yes*"], ": expected one of yes, no"), ("the-plural", [], "")):
        with pytest.raises(BadInput, match=name + words):
            TASK.read(noun_unit("no-context"), {**ALL_NO, name: answers}, kept={})
    with pytest.raises(UsageError, match="expected null-singular, a-singular"):
        TASK.show(unit_at(span_of("bread")), rng=rng())


def test_answers_go_to_the_items_of_their_construction_and_grey_counts_as_yes_in_gold() -> None:
    unit = noun_unit("no-context", grey=True)
    answers = TASK.read(unit, {**ALL_NO, "a-singular": ["grey"]}, kept={})
    (grey,) = (answer.item_id for answer in answers if answer.label == "grey")
    kinds = {each.item.item_id: each.item.kind for each in unit.items}
    assert kinds[grey] == "construction/no-context/a-singular"
    assert [TASK.right(answers, {grey: frozenset({label})}) for label in ("yes", "no")] == [True, False]
