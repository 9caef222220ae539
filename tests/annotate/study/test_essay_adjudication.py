"""Where annotators of one essay differ, on sentences of our own."""

from __future__ import annotations

from grater.annotate.adjudication import places_of
from grater.model import Edit, Essay, Span

TEXT = "She adopted puppy. He own three chair near the sea, in summer."


def edit(words: str, replacement: str | None, tag: str, rater: str) -> Edit:
    start = TEXT.index(words)
    return Edit(Span(start, start + len(words)), () if replacement is None else (replacement,), tag, rater)


def kinds(*edits: Edit) -> list[tuple[str, str]]:
    by_rater = {rater: [each for each in edits if each.rater == rater] for rater in ("A", "B")}
    return [(place.kind, place.span.of(TEXT)) for place in places_of(Essay("e", TEXT), by_rater)]


def test_the_same_omission_on_either_neighbour_is_one_place_where_both_say_the_same() -> None:
    first, second = edit("adopted", "adopted a", "ArtOrDet", "A"), edit("puppy", "a puppy", "ArtOrDet", "B")
    assert kinds(first, second) == [("same", "adopted puppy")]


def test_differences_come_in_the_order_identification_type_correction_same() -> None:
    found = kinds(
        edit("puppy", "a puppy", "ArtOrDet", "A"), edit("puppy", "a puppy", "ArtOrDet", "B"),
        edit("own", "owns", "SVA", "A"), edit("own", "owned", "SVA", "B"),
        edit("chair", "chairs", "Nn", "A"), edit("chair", "chairs", "Wform", "B"),
        edit("summer", "the summer", "ArtOrDet", "B"),
    )  # fmt: skip
    assert found == [("identification", "summer"), ("type", "chair"), ("correction", "own"), ("same", "puppy")]


def test_one_long_edit_and_two_short_ones_inside_it_are_one_place() -> None:
    found = kinds(
        edit("own three chair", "owns three chairs", "SVA", "A"),
        edit("own", "owns", "SVA", "B"), edit("chair", "chairs", "Nn", "B"),
    )  # fmt: skip
    assert found == [("type", "own three chair")]


def test_marks_that_only_lie_near_each_other_are_two_places() -> None:
    assert kinds(edit("own", "owns", "SVA", "A"), edit("three", "3", "Mec", "B")) == [
        ("identification", "own"), ("identification", "three"),
    ]  # fmt: skip


def test_an_error_found_but_not_corrected_differs_in_correction_from_one_that_is() -> None:
    assert kinds(edit("own", None, "SVA", "A"), edit("own", "owns", "SVA", "B")) == [("correction", "own")]


def test_an_essay_that_nobody_marked_has_no_place() -> None:
    assert kinds() == []


def test_two_places_under_the_same_long_selection_have_names_of_their_own() -> None:
    first = edit("own three chair", "owns three chair", "SVA", "A")
    second = edit("own three chair", "own three chairs", "Nn", "B")
    places = places_of(Essay("e", TEXT), {"A": [first], "B": [second]})
    assert [place.kind for place in places] == ["identification", "identification"]
    assert len({place.name for place in places}) == 2
