"""Parallel text: lines cut as their source, edits made of them, again, and typed; other lines refused."""

from __future__ import annotations

import random

import pytest

from grater.corpora.edits.engine import GraterEngine, load_engine
from grater.corpora.fitting import fitted, fitted_lines, is_english, require_lines_fit
from grater.corpora.formats import ignore_loss
from grater.corpora.parallel import assign_types, extract_again, parallel_essays
from grater.errors import BadInput
from grater.model import Edit, Essay, Span


def marked(essay: Essay) -> list[tuple[str, tuple[str, ...], str, str]]:
    return [(edit.span.of(essay.text), edit.replacements, edit.tag, edit.rater) for edit in essay.edits]


def test_each_corrected_text_is_an_annotator_with_edits_where_lines_differ() -> None:
    corrections = {"a.txt": ["My brother plays chess 👍 ."], "b.txt": ["My brother play chess 👍 !"]}
    (essay,) = parallel_essays(["My brother play  chess 👍 ."], corrections, load_engine(), annotators={"a.txt": "A"})
    assert essay.annotators == ("A", "b.txt")
    assert marked(essay) == [("play", ("plays",), "R:VERB:SVA", "A"), (".", ("!",), "R:PUNCT", "b.txt")]
    assert essay.text == "My brother play chess 👍 ."
    essays = list(parallel_essays(["We left .", ""], {"0": ["We left .", ""]}, load_engine()))
    assert [essay.edits for essay in essays] == [(), ()]
    assert [essay.annotators for essay in essays] == [("0",), ("0",)]


@pytest.mark.parametrize(
    ("sources", "corrected", "message"),
    [
        (["a", "b"], ["a"], r"out\.txt:2: .*the corrections end first \(2 lines in in\.txt, 1 here\)"),
        (["a"], ["a", "b"], r"out\.txt:2: .*the source ends first"),
        ([" "], ["a"], r"out\.txt:1: expected a source sentence"),
        (["I do n't .", "It is ."], ["I don't .", "It is."], r"out\.txt:1: .*2 of 2 lines are tokenised differently"),
    ],
)
def test_sides_that_do_not_fit_are_refused(sources: list[str], corrected: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        list(parallel_essays(sources, {"out.txt": corrected}, load_engine(), source_name="in.txt"))


def test_edits_can_be_made_again_or_typed() -> None:
    text = "She walk to home . We left ."
    whole = Essay("e", text, (Edit(Span(0, 16), ("She walks home",), "Rloc", "7"),), ("7",))
    first, _ = extract_again([whole], load_engine(), ignore_loss)
    assert marked(first) == [("walk", ("walks",), "R:VERB:SVA", "7"), ("to", ("",), "U:PREP", "7")]
    edits = (Edit(Span(4, 8), ("walks",), "SVA", "1"), Edit(Span(22, 26), (), "Um", "1"))
    first, second = assign_types([Essay("e", text, edits, ("1",))], GraterEngine(), ignore_loss)
    assert marked(first) == [("walk", ("walks",), "R:VERB:SVA", "1")]
    assert marked(second) == [("left", (), "Um", "1")]


SOURCES = [
    "The committee discussed about several proposals yesterday .",
    "My neighbour always forgets watering her tomatoes .",
    "Nobody expected such heavy rain during September .",
    "Our teacher explained photosynthesis very patient .",
    "Several travellers complained about delayed luggage .",
    "Ancient bridges need regular inspection by engineers .",
    "Children usually prefers chocolate over vegetables .",
    "The orchestra rehearsed a difficult symphony twice .",
    "Cheap umbrellas rarely survive strong winds .",
    "Volunteers painted every bench beside the river .",
]


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("It is n't Ann 's .", "It isn’t Ann’s.", "It is n't Ann 's ."),  # the source's tokens
        ("It isn't Ann's .", "It isn't Ann's.", "It isn't Ann's ."),  # of a source that leaves clitics on
        ("`` Go '' , he said", "“Go”, he said", "`` Go '' , he said"),
        ("a well - known 25 % rise", "a well-known 25% rise", "a well - known 25 % rise"),  # as spaCy cuts
        ("a well-known rise", "a well - known rise", "a well-known rise"),
        ("my life style .", "my lifestyle.", "my lifestyle ."),  # a correction
        ("anyone can", "any one can", "any one can"),
        ("He go to school,then home", "He goes to school, then home", "He goes to school , then home"),
        ("They do it .", "They don’t do its' .", "They do n't do its ' ."),  # new words by our tokeniser
        ("We left .", "", ""),
        ("", "New text.", "New text ."),
    ],
)
def test_a_line_is_cut_as_its_source_where_the_two_are_the_same(source: str, line: str, words: str) -> None:
    assert fitted(source.split(), line) == words.split()
    assert fitted(source.split(), words) == words.split()


@pytest.mark.parametrize("mark", ["well - known", "well-known"])
def test_new_words_are_cut_at_hyphens_where_those_of_the_sources_are(mark: str) -> None:
    sources = [f"A {mark} man".split(), ["A", "first", "rate", "idea"]]
    new = mark.replace("well", "first").replace("known", "rate")
    assert fitted_lines(sources, ["A well-known man", "A first-rate 3-D idea"]) == [
        f"A {mark} man",
        f"A {new} 3-D idea",
    ]


def corrected() -> list[str]:
    return [line.replace(" about", "").replace("prefers", "prefer") for line in SOURCES]


def warnings_on(lines: list[str]) -> list[str]:
    return require_lines_fit([line.split() for line in SOURCES], lines, name="out.txt", source_name="in.txt")


def refuse(lines: list[str], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        warnings_on(lines)


def test_shifted_lines_are_refused_and_an_honest_rewriter_is_not() -> None:
    lines = corrected()
    assert warnings_on(lines) == []
    refuse([*lines[1:], lines[0]], r"out\.txt:1: .*fits the source 1 line farther down: 1 line missing")
    refuse([lines[-2], lines[-1], *lines[:-2]], r"out\.txt:1: .*fits the source 2 lines farther up: 2 lines too many")
    refuse([*lines[:4], *lines[5:], lines[4]], r"out\.txt:5: .*1 line farther down")
    random.Random(1).shuffle(lines)
    refuse(lines, "another order than in in.txt")
    lines = corrected()
    lines[3] = "Photosynthesis was patiently gone through by us with her ."
    lines[6] = "Sweets beat greens for most kids ."
    [warning] = warnings_on(lines)
    assert "out.txt: 1 line shares few words with the source: line 7, 'Sweets beat" in warning
    lines[8] = "Cheap umbrellas rarely survive strong winds."
    assert "1 line" in warnings_on(lines)[1]


def test_english_is_known_by_its_commonest_words() -> None:
    english = "We know that the end of it is near and they have to go to the town with her"
    german = "Wir wissen dass das Ende nah ist und sie mit ihr in die Stadt gehen müssen"
    assert is_english([english.split()] * 10)
    assert not is_english([german.split()] * 10)
    assert is_english([german.split()])  # too few to tell
