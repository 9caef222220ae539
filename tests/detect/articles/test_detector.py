"""The article detector: its confidence, its flags, and the model that comes with grater."""

from __future__ import annotations

import lzma
from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from grater.detect.articles.constructions import CONSTRUCTIONS, NONE_OF_THEM, is_confusable
from grater.detect.articles.detector import Caution, article, completed, type_of
from grater.detect.articles.features import WORDS
from grater.detect.detector import Finding
from grater.errors import UsageError
from grater.model import DELETE, Essay
from grater_train.articles import batch_of
from tests.detect.articles.made_text import made_lines
from tests.detect.articles.tiny import tiny_detector
from tests.examples import examples
from tests.real_data import data_path

EAGER = Caution(-20.0, -20.0, -20.0, -20.0, -20.0)
"""Flags something in every phrase."""

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


def test_well_formed_text_is_left_alone_with_two_findings_for_every_open_phrase() -> None:
    assert [flag for line in made_lines()[1:60:7] for flag in flags_on(line)] == []
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


NULL_SINGULAR, THE_SINGULAR, NULL_PLURAL, A_SINGULAR, THE_PLURAL = range(5)


def test_the_pairs_that_raters_confuse_are_those_of_the_paper() -> None:
    # section 4, "the most frequent combinations of yes* constructions"
    pairs = {frozenset((one, other)) for one in range(5) for other in range(one) if is_confusable(one, other)}
    assert pairs == {
        frozenset((NULL_PLURAL, THE_PLURAL)),
        frozenset((A_SINGULAR, THE_SINGULAR)),
        frozenset((A_SINGULAR, NULL_PLURAL)),
        frozenset((THE_SINGULAR, THE_PLURAL)),
    }


GOOD = (
    "My sister works in a hospital. She likes the work, but the hospital is far from home. "
    "Every morning she takes a bus to the station and buys a newspaper."
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am student.", {("article", "", "a")}),
        ("He gave me good advices.", {("number", "advices", "advice")}),
        ("An user wrote to us.", {("article", "An", "A")}),
        ("This is big problem for us.", {("article", "", "a")}),
        ("They talked about a life.", {("article", "a", "-NONE-")}),
        (GOOD, set()),
    ],
)
def test_plain_errors_are_found_and_plain_good_text_is_left_alone(
    text: str, expected: set[tuple[str, str, str | None]]
) -> None:
    found = [each for each in article().find([Essay("e", text)]) if each.decision.flagged]
    flags = {(each.item.kind, each.target, each.decision.suggestion) for each in found}
    assert expected <= flags
    assert not flags or expected


@pytest.mark.data
def test_most_constructions_of_brown_are_right() -> None:
    model = article().model
    with lzma.open(data_path("native-test/brown.txt.xz"), "rt", encoding="utf-8") as stream:
        batch = batch_of([line.strip() for line in islice(stream, 1500)])
    rows = batch.rows.copy()
    numbers = [0, *model.vocabulary.numbers(batch.words)]
    for column in range(len(WORDS)):
        rows[:, column] = [numbers[place] for place in rows[:, column]]
    answers = model.scores(completed(rows, model.habits, model.classes)).argmax(axis=1)
    # the whole of Brown: .700 (training/figures/README.md); these are its first, newspaper pages
    assert (answers == batch.labels).mean() > 0.66


@pytest.mark.parametrize(
    ("written", "target", "expected"),
    [
        (NULL_SINGULAR, A_SINGULAR, "missing"),
        (THE_PLURAL, NULL_PLURAL, "extraneous"),
        (A_SINGULAR, THE_SINGULAR, "choice"),
        (THE_SINGULAR, THE_PLURAL, "number"),
        (A_SINGULAR, NULL_PLURAL, "both"),
        (NONE_OF_THEM, A_SINGULAR, "number"),
        (NONE_OF_THEM, NULL_PLURAL, "extraneous"),
    ],
)
def test_each_change_mends_a_type_of_error(written: int, target: int, expected: str) -> None:
    assert type_of(written, target) == expected


def test_caution_travels_in_a_card_and_silence_is_null() -> None:
    caution = Caution(missing=1.5, own=0.5)
    assert caution.as_json()["choice"] is None
    assert Caution.of(caution.as_json()) == caution
    with pytest.raises(UsageError, match="expected thresholds"):
        Caution.of({"loud": 1})
    assert len(CONSTRUCTIONS) == 5
