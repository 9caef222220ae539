"""Ranking corrections: alike ones are one row, ranks have no gaps, gold is an order."""

from __future__ import annotations

import pytest

from grater.annotate.tasks.rank import MOST, TASK
from grater.annotate.tasks.task import Answer
from grater.errors import UsageError
from grater.uncertainty import generator
from tests.annotate.tasks.units import corrected_unit, rng

UNIT = corrected_unit("rank", ("depends on", "counts on", "relies in"))
"""Four systems, the last two of which wrote the same."""
IDS = [each.item.item_id for each in UNIT.items]


def test_systems_that_wrote_the_same_are_one_row_and_share_its_rank() -> None:
    shown = TASK.show(UNIT, rng=rng())
    assert len(shown.fields) == 3 <= MOST
    assert [piece.text.strip() for field in shown.fields for piece in field.reading if piece.mark]
    worst_first = {field.name: [{"d": "1", "c": "3", "r": "3"}[field.question[4]]] for field in shown.fields}
    answers = TASK.read(UNIT, worst_first, kept=shown.kept)
    assert {answer.item_id: answer.label for answer in answers} == dict(zip(IDS, "1222", strict=True))


def test_rows_come_in_an_order_of_their_own_that_an_answer_needs() -> None:
    orders = {tuple(field.question for field in TASK.show(UNIT, rng=generator(n, "order")).fields) for n in range(40)}
    assert len(orders) == 6
    with pytest.raises(UsageError, match="the order of its rows"):
        TASK.read(UNIT, {}, kept={})


def is_right(labels: str, known: str) -> bool:
    answers = [Answer(item_id, label) for item_id, label in zip(IDS, labels, strict=True)]
    return TASK.right(answers, {item_id: frozenset(rank) for item_id, rank in zip(IDS, known, strict=True)})


def test_gold_asks_for_the_order_of_what_should_differ_and_a_spoilt_sentence_says_nothing_of_the_others() -> None:
    assert [is_right(labels, "1344") for labels in ("1233", "1133", "3122")] == [True, False, False]
    last = {"1433": True, "3411": True, "1111": False, "1211": True, "2133": False}
    assert {labels: is_right(labels, "1511") for labels in last} == last
