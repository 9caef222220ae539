"""The rules for learners, each with sentences that it explains, and others that it must not (`rules.txt`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from grater.detect.explanations import BY_KIND, EXAMPLE, Rule, example_sides, explain, place_of
from grater.detect.grammar import Grammar
from grater.model import DELETE, Essay, Span
from tests.detect.test_textbook import sections
from tests.each import for_each

KIND_OF = {rule.name: kind for kind, rules in reversed(BY_KIND.items()) for rule in rules}
RULES = {rule.name: rule for rules in BY_KIND.values() for rule in rules}


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence of a rule; `span` and `better` are its mark, if it has one."""

    rule: str
    is_wrong: bool
    text: str
    span: Span | None = None
    better: str = ""


def case_of(rule: str, line: str) -> Case:
    is_wrong, line = line.startswith("- "), line[2:]
    match = EXAMPLE.search(line)
    if match is None:
        return Case(rule, is_wrong, line)
    after = line[match.end() :]
    text = line[: match.start()] + match["wrong"] + (after[1:] if not match["wrong"] and after[:1] == " " else after)
    return Case(rule, is_wrong, text, Span(match.start(), match.start() + len(match["wrong"])), match["right"])


CASES = [
    case_of(rule, line) for rule, lines in sections(Path(__file__).with_name("rules.txt")).items() for line in lines
]


def rules_for(case: Case) -> set[str]:
    """The rules that a reader of the sentence may see: of the mark given, else of what patterns find."""
    if case.span is None:
        return {finding.rule for finding in Grammar().marks(Essay("e", case.text))}
    explanation = explain(place_of(case.text, case.span, KIND_OF[case.rule], case.better or DELETE))
    seen = {explanation.rule} if explanation else set()
    if not RULES[case.rule].explains or case.is_wrong:
        here = Grammar().marks(Essay("e", case.text))
        seen |= {finding.rule for finding in here if abs(finding.item.span.start - case.span.start) <= 1}
    return seen


@for_each(CASES, name=lambda case: f"{case.rule}: {case.text}")
def test_a_rule_explains_its_wrong_sentences_and_none_of_its_right_ones(case: Case) -> None:
    assert (case.rule in rules_for(case)) == case.is_wrong


def test_every_rule_has_five_wrong_sentences_and_five_right_ones() -> None:
    for name in RULES:
        own = [case for case in CASES if case.rule == name]
        assert (sum(case.is_wrong for case in own), sum(not case.is_wrong for case in own)) == (5, 5), name


@for_each(list(RULES.values()), name=lambda rule: rule.name)
def test_an_example_has_one_error_and_its_correction_and_a_reason_is_one_short_sentence(rule: Rule) -> None:
    assert len(EXAMPLE.findall(rule.example)) == 1
    wrong, right = example_sides(rule)
    assert wrong != right
    for sentence in (wrong, right):
        assert re.fullmatch(r"[A-Z].*[.?]", sentence)
        assert not re.search(r"  |[\[\]→]", sentence)
    assert rule.reason.endswith(".")
    assert not re.search(r"[.!?] [A-Z]", rule.reason)
    assert len(rule.reason) <= 115
