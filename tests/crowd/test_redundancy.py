"""How many judgments an item gets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.crowd.redundancy import Redundancy, lead_of, still_wanted
from grater.errors import UsageError

rules = st.builds(
    lambda least, more, lead: Redundancy(least, least + more, lead),
    st.integers(1, 5),
    st.integers(0, 6),
    st.integers(1, 4),
)
answers = st.lists(st.sampled_from(["error", "ok", "unknown"]), max_size=30)


@given(rules, answers)
def test_asking_ends_between_the_least_and_the_most(rule: Redundancy, labels: list[str]) -> None:
    said: list[str] = []
    for label in labels + ["ok"] * 30:
        if not still_wanted(rule, said):
            break
        said.append(label)
    assert rule.least <= len(said) <= rule.most
    assert len(said) == rule.most or lead_of(said) >= rule.lead


@given(rules, answers)
def test_never_more_is_asked_for_than_the_most(rule: Redundancy, labels: list[str]) -> None:
    assert len(labels) + still_wanted(rule, labels) <= max(rule.most, len(labels))


def test_agreement_ends_early_and_a_split_goes_on() -> None:
    rule = Redundancy(least=3, most=7, lead=3)
    assert still_wanted(rule, ["ok"] * 3) == 0
    assert still_wanted(rule, ["ok", "ok", "error"]) == 2
    assert still_wanted(rule, ["ok", "error", "ok", "error"]) == 3
    assert still_wanted(rule, ["ok", "error"] * 3 + ["ok"]) == 0


def test_a_rule_names_itself_for_signatures() -> None:
    assert str(Redundancy(5, 5)) == "5"
    assert str(Redundancy(3, 7, 2)) == "3-7:lead=2"


def test_senseless_rules_are_refused() -> None:
    with pytest.raises(UsageError, match="least <= most"):
        Redundancy(4, 3)
