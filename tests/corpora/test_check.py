"""The check: every rule on edits, essays and corpora; a good corpus is silent, it streams, every rule is named."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.check import (
    RULES,
    UNREADABLE,
    Census,
    Finding,
    census_of,
    check_corpora,
    check_essays,
    check_together,
)
from grater.corpora.formats import FORMATS, FileFormat
from grater.corpora.m2 import read_m2, token_spans_of_line
from grater.corpora.source import open_source
from grater.corpora.tagsets import TAGSETS, TagSet
from grater.model import Edit, Essay, Span, short_hash
from tests.real_data import data_path


def edit_of(text: str, words: str, *corrections: str, tag: str = "Mec", rater: str = "A", line: int = 7) -> Edit:
    """An edit of the first place where the words stand."""
    start = text.index(words)
    return Edit(Span(start, start + len(words)), corrections, tag, rater, line=line)


def essay_of(text: str, *edits: Edit, annotators: tuple[str, ...] = ("A",), essay_id: str = "e1") -> Essay:
    return Essay(essay_id, text, edits, annotators, line=3)


def tokenised(text: str, *edits: Edit, annotators: tuple[str, ...] = ("A",)) -> Essay:
    """An essay as an M2 file gives it."""
    return Essay("e1", text, edits, annotators, token_spans_of_line(text), line=3)


def found(*essays: Essay, rule: str) -> list[Finding]:
    return [finding for finding in check_essays(essays) if finding.rule == rule]


def messages(*essays: Essay, rule: str) -> list[str]:
    return [finding.message for finding in found(*essays, rule=rule)]


GOOD = "My sister have three cat. She feed them every morning."


def test_a_good_corpus_has_no_findings() -> None:
    edits = (("have", "has", "SVA"), ("cat", "cats", "Nn"), ("feed", "feeds", "SVA"), ("every", "each", "Wcip"))
    essay = essay_of(GOOD, *(edit_of(GOOD, words, correction, tag=tag) for words, correction, tag in edits))
    assert list(check_essays([essay])) == []


def test_findings_come_in_the_order_of_lines_while_the_corpus_is_being_read() -> None:
    def essays() -> Iterator[Essay]:
        lines = (("My", 2), ("feed", 5), ("cat", 9))
        yield essay_of(GOOD, *(edit_of(GOOD, words, words, line=line) for words, line in lines[::-1]))
        raise AssertionError("the second essay is not to be read yet")

    assert [finding.line for finding in islice(check_essays(essays()), 3)] == [2, 5, 9]


TEXTS = st.text(alphabet=st.sampled_from("ab.A ,\n\t\u00a0é👩"), max_size=30)


@given(TEXTS, TEXTS, st.sampled_from(["Rloc", "Um", "Mec", "R:DET", "?"]), st.booleans(), st.data())
def test_no_essay_fails_the_check(
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


def sentence(*annotators: str, marked_by: tuple[str, ...] = ()) -> Essay:
    edits = (Edit(Span(3, 6), ("were",), "SVA", rater) for rater in marked_by)
    return tokenised(TEXT, *edits, annotators=annotators)


def test_annotators_who_are_missing_are_named() -> None:
    both = sentence("0", "1", marked_by=("0", "1"))
    dropped = sentence("0", marked_by=("0",))
    nobody = sentence()
    assert messages(both, dropped, dropped, nobody, rule="coverage") == [
        "annotator '1' has no line in 2 of 4 sentences although annotator '0' has edits there: a combined file that "
        "drops an annotator who agrees; use the single-annotator files for agreement"
    ]
    (message,) = messages(sentence("0", "1"), dropped, dropped, rule="coverage")
    assert message == (
        "annotator '1' has no line in 2 of 3 sentences although annotator '0' has edits there: an annotator of few "
        "sentences; do not count the others as agreement"
    )
    (finding,) = found(sentence("0", "1"), replace(dropped, line=9, essay_id="e9"), rule="coverage")
    assert (finding.line, finding.essay_id) == (9, "e9")
    essays = [essay_of(TEXT, annotators=annotators) for annotators in (("A", "B"), ("A",), ("A", "B"), ("A",))]
    assert messages(*essays, rule="coverage") == [
        "annotator 'B' is missing from 2 of 4 essays that annotator 'A' read"
    ]


def test_shared_corpora_and_no_ops_are_findings_only_where_they_contradict() -> None:
    sentences = (sentence("0", "1"), sentence("0", marked_by=("0",)), sentence("0"))
    (message,) = messages(*sentences, rule="coverage")
    assert message.startswith("annotator '1' has no line in 1 of 3 sentences")
    assert not found(*[essay_of(TEXT, annotators=(annotator,)) for annotator in "ABBC"], rule="coverage")
    noop, edit = "-1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||", "1 2|||SVA|||were|||REQUIRED|||-NONE-|||"
    for lines, expected in (
        ((f"{noop}0", f"{noop}0"), ["annotator '0' has 2 no-op lines; one is enough"]),
        ((f"{noop}0", f"{edit}0"), ["annotator '0' has a no-op line as well as edits"]),
        ((f"{noop}0", f"{edit}1"), []),
    ):
        essays = read_m2([f"S {TEXT}\n", *(f"A {line}\n" for line in lines), "\n"], name="a.m2")
        assert messages(*essays, rule="noop") == expected


FIRST = [tokenised(text) for text in ("It rained .", "We stayed home .", "We read .")]


def differences(other: list[Essay]) -> list[tuple[str, str]]:
    return [(name, str(finding)) for name, finding in check_together({"a.m2": FIRST, "b.m2": other})]


def test_every_file_of_a_set_that_differs_from_the_first_is_found_at_the_first_difference() -> None:
    other = [FIRST[0], tokenised("We stayed home."), tokenised("We read.")]
    first = "sentence 2, the first of those that differ from a.m2, has"
    assert differences(other) == [("b.m2", f"{first} 3 tokens here and 4 there (differing: 2) [files-differ]")]
    ((_, message),) = differences([FIRST[0], tokenised("We stayed house ."), FIRST[2]])
    assert message.startswith(f"{first} 'We stayed house .' here and 'We stayed home .' there")
    assert differences(FIRST[:2]) == [("b.m2", "the file has fewer essays than a.m2 (differing: 1) [files-differ]")]
    other = [essay_of(text) for text in ("Dogs bark.", "Cats sleep.", "Birds sing.", "Cows moo.")]
    assert differences(other) == [], "another set"
    corpora = {"a": FIRST, "b": FIRST, "c": FIRST[:2], "d": FIRST[:2]}
    assert [name for name, _ in check_together(corpora)] == ["c", "d"]


TAGGED_TEXT = "She go home every days ."


def tagged(*tags: str, line: int = 7, essay_id: str = "e1") -> Essay:
    """Edits of `go`, `days` and `home` with these tags."""
    words = (("go", "goes"), ("days", "day"), ("home", "house"))
    edits = (edit_of(TAGGED_TEXT, *pair, tag=tag, line=line) for pair, tag in zip(words, tags, strict=False))
    return essay_of(TAGGED_TEXT, *edits, essay_id=essay_id)


def test_unknown_tags_are_found_against_the_given_or_the_guessed_set() -> None:
    (finding,) = found(tagged("SVA", "Nnn", line=8), tagged("SVA", "Nnn", essay_id="e2"), rule="unknown-tag")
    assert (finding.essay_id, finding.line) == ("e1", 8)
    assert finding.message == (
        "the tag 'Nnn' of 2 edits, here first, is not in nucle, the set that fits this corpus best; "
        "did you mean 'Nn'?"
    )
    assert not found(tagged("R:VERB:SVA", "R:NOUN:NUM"), rule="unknown-tag")
    (message,) = messages(tagged("SVA", "Nn", "RN"), rule="unknown-tag")
    assert message.startswith("the tag 'RN' of 1 edit, here first, is not in nucle")
    (finding,) = check_essays([tagged("SVA")], tagset=TAGSETS["clc"])
    assert finding.message == "the tag 'SVA' of 1 edit, here first, is not in clc; did you mean 'SA'?"


def rules(*essays: Essay, tagset: TagSet | None = None) -> list[str]:
    return [finding.rule for finding in check_essays(essays, tagset=tagset)]


def test_no_essay_and_repeated_ids_are_findings() -> None:
    assert rules() == ["empty"]
    assert rules(Essay("a", "All is well."), Essay("a#2", "All was well.")) == ["same-id"]
    text = "All is well."
    assert rules(Essay(short_hash(text), text), Essay(f"{short_hash(text)}#2", text)) == []


def test_whether_a_correction_is_owed_depends_on_the_set_and_tokens_are_one_sentence() -> None:
    essay = essay_of(GOOD, edit_of(GOOD, "feed", tag="Um"))
    assert rules(essay, tagset=TAGSETS["errant"]) == ["no-correction", "unknown-tag"]
    text = "It rained . We stayed ."
    assert not messages(tokenised(text, edit_of(text, ". We", ", so we")), rule="across-sentences")


def test_only_edits_that_are_the_same_in_everything_are_duplicates() -> None:
    text = "It rained. We stayed at home and read."
    stayed = edit_of(text, "stayed", "remained", tag="Wci", line=20)
    (finding,) = found(essay_of(text, stayed, replace(stayed, line=24)), rule="duplicate")
    expected = "the same edit by 'A' is already there at line 20: Wci 'stayed' → 'remained'"
    assert (finding.line, finding.message) == (24, expected)
    for other in (
        replace(stayed, rater="B"),
        replace(stayed, tag="Vt"),
        replace(stayed, replacements=("kept",)),
        replace(stayed, span=Span(stayed.span.start, stayed.span.end + 3)),
    ):
        assert not found(essay_of(text, stayed, other), rule="duplicate"), other


WEATHER = "The informations about weather was missing."
EXEMPT = frozenset({"Um", "Cit", "Wa"})


def test_lawful_oddities_are_counted_and_no_findings() -> None:
    long = edit_of(WEATHER, "informations about weather", "weather information")
    inner = edit_of(WEATHER, "informations", "information")
    last = edit_of(WEATHER, "weather was", "weather were")
    assert census_of(essay_of(WEATHER, long, inner, last), exempt=EXEMPT).overlaps == 2
    lawful = essay_of(
        WEATHER,
        edit_of(WEATHER, "informations about", "information on", tag="Nn"),
        edit_of(WEATHER, "informations", "information", tag="Nn"),
        edit_of(WEATHER, "informations", "information", tag="Mec"),
        edit_of(WEATHER, "was", tag="Um"),
        edit_of(WEATHER, "issing", "issed", tag="Vform"),
    )
    checked = check_corpora({"lawful": [lawful, lawful]})
    assert checked.findings == ()
    assert checked.census == Census(essays=2, edits=10, overlaps=4, second_tags=2, uncorrected=2, inside_words=2)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5)), max_size=12))
def test_overlaps_are_those_that_comparing_every_pair_finds(places: list[tuple[int, int]]) -> None:
    spans = [Span(start, start + length) for start, length in places]
    edits = tuple(Edit(span, ("x",), "Mec", "A") for span in spans)
    pairs = sum(
        one != other and len(one) > 0 and len(other) > 0 and one.start < other.end and other.start < one.end
        for one, other in combinations(spans, 2)
    )
    assert census_of(essay_of(WEATHER, *edits), exempt=EXEMPT).overlaps == pairs


def test_four_thousand_nested_marks_are_each_looked_at_a_few_times() -> None:
    """Comparing the open spans with each other took 5 s at every save of such a draft."""
    n_looks = 0

    class Watched(Edit):
        def __getattribute__(self, name: str) -> object:
            nonlocal n_looks
            n_looks += name == "span"
            return super().__getattribute__(name)

    n_marks = 4000
    text = "a " * n_marks
    edits = tuple(Watched(Span(n, 2 * n_marks - n), ("x",), "Mec", "A") for n in range(n_marks))
    assert census_of(essay_of(text, *edits), exempt=EXEMPT).overlaps == n_marks * (n_marks - 1) // 2
    assert n_looks < 20 * n_marks


def test_the_rules_that_may_be_named_are_those_of_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "corpora.md").read_text(encoding="utf-8")
    table = page.partition("| rule | what it finds |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"^\| `([a-z-]+)`", table, re.MULTILINE)) == sorted([*RULES, UNREADABLE])


OFFICIAL = [f"official/official-2014.{name}" for name in ("0.m2", "1.m2", "combined.m2", "combined-withalt.m2")]
SGML = ["official/official-2014.0.sgml", "official/official-2014.1.sgml"]
TEN = [f"ten-annotators/A{number}.m2" for number in range(1, 11)]


def checked(relative: str) -> tuple[list[Finding], Census]:
    path = data_path(f"conll14/{relative}")
    form = FORMATS["nucle" if path.suffix == ".sgml" else "m2"]
    assert isinstance(form, FileFormat)
    checked = check_corpora({relative: form.read(open_source(path))})
    return [finding for _, finding in checked.findings], checked.census


@pytest.mark.data
@pytest.mark.parametrize(
    "relative", [*OFFICIAL, *SGML, TEN[0], *(pytest.param(name, marks=pytest.mark.slow) for name in TEN[1:])]
)
def test_the_check_ends_on_every_file_and_knows_every_tag(relative: str) -> None:
    findings, census = checked(relative)
    by_rule = Counter(finding.rule for finding in findings)
    assert census.edits > 0
    assert "unknown-tag" not in by_rule
    if relative in SGML:
        # Redundancies that remove nothing, looked at by eye: refers → refers to, and five commas added after a word.
        assert (census.edits, by_rule["redundancy"]) == {SGML[0]: (2397, 1), SGML[1]: (3331, 5)}[relative]


@pytest.mark.data
def test_the_combined_file_is_reported_to_drop_an_agreeing_annotator() -> None:
    findings, _ = checked("official/official-2014.combined.m2")
    # Counted against the single files: in all 88 the two have the same corrections (in 73 the same tags too).
    assert [finding.message for finding in findings if finding.rule == "coverage"] == [
        "annotator '1' has no line in 88 of 1,312 sentences although annotator '0' has edits there: a combined file "
        "that drops an annotator who agrees; use the single-annotator files for agreement"
    ]
