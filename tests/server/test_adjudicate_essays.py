"""The decision about an essay, without a browser: what the form says becomes edits, and edits the same form again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grater.errors import BadInput
from grater.model import Edit, Essay, Json, Span
from grater.server.pages.adjudicate_essays import MORE, Table, decided, earlier_choices
from grater.store.adjudications import Adjudication
from grater.store.jobs import Job
from grater.store.units import StudyUnit
from grater.tasks import Answer, Unit

TEXT = "She adopted puppy. He own three chair near the sea, in summer 😀 of rain."
WORDS = ("adopted puppy", "puppy", "own", "three chair", "chair", "near", "in summer", "of")
JOB = Job("j", "j", "marking", "", 2, "pool", "open", 1)
UNIT = StudyUnit(Unit("u", Essay("e", TEXT), ()), JOB, "work", 0, False, None, 0, 2)


def edit(words: str, correction: str = "x", tag: str = "Others") -> Edit:
    start = TEXT.index(words)
    return Edit(Span(start, start + len(words)), (correction,), tag, "")


EDITS = st.builds(edit, st.sampled_from(WORDS), st.sampled_from(["x", "y"]), st.sampled_from(["Others", "Mec"]))
SOME = st.lists(EDITS, max_size=4, unique=True).map(tuple)


def table(*by_rater: tuple[Edit, ...], gold: tuple[Edit, ...] | None = None) -> Table:
    earlier = None
    if gold is not None:
        sent: list[Json] = [sent_by_page(each) for each in gold]
        earlier = Adjudication("u", 1, "p", (Answer("i", "marked", payload={"edits": sent}),), "", 0)
    theirs = {
        letter: tuple(replace(each, rater=letter) for each in edits)
        for letter, edits in zip("AB", by_rater, strict=True)
    }
    return Table(UNIT, theirs, (), earlier)


def sent_by_page(each: Edit) -> dict[str, Json]:
    span: dict[str, Json] = {"start": each.span.start, "end": each.span.end, "quote": each.span.of(TEXT)}
    return {**span, "tag": each.tag, "replacements": list(each.replacements), "comment": each.comment}


def said(edits: tuple[Edit, ...]) -> set[tuple[Span, tuple[str, ...], str]]:
    return {(each.span, each.replacements, each.tag) for each in edits}


@settings(max_examples=150, deadline=None)
@given(SOME, SOME, SOME)
def test_an_earlier_decision_fills_the_form_so_that_it_decides_the_same(
    first: tuple[Edit, ...], second: tuple[Edit, ...], gold: tuple[Edit, ...]
) -> None:
    """Whatever was decided, also what no annotator said and several edits at one place."""
    before = table(first, second, gold=gold)
    assert said(decided(before, earlier_choices(before))) == said(gold)


def test_what_nobody_marked_is_added_and_what_was_chosen_already_is_there_once() -> None:
    here = table((edit("own", "owns", "SVA"),), ())
    (place,) = here.places
    own = [edit("of", "during"), edit("own", "owns", "SVA")]
    filled = {f"choice {place.name}": "A", MORE: json.dumps([sent_by_page(each) for each in own])}
    assert [each.span.of(TEXT) for each in decided(here, filled)] == ["own", "of"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("{", "expected a JSON list"),
        (json.dumps([{**sent_by_page(edit("of")), "quote": "in"}]), "expected the quote 'of'"),
        (json.dumps([{**sent_by_page(edit("of")), "tag": "None"}]), "expected a tag"),
        (json.dumps([{**sent_by_page(edit("of")), "replacements": []}]), "expected a correction"),
    ],
)
def test_a_mark_anew_obeys_the_rules_of_marking(more: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        decided(table((), ()), {MORE: more})
