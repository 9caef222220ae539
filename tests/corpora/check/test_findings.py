"""What looks odd but is allowed: counted, never a finding."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.check import RULES, UNREADABLE, Census, census_of, check_essays
from grater.model import Edit, Span
from tests.corpora.check.essays import edit_of, essay_of

TEXT = "The informations about weather was missing."
EXEMPT = frozenset({"Um", "Cit", "Wa"})


def test_lawful_oddities_are_counted_and_no_findings() -> None:
    long = edit_of(TEXT, "informations about weather", "weather information")
    inner = edit_of(TEXT, "informations", "information")
    last = edit_of(TEXT, "weather was", "weather were")
    assert census_of(essay_of(TEXT, long, inner, last), exempt=EXEMPT).overlaps == 2
    lawful = essay_of(
        TEXT,
        edit_of(TEXT, "informations about", "information on", tag="Nn"),
        edit_of(TEXT, "informations", "information", tag="Nn"),
        edit_of(TEXT, "informations", "information", tag="Mec"),
        edit_of(TEXT, "was", tag="Um"),
        edit_of(TEXT, "issing", "issed", tag="Vform"),
    )
    heard: list[Census] = []
    assert list(check_essays([lawful, lawful], tally=heard.append)) == []
    assert heard == [Census(essays=2, edits=10, overlaps=4, second_tags=2, uncorrected=2, inside_words=2)]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5)), max_size=12))
def test_overlaps_are_those_that_comparing_every_pair_finds(places: list[tuple[int, int]]) -> None:
    spans = [Span(start, start + length) for start, length in places]
    edits = tuple(Edit(span, ("x",), "Mec", "A") for span in spans)
    pairs = sum(
        one != other and len(one) > 0 and len(other) > 0 and one.start < other.end and other.start < one.end
        for one, other in combinations(spans, 2)
    )
    assert census_of(essay_of(TEXT, *edits), exempt=EXEMPT).overlaps == pairs


def test_four_thousand_nested_marks_are_each_looked_at_a_few_times() -> None:
    """Comparing the open spans with each other took 5 s at every save of such a draft."""
    n_looks = 0

    class Watched(Edit):
        def __getattribute__(self, name: str) -> object:
            nonlocal n_looks
            n_looks += name == "span"
            return super().__getattribute__(name)

    n_marks = 4000
    text = "a " * n_marks
    edits = tuple(Watched(Span(n, 2 * n_marks - n), ("x",), "Mec", "A") for n in range(n_marks))
    assert census_of(essay_of(text, *edits), exempt=EXEMPT).overlaps == n_marks * (n_marks - 1) // 2
    assert n_looks < 20 * n_marks


def test_the_rules_that_may_be_named_are_those_of_the_documentation() -> None:
    page = (Path(__file__).parents[3] / "docs" / "corpora.md").read_text(encoding="utf-8")
    table = page.partition("| rule | what it finds |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"^\| `([a-z-]+)`", table, re.MULTILINE)) == sorted([*RULES, UNREADABLE])
