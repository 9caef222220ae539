from __future__ import annotations

import json
from pathlib import Path

from tests.cli.running import Capture, grater


def test_all_systems_are_named(capsys: Capture) -> None:
    ran = grater(capsys, "systems", "--json")
    assert ran.status == 0
    names = [each["system"] for each in json.loads(ran.out)["systems"]]
    assert {"prep-maxent", "prep-perceptron", "prep-lm"} <= set(names)


def test_a_file_that_is_no_model_is_refused_with_the_reason(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "odd.model").write_bytes(b"nothing of the kind")
    ran = grater(capsys, "systems", tmp_path / "odd.model")
    assert ran.status == 2
    assert "expected a model file of grater" in ran.err
