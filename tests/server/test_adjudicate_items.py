"""A decision about an item, looked at again: the form is filled so that it would say the same."""

from __future__ import annotations

import pytest

from grater.rng import generator
from grater.server.pages.adjudicate import filled_by
from grater.store.jobs import Job
from grater.store.units import StudyUnit
from grater.tasks import TASKS, Answer, Unit
from grater.tasks.construction import CONSTRUCTIONS
from tests.tasks.units import OF, noun_unit, unit_at

SUGGESTED = unit_at(OF, payload={"suggestion": "on"})
FORMS: list[tuple[str, Unit, dict[str, list[str]]]] = [
    ("usage", SUGGESTED, {"label": ["0"], "confidence": ["low"], "flags": ["spelling", "grammar"]}),
    ("usage", SUGGESTED, {"label": ["1"], "better": ["on, upon"], "confidence": ["high"]}),
    ("usage", SUGGESTED, {"label": ["e"], "others": ["on"], "confidence": ["high"], "flags": []}),
    ("cloze", SUGGESTED, {"label": ["on"]}),
    ("error", SUGGESTED, {"label": ["unknown"]}),
    ("verify", SUGGESTED, {"label": ["both bad"]}),
    ("construction", noun_unit("no-context"), {name: ["no" if "the" in name else "yes"] for name in CONSTRUCTIONS}),
]


def study_unit(task: str, unit: Unit) -> StudyUnit:
    return StudyUnit(unit, Job("j", "j", task, "", 2, "pool", "open", 1), "work", 0, False, None, 0, 2)


@pytest.mark.parametrize(("task", "unit", "form"), FORMS)
def test_a_decision_fills_the_form_that_gives_it(task: str, unit: Unit, form: dict[str, list[str]]) -> None:
    shown = TASKS[task].show(unit, rng=generator(0, "page"))
    answers = TASKS[task].read(unit, form, kept=shown.kept)
    filled = filled_by(study_unit(task, unit), shown, [], answers)
    assert filled["label" if "label" in form else CONSTRUCTIONS[0]]
    assert TASKS[task].read(unit, filled, kept=shown.kept) == answers


def test_a_decision_that_the_form_could_not_give_leaves_it_empty() -> None:
    shown = TASKS["error"].show(SUGGESTED, rng=generator(0, "page"))
    item_id = SUGGESTED.items[0].item.item_id
    for answers in (
        [Answer(item_id, "no such label")],
        [Answer(item_id, "error", flags=("odd",))],
        [Answer("x", "ok")] * 2,
    ):
        assert filled_by(study_unit("error", SUGGESTED), shown, [], answers) == {}


def test_the_sides_of_a_choice_are_not_guessed() -> None:
    shown = TASKS["choice"].show(SUGGESTED, rng=generator(0, "page"))
    answers = TASKS["choice"].read(SUGGESTED, {"label": ["first"]}, kept=shown.kept)
    assert filled_by(study_unit("choice", SUGGESTED), shown, [], answers) == {}
