"""Detectors as correctors: their edits on the words of the essay."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from grater.corpora import read_corpus
from grater.detect.decisions import corrected_essays
from grater.detect.external import external
from grater.detect.systems import load_system
from grater.errors import UsageError
from grater.model import Essay, Span
from tests.cli.running import grater

M2 = "S She depends of her sister , I think .\nA 2 3|||R:PREP|||on|||REQUIRED|||-NONE-|||0\n\n"
PROGRAM = """
import json, sys
for line in sys.stdin:
    essay = json.loads(line)
    print(json.dumps({"essay": essay["essay"], "edits": json.loads(sys.argv[1])}))
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return f"mine=command:{sys.executable} {path}"


@pytest.fixture
def essay(tmp_path: Path) -> Essay:
    (tmp_path / "essays.m2").write_text(M2)
    return next(iter(read_corpus(tmp_path / "essays.m2")))


def test_a_quote_that_is_not_closed_is_reported() -> None:
    with pytest.raises(UsageError, match="No closing quotation"):
        external("mine=command:python 'check.py")


def test_flags_of_our_own_become_edits(essay: Essay) -> None:
    (corrected,) = corrected_essays(load_system("prep-maxent"), [essay])
    assert [(edit.span, edit.replacements) for edit in corrected.edits] == [(Span(12, 14), ("on",))]


def test_the_command_writes_what_can_be_scored(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, program: str, essay: Essay
) -> None:
    asked = json.dumps([{"start": 12, "end": 14, "replacements": ["on"]}])
    corpus, out = tmp_path / "essays.m2", tmp_path / "mine.m2"
    command = ("decide", corpus, "--system", f"{program} '{asked}'", "--out", tmp_path / "d.csv", "--corrections")
    assert grater(capsys, *command, out).status == 0
    scored = grater(capsys, "score", corpus, out, "--metric", "errant", "--json", "--resamples", "10")
    assert json.loads(scored.out)["systems"][0]["counts"] == {"tp": 1, "fp": 0, "fn": 0}
    refused = grater(capsys, *command, corpus)
    assert (refused.status, corpus.read_text()) == (2, M2)
    two = grater(capsys, *command[:4], "--system", "harper", *command[4:], out)
    assert (two.status, two.err.count("\n")) == (2, 1)
    assert essay.edits
