"""Edits become judgments of items by one rule, and the two ways to match tags differ where they should."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.judgments import Match, items_of, judgments_from_edits
from grater.errors import BadInput, UsageError
from grater.model import Edit, Essay, Item, Span
from grater.tables import read_decisions, read_items
from tests.examples import examples

#        0         1         2         3
#        0123456789012345678901234567890123456
TEXT = "We meet in Monday because my old car."
IN, CAR = Span(8, 10), Span(33, 36)
ITEM = {"i": Item("e1", IN, "prep")}


def edit(start: int, end: int, *replacements: str, tag: str = "Prep", rater: str = "Ada") -> Edit:
    return Edit(Span(start, end), replacements, tag, rater)


def essay(*edits: Edit, annotators: tuple[str, ...] = ("Ada",), tokens: tuple[Span, ...] | None = None) -> Essay:
    return Essay("e1", TEXT, edits, annotators, tokens)


def judge(span: Span, *edits: Edit, match: Match = "tag", tags: tuple[str, ...] = ("Prep",)) -> tuple[object, ...]:
    """Label, flags and alternatives that one annotator gives to one item."""
    items = {"i": Item("e1", span, "prep")}
    frame = judgments_from_edits([essay(*edits)], items, tags=tags, match=match).frame
    assert frame.select("item", "rater").rows() == [("i", "Ada")]
    return frame.select("label", "flags", "alternatives").row(0)


def test_an_edit_with_the_tag_is_an_error_and_another_one_context() -> None:
    assert judge(IN, edit(8, 10, "on")) == ("error", None, "on")
    assert judge(IN) == ("ok", None, None)
    assert judge(IN, edit(11, 17, "Tuesday")) == ("ok", None, None)
    other = edit(8, 10, "on", tag="Wci")
    assert judge(IN, other) == ("ok", "context", None)
    assert judge(IN, other, match="any") == ("error", None, "on")
    both = (edit(3, 10, "met in", tag="Vt"), edit(8, 10, "on"))
    assert judge(IN, *both) == ("error", None, "on")
    assert judge(IN, edit(8, 10)) == ("error", None, None)
    assert judge(IN, edit(8, 10, "in"), match="any") == ("ok", None, None)
    assert judge(Span(8, 8), edit(8, 10, "in"), match="any") == ("ok", None, None)
    assert judge(IN, edit(8, 10, "")) == ("error", None, "-NONE-")
    assert judge(IN, edit(8, 10, "on", "", "by|at")) == ("error", None, "on|-NONE-|by ¦ at")


def test_edits_count_for_the_words_that_they_change() -> None:
    # "meet in" to "met in" changes only the verb; "in Monday" to "on Monday" only the preposition
    assert judge(IN, edit(3, 10, "met in", tag="Vt"), match="any") == ("ok", None, None)
    assert judge(IN, edit(8, 17, "on Monday")) == ("error", None, "on")
    assert judge(Span(3, 7), edit(5, 6, "", tag="Vt"), tags=("Vt",)) == ("error", None, "met")
    assert judge(IN, edit(10, 10, " the"), edit(8, 8, "up "), match="any") == ("ok", None, None)
    assert judge(Span(29, 36), edit(33, 33, "red ")) == ("error", None, "red")
    # Here "old car" is one token, so an edit of the one is an edit of the other.
    tokens = (Span(0, 28), Span(29, 36), Span(36, 37))
    marked = essay(edit(29, 36, "new car"), tokens=tokens)
    frame = judgments_from_edits([marked], {"i": Item("e1", CAR, "noun")}, tags=["Prep"]).frame
    assert frame["label"].to_list() == ["error"]


@pytest.mark.parametrize("point", [25, 26])
def test_an_insertion_is_at_a_point_anywhere_in_its_gap(point: int) -> None:
    missing = Span(point, point)
    assert judge(missing, edit(18, 25, "because of")) == ("error", None, "of")
    assert judge(missing, edit(26, 28, "of my")) == ("error", None, "of")
    assert judge(missing, edit(25, 25, " of", tag="Wci")) == ("ok", "context", None)


def test_a_point_is_a_gap_between_words_where_only_insertions_count() -> None:
    assert judge(Span(25, 25), edit(18, 28, "for our"), match="any") == ("ok", None, None)
    assert judge(Span(36, 36), edit(33, 36, "car broke")) == ("error", None, "broke")
    assert judge(Span(34, 34), edit(34, 34, "x"), match="any") == ("ok", None, None)


def test_every_annotator_of_the_essay_gives_a_judgment_and_unread_items_are_counted() -> None:
    marked = essay(edit(8, 10, "on"), annotators=("Ada", "Bo"))
    frame = judgments_from_edits([marked], ITEM, tags=["Prep"]).frame
    assert frame.select("rater", "label").rows() == [("Ada", "error"), ("Bo", "ok")]
    judgments = judgments_from_edits([essay(annotators=())], ITEM, tags=["Prep"])
    assert len(judgments) == 0
    assert judgments.dropped == {"item in an essay without annotators": 1}


def test_items_elsewhere_repeated_essays_unknown_tags_and_matches_are_refused() -> None:
    for item, labels, words in (
        (Item("e9", IN, "prep"), "verdict", "expected essay 'e9' of item i, found no such essay"),
        (Item("e1", Span(30, 40), "prep"), "verdict", "item i inside essay 'e1' of 37 characters, found 30 to 40"),
        (Item("e1", Span(8, 8), "prep-missing"), "usage", "item i is a gap"),
    ):
        with pytest.raises(BadInput, match=words):
            judgments_from_edits([essay()], {"i": item}, tags=["Prep"], labels=labels)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="expected essay 'e1' once, found it again; merge its annotators first"):
        judgments_from_edits([essay(), essay()], ITEM, tags=["Prep"])
    marked = [essay(edit(8, 10, "on"))]
    with pytest.raises(BadInput, match=r"no edit has this tag: unknown tag 'prep'\. Did you mean 'Prep'"):
        judgments_from_edits(marked, ITEM, tags=["Prep", "prep"])
    assert len(judgments_from_edits(marked, ITEM, tags=["ArtOrDet"])) == 1
    with pytest.raises(UsageError, match="expected match tag or any, found 'all'"):
        judgments_from_edits([essay()], {}, tags=["Prep"], match="all")  # type: ignore[arg-type]


PLACES = {"item": ["a", "a", "b"], "essay": ["e1"] * 3, "start": ["8", "8", "33"], "end": ["10", "10", "36"]}
DECISIONS = pl.DataFrame(
    {"system": ["S", "T", "S"], "flagged": [1, 0, 1], "kind": ["prep", "prep", "noun"], **PLACES}
)


def test_decisions_or_the_items_table_say_where_items_stand() -> None:
    assert items_of(read_decisions(DECISIONS)) == {"a": Item("e1", IN, "prep"), "b": Item("e1", CAR, "noun")}
    with pytest.raises(BadInput, match="expected item 'a' once"):
        items_of(read_decisions(DECISIONS.with_columns(start=pl.Series(["7", "8", "33"]))))
    items = read_items(DECISIONS.unique("item", maintain_order=True))
    decisions = read_decisions(DECISIONS.select("item", "system", "flagged").head(2))
    assert items_of(decisions, items) == {"a": Item("e1", IN, "prep")}
    with pytest.raises(BadInput, match=r"expected columns essay, start, end, kind .*; give the items table too"):
        items_of(decisions)
    items = read_items(DECISIONS.filter(pl.col("item") == "b"))
    with pytest.raises(BadInput, match="found no row for 1 of them: a"):
        items_of(read_decisions(DECISIONS), items)


POINTS = st.integers(0, len(TEXT))
SPANS = st.tuples(POINTS, POINTS).map(lambda ends: Span(min(ends), max(ends)))
EDITS = st.builds(
    lambda span, words, tag: Edit(span, words, tag, "Ada"),
    SPANS,
    st.lists(st.sampled_from(["", "on", "of my", TEXT]), max_size=2).map(tuple),
    st.sampled_from(["Prep", "Wci"]),
)


@examples(80)
@given(st.lists(EDITS, max_size=4), st.lists(SPANS, min_size=1, max_size=4))
def test_any_finds_what_tag_finds_or_calls_context(edits: list[Edit], spans: list[Span]) -> None:
    items = {str(number): Item("e1", span, "x") for number, span in enumerate(spans)}
    by_tag = judgments_from_edits([essay(*edits)], items, tags=["Prep"]).frame
    by_any = judgments_from_edits([essay(*edits)], items, tags=["Prep"], match="any").frame
    expected = [
        "error" if row["label"] == "error" or row["flags"] == "context" else "ok" for row in by_tag.to_dicts()
    ]
    assert by_any["label"].to_list() == expected
    assert by_tag.select("item", "rater").n_unique() == len(items)


@pytest.mark.parametrize(
    ("edits", "label"), [((), "2"), ((edit(8, 11, ""),), "0"), ((edit(8, 10, "on"),), "1"), ((edit(8, 10),), "1")]
)
def test_the_labels_of_usage_say_extraneous_incorrect_or_correct(edits: tuple[Edit, ...], label: str) -> None:
    judged = judgments_from_edits([essay(*edits)], ITEM, tags=["Prep"], labels="usage").frame
    assert judged["label"].to_list() == [label]
