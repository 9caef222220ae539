from __future__ import annotations

import json
from pathlib import Path

import pytest

from grater.detect.prepositions.engines import save_linear
from running import grater_train
from tests.cli.running import grater
from tests.detect.prepositions.native_text import native_lines
from tests.detect.prepositions.tiny import tiny_engine


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "one.model", tmp_path / "other.model"]
    save_linear(tiny_engine("maxent"), paths[0])
    save_linear(tiny_engine("perceptron"), paths[1])
    return paths


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(native_lines(1200)), encoding="utf-8")
    return path


def test_two_detectors_become_one_that_can_be_used(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, parts: list[Path], text: Path
) -> None:
    out = tmp_path / "two.model"
    options = ("--system", parts[0], "--system", parts[1], "--date", "2026-01-31", "--json")
    ran = grater_train(capsys, "combination", text, "--out", out, *options)
    assert ran.status == 0, ran.err
    card = json.loads(ran.out)["card"]
    assert [each["name"] for each in card["data"]] == [str(part) for part in parts]
    assert 0 < card["figures"]["lines"] < 100  # two lines in a hundred, of 1,200
    assert {"choice", "extraneous", "missing"} <= set(card["thresholds"])
    (tmp_path / "essay.txt").write_text("The girl was afraid with the storm.", encoding="utf-8")
    checked = json.loads(grater(capsys, "check", tmp_path / "essay.txt", "--system", out, "--json").out)
    assert checked


def test_all_of_a_text_is_used_if_no_part_learnt_from_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, parts: list[Path]
) -> None:
    text = tmp_path / "short.txt"
    text.write_text("\n".join(native_lines(300)), encoding="utf-8")
    options = ("--system", parts[0], "--system", parts[1], "--unseen", "--data", "made-up=MIT", "--json")
    ran = grater_train(capsys, "combination", text, "--out", tmp_path / "two.model", *options)
    assert ran.status == 0, ran.err
    card = json.loads(ran.out)["card"]
    assert card["figures"]["lines"] == 300
    assert card["data"][-1] == {"name": "made-up", "licence": "MIT"}
    assert "--unseen" in card["command"]


def test_one_detector_is_no_combination(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, parts: list[Path], text: Path
) -> None:
    ran = grater_train(capsys, "combination", text, "--out", tmp_path / "m.model", "--system", parts[0])
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "two systems or more" in ran.err


def test_a_combination_must_be_named_as_a_model(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: Path
) -> None:
    ran = grater_train(capsys, "combination", text, "--out", tmp_path / "m.bin")
    assert ran.status == 2
    assert "ends in .model" in ran.err


def test_a_combination_is_never_a_part_of_itself(
    capsys: pytest.CaptureFixture[str], parts: list[Path], text: Path
) -> None:
    before = parts[0].read_bytes()
    ran = grater_train(capsys, "combination", text, "--out", parts[0], "--system", parts[0], "--system", parts[1])
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "one.model named twice" in ran.err
    assert parts[0].read_bytes() == before
