"""The parts that everything uses: places in texts, registries of names, signatures."""

from __future__ import annotations

import hashlib
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.formats import FORMATS
from grater.errors import UnknownName, unknown
from grater.model import Item, Span
from grater.options import Registry

spans = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda pair: Span(min(pair), max(pair)))


def test_items_are_named_by_place_and_kind_and_spans_count_code_points_and_touch_at_their_rims() -> None:
    item = Item("essay-7", Span(3, 5), "prep")
    assert item.item_id == hashlib.sha256(b"essay-7|3|5|prep").hexdigest()[:16]
    assert Span(2, 3).of("a 🙂 b") == "🙂"
    assert Span(3, 3).touches(Span(3, 5))
    assert Span(5, 5).touches(Span(3, 5))
    assert not Span(1, 3).touches(Span(3, 5))


@given(spans, spans)
def test_touching_is_mutual_and_follows_from_covering(first: Span, second: Span) -> None:
    assert first.touches(second) == second.touches(first)
    if first.covers(second):
        assert first.touches(second)


def test_listing_names_imports_nothing() -> None:
    registry: Registry[object] = Registry("thing", "grater.test-things", {"one": "tests.no_such_module:THING"})
    assert registry.names() == ["one"]
    assert "one" in registry
    assert "two" not in registry
    assert "tests.no_such_module" not in sys.modules


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"unknown format 'nucel'. Did you mean 'nucle'\? Known: bea, .*nucle"):
        FORMATS["nucel"]
    names = [f"w{number:02}" for number in range(40)]
    assert unknown("person", "Zoe", names).endswith("w28, w29 and 10 more")
