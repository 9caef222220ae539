"""Words of a report: remarks as sentences, lists, and numbers with the reason where they are undefined."""

from __future__ import annotations

from math import nan

from grater.model import Interval
from grater.reporting.document import ItemView, interval, listed, percent_of, sentence


def test_words_of_a_report() -> None:
    # A remark becomes a sentence.
    assert sentence("only 3 items have it") == "Only 3 items have it."
    assert sentence("Is it so?") == "Is it so?"
    # The last of several names follows an and.
    assert [listed(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
    # A share of nothing is undefined.
    assert (percent_of(3, 10), percent_of(0, 0)) == ("30 %", "–")
    # The commonest label comes first.
    view = ItemView("i1", "we met ", "on", " the station", (("A", "ok"), ("B", "error"), ("C", "error")), ())
    assert view.by_label == [("error", ["B", "C"]), ("ok", ["A"])]


def test_an_undefined_number_is_a_dash_with_its_reason() -> None:
    assert interval(Interval(nan, nan, nan, "nothing was flagged")) == "– (nothing was flagged)"
    assert interval(Interval(0.63, 0.55, 0.71)) == ".630 [.550, .710]"
