from __future__ import annotations

import json
from pathlib import Path

import pytest

from grater_train import articles
from running import grater_train
from tests.cli.running import grater
from tests.detect.articles.made_text import made_lines


def test_articles_are_trained_from_text_and_used_by_check(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(articles, "LINES", 5)  # else the made-up text has too few passages to hold one out
    source, out, essay = tmp_path / "made.txt", tmp_path / "mine.model", tmp_path / "essay.txt"
    source.write_text("\n".join(made_lines()), encoding="utf-8")
    essay.write_text("Anna saw owl near the river.", encoding="utf-8")
    options = ("--min-count", "1", "--data", "ours=MIT", "--json")
    ran = grater_train(capsys, "articles", source, "--out", out, *options)
    assert ran.status == 0, ran.err
    card = json.loads(ran.out)["card"]
    assert card["data"] == [{"name": "ours", "licence": "MIT"}]
    assert card["shares"] == {"made": 1.0}
    checked = grater(capsys, "check", essay, "--system", out, "--json")
    assert checked.status == 0, checked.err
    assert json.loads(checked.out)["systems"] == [{"system": "mine", "candidates": 4}]


@pytest.mark.parametrize("setting", ["made", "made=", "made=-1", "made=nan", "other=3"])
def test_a_wrong_limit_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, setting: str) -> None:
    source = tmp_path / "made.txt"
    source.write_text("A dog ran.", encoding="utf-8")
    ran = grater_train(capsys, "articles", source, "--out", tmp_path / "x.model", "--text-limit", setting)
    assert ran.status == 2
    assert "expected" in ran.err
