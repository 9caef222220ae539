"""The leaderboard as a value: what it says, and that every cell leads to its sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.measure.corrections.scores import METRICS, Hypothesis, MetricOptions, References, score_systems
from grater.reporting.board import board, changed_words
from grater.reporting.document import Report
from tests.cli.running import invoked, refused
from tests.measure.corrections.essays import REFERENCE, SOURCE, SYSTEM, TEXT, essays

OURS, IDLE = Hypothesis("ours", "ours.m2", sentences=essays(SYSTEM)), Hypothesis("idle", "idle.txt", texts=SOURCE)


def made(metric: str, *, baseline: str = "") -> Report:
    options = MetricOptions(tier="main" if metric == "errant" else None)
    references = References("ref.m2", essays(REFERENCE))
    scores = score_systems(METRICS[metric], references, [OURS, IDLE], options=options, baseline=baseline)
    return board(METRICS[metric], scores, references, [OURS, IDLE], options=options)


@pytest.mark.parametrize("metric", ["m2", "errant", "cleme", "gleu"])
def test_every_link_of_a_table_leads_to_a_list(metric: str) -> None:
    page = made(metric)
    names = [group.name for group in page.lists]
    links = [link for sheet in page.sheets for link in sheet.links.values()]
    assert len(set(names)) == len(names)
    assert links
    assert set(links) <= set(names)


def test_a_list_holds_the_sentences_that_its_cell_counts() -> None:
    page = made("errant")
    assert page.answer is not None
    scores = page.answer.sheets[0]
    lists = {group.name: group for group in page.lists}
    column = scores.columns.index("FP")
    for row, cells in enumerate(scores.rows):
        group = lists[scores.links[row, column]]
        assert (group.n_items > 0) == (cells[column] != "0")
    idle = next(row for row, cells in enumerate(scores.rows) if cells[0] == "idle")
    missed = lists[scores.links[idle, scores.columns.index("FN")]]
    assert missed.n_items
    assert all(("idle", "no change") in item.decisions for item in missed.items)
    assert all(who.startswith("annotator ") or who == "idle" for item in missed.items for who, _ in item.decisions)


def test_the_page_names_the_leader_and_what_intervals_speak_of() -> None:
    page = made("errant")
    assert page.headline[0].startswith("ours has the highest F0.5: ")
    assert page.leader == "ours"
    assert page.answer is not None
    assert page.answer.scope.startswith("95 % intervals generalise to other sentences like these")
    assert [section.name for section in page.sections] == ["pairs", "types", "lengths"]


def test_changes_are_shown_word_by_word() -> None:
    assert changed_words(["I", "go", "in", "school"], ["I", "go", "to", "the", "school"]) == "in → to the"
    assert changed_words(["I", "like", "the", "music"], ["I", "like", "music", "."]) == "the → ∅ · ∅ → ."
    assert changed_words(["I"], ["I"]) == "no change"


def test_the_command_writes_one_page_that_loads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ref.m2").write_text(REFERENCE)
    Path("ours.txt").write_text("\n".join(TEXT) + "\n")
    invoked("score ref.m2 <mine>=ours.txt --html board.html")
    page = Path("board.html").read_text()
    assert "&lt;mine&gt;" in page
    assert "<mine>" not in page
    assert page.count("<script") == 1
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "named twice" in refused("score ref.m2 <mine>=ours.txt --html ours.txt")
