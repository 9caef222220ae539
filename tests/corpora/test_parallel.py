"""Parallel text: edits out of lines, edits made again, types assigned; bad input is one line."""

from __future__ import annotations

import pytest

from grater.corpora.edits.engine import GraterEngine, load_engine
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


def whole_sentence() -> Essay:
    text = "She walk to home ."
    tokens = tuple(Span(*pair) for pair in ((0, 3), (4, 8), (9, 11), (12, 16), (17, 18)))
    return Essay("e", text, (Edit(Span(0, 16), ("She walks home",), "Rloc", "7"),), ("7",), tokens)


def test_edits_can_be_made_again_or_typed() -> None:
    (essay,) = extract_again([whole_sentence()], load_engine(), ignore_loss)
    assert marked(essay) == [("walk", ("walks",), "R:VERB:SVA", "7"), ("to", ("",), "U:PREP", "7")]
    text = "She like tea . We left ."
    edits = (Edit(Span(4, 8), ("likes",), "SVA", "1"), Edit(Span(18, 22), (), "Um", "1"))
    first, second = assign_types([Essay("e", text, edits, ("1",))], GraterEngine(), ignore_loss)
    assert marked(first) == [("like", ("likes",), "R:VERB:SVA", "1")]
    assert marked(second) == [("left", (), "Um", "1")]
