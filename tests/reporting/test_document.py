"""Words of a report: remarks as sentences, lists, and numbers with the reason where they are undefined."""

from __future__ import annotations

from math import nan

from grater.model import Interval
from grater.reporting.document import ItemView, interval, listed, percent_of, sentence


def test_a_remark_becomes_a_sentence() -> None:
    assert sentence("only 3 items have it") == "Only 3 items have it."
    assert sentence("Is it so?") == "Is it so?"


def test_an_undefined_number_is_a_dash_with_its_reason() -> None:
    assert interval(Interval(nan, nan, nan, "nothing was flagged")) == "– (nothing was flagged)"
    assert interval(Interval(0.63, 0.55, 0.71)) == ".630 [.550, .710]"


def test_the_last_of_several_names_follows_an_and() -> None:
    assert [listed(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


def test_a_share_of_nothing_is_undefined() -> None:
    assert (percent_of(3, 10), percent_of(0, 0)) == ("30 %", "–")


def test_the_commonest_label_comes_first() -> None:
    view = ItemView("i1", "we met ", "on", " the station", (("A", "ok"), ("B", "error"), ("C", "error")), ())
    assert view.by_label == [("error", ["B", "C"]), ("ok", ["A"])]
