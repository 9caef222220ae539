"""Combination: edits that enough systems propose."""

from __future__ import annotations

import pytest

from grater.corpora.edits.engine import load_engine
from grater.corpora.normalise import corrected_text
from grater.corpora.parallel import combine
from grater.errors import UsageError

SOURCE = ["She go to school by a bus every days ."]
SYSTEMS = {
    "a": ["She goes to school by bus every day ."],
    "b": ["She goes to school by the bus every day ."],
    "c": ["She went to school by bus every days ."],
}


def text(at_least: int, systems: dict[str, list[str]] = SYSTEMS) -> str:
    (essay,) = combine(SOURCE, systems, at_least=at_least, engine=load_engine())
    return corrected_text(essay.text, essay.edits)


def test_an_edit_of_two_systems_is_kept_and_one_of_a_single_system_is_not() -> None:
    assert text(2) == "She goes to school by bus every day ."


def test_of_edits_that_overlap_the_one_with_more_votes_is_taken() -> None:
    assert text(1) == "She goes to school by bus every day ."


@pytest.mark.parametrize("at_least", [0, 4])
def test_more_systems_than_there_are_is_refused(at_least: int) -> None:
    with pytest.raises(UsageError, match="from 1 to 3"):
        text(at_least)
