"""Who read what, and no-op lines that contradict edits."""

from __future__ import annotations

from dataclasses import replace

from grater.corpora.m2 import read_m2
from grater.model import Edit, Essay, Span
from tests.corpora.check.essays import essay_of, found, messages, tokenised

TEXT = "We was happy ."


def edit_by(rater: str) -> Edit:
    return Edit(Span(3, 6), ("were",), "SVA", rater)


def sentence(*annotators: str, marked_by: tuple[str, ...] = ()) -> Essay:
    return tokenised(TEXT, *map(edit_by, marked_by), annotators=annotators)


def test_a_combined_file_that_drops_an_agreeing_annotator_is_told_in_plain_words() -> None:
    both = sentence("0", "1", marked_by=("0", "1"))
    dropped = sentence("0", marked_by=("0",))
    nobody = sentence()
    assert messages(both, dropped, dropped, nobody, rule="coverage") == [
        "annotator '1' has no line in 2 of 4 sentences although annotator '0' has edits there: a combined file that "
        "drops an annotator who agrees; use the single-annotator files for agreement"
    ]


def test_an_annotator_of_few_sentences_is_told_apart() -> None:
    dropped = sentence("0", marked_by=("0",))
    (message,) = messages(sentence("0", "1"), dropped, dropped, rule="coverage")
    assert message == (
        "annotator '1' has no line in 2 of 3 sentences although annotator '0' has edits there: an annotator of few "
        "sentences; do not count the others as agreement"
    )


def test_the_finding_stands_where_the_annotator_is_first_missing() -> None:
    both, dropped = sentence("0", "1"), sentence("0", marked_by=("0",))
    (finding,) = found(both, replace(dropped, line=9, essay_id="e9"), rule="coverage")
    assert (finding.line, finding.essay_id) == (9, "e9")


def test_essays_that_lack_an_annotator_of_others_are_counted() -> None:
    essays = [essay_of(TEXT, annotators=annotators) for annotators in (("A", "B"), ("A",), ("A", "B"), ("A",))]
    assert messages(*essays, rule="coverage") == [
        "annotator 'B' is missing from 2 of 4 essays that annotator 'A' read"
    ]


def test_essays_that_nobody_read_lack_nobody() -> None:
    essays = [essay_of(TEXT, annotators=annotators) for annotators in (("A", "B"), ("A",), ())]
    assert messages(*essays, rule="coverage") == [
        "annotator 'B' is missing from 1 of 3 essays that annotator 'A' read"
    ]


def test_a_no_op_of_the_other_annotator_is_no_sign_of_agreement_dropped() -> None:
    sentences = (sentence("0", "1"), sentence("0", marked_by=("0",)), sentence("0"))
    (message,) = messages(*sentences, rule="coverage")
    assert message.startswith("annotator '1' has no line in 1 of 3 sentences")


def test_annotators_who_read_everything_are_not_named() -> None:
    essays = [essay_of(TEXT, annotators=("A", "B")), essay_of(TEXT, edit_by("A"), annotators=("A", "B"))]
    assert not found(*essays, rule="coverage")


def test_a_corpus_shared_out_among_annotators_is_not_uneven() -> None:
    essays = [essay_of(TEXT, annotators=(annotator,)) for annotator in "ABBC"]
    assert not found(*essays, rule="coverage")


def test_essays_that_nobody_read_do_not_count_against_anyone() -> None:
    assert not found(sentence("0", "1"), sentence(), rule="coverage")


def as_read(*lines: str) -> Essay:
    """The essay of an M2 block with these A lines, as the reader gives it."""
    (essay,) = read_m2([f"S {TEXT}\n", *(f"A {line}\n" for line in lines), "\n"], name="a.m2")
    return essay


def noop(annotator: str) -> str:
    return f"-1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||{annotator}"


def marked(annotator: str) -> str:
    return f"1 2|||SVA|||were|||REQUIRED|||-NONE-|||{annotator}"


def test_a_no_op_beside_edits_of_the_same_annotator_is_found() -> None:
    essay = as_read(noop("0"), marked("0"))
    assert messages(essay, rule="noop") == [
        "annotator '0' has a no-op line, which says that there is no error, beside edits"
    ]


def test_two_no_ops_of_one_annotator_are_found() -> None:
    essay = as_read(noop("0"), noop("0"))
    assert messages(essay, rule="noop") == ["annotator '0' has 2 no-op lines; one is enough"]


def test_a_no_op_beside_edits_of_another_annotator_is_lawful() -> None:
    assert not found(as_read(noop("0"), marked("1")), rule="noop")
