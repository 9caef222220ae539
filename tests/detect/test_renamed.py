"""A system under a name of one's own."""

from __future__ import annotations

import pytest

from grater.detect.systems import load_system, load_systems
from grater.errors import UsageError
from grater.model import Essay

ESSAY = Essay("a", "She is good in mathematics, and we discussed about the problem.")


def test_a_renamed_system_finds_the_same_and_signs_with_its_new_name() -> None:
    old, new = load_system("prep-maxent"), load_system("maxent-2=prep-maxent")
    before, after = list(old.find([ESSAY])), list(new.find([ESSAY]))
    assert {finding.decision.system for finding in after} == {new.name} == {"maxent-2"}
    assert [finding.decision.score for finding in after] == [finding.decision.score for finding in before]
    assert (new.kinds, new.card) == (old.kinds, old.card)


@pytest.mark.parametrize("name", ["two\nlines=prep-lm", " =prep-lm", "\u202e=prep-lm"])
def test_a_new_name_can_be_seen(name: str) -> None:
    with pytest.raises(UsageError, match="expected a new name of letters that can be seen"):
        load_system(name)


def test_no_two_systems_sign_alike() -> None:
    assert [system.name for system in load_systems(["prep-both", "prep-both", "b=prep-both"])] == ["prep-both", "b"]
    with pytest.raises(UsageError, match="two of the systems are called a; give one another name: NEW=a=prep-lm"):
        load_systems(["a=prep-both", "a=prep-lm"])
