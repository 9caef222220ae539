"""Feedback to learners: marks, the rules that explain them, and suggestions as a teacher makes them."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from grater.detect.detector import Finding
from grater.detect.explanations import BY_KIND, EXAMPLE, Place, Rule, example_sides, explain, place_of
from grater.detect.feedback import CHANCES, Feedback, check
from grater.detect.marks import advice, sureness
from grater.detect.systems import at_precision, load_systems
from grater.model import DELETE, Decision, Essay, Item, Span
from tests.each import for_each


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


def test_figures_are_given_only_for_systems_that_were_measured() -> None:
    ours = Feedback("a.txt", Essay("a", ""), (), {"prep-maxent": 1}, ("prep",))
    assert ours.note.endswith(CHANCES)
    assert CHANCES not in replace(ours, n_candidates={"prep-maxent": 1, "mine": 1}).note
    both = replace(ours, kinds=("article",), n_candidates={"context": 1, "harper": None}).note
    assert both == (
        "Looked for by context (grater’s own model): articles; "
        "anything else comes from harper (a free checker of spelling and style)."
    )


def test_a_kind_of_somebody_else_is_named_among_what_was_looked_for() -> None:
    theirs = Feedback("a.txt", Essay("a", ""), (), {"mine": 1}, ("comma", "prep"))
    assert theirs.note == "Looked for: prepositions, comma; for nothing else."
    assert replace(theirs, kinds=()).note == ""


LEARNER = (
    "In last summer I go to the London with my friends for visit museum. We was very happy because weather were "
    "sunny, and we have saw many beautiful place. I am interested of history since three years, so I enjoyed to read "
    "informations about the kings. It depends of the day, but a tourist have to wait before he enter to castle."
)


def test_less_precision_never_marks_less() -> None:
    pytest.importorskip("onnxruntime")
    (context,) = load_systems(["context"])
    essay = Essay("e", LEARNER)
    shown = [
        {finding.item for finding in detector.find([essay]) if finding.decision.flagged}
        for detector in (at_precision([context], share)[0] for share in (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95))
    ]
    assert all(more >= fewer for more, fewer in pairwise(shown))
    assert len(shown[0]) > len(shown[-1])


def test_every_decision_has_a_score_a_type_and_a_suggestion() -> None:
    pytest.importorskip("onnxruntime")
    (context,) = load_systems(["context"])
    decisions = [finding.decision for finding in context.find([Essay("e", LEARNER + " As it rained, we left.")])]
    assert not all(decision.flagged for decision in decisions)
    for decision in decisions:
        assert decision.score is not None
        assert decision.type
        assert decision.suggestion


def test_check_gives_feedback_on_a_text() -> None:
    feedback = check("She is interested of music.", ["prep-maxent"])
    assert [flag.target for flag in feedback.flags] == ["of"]
    assert feedback.to_frame()["suggestion"].to_list() == ["in"]
    (sheet,) = feedback.sheets()
    assert sheet.rows[0][1] == "She is interested [of] music."


def test_feedback_without_flags_has_an_empty_frame_and_sheet() -> None:
    feedback = check("", ["prep-maxent"])
    assert feedback.to_frame().is_empty()
    assert feedback.sheets()[0].rows == ()


def rule_for(sentence: str, kind: str, better: str) -> str:
    """The rule for a mark, given in brackets."""
    start, end = sentence.index("["), sentence.index("]") - 1
    explanation = explain(place_of(sentence.replace("[", "").replace("]", ""), Span(start, end), kind, better))
    return explanation.rule if explanation else ""


@pytest.mark.parametrize(
    ("sentence", "kind", "better", "rule"),
    [
        ("He relied mainly [in] his friends.", "prep", "on", "verb-preposition"),
        ("They were talking [of] the weather.", "prep", "about", "verb-preposition"),
        ("I LISTENED [] the radio.", "prep-missing", "to", "verb-preposition"),
        ("The solutions [of] it are simple.", "prep", "to", "noun-preposition"),
        ("See you [at] Tuesday.", "prep", "on", "on-a-day"),
        ("It was built [at] 1990.", "prep", "in", "in-a-period"),
        ("We met [on] noon.", "prep", "at", "at-a-moment"),
        ("I found it [at] the internet.", "prep", "on", "on-a-surface"),
        ("Her office is [on] Berlin.", "prep", "in", "in-a-space"),
        ("We entered [into] the room.", "prep", DELETE, "verb-without-preposition"),
        ("She stood [at] him.", "prep", "beside", "preposition-choice"),
        ("It is [a] honest answer.", "article", "an", "an-before-a-vowel"),
        ("He gave me [a] very good advice.", "article", DELETE, "no-a-with-uncountable"),
        ("I live in [the] Italy.", "article", DELETE, "no-the-in-names"),
        ("[The] people like music.", "article", DELETE, "no-the-in-general"),
        ("Those three old [book] are mine.", "number", "books", "plural-after-many"),
        ("She can [swims] well.", "agreement", "swim", "base-after-modal"),
        ("We are allowed [use] them.", "verb-form", "to use", "to-before-verb"),
        ("He just [smile] and said nothing.", "verb-form", "smiled", "past-in-a-story"),
        ("A famous actor [have] come.", "verb-form", "had", "past-in-a-story"),
        ("He [worked] here since May.", "verb-form", "works", "present-tense"),
        ("I waited [during] forty minutes.", "prep", "for", "for-a-length-of-time"),
        ("A very odd mark [here].", "readability", "there", ""),
    ],
)
def test_the_rule_is_chosen_by_the_words_around(sentence: str, kind: str, better: str, rule: str) -> None:
    assert rule_for(sentence, kind, better) == rule


def test_a_reason_names_the_words_of_the_writer() -> None:
    explanation = explain(place_of("We discussed about it.", Span(13, 18), "prep", DELETE))
    assert explanation is not None
    assert explanation.reason == "“discussed” takes its object directly, with no preposition between them."
    assert (explanation.wrong, explanation.right) == ("We discussed about the plan.", "We discussed the plan.")


def test_words_of_another_line_explain_nothing() -> None:
    text = "I am interested\nof it"
    explanation = explain(place_of(text, Span(16, 18), "prep", "in"))
    assert explanation is not None
    assert explanation.rule == "preposition-choice"


CASES = [(kind, rule) for kind, rules in BY_KIND.items() for rule in rules]
RULES = list({rule.name: rule for _, rule in CASES}.values())
every_rule = for_each(RULES, name=lambda rule: rule.name)


def example_place(rule: Rule, kind: str) -> Place:
    match = EXAMPLE.search(rule.example)
    assert match is not None
    start = match.start()
    text = rule.example[:start] + match["wrong"] + rule.example[match.end() :]
    return place_of(text, Span(start, start + len(match["wrong"])), kind, match["right"] or DELETE)


@for_each(CASES)
def test_the_bad_example_of_a_rule_is_explained_by_it(case: tuple[str, Rule]) -> None:
    kind, rule = case
    explanation = explain(example_place(rule, kind))
    assert explanation is not None
    assert explanation.rule == rule.name
    assert "“”" not in explanation.reason


@every_rule
def test_an_example_has_one_error_and_its_correction(rule: Rule) -> None:
    assert len(EXAMPLE.findall(rule.example)) == 1
    wrong, right = example_sides(rule)
    assert wrong != right
    for sentence in (wrong, right):
        assert re.fullmatch(r"[A-Z].*[.?]", sentence)
        assert not re.search(r"  |[\[\]→]", sentence)


@every_rule
def test_a_reason_is_one_short_sentence(rule: Rule) -> None:
    assert rule.reason.endswith(".")
    assert not re.search(r"[.!?] [A-Z]", rule.reason)
    assert len(rule.reason) <= 115


def test_names_of_rules_are_their_own() -> None:
    names = [rule.name for rules in {id(rules): rules for rules in BY_KIND.values()}.values() for rule in rules]
    assert len(names) == len(set(names))
