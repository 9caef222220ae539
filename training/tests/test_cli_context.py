"""`grater-train context` where PyTorch is not installed; with it, `test_context_training.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from running import grater_train


def test_without_pytorch_one_line_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    text = tmp_path / "text.txt"
    text.write_text("A sentence.\n", "utf-8")
    ran = grater_train(capsys, "context", text, "--out", tmp_path / "a.model", "--folder", tmp_path / "steps")
    assert ran.status == 2
    assert ran.err == "training a model of kind 'context' needs PyTorch: pip install 'grater-train[context]'\n"
    assert not (tmp_path / "steps").exists()


@pytest.mark.parametrize("out", ["a.onnx", "text.txt"])
def test_a_model_that_could_not_be_used_or_would_overwrite_its_text_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], out: str
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("A sentence.\n", "utf-8")
    ran = grater_train(capsys, "context", text, "--out", tmp_path / out, "--folder", tmp_path / "steps")
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert text.read_text("utf-8") == "A sentence.\n"
