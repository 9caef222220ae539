"""`grater-train tagger` on a treebank of our own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grater.corpora.text.tags import load_tagger
from running import grater_train

SENTENCES = [
    "The/DT cat/NN sleeps/VBZ ./.",
    "A/DT dog/NN barks/VBZ ./.",
    "Dogs/NNS bark/VBP ./.",
    "Cats/NNS sleep/VBP ./.",
]


def treebank(path: Path, prefix: str = "good") -> Path:
    rows = []
    for number, sentence in enumerate(SENTENCES * 3):
        rows.append(f"# sent_id = {prefix}_{number}")
        for place, pair in enumerate(sentence.split(), 1):
            word, tag = pair.rsplit("/", 1)
            rows.append(f"{place}\t{word}\t_\t_\t{tag}\t_\t_\t_\t_\t_")
        rows.append("")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_a_tagger_is_trained_measured_and_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train, test = treebank(tmp_path / "train.conllu"), treebank(tmp_path / "test.conllu")
    out = tmp_path / "small.model"
    options = ("--out", out, "--test-treebank", test, "--data", "ours=MIT", "--date", "2024-01-02", "--epochs", 3)
    ran = grater_train(capsys, "tagger", train, *options, "--json")
    assert ran.status == 0, ran.err
    card = json.loads(ran.out)["card"]
    assert card["figures"]["test.conllu"]["value"] == 1.0
    assert card["data"] == [{"name": "ours", "licence": "MIT"}]
    assert card["date"] == "2024-01-02"
    tagger = load_tagger(out)
    assert tagger.tag(["The", "dog", "sleeps", "."]) == ("DT", "NN", "VBZ", ".")
    assert {**tagger.card, "hash": ""} == {**card, "hash": ""}


def test_the_person_is_told_what_was_reached(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train, test = treebank(tmp_path / "train.conllu"), treebank(tmp_path / "test.conllu")
    ran = grater_train(capsys, "tagger", train, "--out", tmp_path / "x.model", "--test-treebank", test, "--epochs", 3)
    assert (ran.status, ran.out) == (0, "")
    assert "12 sentences learnt" in ran.err
    # Wilson's limit for twelve sentences without an error, with Student's t: 12 / (12 + 2.2010 ** 2)
    assert "test.conllu: 1.0000 [.8961, 1.0000] of the tags are right" in ran.err
    assert "95 % intervals generalise to other sentences like these" in ran.err


def test_sentences_left_out_are_not_learnt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = treebank(tmp_path / "train.conllu", prefix="bad")
    ran = grater_train(capsys, "tagger", train, "--out", tmp_path / "x.model", "--leave-out", "bad_")
    assert ran.status == 2
    assert ran.err == "expected tagged sentences to train on, found none\n"
    assert not (tmp_path / "x.model").exists()


def test_a_bad_treebank_is_named_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.conllu"
    path.write_text("1\tword\n")
    ran = grater_train(capsys, "tagger", path, "--out", tmp_path / "x.model")
    assert ran.status == 2
    assert ran.err == f"{path}:1: expected 10 columns with tabs between them, found 2\n"
