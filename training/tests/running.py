"""Run `grater-train` in this process and see what a person would see."""

from __future__ import annotations

import pytest

from grater_train.cli import app
from tests.cli.running import Ran, grater


def grater_train(capsys: pytest.CaptureFixture[str], *args: object) -> Ran:
    """One command, its exit status and its two outputs."""
    return grater(capsys, *args, program=app)
