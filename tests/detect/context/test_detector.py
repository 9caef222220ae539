"""The detector over a stand-in network: what it asks, suggests, flags and refuses."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from grater.detect.context.detector import WEIGHT_AGAIN, ContextDetector, save
from grater.detect.context.network import Logits, Network
from grater.detect.context.pieces import Window
from grater.detect.decisions import best_word, is_mismatch
from grater.detect.detector import Finding
from grater.detect.prepositions.selection import selection_test
from grater.detect.systems import load_system
from grater.errors import BadInput, MissingExtra, UsageError
from grater.model import Essay
from tests.cli.running import grater
from tests.detect.context.stand_in import CALIBRATIONS, PIECES, SURE, answering, detector, table_graph

pytest.importorskip("onnxruntime", reason="the tests of context need onnxruntime: pip install 'grater[context]'")

ANSWERS: Mapping[str, Mapping[str, str]] = {
    "in": {"prep": "on"},
    "In": {"prep": "on"},
    "on": {"prep": "on"},
    "of": {"prep": "-NONE-"},
    "music": {"prep-gap": "to"},
    "a": {"article": "the"},
    "the": {"article": "the"},
    "novel": {"number": "plural", "article-gap": "a"},
    "book": {"article-gap": "a"},
    "books": {"number": "plural"},
    "go": {"verb": "s"},
    "spend": {"verb": "base"},
    "read": {"verb": "ing"},
    "is": {"verb": "present"},
    "working": {"verb": "to"},
}


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> ContextDetector:
    return detector(tmp_path_factory.mktemp("toy"), answering(ANSWERS, mask={"prep": "at"}))


def findings(toy: ContextDetector, text: str) -> list[Finding]:
    return list(toy.find([Essay("e", text)]))


def flags(toy: ContextDetector, text: str) -> list[tuple[str, str, str, str | None]]:
    return [
        (finding.item.kind, finding.decision.type, finding.target, finding.decision.suggestion)
        for finding in findings(toy, text)
        if finding.decision.flagged
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is always in Monday.", ("prep", "choice", "in", "on")),
        ("In Monday it rained.", ("prep", "choice", "In", "On")),
        ("Some of people left.", ("prep", "extraneous", "of", "-NONE-")),
        ("They listen music.", ("prep-missing", "missing", "", "to")),
        ("They saw a house.", ("article", "choice", "a", "the")),
        ("They bought book.", ("article", "missing", "", "a")),
        ("They saw the novel.", ("number", "number", "novel", "novels")),
        ("She go home.", ("verb-form", "form", "go", "goes")),
        ("They should to spend more.", ("verb-form", "form", "to spend", "spend")),
        ("She enjoys to read.", ("verb-form", "form", "to read", "reading")),
        ("They used to working here.", ("verb-form", "form", "working", "work")),
        ("They want working here.", ("verb-form", "form", "working", "to work")),
        ("I is tired.", ("verb-form", "form", "is", "am")),
        ("They is tired.", ("verb-form", "form", "is", "are")),
        ("They saw an house.", ("article", "form", "an", "a")),
        ("SHE GO TO SCHOOL.", ("verb-form", "form", "GO", "GOES")),
        ("THEY LISTEN MUSIC EVERY DAY.", ("prep-missing", "missing", "", "TO")),
    ],
)
def test_each_kind_of_error_is_flagged_with_the_right_words(
    toy: ContextDetector, text: str, expected: tuple[str, str, str, str]
) -> None:
    assert expected in flags(toy, text)


def test_every_slot_has_a_finding_with_probabilities_likeliest_first(toy: ContextDetector) -> None:
    places = findings(toy, "She likes music on Monday, and the books are old.")
    assert {finding.item.kind for finding in places} == set(toy.kinds)
    for finding in places:
        shares = [share for _, share in finding.probabilities[:4]]
        assert shares == sorted(shares, reverse=True)
        written = finding.target.lower() or "-NONE-"
        assert written in dict(finding.probabilities)


def test_a_noun_is_asked_about_again_in_the_sentence_with_the_other_number(tmp_path: Path) -> None:
    scores = {}
    for told_again in ("singular", "plural"):
        graph = answering({"books": {"number": "singular"}, "book": {"number": told_again}})
        places = findings(detector(tmp_path, graph), "She read the old books .")
        (noun,) = [finding for finding in places if finding.item.kind == "number"]
        scores[told_again] = noun.decision.score or 0.0
    assert scores["singular"] - scores["plural"] == pytest.approx(2 * WEIGHT_AGAIN * SURE)


def test_a_wanted_precision_sets_the_threshold(toy: ContextDetector) -> None:
    text = "It is in Monday."
    assert flags(toy.with_precision(0.8), text) == flags(toy, text)
    assert flags(toy.with_precision(0.85), text) == []
    assert flags(toy.with_precision(0.95), text) == []
    with pytest.raises(UsageError, match=r"expected a precision from 0\.5 to 0\.95, found 2"):
        toy.with_precision(2)


def test_check_and_decide_take_a_precision_and_say_how_sure_where_a_system_has_thresholds_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    detector(tmp_path, answering(ANSWERS), name="mine")
    model, essay, out = tmp_path / "mine.model", tmp_path / "essay.txt", tmp_path / "decisions.csv"
    essay.write_text("It rained in Monday.\n", encoding="utf-8")
    ran = grater(capsys, "check", essay, "--system", model, "--precision", ".8")
    assert "in → on" in ran.out
    assert "19 of 20 such marks are right" in ran.out
    decided = grater(capsys, "decide", essay, "--system", model, "--precision", ".9", "--out", out)
    assert "0 flagged" in decided.err
    ran = grater(capsys, "decide", essay, "--system", "prep-maxent", "--precision", ".8", "--out", out)
    assert (ran.status, ran.out) == (2, "")
    assert "expected a system with thresholds by precision, as context has them, found prep-maxent" in ran.err


@pytest.mark.parametrize(
    "text",
    [
        *("", " \n ", "😀 👍🏽 🇬🇧", "x" * 10_000, "in " * 1_000, "to to to", "a", "To"),
        *("\u200b", "\0in\0 \0", "a\u2028in", "هو في البيت", "IN MONDAY"),
    ],
)
def test_any_text_is_taken_and_findings_stay_inside_it(toy: ContextDetector, text: str) -> None:
    places = findings(toy, text)
    assert all(0 <= finding.item.span.start <= finding.item.span.end <= len(text) for finding in places)
    assert len({finding.item.item_id for finding in places}) == len(places)


def test_a_line_of_data_is_not_read_but_the_sentences_next_to_it_are(
    toy: ContextDetector, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    answers = Network.answers

    def counted(network: Network, cut: Sequence[Window]) -> list[Logits]:
        read.append(sum(len(window.pieces) for window in cut))
        return answers(network, cut)

    monkeypatch.setattr(Network, "answers", counted)
    places = findings(toy, "It was in Monday.\n\n" + "ab1.cd-" * 30_000 + "\n\nIt was in Monday.")
    assert [finding.item.span.start for finding in places if finding.target == "in"] == [7, 210_028]
    assert sum(read) < 100
    assert flags(toy, "It was in Monday" + "!?." * 20 + " 😀😀😀😀")


def test_selection_hides_the_word_and_cloze_asks_as_it_is_written(toy: ContextDetector) -> None:
    result = selection_test(toy, [Essay("1", "She was at school. It was in Monday.")])
    assert (result.n, result.accuracy.value) == (2, 0.5)
    (place,) = [finding for finding in findings(toy, "It was in Monday.") if finding.item.kind == "prep"]
    assert best_word(place) == "on"
    assert is_mismatch(place)


def test_without_onnxruntime_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    detector(tmp_path, answering(ANSWERS), name="mine")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"needs onnxruntime: pip install 'grater\[context\]'"):
        load_system(str(tmp_path / "mine.model"))


@pytest.mark.parametrize(
    ("graph", "pieces", "reason"),
    [
        (b"no network", PIECES, "onnxruntime cannot read the network"),
        (table_graph(np.zeros((len(PIECES), 85), np.float32)), PIECES, "expected 86 answers per piece"),
        (
            table_graph(np.zeros((len(PIECES), 86), np.float32), output="scores"),
            PIECES,
            "expected a network from pieces to",
        ),
        (table_graph(np.zeros((2, 86), np.float32)), PIECES, "the network cannot be run"),
        (answering({}), PIECES[1:], "expected pieces that begin with <pad>"),
    ],
    ids=["none", "narrow", "names", "short", "pieces"],
)
def test_a_wrong_network_or_list_of_pieces_is_refused_in_one_line(
    tmp_path: Path, graph: bytes, pieces: list[str], reason: str
) -> None:
    path = tmp_path / "bad.model"
    save(path, graph=graph, pieces=pieces, calibrations=CALIBRATIONS, card={})
    with pytest.raises(BadInput, match=reason) as refusal:
        load_system(str(path))
    assert len(str(refusal.value).splitlines()) == 1
