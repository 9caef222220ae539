"""Feedback to learners: marks, the rules that explain them, and suggestions as a teacher makes them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from grater.api import check
from grater.detect.detector import Finding
from grater.detect.explanations import explain, place_of
from grater.detect.feedback import CHANCES, Feedback
from grater.detect.marks import advice, sureness
from grater.detect.systems import at_precision, load_systems
from grater.detect.taught import taught
from grater.model import DELETE, Decision, Essay, Item, Span


def finding(kind: str, suggestion: str, beliefs: dict[str, float]) -> Finding:
    item = Item("e", Span(0, 2), kind)
    decision = Decision(item.item_id, "mine", flagged=True, suggestion=suggestion)
    return Finding(item, decision, "of", tuple(beliefs.items()))


@pytest.mark.parametrize(
    ("beliefs", "words"), [({"on": 0.96, "of": 0.01}, "sure"), ({"on": 0.85}, "fairly sure"), ({}, "")]
)
def test_sureness_is_what_the_system_believes(beliefs: dict[str, float], words: str) -> None:
    assert sureness(finding("prep", "on", beliefs)) == words


def test_a_second_preposition_that_fits_is_offered_too() -> None:
    beliefs = {"on": 0.6, "upon": 0.2, "-NONE-": 0.15, "of": 0.12, "at": 0.05}
    assert advice(finding("prep", "on", beliefs)) == "of → on or upon"
    assert advice(finding("article", "the", {"the-singular": 0.6, "the-plural": 0.3})) == "of → the"


def test_the_note_names_kinds_and_gives_figures_only_of_systems_that_were_measured() -> None:
    ours = Feedback("a.txt", Essay("a", ""), (), {"prep-maxent": 1}, ("prep",))
    assert ours.note.endswith(CHANCES)
    assert CHANCES not in replace(ours, n_candidates={"prep-maxent": 1, "mine": 1}).note
    both = replace(ours, kinds=("article",), n_candidates={"context": 1, "harper": None}).note
    assert both == (
        "Looked for by context (grater’s own model): articles; "
        "anything else comes from harper (a free checker of spelling and style)."
    )
    theirs = replace(ours, kinds=("comma", "prep"), n_candidates={"mine": 1})
    assert theirs.note == "Looked for: prepositions, comma; for nothing else."
    assert replace(theirs, kinds=()).note == ""


LEARNER = (
    "In last summer I go to the London with my friends for visit museum. We was very happy because weather were "
    "sunny, and we have saw many beautiful place. I am interested of history since three years, so I enjoyed to read "
    "informations about the kings. It depends of the day, but a tourist have to wait before he enter to castle."
)


SHARES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
CLEAN = "The weather was fine, and we walked along the river for an hour. " * 20


def test_less_precision_never_marks_less_and_kinds_left_out_are_named() -> None:
    every, *shown = (check(LEARNER, precision=share) for share in (None, *SHARES))
    assert every.silent == ()
    assert [flag.item for flag in shown[0].flags] == [flag.item for flag in every.flags]
    for share, feedback in zip(SHARES, shown, strict=True):
        assert all((flag.confidence or 0) >= share for flag in feedback.flags)
        kinds = {flag.item.kind for flag in feedback.flags}
        assert {*feedback.silent} == {flag.item.kind for flag in every.flags} - kinds
    for more, fewer in pairwise(shown):
        assert {flag.item for flag in more.flags} >= {flag.item for flag in fewer.flags}
    assert len(shown[0].flags) > len(shown[-1].flags)


def test_less_precision_never_decides_for_fewer_flags_and_feedback_asks_less_where_errors_are_frequent() -> None:
    pytest.importorskip("onnxruntime")
    (context,) = load_systems(["context"])
    at_shipped, *shown = (
        {finding.item for finding in detector.find([Essay("e", LEARNER)]) if finding.decision.flagged}
        for detector in (context, *(at_precision([context], share)[0] for share in SHARES))
    )
    assert all(more >= fewer for more, fewer in pairwise(shown))
    assert len(shown[0]) > len(shown[-1])
    assert len(check(LEARNER, systems=["context"]).flags) > len(at_shipped)


def test_every_decision_has_a_score_a_type_and_a_suggestion() -> None:
    pytest.importorskip("onnxruntime")
    (context,) = load_systems(["context"])
    decisions = [finding.decision for finding in context.find([Essay("e", LEARNER + " As it rained, we left.")])]
    assert not all(decision.flagged for decision in decisions)
    for decision in decisions:
        assert decision.score is not None
        assert decision.type
        assert decision.suggestion


def test_a_mark_is_said_to_be_surer_in_a_text_with_many_errors() -> None:
    [among_few] = check(f"I recieved a letter. {CLEAN}", systems=["spelling"]).flags
    many = "I recieved a letter, and he definately beleived it untill today."
    among_many = check(many, systems=["spelling"]).flags[0]
    assert among_few.target == among_many.target == "recieved"
    assert 0.5 < (among_few.confidence or 0) < (among_many.confidence or 0) - 0.1


def test_a_mark_that_the_words_alone_decide_is_as_sure_in_any_text_and_makes_no_other_surer() -> None:
    alone, [other], flags = (
        check(text + CLEAN, systems=["spelling", "grammar"]).flags
        for text in ("", "I recieved a letter. ", "I recieved a letter. I made it my self. ")
    )
    assert alone == ()
    assert [(flag.target, flag.confidence) for flag in flags][1] == ("my self", 0.75)
    assert flags[0].confidence == pytest.approx(other.confidence, abs=0.01)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Last summer we went to Spain. We stay in a hotel near the beach. Every day we swam.", ("stay", "stayed")),
        ("Water boils at 100 degrees. When it boiled, it turns into steam.", ("boiled", "boils")),
        ("I go to school. He go to school on Monday.", ("go", "goes")),
        ("I was ill. He go to school on Monday.", ("go", "went")),
    ],
)
def test_the_tense_of_a_verb_is_that_of_the_sentences_around(text: str, found: tuple[str, str]) -> None:
    pytest.importorskip("onnxruntime")
    [flag] = check(text, systems=["context"]).flags
    assert (flag.target, flag.decision.suggestion) == found


@pytest.mark.parametrize(
    "text",
    [
        "The museum opened in 1890. It is in the old town. It has ten rooms. The king lived there before it opened.",
        "Mr Brown was a teacher. He taught history, which is a hard subject. One day he said, “I am tired.”",
        "Our summer in Spain\n\nWe stay in a hotel near the beach.",
        "We arrived late. They take the bus home.",
    ],
)
def test_a_text_may_change_its_tense_for_a_reason(text: str) -> None:
    pytest.importorskip("onnxruntime")
    assert check(text, systems=["context"]).flags == ()


def test_what_still_holds_stays_in_the_present_among_verbs_in_the_past() -> None:
    pytest.importorskip("onnxruntime")
    text = "She is interested of music. I arrived to the station. I listened the music."
    assert [flag.target for flag in check(text, systems=["context"]).flags] == ["of", "to", ""]


def test_feedback_on_a_text_has_a_frame_and_a_sheet_also_without_flags() -> None:
    feedback = check("She is interested of music.", systems=["prep-maxent"])
    assert [flag.target for flag in feedback.flags] == ["of"]
    assert feedback.to_frame()["suggestion"].to_list() == ["in"]
    (sheet,) = feedback.sheets()
    assert sheet.rows[0][1] == "She is interested [of] music."
    empty = check("", systems=["prep-maxent"])
    assert empty.to_frame().is_empty()
    assert empty.sheets()[0].rows == ()


def test_a_reason_names_the_words_of_the_writer_and_has_an_example_of_its_rule_or_of_its_pair() -> None:
    explanation = explain(place_of("We discussed about it.", Span(13, 18), "prep", DELETE))
    assert explanation is not None
    assert explanation.reason == "“discussed” takes its object directly, with no preposition between them."
    assert (explanation.wrong, explanation.right) == ("We discussed about the plan.", "We discussed the plan.")
    explanation = explain(place_of("We arrived to it.", Span(11, 13), "prep", "at"))
    assert explanation is not None
    assert (explanation.wrong, explanation.right) == ("arrive to", "arrive at")


def test_a_past_time_of_another_sentence_and_words_of_another_line_explain_nothing() -> None:
    text = "He go to school in May. I went home yesterday."
    assert explain(place_of(text, Span(3, 5), "verb-form", "went")) is None
    assert explain(place_of("I am interested\nof it", Span(16, 18), "prep", "in")) is None


def suggested(text: str, target: str, suggestion: str, *others: str, kind: str = "spelling") -> Finding:
    start = text.index(target)
    item = Item("e1", Span(start, start + len(target)), kind)
    decision = Decision(item_id=item.item_id, system="any", flagged=True, suggestion=suggestion)
    return Finding(item=item, decision=decision, target=target, probabilities=(), alternatives=others)


@pytest.mark.parametrize(
    ("text", "target", "suggestion", "words", "better"),
    [
        ("I am agree with you.", "agree", "agreeing", "am agree", "agree"),
        ("I’m agree with you.", "agree", "agreeing", "I’m agree", "I agree"),
        ("He's agree.", "agree", "agreeing", "He's agree", "He agrees"),
        ("I am totally agree.", "agree", "agreeing", "am totally agree", "totally agree"),
        ("It is depend on you.", "depend", "depending", "is depend", "depends"),
        ("He was know it.", "know", "knowing", "was know", "knew"),
        ("She is not agree.", "agree", "agreeing", "is not agree", "does not agree"),
        ("I am agree with it.", "agree", "agreed", "am agree", "agree"),
        ("I am work in a bank.", "work", "working", "work", "working"),
        ("I agree with agree.", "agree", "agreeing", "agree", "agreeing"),
    ],
)
def test_a_verb_without_a_progressive_loses_its_be(
    text: str, target: str, suggestion: str, words: str, better: str
) -> None:
    mended = taught(suggested(text, target, suggestion, kind="verb-form"), text)
    assert mended.target == mended.item.span.of(text) == words
    assert mended.decision.suggestion == better
    assert mended.decision.item_id == mended.item.item_id


@pytest.mark.parametrize(
    ("word", "offered", "better"),
    [
        ("him's", ("ham's", "hem's"), ("his",)),
        ("Your's", ("Yours", "Four's"), ("Yours", "Your")),
        ("theirselves", ("theirs elves",), ("themselves",)),
        ("childrens", ("children's", "children"), ("children",)),
        ("feets", ("fee's", "feats"), ("feet",)),
        ("homeworks", ("homework's",), ("homework",)),
        ("lifes", ("life's", "lies"), ("lives",)),
        ("knowed", ("kn owed",), ("knew", "known")),
        ("dont", ("don't", "dent", "don"), ("don't",)),
        ("wich", ("wish", "which"), ("wish", "which")),
        ("ones", ("one's",), ("one's",)),
    ],
)
def test_a_form_made_by_rule_becomes_the_form_that_english_has(
    word: str, offered: tuple[str, ...], better: tuple[str, ...]
) -> None:
    text = f"We saw {word} there."
    mended = taught(suggested(text, word, *offered), text)
    assert (mended.decision.suggestion, *mended.alternatives) == better
