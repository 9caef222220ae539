from __future__ import annotations

from dataclasses import replace

import pytest

from grater.detect.detector import Finding
from grater.detect.feedback import CHANCES, Feedback, check
from grater.detect.marks import advice, sureness
from grater.model import Decision, Essay, Item, Span


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
