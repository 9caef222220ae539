from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grater import edit_agreement
from grater.errors import GraterError
from tests.cli.running import Capture, grater

SENTENCES = ["She like the music very much .", "He goes to school by the foot ."]
FIRST = ["A 1 2|||SVA|||likes|||REQUIRED|||-NONE-|||0", "A 5 6|||ArtOrDet||||||REQUIRED|||-NONE-|||0"]
SECOND = ["A 1 2|||SVA|||likes|||REQUIRED|||-NONE-|||0", "A 4 6|||Prep|||on|||REQUIRED|||-NONE-|||0"]


def m2(path: Path, *marks: str) -> Path:
    sentences = zip(SENTENCES, marks, strict=True)
    blocks = [f"S {sentence}\n{mark}\n" if mark else f"S {sentence}\n" for sentence, mark in sentences]
    path.write_text("\n".join(blocks), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return [m2(tmp_path / "ann.m2", *FIRST), m2(tmp_path / "bob.m2", *SECOND)]


def found(capsys: Capture, files: list[Path], *options: object) -> Any:
    return json.loads(grater(capsys, "agree", *files, "--json", *options).out)


def test_json_has_the_three_criteria_shaped_like_judgments(files: list[Path], capsys: Capture) -> None:
    value = found(capsys, files)
    assert (value["unit"], value["units"], value["raters"]) == ("token", 15, ["ann", "bob"])
    for criterion in ("identification", "classification", "exact"):
        part = value[criterion]
        for key in ("items", "raters", "labels", "observed", "pairs", "fleiss", "alpha", "ac1", "signature"):
            assert key in part, (criterion, key)
        [pair] = part["pairs"]
        assert pair["raters"] == ["ann", "bob"]
    # the two differ on "by" alone, of fifteen tokens
    assert value["identification"]["observed"] == pytest.approx(14 / 15)
    assert value["identification"]["pairs"][0]["confusion"] == [[12, 1], [0, 2]]
    # both marked "like" and "the": SVA against SVA, ArtOrDet against Prep
    assert value["classification"]["pairs"][0]["n"] == 2
    assert value["classification"]["observed"] == pytest.approx(1 / 2)


def test_undefined_kappas_have_a_reason_and_dropped_annotators_a_warning(tmp_path: Path, capsys: Capture) -> None:
    files = [m2(tmp_path / "ann.m2", FIRST[0], ""), m2(tmp_path / "bob.m2", SECOND[0], "")]
    [pair] = found(capsys, files)["exact"]["pairs"]
    assert pair["kappa"]["value"] is None
    assert "one label only" in pair["kappa"]["reason"]
    second = SECOND[0].removesuffix("0") + "1"
    noop = "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1"
    blocks = [f"S {SENTENCES[0]}\n{FIRST[0]}\n{second}\n", f"S {SENTENCES[1]}\n{FIRST[1]}\n"]
    blocks += [f"S Sentence number {n} is fine .\n{noop.removesuffix('1')}0\n{noop}\n" for n in range(3)]
    path = tmp_path / "both.m2"
    path.write_text("\n".join(blocks), encoding="utf-8")
    value = found(capsys, [path])
    assert any("drops an annotator who agrees" in warning for warning in value["warnings"])


def test_three_annotators_have_pairs_resampled_by_document(
    files: list[Path], tmp_path: Path, capsys: Capture
) -> None:
    shown = grater(capsys, "agree", *files, m2(tmp_path / "cat.m2", FIRST[0], SECOND[1])).out
    for text in ("ann – bob", "ann – cat", "bob – cat", "average"):
        assert text in shown
    documents = tmp_path / "document.txt"
    documents.write_text(" ".join(SENTENCES), encoding="utf-8")
    value = found(capsys, files, "--documents", documents)
    assert "units:document" in value["signature"]
    assert "its cases come from 1 document" in value["identification"]["observed_interval"]["reason"]


def test_one_annotator_is_refused_in_one_line(files: list[Path]) -> None:
    with pytest.raises(GraterError, match="two annotators"):
        edit_agreement(files[:1])
