"""Where annotators of one essay differ, on sentences of our own."""

from __future__ import annotations

import pytest

from grater.annotate.adjudication import places_of
from grater.model import Edit, Essay, Span

TEXT = "She adopted puppy. He own three chair near the sea, in summer."


def edit(words: str, replacement: str | None, tag: str, rater: str) -> Edit:
    start = TEXT.index(words)
    return Edit(Span(start, start + len(words)), () if replacement is None else (replacement,), tag, rater)


def kinds(*edits: Edit) -> list[tuple[str, str]]:
    by_rater = {rater: [each for each in edits if each.rater == rater] for rater in ("A", "B")}
    return [(place.kind, place.span.of(TEXT)) for place in places_of(Essay("e", TEXT), by_rater)]


OMISSION = (edit("adopted", "adopted a", "ArtOrDet", "A"), edit("puppy", "a puppy", "ArtOrDet", "B"))
EVERY_KIND = (
    edit("puppy", "a puppy", "ArtOrDet", "A"), edit("puppy", "a puppy", "ArtOrDet", "B"),
    edit("own", "owns", "SVA", "A"), edit("own", "owned", "SVA", "B"),
    edit("chair", "chairs", "Nn", "A"), edit("chair", "chairs", "Wform", "B"),
    edit("summer", "the summer", "ArtOrDet", "B"),
)  # fmt: skip
LONG_AND_SHORT = (
    edit("own three chair", "owns three chairs", "SVA", "A"),
    edit("own", "owns", "SVA", "B"), edit("chair", "chairs", "Nn", "B"),
)  # fmt: skip
NEAR = (edit("own", "owns", "SVA", "A"), edit("three", "3", "Mec", "B"))
NOT_CORRECTED = (edit("own", None, "SVA", "A"), edit("own", "owns", "SVA", "B"))


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        pytest.param(OMISSION, [("same", "adopted puppy")], id="the same omission on either neighbour is one place"),
        pytest.param(
            EVERY_KIND,
            [("identification", "summer"), ("type", "chair"), ("correction", "own"), ("same", "puppy")],
            id="in the order identification, type, correction, same",
        ),
        pytest.param(LONG_AND_SHORT, [("type", "own three chair")], id="short edits inside a long one are one place"),
        pytest.param(NEAR, [("identification", "own"), ("identification", "three")], id="near each other are two"),
        pytest.param(NOT_CORRECTED, [("correction", "own")], id="found but not corrected"),
        pytest.param((), [], id="nobody marked anything"),
    ],
)
def test_places_where_annotators_differ(edits: tuple[Edit, ...], expected: list[tuple[str, str]]) -> None:
    assert kinds(*edits) == expected


def test_two_places_under_the_same_long_selection_have_names_of_their_own() -> None:
    first = edit("own three chair", "owns three chair", "SVA", "A")
    second = edit("own three chair", "own three chairs", "Nn", "B")
    places = places_of(Essay("e", TEXT), {"A": [first], "B": [second]})
    assert [place.kind for place in places] == ["identification", "identification"]
    assert len({place.name for place in places}) == 2
