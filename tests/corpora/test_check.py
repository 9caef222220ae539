"""The check as a whole: a good corpus is silent, it streams, every rule is named.

Who read what, and no-op lines that contradict edits.

Files that should hold the same sentences.

Unknown tags.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.check import EDIT_RULES, RULES, check_essays, check_together
from grater.corpora.m2 import read_m2
from grater.corpora.tagsets import TAGSETS
from grater.model import Edit, Essay, Span, short_hash
from tests.corpora.check.essays import edit_of, essay_of, found, messages, tokenised

GOOD = "My sister have three cat. She feed them every morning."


def test_a_good_corpus_has_no_findings() -> None:
    essay = essay_of(
        GOOD,
        edit_of(GOOD, "have", "has", tag="SVA"),
        edit_of(GOOD, "cat", "cats", tag="Nn"),
        edit_of(GOOD, "feed", "feeds", tag="SVA"),
        edit_of(GOOD, "every", "each", tag="Wcip"),
    )
    assert list(check_essays([essay])) == []


def test_findings_come_while_the_corpus_is_being_read() -> None:
    def essays() -> Iterator[Essay]:
        yield essay_of(GOOD, edit_of(GOOD, "cat", "cat", tag="Nn"))
        raise AssertionError("the second essay is not to be read yet")

    assert next(check_essays(essays())).rule == "equals-text"


def test_findings_of_an_essay_stand_in_the_order_of_its_lines() -> None:
    edits = (
        edit_of(GOOD, ". She", "; she", line=5),
        edit_of(GOOD, "cat", "cat", line=9),
        edit_of(GOOD, "My", "My", line=2),
    )
    assert [finding.line for finding in check_essays([essay_of(GOOD, *edits)])] == [2, 5, 9]


def test_every_rule_on_an_edit_is_described() -> None:
    assert set(EDIT_RULES) <= set(RULES)


TEXTS = st.text(alphabet=st.sampled_from("ab.A ,\n\t\u00a0é👩"), max_size=30)


@given(TEXTS, TEXTS, st.sampled_from(["Rloc", "Um", "Mec", "R:DET", "?"]), st.booleans(), st.data())
def test_no_essay_makes_the_check_fail(
    text: str, correction: str, tag: str, is_corrected: bool, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    edit = Edit(Span(start, end), (correction,) if is_corrected else (), tag, "A")
    for finding in check_essays([Essay("e1", text, (edit, edit), ("A",))]):
        assert finding.rule in RULES
        assert str(finding).endswith(f"[{finding.rule}]")
        assert "\n" not in str(finding)


TEXT = "We was happy ."


def edit_by(rater: str) -> Edit:
    return Edit(Span(3, 6), ("were",), "SVA", rater)


def sentence(*annotators: str, marked_by: tuple[str, ...] = ()) -> Essay:
    return tokenised(TEXT, *map(edit_by, marked_by), annotators=annotators)


def test_annotators_who_are_missing_are_named() -> None:
    both = sentence("0", "1", marked_by=("0", "1"))
    dropped = sentence("0", marked_by=("0",))
    nobody = sentence()
    assert messages(both, dropped, dropped, nobody, rule="coverage") == [
        "annotator '1' has no line in 2 of 4 sentences although annotator '0' has edits there: a combined file that "
        "drops an annotator who agrees; use the single-annotator files for agreement"
    ]
    dropped = sentence("0", marked_by=("0",))
    (message,) = messages(sentence("0", "1"), dropped, dropped, rule="coverage")
    assert message == (
        "annotator '1' has no line in 2 of 3 sentences although annotator '0' has edits there: an annotator of few "
        "sentences; do not count the others as agreement"
    )
    both, dropped = sentence("0", "1"), sentence("0", marked_by=("0",))
    (finding,) = found(both, replace(dropped, line=9, essay_id="e9"), rule="coverage")
    assert (finding.line, finding.essay_id) == (9, "e9")
    essays = [essay_of(TEXT, annotators=annotators) for annotators in (("A", "B"), ("A",), ("A", "B"), ("A",))]
    assert messages(*essays, rule="coverage") == [
        "annotator 'B' is missing from 2 of 4 essays that annotator 'A' read"
    ]


def test_no_ops_that_contradict_or_repeat_are_found() -> None:
    essay = as_read(noop("0"), noop("0"))
    assert messages(essay, rule="noop") == ["annotator '0' has 2 no-op lines; one is enough"]
    essay = as_read(noop("0"), marked("0"))
    assert messages(essay, rule="noop") == ["annotator '0' has a no-op line as well as edits"]
    assert not found(as_read(noop("0"), marked("1")), rule="noop")


def test_a_shared_corpus_and_a_no_op_of_another_are_no_sign_of_agreement_dropped() -> None:
    sentences = (sentence("0", "1"), sentence("0", marked_by=("0",)), sentence("0"))
    (message,) = messages(*sentences, rule="coverage")
    assert message.startswith("annotator '1' has no line in 1 of 3 sentences")
    essays = [essay_of(TEXT, annotators=(annotator,)) for annotator in "ABBC"]
    assert not found(*essays, rule="coverage")


def as_read(*lines: str) -> Essay:
    """The essay of an M2 block with these A lines, as the reader gives it."""
    (essay,) = read_m2([f"S {TEXT}\n", *(f"A {line}\n" for line in lines), "\n"], name="a.m2")
    return essay


def noop(annotator: str) -> str:
    return f"-1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||{annotator}"


def marked(annotator: str) -> str:
    return f"1 2|||SVA|||were|||REQUIRED|||-NONE-|||{annotator}"


FIRST = [tokenised(text) for text in ("It rained .", "We stayed home .", "We read .")]


def differences(other: list[Essay], *, first: list[Essay] = FIRST) -> list[tuple[str, str]]:
    return [(name, str(finding)) for name, finding in check_together({"a.m2": first, "b.m2": other})]


def test_files_that_differ_are_found_at_the_first_difference() -> None:
    other = [FIRST[0], tokenised("We stayed home."), tokenised("We read.")]
    assert differences(other) == [
        (
            "b.m2",
            "sentence 2, the first of those that differ from a.m2, has 3 tokens here and 4 there (differing: 2) "
            "[files-differ]",
        )
    ]
    other = [FIRST[0], tokenised("We stayed house ."), FIRST[2]]
    ((_, message),) = differences(other)
    assert message.startswith(
        "sentence 2, the first of those that differ from a.m2, has 'We stayed house .' here "
        "and 'We stayed home .' there"
    )
    assert differences(FIRST[:2]) == [("b.m2", "the file has fewer essays than a.m2 (differing: 1) [files-differ]")]


def test_every_file_of_the_same_set_is_compared_with_the_first() -> None:
    other = [essay_of(text) for text in ("Dogs bark.", "Cats sleep.", "Birds sing.", "Cows moo.")]
    assert differences(other) == []
    corpora = {"a": FIRST, "b": FIRST, "c": FIRST[:2], "d": FIRST[:2]}
    assert [name for name, _ in check_together(corpora)] == ["c", "d"]


TAGGED_TEXT = "She go home every days ."


def test_unknown_tags_are_found_against_the_given_or_the_guessed_set() -> None:
    first = essay_of(
        TAGGED_TEXT,
        edit_of(TAGGED_TEXT, "go", "goes", tag="SVA", line=4),
        edit_of(TAGGED_TEXT, "days", "day", tag="Nnn", line=8),
    )
    second = essay_of(TAGGED_TEXT, edit_of(TAGGED_TEXT, "days", "day", tag="Nnn", line=90), essay_id="e2")
    (finding,) = found(first, second, rule="unknown-tag")
    assert (finding.essay_id, finding.line) == ("e1", 8)
    assert finding.message == (
        "the tag 'Nnn' of 2 edits, here first, is not in nucle, the set that fits this corpus best; "
        "did you mean 'Nn'?"
    )
    essay = essay_of(
        TAGGED_TEXT,
        edit_of(TAGGED_TEXT, "go", "goes", tag="R:VERB:SVA"),
        edit_of(TAGGED_TEXT, "days", "day", tag="R:NOUN:NUM"),
    )
    assert not found(essay, rule="unknown-tag")
    essay = essay_of(
        TAGGED_TEXT, edit_of(TAGGED_TEXT, "go", "goes", tag="SVA"), edit_of(TAGGED_TEXT, "days", "day", tag="Nn")
    )
    other = essay_of(TAGGED_TEXT, edit_of(TAGGED_TEXT, "home", "house", tag="RN"))
    assert messages(essay, other, rule="unknown-tag")[0].startswith(
        "the tag 'RN' of 1 edit, here first, is not in nucle"
    )
    essay = essay_of(TAGGED_TEXT, edit_of(TAGGED_TEXT, "go", "goes", tag="SVA"))
    (finding,) = check_essays([essay], tagset=TAGSETS["clc"])
    assert finding.message == "the tag 'SVA' of 1 edit, here first, is not in clc; did you mean 'SA'?"


def rules(*essays: Essay) -> list[str]:
    return [finding.rule for finding in check_essays(essays)]


def test_no_essay_and_repeated_ids_are_findings() -> None:
    assert rules() == ["empty"]
    assert rules(Essay("a", "All is well."), Essay("a#2", "All was well.")) == ["same-id"]
    text = "All is well."
    assert rules(Essay(short_hash(text), text), Essay(f"{short_hash(text)}#2", text)) == []
