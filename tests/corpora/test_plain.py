"""Plain text: a file is an essay, character for character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.plain import FORMAT, read_text
from grater.errors import BadInput, GraterError
from grater.model import Edit, Essay, Span
from tests.corpora.sources import TextSource, Tried
from tests.examples import examples

TEXT = Tried(FORMAT)
write = TEXT.write_and_report


def read(text: str) -> Essay:
    (essay,) = FORMAT.read(TextSource(text))
    return essay


def paragraphs(text: str) -> list[Essay]:
    return list(read_text(TextSource(text).lines(), name="test", one_per_line=True))


def test_a_paragraph_a_line_gives_an_essay_for_each_line_with_words() -> None:
    essays = paragraphs("First one.\n\n \t\nSecond one.\r\nFirst one.")
    assert [essay.text for essay in essays] == ["First one.", "Second one.", "First one."]
    assert [essay.line for essay in essays] == [1, 4, 5]
    assert essays[2].essay_id == f"{essays[0].essay_id}#2"


def test_a_nul_character_is_refused_as_the_wrong_encoding() -> None:
    utf16 = "He go.\nShe go.\n".encode("utf-16-le").decode("utf-8")
    with pytest.raises(BadInput) as caught:
        read(utf16)
    assert [problem.line for problem in caught.value.problems] == [1, 2, 3]
    assert "test:1: expected text, found a NUL character; is it UTF-16?" in str(caught.value)
    with pytest.raises(BadInput):
        paragraphs(utf16)


def test_several_essays_and_everything_but_words_are_reported() -> None:
    text, losses = write(Essay("a", "One."), Essay("b", "Two.\n"), Essay("c", "Three."))
    assert text == "One.\n\nTwo.\n\nThree."
    assert sum("its boundaries changed" in loss for loss in losses) == 2
    edits = (Edit(Span(3, 5), ("goes",), "SVA", "R1"), Edit(Span(0, 2), (), "Um", "R1"))
    essay = Essay("e1", "\ufeffHe\0 go", edits, ("R1", "R2"), (Span(0, 2),), {"language": "Thai"})
    text, losses = write(essay)
    assert text == "\ufeffHe go"
    marks = ["edit 3-5 SVA", "edit 0-2 Um", "annotator R1", "annotator R2", "tokens", "metadata language"]
    assert losses == [
        "essay e1: id changed: a text file has no id: its name replaces it",
        "essay e1: U+FEFF at its start left out: it will be taken for a byte-order mark",
        *(f"essay e1: {what} left out: a text file contains only words" for what in ("NUL characters", *marks)),
    ]


@given(st.text())
@examples(100)
def test_any_text_comes_back_as_it_was_or_is_refused(text: str) -> None:
    if "\0" in text:
        with pytest.raises(GraterError):
            read(text)
    else:
        assert write(read(text))[0] == text
