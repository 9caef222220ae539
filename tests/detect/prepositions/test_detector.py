from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from grater.detect.detector import Finding
from grater.detect.prepositions.detector import Thresholds
from grater.model import Essay, Span
from tests.detect.prepositions.native_text import native_lines
from tests.detect.prepositions.tiny import tiny_detector
from tests.examples import examples

LEARNER = "The girl waited on the bus. The boy discussed about the film at Monday. The king listened the music."
PIECES = [
    "in",
    "To",
    "the",
    "girl",
    "waited",
    " ",
    "\n",
    ".",
    "of of",
    "on.",
    "discussed",
    "😀",
    "—",
    "for",
    "1990",
    "’s",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=25).map(" ".join)


def flags_on(text: str) -> list[Finding]:
    return [finding for finding in tiny_detector().find([Essay("e", text)]) if finding.decision.flagged]


def test_wrong_extraneous_and_missing_prepositions_are_flagged_with_suggestions() -> None:
    found = [(each.target, each.decision.type, each.decision.suggestion) for each in flags_on(LEARNER)]
    assert found == [
        ("on", "choice", "for"),
        ("about", "extraneous", "-NONE-"),
        ("at", "choice", "on"),
        ("", "missing", "to"),
    ]


def test_native_text_is_left_alone() -> None:
    assert flags_on(" ".join(native_lines(60))) == []


def test_every_candidate_has_a_finding_flagged_or_not() -> None:
    found = list(tiny_detector().find([Essay("e", "The girl waited for the bus on Monday.")]))
    assert [each.target for each in found] == ["for", "on"]
    assert not any(each.decision.flagged for each in found)
    assert all(each.decision.suggestion is None for each in found)


def test_the_writers_own_preposition_is_among_the_probabilities() -> None:
    for finding in tiny_detector().find([Essay("e", LEARNER)]):
        assert (finding.target or "-NONE-") in dict(finding.probabilities)


def test_without_gaps_only_prepositions_are_looked_at() -> None:
    detector = replace(tiny_detector(), kinds=("prep",))
    assert {each.item.kind for each in detector.find([Essay("e", LEARNER)])} == {"prep"}


def test_a_threshold_that_nothing_exceeds_leaves_only_the_rules() -> None:
    detector = replace(tiny_detector(), thresholds=Thresholds())
    found = [
        each for each in detector.find([Essay("e", "She sat with with him. " + LEARNER)]) if each.decision.flagged
    ]
    assert [(each.target, each.decision.type) for each in found] == [("with", "extraneous")]
    silent = detector.with_filters([])
    assert not any(each.decision.flagged for each in silent.find([Essay("e", "She sat with with him.")]))


@examples(60)
@given(TEXTS)
def test_every_flag_is_a_candidate_inside_the_text(text: str) -> None:
    for finding in tiny_detector().find([Essay("e", text)]):
        span = finding.item.span
        assert Span(0, len(text)).covers(span)
        assert span.of(text) == finding.target
        assert (finding.item.kind == "prep") == bool(finding.target)
        assert finding.decision.item_id == finding.item.item_id


@examples(30)
@given(st.lists(TEXTS, max_size=6), st.randoms(use_true_random=False))
def test_findings_do_not_depend_on_which_essays_come_together_or_in_what_order(
    texts: list[str], random: object
) -> None:
    essays = [Essay(str(number), text) for number, text in enumerate(texts)]
    alone = {essay.essay_id: list(tiny_detector().find([essay])) for essay in essays}
    shuffled = list(essays)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    together = list(tiny_detector().find(shuffled))
    assert together == [finding for essay in shuffled for finding in alone[essay.essay_id]]


def test_empty_and_endless_texts_are_fine() -> None:
    assert list(tiny_detector().find([])) == []
    assert list(tiny_detector().find([Essay("e", "")])) == []
    found = tiny_detector().find([Essay("e", "in the house " * 2000)])
    assert sum(finding.item.kind == "prep" for finding in found) == 2000
