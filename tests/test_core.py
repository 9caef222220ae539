"""The parts that everything uses: places in texts, registries of names, signatures."""

from __future__ import annotations

import hashlib
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater import __version__
from grater.corpora.formats import FORMATS
from grater.errors import UnknownName
from grater.model import Item, Span
from grater.registry import Registry, unknown
from grater.sheet import Signature, digest

spans = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda pair: Span(min(pair), max(pair)))


def test_an_item_is_named_by_its_place_and_kind() -> None:
    item = Item("essay-7", Span(3, 5), "prep")
    assert item.item_id == hashlib.sha256(b"essay-7|3|5|prep").hexdigest()[:16]


def test_spans_count_code_points_and_touch_at_their_rims() -> None:
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


@pytest.mark.parametrize("name", FORMATS.names())
def test_every_registered_format_loads_and_bears_its_name(name: str) -> None:
    assert FORMATS[name].name == name


def test_names_are_listed_for_help_and_cut_where_there_are_many() -> None:
    assert Registry("thing", "grater.nothing", {"b": "x:y", "a": "x:y", "c": "x:y"}).listed() == "a, b or c"
    assert Registry("thing", "grater.nothing", {"a": "x:y"}).listed() == "a"
    names = [f"w{number:02}" for number in range(40)]
    assert unknown("person", "Zoe", names).endswith("w28, w29 and 10 more")


def test_a_signature_names_measure_version_and_options_in_a_fixed_order() -> None:
    signature = Signature("m2", {"ref": "ab12", "beta": "0.5"})
    assert str(signature) == f"m2|grater:{__version__}|beta:0.5|ref:ab12"


def test_a_digest_knows_where_each_part_ends() -> None:
    assert digest(["ab", "c"]) != digest(["a", "bc"])
