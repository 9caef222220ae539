"""A system under a name of one's own, and what must hold of every system."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.detect.prepositions.engines import save_linear
from grater.detect.systems import SYSTEMS, load_system
from grater.errors import GraterError
from grater.model import Essay, Span
from grater.models import shipped_names, write_model
from tests.detect.articles.tiny import tiny_detector as tiny_articles
from tests.detect.prepositions.tiny import tiny_detector, tiny_engine
from tests.examples import examples

ESSAY = Essay("a", "She is good in mathematics, and we discussed about the problem.")


def test_a_renamed_system_finds_the_same_and_signs_with_its_new_name() -> None:
    old, new = load_system("prep-maxent"), load_system("maxent-2=prep-maxent")
    before, after = list(old.find([ESSAY])), list(new.find([ESSAY]))
    assert {finding.decision.system for finding in after} == {new.name} == {"maxent-2"}
    assert [finding.decision.score for finding in after] == [finding.decision.score for finding in before]
    assert (new.kinds, new.card) == (old.kinds, old.card)


EVERY_SYSTEM = pytest.mark.parametrize("name", SYSTEMS.names())
ESSAYS = (  # with a place or more for every system
    Essay("a", "When I was child I arrived to the station and we discussed about the problem."),
    Essay("b", ""),
    Essay(
        "c", "Some of people depend of their parents.I listen music in in the evening 😀\n\n- of the of\n- “in” it’s…"
    ),
    Essay("d", "She is good in mathematics, and she is married with a doctor since ten years."),
    Essay("e", "We waited the bus, since he had recieved the key and gone by foot."),
)


@EVERY_SYSTEM
def test_findings_stay_inside_the_text_and_name_their_system(name: str) -> None:
    system = load_system(name)
    by_id = {essay.essay_id: essay for essay in ESSAYS}
    found = list(system.find(ESSAYS))
    assert found
    for finding in found:
        essay = by_id[finding.item.essay_id]
        assert Span(0, len(essay.text)).covers(finding.item.span)
        assert finding.item.span.of(essay.text) == finding.target
        assert finding.item.kind in system.kinds
        assert finding.decision.system == system.name == name
        assert finding.decision.item_id == finding.item.item_id
        assert finding.decision.type or not finding.decision.flagged


PIECES = ["in", "To", "the", "a", "An", "girl", "dogs", "owl", "foxes", "waited", "saw", "near", "water", "is", "old"]
PIECES += [" ", "\n", ".", "of of", "on.", "discussed", "😀", "—", "for", "1990"]


@examples(60)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=25).map(" ".join))
def test_any_text_is_read_and_findings_lie_inside_it(text: str) -> None:
    for detector in (tiny_detector(), tiny_articles()):
        for finding in detector.find([Essay("e", text)]):
            assert Span(0, len(text)).covers(finding.item.span)
            assert finding.item.span.of(text) == finding.target
            assert finding.decision.item_id == finding.item.item_id
            if finding.item.kind.startswith("prep"):
                assert (finding.item.kind == "prep") == bool(finding.target)


@EVERY_SYSTEM
def test_findings_are_the_same_alone_together_and_backwards(name: str) -> None:
    system = load_system(name)
    alone = [finding for essay in ESSAYS for finding in system.find([essay])]
    assert list(system.find(ESSAYS)) == alone
    backwards = list(system.find(ESSAYS[::-1]))
    assert sorted(backwards, key=lambda each: each.item.item_id) == sorted(alone, key=lambda each: each.item.item_id)


@EVERY_SYSTEM
def test_a_model_says_what_it_was_made_of(name: str) -> None:
    system = load_system(name)
    if system.card or name in shipped_names():
        assert {"name", "data", "date", "hash", "command", "figures"} <= set(system.card)
    assert name in repr(system)
    assert len(repr(system)) < 1000  # a notebook shows the last value of a cell


def test_what_is_no_system_is_refused_with_what_it_lacks(tmp_path: Path) -> None:
    text, odd, bare = (tmp_path / name for name in ("theirs.txt", "odd.model", "bare.model"))
    text.write_text("A sentence.\n")
    write_model(odd, kind="weather", card={}, arrays={"a": np.zeros(1)}, strings={})
    save_linear(replace(tiny_engine(), card={"name": "bare"}), bare)
    for name, message in (
        ("prep-percepton", "Did you mean 'prep-perceptron'"),
        (f"theirs={text}", f"say what is in it: corrected:{text} or edits:{text}"),
        (str(odd), "unknown kind of model 'weather'"),
        (str(bare), "expected thresholds"),
    ):
        with pytest.raises(GraterError, match=message):
            load_system(name)
