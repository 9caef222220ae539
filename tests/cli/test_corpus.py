"""The corpus commands as a person runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from grater.corpora import Loss, read_corpus
from grater.demo import sample_path
from tests.cli.running import Capture, grater

CLEAN = """S I live in a small town .
A 2 3|||Wcip|||near|||REQUIRED|||-NONE-|||0

S It is quiet .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

"""


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    path = tmp_path / "clean.m2"
    path.write_text(CLEAN)
    return path


def test_stats_count_what_is_there(capsys: Capture, clean: Path) -> None:
    ran = grater(capsys, "corpus", "stats", clean, "--json")
    counted = json.loads(ran.out)
    assert ran.status == 0
    assert (counted["sentences"], counted["tokens"], counted["edits"]) == (2, 11, 1)
    assert counted["by_tag"] == {"Wcip": 1}
    assert counted["files"][0]["edits"] == 1


def test_a_corpus_goes_there_and_back_and_to_standard_output(capsys: Capture, clean: Path, tmp_path: Path) -> None:
    there, back = tmp_path / "there.jsonl", tmp_path / "back.m2"
    assert grater(capsys, "corpus", "convert", clean, there).status == 0
    assert grater(capsys, "corpus", "convert", there, back).status == 0
    assert back.read_bytes() == clean.read_bytes()
    ran = grater(capsys, "corpus", "convert", clean, tmp_path / "out.odt")
    assert ran.status == 2
    assert "nucle (.sgml .sgm)" in ran.err


def test_convert_names_what_the_new_format_cannot_hold(capsys: Capture, tmp_path: Path) -> None:
    losses = tmp_path / "losses.jsonl"
    ran = grater(capsys, "corpus", "convert", sample_path(), tmp_path / "out.m2", "--losses", losses)
    assert ran.status == 0
    assert "left out: M2 has no place for it" in ran.err
    rows = [json.loads(line) for line in losses.read_text().splitlines()]
    assert any("metadata" in row["what"] for row in rows)
    assert {row["essay_id"] for row in rows} >= {"sample-01", "sample-20"}
    as_json = grater(capsys, "corpus", "convert", sample_path(), tmp_path / "again.m2", "--json")
    result = json.loads(as_json.out)["losses"]
    assert sorted(map(str, result)) == sorted(map(str, rows))
    assert result[0]["what"].startswith("edit")
    texts = {essay.essay_id: essay.text for essay in read_corpus(sample_path())}
    places = [(row, re.search(r"(\d+)-(\d+)", row["what"])) for row in rows if row["what"].startswith("edit")]
    spans = [(row, int(place[1]), int(place[2])) for row, place in places if place]
    assert spans
    for row, start, end in spans:
        words = " ".join(texts[row["essay_id"]][start:end].split())
        assert row["words"] == words or start == end or len(words) > 60
    assert f"{result[0]['words']!r}" in str(Loss(**result[0]))


def test_lint_names_line_and_rule_and_ends_with_one(capsys: Capture, clean: Path, tmp_path: Path) -> None:
    ran = grater(capsys, "corpus", "lint", clean)
    assert (ran.status, ran.out) == (0, "")
    assert "no defects in 1 file" in ran.err
    other = tmp_path / "other.m2"
    other.write_text(CLEAN.replace("small town .", "small town."))
    ran = grater(capsys, "corpus", "lint", clean, other)
    assert ran.status == 1
    assert "[files-differ]" in ran.out
    path = tmp_path / "a.m2"
    path.write_text("S We was late .\nA 1 2|||SVA|||was|||REQUIRED|||-NONE-|||0\n\n")
    ran = grater(capsys, "corpus", "lint", path)
    assert ran.status == 1
    assert ran.out.startswith(f"{path}:2: ")
    assert "[equals-text]" in ran.out
    path = tmp_path / "a.m2"
    path.write_text("S We was late .\nA 1 12|||SVA|||were|||REQUIRED|||-NONE-|||0\n\n")
    ran = grater(capsys, "corpus", "lint", path, "--json")
    assert ran.status == 1
    assert [(row["rule"], row["line"]) for row in json.loads(ran.out)["findings"]] == [("unreadable", 2)]


def test_check_names_the_essay_where_a_folder_has_many(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("We was late.")
    (tmp_path / "one.ann").write_text("T1\tSVA 3 6\twas\n#1\tAnnotatorNotes T1\t=> was\n")
    assert f"{tmp_path}, essay one:1: " in grater(capsys, "corpus", "lint", tmp_path).out
    (tmp_path / "one.ann").write_text("junk\n")
    assert f"{tmp_path / 'one.ann'}:1: " in grater(capsys, "corpus", "lint", tmp_path).out


def test_convert_prints_the_corpus_where_out_is_a_dash(capfd: Capture, clean: Path) -> None:
    ran = grater(capfd, "corpus", "convert", clean, "-", "--to", "m2")
    assert (ran.status, ran.out) == (0, CLEAN)
    ran = grater(capfd, "corpus", "convert", clean, "-", "--to", "m2", "--json")
    assert (ran.status, ran.out) == (2, "")


def test_judgments_follow_the_rule(capsys: Capture, clean: Path, tmp_path: Path) -> None:
    first, second = (essay.essay_id for essay in read_corpus(clean))
    places = {"essay": [first, first, second], "start": [7, 10, 3], "end": [9, 11, 5], "kind": ["prep"] * 3}
    decisions = pl.DataFrame({"item": ["in", "a", "is"], "system": ["s"] * 3, "flagged": [1, 0, 0], **places})
    decisions.write_csv(tmp_path / "d.csv")
    out = tmp_path / "j.csv"
    ran = grater(
        capsys, "corpus", "judgments", clean, "--decisions", tmp_path / "d.csv", "--tags", "Wcip", "--out", out
    )
    assert ran.status == 0
    judged = dict(pl.read_csv(out).select("item", "label").iter_rows())
    assert judged == {"in": "error", "a": "ok", "is": "ok"}
    assert pl.read_csv(out)["essay"].to_list() == places["essay"], "agreement is by essay"


@pytest.fixture
def parallel(tmp_path: Path) -> tuple[Path, Path]:
    source, corrected = tmp_path / "source.txt", tmp_path / "corrected.txt"
    source.write_text("She go home .\nWe left .\n", encoding="utf-8")
    corrected.write_text("She goes home .\nWe left .\n", encoding="utf-8")
    return source, corrected


def test_parallel_text_becomes_m2_with_types(capsys: Capture, parallel: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out.m2"
    assert grater(capsys, "corpus", "convert", *parallel, out).status == 0
    first, second = out.read_text(encoding="utf-8").strip().split("\n\n")
    assert first == "S She go home .\nA 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0"
    assert second.startswith("S We left .\nA -1 -1|||noop|||")


def test_edits_are_kept_typed_or_made_again_and_compared(capsys: Capture, clean: Path, tmp_path: Path) -> None:
    typed, again = tmp_path / "typed.m2", tmp_path / "again.m2"
    assert grater(capsys, "corpus", "convert", clean, typed, "--types", "errant").status == 0
    assert grater(capsys, "corpus", "convert", clean, again, "--edits", "extract").status == 0
    assert "|||Wcip|||" in clean.read_text(encoding="utf-8")
    assert "|||R:PREP|||" in typed.read_text(encoding="utf-8")
    assert "|||R:PREP|||" in again.read_text(encoding="utf-8")
    compared = json.loads(grater(capsys, "corpus", "compare", clean, "--json").out)
    assert compared["f1"]["value"] == 1
    assert compared["confusions"] == [{"first": "Wcip", "second": "R:PREP", "n": 1}]
    assert compared["second"].startswith("grater-")


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    path = tmp_path / "faulty.m2"
    twice = "A 1 2|||Wcip|||on|||REQUIRED|||-NONE-|||0\n"
    path.write_text(f"S We in live .\n{twice}{twice}A 0 1|||Wcip|||We|||REQUIRED|||-NONE-|||0\n\n", encoding="utf-8")
    return path


def test_a_check_counts_by_rule_and_takes_some_rules_alone(capsys: Capture, faulty: Path) -> None:
    ran = grater(capsys, "corpus", "lint", faulty)
    assert ran.status == 1
    assert ran.err.splitlines()[1:3] == ["  1 duplicate", "  1 equals-text"]
    only = grater(capsys, "corpus", "lint", faulty, "--only", "duplicate")
    assert (only.status, only.out.count("\n")) == (1, 1)
    assert grater(capsys, "corpus", "lint", faulty, "--ignore", "duplicate", "--ignore", "equals-text").status == 0
    wrong = grater(capsys, "corpus", "lint", faulty, "--only", "duplicates")
    assert (wrong.status, wrong.err.count("\n")) == (2, 1)


def test_known_defects_pass_and_new_ones_do_not(capsys: Capture, faulty: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    known.write_text(grater(capsys, "corpus", "lint", faulty, "--json").out, encoding="utf-8")
    assert grater(capsys, "corpus", "lint", faulty, "--known", known).status == 0
    faulty.write_text(faulty.read_text(encoding="utf-8") + "S A b .\nA 0 1|||Wcip|||A|||REQUIRED|||-NONE-|||0\n\n")
    ran = grater(capsys, "corpus", "lint", faulty, "--known", known)
    assert (ran.status, ran.out.count("\n")) == (1, 1)
    doubled = faulty.read_text(encoding="utf-8").partition("\n\n")[0]
    faulty.write_text(f"{doubled}\n\n", encoding="utf-8")
    known.write_text(grater(capsys, "corpus", "lint", faulty, "--json").out, encoding="utf-8")
    twice = "A 1 2|||Wcip|||on|||REQUIRED|||-NONE-|||0\n"
    faulty.write_text(f"{doubled}\n{twice}\n", encoding="utf-8")
    assert grater(capsys, "corpus", "lint", faulty, "--known", known).status == 1, "a defect excuses one, not all"
    known.write_text("[]", encoding="utf-8")
    assert grater(capsys, "corpus", "lint", faulty, "--known", known).status == 2
