"""An edit is shown with the sentence as it would read, its capitals and commas where the edit has them."""

from __future__ import annotations

import pytest

from grater.annotate.tasks import TASKS
from grater.annotate.tasks.task import Unit, UnitItem
from grater.model import DELETE, Essay, Span, edit_item
from grater.uncertainty import generator

TEXT = "Of course I agree. however we met at at noon."


@pytest.mark.parametrize(
    ("words", "suggestion", "reading"),
    [
        (Span(19, 26), "However", "However we met at at noon."),
        (Span(27, 27), ",", "however, we met at at noon."),
        (Span(37, 39), DELETE, "however we met at noon."),
        (Span(0, 2), "of", "of course I agree."),
        (Span(30, 30), "have", "however we have met at at noon."),
    ],
)
def test_an_edit_is_read_in_its_sentence(words: Span, suggestion: str, reading: str) -> None:
    item = edit_item("e", words, suggestion)
    unit = Unit("u", Essay("e", TEXT), (UnitItem(item, {"suggestion": suggestion}),))
    [field] = TASKS["verify"].show(unit, rng=generator(0, "verify")).fields
    assert "".join(piece.text for piece in field.choices[0].reading).strip() == reading
    assert edit_item("e", words, "other").item_id != item.item_id
