from __future__ import annotations

import json
from pathlib import Path

import pytest

from grater.detect.systems import load_system
from running import grater_train
from tests.cli.running import grater
from tests.detect.prepositions.native_text import native_lines


def test_a_detector_is_trained_from_a_folder_and_can_be_used(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "text"
    folder.mkdir()
    (folder / "a.txt").write_text("\n".join(native_lines()), encoding="utf-8")
    model = tmp_path / "mine.model"
    options = ("--data", "made-up=MIT", "--workers", 1, "--date", "2026-01-31", "--gap-rate", 0.3, "--json")
    ran = grater_train(capsys, "prepositions", folder, "--out", model, *options)
    assert ran.status == 0, ran.err
    card = json.loads(ran.out)["card"]
    assert card["data"] == [{"name": "made-up", "licence": "MIT"}]
    assert card["date"] == "2026-01-31"
    assert load_system(str(model)).name == "mine"
    shown = json.loads(grater(capsys, "systems", model, "--json").out)["systems"][0]
    assert shown["card"]["figures"]["events"] > 1000


def test_kept_events_give_the_same_model_and_those_of_other_text_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text, events = tmp_path / "a.txt", tmp_path / "events.npz"
    text.write_text("\n".join(native_lines()), encoding="utf-8")
    options = ("--events", events, "--workers", 1, "--date", "2026-01-31", "--gap-rate", 0.3)
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        ran = grater_train(capsys, "prepositions", text, "--out", tmp_path / folder / "m.model", *options)
        assert ran.status == 0, ran.err
        assert events.exists()
    first, second = ((tmp_path / folder / "m.model").read_bytes() for folder in ("first", "second"))
    assert first == second
    text.write_text("\n".join(native_lines(500)), encoding="utf-8")
    ran = grater_train(capsys, "prepositions", text, "--out", tmp_path / "m.model", *options)
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "another text" in ran.err


def test_too_little_text_is_refused_in_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("He sat on it.", encoding="utf-8")
    ran = grater_train(capsys, "prepositions", tmp_path / "a.txt", "--out", tmp_path / "m.model", "--workers", 1)
    assert ran.status == 2
    assert "expected more text" in ran.err
    assert not (tmp_path / "m.model").exists()


def test_a_model_must_be_named_as_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ran = grater_train(capsys, "prepositions", tmp_path, "--out", tmp_path / "m.bin")
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "ends in .model" in ran.err


def test_a_folder_without_text_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ran = grater_train(capsys, "prepositions", tmp_path, "--out", tmp_path / "m.model")
    assert ran.status == 2
    assert "found none" in ran.err
