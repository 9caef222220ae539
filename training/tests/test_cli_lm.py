from __future__ import annotations

import json
from pathlib import Path

import pytest

from grater.detect.ngrams.language_model import load
from grater.detect.prepositions.engines import ngram_from_file
from grater.model import Essay
from grater_train.arpa import write_arpa
from grater_train.kneser_ney import language_model
from grater_train.ngrams import ModelSize, train
from running import grater_train
from tests.detect.ngrams.texts import SENTENCES

TEXT = "".join(
    f"{who} waited for {whom} at the {place}, and {who} went to the {place} with {whom}. {who} liked the {place}.\n"
    for who in ("she", "he", "they", "we", "Anna", "my uncle")
    for whom in ("her", "him", "us", "the teacher", "two friends")
    for place in ("market", "station", "school", "river", "new library")
)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_model_is_trained_and_says_what_it_was_made_from(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "ours.model"
    ran = grater_train(capsys, "lm", text, "--out", out, "--data", "ours=CC0", "--date", "2026-01-01", "--json")
    assert ran.status == 0
    card = json.loads(ran.out)["card"]
    assert card["data"] == [{"name": "ours", "licence": "CC0"}]
    assert card["date"] == "2026-01-01"
    assert card["figures"]["ngrams"] == [len(table) for table in load(out).tables]
    assert len(card["costs"]) == 35


def test_the_model_is_a_detector(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "ours.model"
    assert grater_train(capsys, "lm", text, "--out", out, "--prune", "0", "--held-out", text).status == 0
    detector = ngram_from_file(out)
    assert detector.name == "ours"
    found = list(detector.find([Essay("e", "she liked at the market.")]))
    assert [finding.target for finding in found if finding.item.kind == "prep"] == ["at"]


def test_the_same_text_gives_the_same_bytes(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        out = tmp_path / name / "same.model"
        out.parent.mkdir()
        assert grater_train(capsys, "lm", text, "--out", out, "--date", "2026-01-01").status == 0
    assert (tmp_path / "a" / "same.model").read_bytes() == (tmp_path / "b" / "same.model").read_bytes()


def test_an_arpa_file_becomes_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained = train(SENTENCES, ModelSize(prune=(0,)))
    model = language_model(trained.smoothed, trained.vocabulary, is_exact=True)
    path, out = tmp_path / "other.arpa", tmp_path / "other.model"
    path.write_text("".join(write_arpa(model)), encoding="utf-8")
    ran = grater_train(capsys, "lm", path, "--out", out)
    assert ran.status == 0
    assert "name text with --held-out" in ran.err
    for words in SENTENCES:
        assert load(out).sentence_log_p(words) == pytest.approx(model.sentence_log_p(words), abs=0.05 * len(words))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prune", "a,b"], "expected whole numbers for --prune, found 'a,b'"),
        (["--order", "5"], "expected at most 4,096 words for order 5, found 65,536"),
        (["--out", "model.txt"], "expected a name that ends in .model"),
    ],
)
def test_wrong_use_is_reported_in_one_line(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    out = [] if "--out" in options else ["--out", tmp_path / "x.model"]
    ran = grater_train(capsys, "lm", text, *out, *options)
    assert ran.status == 2
    assert message in ran.err
    assert not list(tmp_path.glob("*.model"))
