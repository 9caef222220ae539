from __future__ import annotations

import pytest

from grater.detect.explanations import explain, place_of
from grater.model import DELETE, Span


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
