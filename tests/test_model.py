from __future__ import annotations

import hashlib
import math

from hypothesis import given
from hypothesis import strategies as st

from grater.model import Interval, Item, Span

spans = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda pair: Span(min(pair), max(pair)))


def test_an_item_is_named_by_its_place_and_kind() -> None:
    item = Item("essay-7", Span(3, 5), "prep")
    assert item.item_id == hashlib.sha256(b"essay-7|3|5|prep").hexdigest()[:16]


def test_a_span_covers_code_points_not_bytes() -> None:
    assert Span(2, 3).of("a 🙂 b") == "🙂"


def test_a_point_touches_the_rim_of_a_span_but_words_side_by_side_do_not_touch() -> None:
    assert Span(3, 3).touches(Span(3, 5))
    assert Span(5, 5).touches(Span(3, 5))
    assert not Span(1, 3).touches(Span(3, 5))


@given(spans, spans)
def test_touching_is_mutual_and_follows_from_covering(first: Span, second: Span) -> None:
    assert first.touches(second) == second.touches(first)
    if first.covers(second):
        assert first.touches(second)


def test_an_undefined_number_is_null_with_its_reason_in_json() -> None:
    interval = Interval(math.nan, math.nan, math.nan, "no flagged item")
    assert interval.as_json() == {"value": None, "low": None, "high": None, "reason": "no flagged item"}
