"""Events and counts made shard by shard, and what is trained on them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grater.detect.ngrams.language_model import load
from grater_train import articles
from running import grater_train
from tests.cli.running import grater
from tests.detect.articles.made_text import made_lines
from tests.detect.prepositions.native_text import native_lines


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("events") / "lines.txt"
    path.write_text("\n".join(native_lines()) + "\n", encoding="utf-8")
    return path


def test_a_model_of_counts_is_that_of_the_text(
    lines: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--vocabulary", 200, "--date", "2026-01-01")
    assert grater(capsys, "lab", "count", lines, "--hold-out", "--out", tmp_path / "counts").status == 0
    for source, name in ((lines, "text.model"), (tmp_path / "counts", "counted.model")):
        ran = grater_train(capsys, "lm", source, "--out", tmp_path / name, *options)
        assert ran.status == 0, ran.err
    text, counted = load(tmp_path / "text.model"), load(tmp_path / "counted.model")
    assert text.vocabulary == counted.vocabulary
    assert [table.keys.tolist() for table in text.tables] == [table.keys.tolist() for table in counted.tables]
    assert all(text.card[key] == counted.card[key] for key in ("figures", "costs", "thresholds"))


def test_a_detector_of_events_is_that_of_the_text(
    lines: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--gap-rate", 0.3, "--seed", 0)
    assert grater_train(capsys, "events", lines, *options, "--out", tmp_path / "events").status == 0
    cards = []
    for source, more in ((lines, (*options, "--workers", 1)), (tmp_path / "events", ())):
        model = tmp_path / f"{source.stem}.model"
        ran = grater_train(
            capsys, "prepositions", source, *more, "--epochs", 1, "--min-count", 1, "--out", model, "--json"
        )
        assert ran.status == 0, ran.err
        cards.append(json.loads(ran.out)["card"])
    assert [card["figures"] for card in cards] == [cards[0]["figures"]] * 2
    assert cards[0]["thresholds"] == cards[1]["thresholds"]


def test_an_article_detector_of_events_is_that_of_the_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also from shards of lines, whose ends are not those of the passages."""
    monkeypatch.setattr(articles, "LINES", 5)  # else the made-up text has too few passages to hold one out
    text, cut = tmp_path / "text.txt", tmp_path / "cut"
    made = made_lines()[::4]
    text.write_text("\n".join([*made, "", *made[:7]]) + "\n", encoding="utf-8")
    grater(capsys, "lab", "shard", text, "--lines", "--shard-size", 1000, "--out", cut)
    for source in (text, cut):
        ran = grater_train(capsys, "events", source, "--kind", "article", "--out", tmp_path / f"{source.stem}-events")
        assert ran.status == 0, ran.err
    cards = []
    for source in (text, tmp_path / "text-events", tmp_path / "cut-events"):
        model = tmp_path / f"{source.stem}.model"
        ran = grater_train(capsys, "articles", source, "--min-count", 1, "--epochs", 1, "--out", model, "--json")
        assert ran.status == 0, ran.err
        cards.append(json.loads(ran.out)["card"])
    assert [(card["figures"], card["thresholds"]) for card in cards] == [
        (cards[0]["figures"], cards[0]["thresholds"])
    ] * 3
    assert cards[0]["figures"]["held_out_noun_phrases"] > 0


def test_events_of_another_kind_are_refused(lines: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = tmp_path / "events"
    ran = grater_train(capsys, "events", lines, "--kind", "article", "--gap-rate", 0.5, "--out", events)
    assert (ran.status, ran.err) == (2, "--gap-rate is for prepositions; articles have no gaps\n")
    assert grater_train(capsys, "events", lines, "--kind", "article", "--out", events).status == 0
    assert grater(capsys, "lab", "count", lines, "--out", tmp_path / "counts").status == 0
    assert grater_train(capsys, "prepositions", tmp_path / "counts", "--out", tmp_path / "x.model").status == 2
    ran = grater_train(capsys, "prepositions", events, "--out", tmp_path / "x.model")
    assert ran.status == 2
    assert "expected results of the job events, found article-events of version 1" in ran.err
    for more, message in (((lines,), "a folder of events only"), (("--text-limit", "events=1"), "text to limit")):
        ran = grater_train(capsys, "articles", events, *more, "--out", tmp_path / "x.model")
        assert ran.status == 2
        assert message in ran.err
