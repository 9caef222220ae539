"""Ranking corrections: alike ones are one row, ranks have no gaps, gold is an order."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from grater.annotate.tasks.rank import MOST, TASK
from grater.annotate.tasks.task import Answer
from grater.errors import UsageError
from grater.uncertainty import generator
from tests.annotate.tasks.units import corrected_unit, rng
from tests.each import for_each

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


GOLD: Mapping[str, tuple[str, bool]] = {"1233": ("1344", True), "1133": ("1344", False), "3122": ("1344", False)}


@for_each(GOLD)
def test_gold_asks_for_the_order_of_what_should_differ(labels: str) -> None:
    known, is_right = GOLD[labels]
    answers = [Answer(item_id, label) for item_id, label in zip(IDS, labels, strict=True)]
    accepted = {item_id: frozenset(rank) for item_id, rank in zip(IDS, known, strict=True)}
    assert TASK.right(answers, accepted) == is_right


def test_a_spoilt_sentence_that_must_be_last_says_nothing_of_the_others() -> None:
    accepted = {item_id: frozenset(rank) for item_id, rank in zip(IDS, "1511", strict=True)}
    for labels, is_right in {"1433": True, "3411": True, "1111": False, "1211": True, "2133": False}.items():
        answers = [Answer(item_id, label) for item_id, label in zip(IDS, labels, strict=True)]
        assert TASK.right(answers, accepted) == is_right
