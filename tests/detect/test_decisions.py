"""Decisions of systems as tables, as edits on the words of an essay, and as a best word for every place."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from grater.corpora.m2 import read_m2
from grater.detect.decisions import (
    DecisionRows,
    answers_cell,
    answers_of,
    best_word,
    corrected_essays,
    filled,
    is_mismatch,
)
from grater.detect.detector import Finding
from grater.detect.external import findings
from grater.detect.systems import load_system
from grater.errors import UsageError
from grater.model import DELETE, Decision, Edit, Essay, Item, Span
from tests.cli.running import grater
from tests.detect.prepositions.tiny import tiny_detector

ESSAY = Essay("e", "The girl waited on the bus.", metadata={"document": "d"})


def test_a_place_is_in_the_decisions_or_in_the_items() -> None:
    together, apart = DecisionRows(with_places=True), DecisionRows(with_places=False)
    for rows in (together, apart):
        rows.add([ESSAY], tiny_detector())
    assert {"start", "end"} <= set(together.decisions().columns)
    assert "start" not in apart.decisions().columns
    assert apart.items()["document"].unique().to_list() == ["d"]
    assert set(apart.items()["item"]) == set(apart.decisions()["item"])


M2 = "S She depends of her sister , I think .\nA 2 3|||R:PREP|||on|||REQUIRED|||-NONE-|||0\n\n"


def test_flags_of_our_own_become_edits() -> None:
    (corrected,) = corrected_essays(load_system("prep-maxent"), read_m2(M2.splitlines(keepends=True), name="e.m2"))
    assert [(edit.span, edit.replacements) for edit in corrected.edits] == [(Span(12, 14), ("on",))]


PROGRAM = """
import json, sys
for line in sys.stdin:
    essay = json.loads(line)
    print(json.dumps({"essay": essay["essay"], "edits": [{"start": 12, "end": 14, "replacements": ["on"]}]}))
"""


def test_the_command_writes_what_can_be_scored(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    corpus, out, program = (tmp_path / name for name in ("essays.m2", "mine.m2", "program.py"))
    corpus.write_text(M2)
    program.write_text(PROGRAM)
    system = f"mine=command:{sys.executable} {program}"
    command = ("decide", corpus, "--system", system, "--out", tmp_path / "d.csv", "--corrections")
    assert grater(capsys, *command, out).status == 0
    scored = grater(capsys, "score", corpus, out, "--metric", "errant", "--json", "--resamples", "10")
    assert json.loads(scored.out)["systems"][0]["counts"] == {"tp": 1, "fp": 0, "fn": 0}
    refused = grater(capsys, *command, corpus)
    assert (refused.status, corpus.read_text()) == (2, M2)
    two = grater(capsys, *command[:4], "--system", "harper", *command[4:], out)
    assert (two.status, two.err.count("\n")) == (2, 1)


BOOK = Essay("e", "She waited on the bus stop for hours. I have book about dogs.")


def test_a_blank_is_filled_with_a_preposition_though_none_at_all_is_likelier() -> None:
    item = Item("e", Span(0, 2), "prep")
    answers = ((DELETE, 0.5), ("on", 0.3), ("in", 0.2))
    place = Finding(item, Decision(item.item_id, "S", flagged=False), "in", answers)
    assert answers_of(place) == (("on", 0.3), ("in", 0.2))
    assert is_mismatch(place)


@pytest.mark.parametrize("name", ["prep-maxent", "prep-lm"])
def test_our_systems_have_words_and_probabilities_where_they_flag_nothing(name: str) -> None:
    places = filled(load_system(name), [BOOK]).findings
    assert [place.target for place in places] == ["on", "for", "about"]
    for place in places:
        shares = [share for _, share in answers_of(place) if share is not None]
        assert shares[:3] == sorted(shares[:3], reverse=True)
        assert 0 < sum(shares) <= 1.00001
        assert place.target in dict(answers_of(place))


def test_a_system_from_outside_would_write_its_suggestion_or_the_writers_word() -> None:
    places = [Item("e", Span(11, 13), "prep"), Item("e", Span(27, 30), "prep")]
    changed, left = findings(BOOK, [Edit(Span(11, 13), ("at",), "Prep", "checker")], places, "checker")
    assert (best_word(changed), best_word(left)) == ("at", "for")
    assert json.loads(answers_cell(answers_of(changed))) == {"at": None}
    assert (is_mismatch(changed), is_mismatch(left)) == (True, False)


def test_judged_places_that_a_system_does_not_look_at_are_named() -> None:
    with pytest.raises(UsageError, match="looks at no place among the 1 judged"):
        filled(load_system("prep-maxent"), [BOOK], wanted=["elsewhere"])
