from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from grater.detect import detector as groups
from grater.detect.articles.constructions import CONSTRUCTIONS
from grater.detect.articles.detector import Caution
from grater.detect.detector import Finding
from grater.model import DELETE, Essay, Span
from tests.detect.articles.made_text import made_lines
from tests.detect.articles.tiny import tiny_detector
from tests.examples import examples

EAGER = Caution(-20.0, -20.0, -20.0, -20.0, -20.0)
"""Flags something in every phrase."""

PIECES = ["the", "a", "An", "dogs", "owl", "foxes", "saw", "near", "water", " ", "\n", ".", "😀", "—", "is", "old"]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=25).map(" ".join)
FORMS = {"dog": "dogs", "owl": "owls", "goose": "geese", "wolf": "wolves", "child": "children", "hour": "hours"}


def flags_on(text: str) -> list[tuple[str, str, str, str | None]]:
    found = [each for each in tiny_detector().find([Essay("e", text)]) if each.decision.flagged]
    return [(each.item.kind, each.target, each.decision.type, each.decision.suggestion) for each in found]


def applied(text: str, findings: list[Finding]) -> str:
    """The text with suggestions carried out, last first."""
    for each in sorted(findings, key=lambda each: each.item.span, reverse=True):
        span, suggestion = each.item.span, each.decision.suggestion or ""
        if suggestion == DELETE:
            after = text[span.end :]
            text = text[: span.start] + (after[1:] if after[:1] == " " else after)
        elif len(span):
            text = text[: span.start] + suggestion + text[span.end :]
        else:
            text = f"{text[: span.start]}{suggestion} {text[span.start :]}"
    return text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna saw owl near the river.", ("article", "", "missing", "an")),
        ("Anna saw a dog. The dog wanted the water.", ("article", "the", "extraneous", "-NONE-")),
        ("Anna saw an owl near the river. They often met wolf together.", ("number", "wolf", "number", "wolves")),
        ("Anna saw an dog near the river.", ("article", "an", "form", "a")),
    ],
)
def test_each_type_of_error_is_flagged_with_its_suggestion(text: str, expected: tuple[str, ...]) -> None:
    assert flags_on(text) == [expected]


def test_well_formed_text_is_left_alone() -> None:
    assert [flag for line in made_lines()[1:60:7] for flag in flags_on(line)] == []


def test_every_open_phrase_has_two_findings_flagged_or_not() -> None:
    found = list(tiny_detector().find([Essay("e", "Anna saw a dog near the river.")]))
    assert [(each.item.kind, each.target) for each in found] == [
        *(("article", "a"), ("number", "dog"), ("article", "the"), ("number", "river")),
    ]
    assert all(dict(each.probabilities).keys() == set(CONSTRUCTIONS) for each in found)


def test_mentions_go_on_through_essays_of_one_document() -> None:
    detector = tiny_detector()
    unsure = replace(detector, model=replace(detector.model, step=1e-3))  # else every probability is 0 or 1
    essays = [Essay("1", "Anna saw a dog near the river."), Essay("2", "The dog wanted milk.")]
    together = [replace(each, metadata={"document": "d"}) for each in essays]
    alone, joined = (
        next(dict(each.probabilities)["the-singular"] for each in unsure.find(of) if each.item.essay_id == "2")
        for of in (essays, together)
    )
    assert joined > alone


@examples(40)
@given(TEXTS)
def test_any_text_is_read_and_findings_lie_inside_it(text: str) -> None:
    found = list(tiny_detector().find([Essay("e", text)]))
    assert all(Span(0, len(text)).covers(each.item.span) for each in found)
    assert all(each.item.span.of(text) == each.target for each in found)


@examples(15)
@given(st.lists(TEXTS, max_size=5), st.sampled_from([1, 30, 10_000]))
def test_findings_do_not_depend_on_the_batch(texts: list[str], size: int) -> None:
    essays = [Essay(str(number), text) for number, text in enumerate(texts)]
    expected = list(tiny_detector().find(essays))
    before = groups.BATCH
    try:
        groups.BATCH = size
        assert list(tiny_detector().find(essays)) == expected
    finally:
        groups.BATCH = before


@examples(60)
@given(
    st.sampled_from(["", "a", "an", "the"]),
    st.sampled_from(["", "old", "useful", "big"]),
    st.sampled_from([*FORMS, *FORMS.values()]),
)
def test_suggestions_applied_give_the_construction_they_promise(article: str, adjective: str, noun: str) -> None:
    words = [word for word in (article, adjective, noun) if word]
    text = " ".join(["Yesterday", "Anna", "found", *words, "near", "Tom", "."])
    found = [each for each in tiny_detector(EAGER).find([Essay("e", text)]) if each.decision.flagged]
    assume(found)  # the tagger may take a noun for a verb
    before, after = "Yesterday Anna found ", " near Tom ."
    written = applied(text, found).removeprefix(before).removesuffix(after)
    assert written in _constructions(adjective, noun)
    assert written != " ".join(words)


def _constructions(adjective: str, noun: str) -> list[str]:
    """The five constructions, by the lists of this test."""
    one = noun if noun in FORMS else next(each for each, several in FORMS.items() if several == noun)
    singular, plural = (f"{adjective} {form}".strip() for form in (one, FORMS[one]))
    a = "an" if singular.startswith(("old", "owl", "ape", "hour")) else "a"
    return [singular, f"the {singular}", plural, f"{a} {singular}", f"the {plural}"]
