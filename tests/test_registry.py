from __future__ import annotations

import sys

import pytest

from grater.corpora.formats import FORMATS
from grater.errors import UnknownName
from grater.registry import Registry, unknown


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


def test_a_line_of_help_lists_our_own_names() -> None:
    assert Registry("thing", "grater.nothing", {"b": "x:y", "a": "x:y", "c": "x:y"}).listed() == "a, b or c"
    assert Registry("thing", "grater.nothing", {"a": "x:y"}).listed() == "a"


def test_a_long_list_of_names_is_cut() -> None:
    names = [f"w{number:02}" for number in range(40)]
    assert unknown("person", "Zoe", names).endswith("w28, w29 and 10 more")
