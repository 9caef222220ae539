"""M2 loses nothing that it can hold, tells what it cannot, and no input brings out an error that is not ours."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.formats import EssayIds
from grater.corpora.m2 import FORMAT, token_spans_of_line
from grater.model import Edit, Essay, Span
from tests.corpora.sources import Tried
from tests.examples import examples

M2 = Tried(FORMAT)
read, write = M2.read, M2.write

RATERS = ("0", "1", "2")
ANY_TEXT = st.text(st.one_of(st.characters(), st.sampled_from("|\n\r\t -A\u00a0é🐈\u0301")), max_size=14)
LINE = ANY_TEXT.map(lambda text: text.replace("\n", " ").rstrip("\r"))
FIELD = LINE.filter(lambda field: "||" not in field and not field.endswith("|") and field != "-NONE-")
REPLACEMENT = FIELD.filter(lambda words: not words.startswith("|"))  # after `||` it would be a separator
TAG = FIELD.filter(lambda tag: tag not in {"noop", "UNK", "Um"})


@st.composite
def edits_on_tokens(draw: st.DrawFn, text: str) -> tuple[Edit, ...]:
    """Edits that begin and end at tokens, in the order of their raters."""
    tokens = token_spans_of_line(text)
    edits = []
    for rater in sorted(draw(st.lists(st.sampled_from(RATERS), max_size=4))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(tokens))] * 2)))
        point = tokens[start].start if start < len(tokens) else len(text)
        span = Span(point, tokens[end - 1].end) if start < end else Span(point, point)
        replacements = tuple(draw(st.lists(REPLACEMENT, min_size=1, max_size=3)))
        edits.append(Edit(span, replacements, draw(TAG), rater, draw(FIELD)))
    return tuple(edits)


@st.composite
def essays_of_m2(draw: st.DrawFn) -> list[Essay]:
    """Essays as M2 can hold them; every one is read by at least two annotators."""
    ids, essays = EssayIds(), []
    for text in draw(st.lists(LINE, max_size=4)):
        edits = draw(edits_on_tokens(text))
        readers = {"0", "1"} | {edit.rater for edit in edits}
        essays.append(Essay(ids.of_text(text), text, edits, tuple(sorted(readers)), token_spans_of_line(text)))
    return essays


@examples(100)
@given(essays_of_m2())
def test_essays_that_m2_can_hold_come_back_equal(essays: list[Essay]) -> None:
    text, losses = write(*essays)
    assert losses == []
    assert read(text) == essays
    assert write(*read(text)) == (text, [])


@st.composite
def any_essays(draw: st.DrawFn) -> list[Essay]:
    """Essays with anything in them that the model allows."""
    essays = []
    for number, text in enumerate(draw(st.lists(ANY_TEXT, max_size=3))):
        bounds = st.tuples(*[st.integers(0, len(text))] * 2).map(lambda pair: Span(*sorted(pair)))
        words = st.lists(ANY_TEXT, max_size=3).map(tuple)
        edits = draw(st.lists(st.builds(Edit, bounds, words, ANY_TEXT, ANY_TEXT, ANY_TEXT), max_size=3))
        tokens = draw(st.one_of(st.none(), st.just(token_spans_of_line(text)), st.just((Span(0, len(text)),))))
        annotators = tuple(dict.fromkeys(draw(st.lists(ANY_TEXT, max_size=2))))
        essays.append(Essay(f"doc {number}", text, tuple(edits), annotators, tokens))
    return essays


@examples(150)
@given(any_essays())
def test_whatever_is_written_can_be_read_and_every_edit_is_there_or_reported(essays: list[Essay]) -> None:
    text, losses = write(*essays)
    n_left_out = sum(loss.what.startswith("edit ") and not loss.changed for loss in losses)
    assert sum(len(essay.edits) for essay in read(text)) == sum(len(essay.edits) for essay in essays) - n_left_out
