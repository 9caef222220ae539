"""Every rule for learners is held to its own example."""

from __future__ import annotations

import re

from grater.detect.explanations import BY_KIND, EXAMPLE, Place, Rule, example_sides, explain, place_of
from grater.model import DELETE, Span
from tests.each import for_each

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
