"""Reading and pairing what is scored."""

from __future__ import annotations

import pytest

from grater.corpora.source import read_sentences
from grater.errors import BadInput, UsageError
from grater.measure.corrections.edit_table import table_of
from grater.measure.corrections.scores import (
    METRICS,
    Hypothesis,
    MetricOptions,
    References,
    corrected_texts,
    require_texts_fit,
    rewritten,
)
from tests.corpora.sources import TextSource
from tests.measure.corrections.essays import SOURCE, TEXT, essays, m2_system, references, text_system


def test_blank_lines_are_sentences_too() -> None:
    assert read_sentences(TextSource("a\n\nb\r\nc")) == ["a", "", "b", "c"]


def test_a_nul_character_is_no_text() -> None:
    with pytest.raises(BadInput, match=r":2: .*NUL"):
        read_sentences(TextSource("a\nb\0\n"))


def test_texts_as_references_are_annotators_who_rewrote_every_sentence() -> None:
    made = rewritten(SOURCE, {"r0": TEXT, "r1": SOURCE}, source_name="src")
    assert [corrected_texts(essay) for essay in made] == [
        {"r0": text, "r1": source} for text, source in zip(TEXT, SOURCE, strict=True)
    ]
    assert [len(essay.edits) for essay in made] == [1, 1, 1, 0]


def test_references_of_another_length_show_the_first_line_that_only_one_has() -> None:
    with pytest.raises(BadInput, match=r"r0: expected 4 sentences, as in src, found 3.*'He is in home \.'"):
        rewritten(SOURCE, {"r0": TEXT[:3]}, source_name="src")
    with pytest.raises(BadInput, match=r"r0:5: expected 4 sentences, as in src, found 5.*'More \.'"):
        rewritten(SOURCE, {"r0": [*TEXT, "More ."]}, source_name="src")


@pytest.mark.parametrize("name", METRICS.names())
def test_every_metric_refuses_an_output_of_another_length(name: str) -> None:
    short = (
        m2_system("short", "S She go to school every days .\n\n")
        if name == "errant"
        else text_system("short", TEXT[:1])
    )
    with pytest.raises(BadInput, match=r"short\..*: expected 4 sentences, as in ref.m2, found 1; .*sentence 2"):
        METRICS[name].count(references(), [short], MetricOptions())


@pytest.mark.parametrize("name", METRICS.names())
def test_every_metric_refuses_edits_of_other_sentences(name: str) -> None:
    other = m2_system("other", "S She went home .\n\nS A .\n\nS B .\n\nS C .\n\n")
    with pytest.raises(BadInput, match=r"other.m2:1: .*sentence 1 .*found 'went' in place of 'go'"):
        METRICS[name].count(references(), [other], MetricOptions())


def test_a_text_that_is_cut_into_other_words_is_refused_with_its_first_line() -> None:
    glued = ["She goes to school every days.", "I am agree with it.", "We like it.", "He is in home ."]
    with pytest.raises(BadInput, match=r"glued.txt:2: .*found 'it\.' in place of 'it'; 2 lines"):
        require_texts_fit(references(), text_system("glued"), glued)


def test_a_correction_of_a_word_boundary_is_no_reason_to_refuse() -> None:
    require_texts_fit(references(), text_system("s"), ["Shego to school every days .", *SOURCE[1:]])


def test_a_table_of_edits_cannot_be_taken_for_essays() -> None:
    with pytest.raises(UsageError, match="expected essays"):
        _ = References("r", table_of(essays())).essays


def test_some_sentences_can_be_kept_of_text_and_of_edits() -> None:
    assert text_system("s").only([0, 2]).texts == [TEXT[0], TEXT[2]]
    assert [essay.text for essay in m2_system("s").only([1]).essays] == [SOURCE[1]]
    assert Hypothesis("s", "s", texts=[]).n_sentences == 0
