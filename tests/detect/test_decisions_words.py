"""Every system has a word for every place: its best one, and the next with probabilities."""

from __future__ import annotations

import json

import pytest

from grater.detect.decisions import answers_cell, answers_of, best_word, filled, is_mismatch
from grater.detect.detector import Finding
from grater.detect.external import findings
from grater.detect.systems import load_system
from grater.errors import UsageError
from grater.model import DELETE, Decision, Edit, Essay, Item, Span

ESSAY = Essay("e", "She waited on the bus stop for hours. I have book about dogs.")


def finding(target: str, *answers: tuple[str, float], kind: str = "prep") -> Finding:
    item = Item("e", Span(0, len(target)), kind)
    return Finding(item, Decision(item.item_id, "S", flagged=False), target, answers)


def test_a_blank_is_filled_with_a_preposition_though_none_at_all_is_likelier() -> None:
    place = finding("in", (DELETE, 0.5), ("on", 0.3), ("in", 0.2))
    assert answers_of(place) == (("on", 0.3), ("in", 0.2))
    assert is_mismatch(place)


@pytest.mark.parametrize("name", ["prep-maxent", "prep-lm"])
def test_our_systems_have_words_and_probabilities_where_they_flag_nothing(name: str) -> None:
    places = filled(load_system(name), [ESSAY]).findings
    assert [place.target for place in places] == ["on", "for", "about"]
    for place in places:
        shares = [share for _, share in answers_of(place) if share is not None]
        assert shares[:3] == sorted(shares[:3], reverse=True)
        assert 0 < sum(shares) <= 1.00001
        assert place.target in dict(answers_of(place))


def test_a_system_from_outside_would_write_its_suggestion_or_the_writers_word() -> None:
    places = [Item("e", Span(11, 13), "prep"), Item("e", Span(27, 30), "prep")]
    changed, left = findings(ESSAY, [Edit(Span(11, 13), ("at",), "Prep", "checker")], places, "checker")
    assert (best_word(changed), best_word(left)) == ("at", "for")
    assert json.loads(answers_cell(answers_of(changed))) == {"at": None}
    assert (is_mismatch(changed), is_mismatch(left)) == (True, False)


def test_judged_places_that_a_system_does_not_look_at_are_named() -> None:
    with pytest.raises(UsageError, match="looks at no place among the 1 judged"):
        filled(load_system("prep-maxent"), [ESSAY], wanted=["elsewhere"])
