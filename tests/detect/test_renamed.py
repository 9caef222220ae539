"""A system under a name of one's own."""

from __future__ import annotations

from grater.detect.systems import load_system
from grater.model import Essay

ESSAY = Essay("a", "She is good in mathematics, and we discussed about the problem.")


def test_a_renamed_system_finds_the_same_and_signs_with_its_new_name() -> None:
    old, new = load_system("prep-maxent"), load_system("maxent-2=prep-maxent")
    before, after = list(old.find([ESSAY])), list(new.find([ESSAY]))
    assert {finding.decision.system for finding in after} == {new.name} == {"maxent-2"}
    assert [finding.decision.score for finding in after] == [finding.decision.score for finding in before]
    assert (new.kinds, new.card) == (old.kinds, old.card)
