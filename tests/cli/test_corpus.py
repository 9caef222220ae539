"""The corpus commands as a person runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from grater.corpora import Loss, read_corpus
from grater.demo import sample_path
from tests.cli.running import Capture, Ran, as_json, grater, invoked, refused

CLEAN = """S I live in a small town .
A 2 3|||Wcip|||near|||REQUIRED|||-NONE-|||0

S It is quiet .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

"""


TWICE = "A 1 2|||Wcip|||on|||REQUIRED|||-NONE-|||0\n"


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("clean.m2").write_text(CLEAN)
    Path("faulty.m2").write_text(f"S We in live .\n{TWICE}{TWICE}A 0 1|||Wcip|||We|||REQUIRED|||-NONE-|||0\n\n")


def linted(capsys: Capture, words: str) -> Ran:
    return grater(capsys, "corpus", "lint", *words.split())


def test_stats_count_what_is_there() -> None:
    counted = as_json("corpus stats clean.m2")
    assert (counted["sentences"], counted["tokens"], counted["edits"]) == (2, 11, 1)
    assert counted["by_tag"] == {"Wcip": 1}
    assert counted["files"][0]["edits"] == 1


def test_a_corpus_goes_there_and_back_and_to_standard_output(capfd: Capture) -> None:
    invoked("corpus convert clean.m2 there.jsonl")
    invoked("corpus convert there.jsonl back.m2")
    assert Path("back.m2").read_text() == CLEAN
    assert "nucle (.sgml .sgm)" in refused("corpus convert clean.m2 out.odt")
    ran = grater(capfd, *["corpus", "convert", "clean.m2", "-", "--to", "m2"])
    assert (ran.status, ran.out) == (0, CLEAN)
    refused("corpus convert clean.m2 - --to m2 --json")


def test_convert_names_what_the_new_format_cannot_hold() -> None:
    said = invoked("corpus convert --losses losses.jsonl", sample_path(), "out.m2").stderr
    assert "left out: M2 has no place for it" in said
    rows = [json.loads(line) for line in Path("losses.jsonl").read_text().splitlines()]
    assert any("metadata" in row["what"] for row in rows)
    assert {row["essay_id"] for row in rows} >= {"sample-01", "sample-20"}
    result = as_json("corpus convert", sample_path(), "again.m2")["losses"]
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


def test_lint_names_line_and_rule_and_ends_with_one(capsys: Capture) -> None:
    ran = linted(capsys, "clean.m2")
    assert (ran.status, ran.out) == (0, "")
    assert "no defects in 1 file" in ran.err
    Path("other.m2").write_text(CLEAN.replace("small town .", "small town."))
    ran = linted(capsys, "clean.m2 other.m2")
    assert (ran.status, "[files-differ]" in ran.out) == (1, True)
    Path("a.m2").write_text("S We was late .\nA 1 2|||SVA|||was|||REQUIRED|||-NONE-|||0\n\n")
    ran = linted(capsys, "a.m2")
    assert (ran.status, ran.out[:8], "[equals-text]" in ran.out) == (1, "a.m2:2: ", True)
    Path("a.m2").write_text("S We was late .\nA 1 12|||SVA|||were|||REQUIRED|||-NONE-|||0\n\n")
    ran = linted(capsys, "a.m2 --json")
    assert ran.status == 1
    assert [(row["rule"], row["line"]) for row in json.loads(ran.out)["findings"]] == [("unreadable", 2)]


def test_check_names_the_essay_where_a_folder_has_many(capsys: Capture) -> None:
    Path("brat").mkdir()
    Path("brat/one.txt").write_text("We was late.")
    Path("brat/one.ann").write_text("T1\tSVA 3 6\twas\n#1\tAnnotatorNotes T1\t=> was\n")
    assert "brat, essay one:1: " in linted(capsys, "brat").out
    Path("brat/one.ann").write_text("junk\n")
    assert "brat/one.ann:1: " in linted(capsys, "brat").out


def test_judgments_follow_the_rule() -> None:
    first, second = (essay.essay_id for essay in read_corpus("clean.m2"))
    places = {"essay": [first, first, second], "start": [7, 10, 3], "end": [9, 11, 5], "kind": ["prep"] * 3}
    decisions = pl.DataFrame({"item": ["in", "a", "is"], "system": ["s"] * 3, "flagged": [1, 0, 0], **places})
    decisions.write_csv("d.csv")
    invoked("corpus judgments clean.m2 --decisions d.csv --tags Wcip --out j.csv")
    judged = dict(pl.read_csv("j.csv").select("item", "label").iter_rows())
    assert judged == {"in": "error", "a": "ok", "is": "ok"}
    assert pl.read_csv("j.csv")["essay"].to_list() == places["essay"], "agreement is by essay"


def test_parallel_text_becomes_m2_with_types() -> None:
    Path("source.txt").write_text("She go home .\nWe left .\n", encoding="utf-8")
    Path("corrected.txt").write_text("She goes home .\nWe left .\n", encoding="utf-8")
    invoked("corpus convert source.txt corrected.txt out.m2")
    first, second = Path("out.m2").read_text(encoding="utf-8").strip().split("\n\n")
    assert first == "S She go home .\nA 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0"
    assert second.startswith("S We left .\nA -1 -1|||noop|||")


def test_edits_are_typed_or_made_again_and_compared() -> None:
    for options in ("--types errant", "--edits extract"):
        invoked("corpus convert clean.m2 out.m2", *options.split())
        assert "|||R:PREP|||" in Path("out.m2").read_text(encoding="utf-8")
    compared = as_json("corpus compare clean.m2")
    assert compared["f1"]["value"] == 1
    assert compared["confusions"] == [{"first": "Wcip", "second": "R:PREP", "n": 1}]
    assert compared["second"].startswith("grater-")


def test_a_check_counts_by_rule_and_takes_some_rules_alone(capsys: Capture) -> None:
    ran = linted(capsys, "faulty.m2")
    assert ran.status == 1
    assert ran.err.splitlines()[1:3] == ["  1 duplicate", "  1 equals-text"]
    only = linted(capsys, "faulty.m2 --only duplicate")
    assert (only.status, only.out.count("\n")) == (1, 1)
    assert linted(capsys, "faulty.m2 --ignore duplicate --ignore equals-text").status == 0


def test_known_defects_pass_and_new_ones_do_not(capsys: Capture) -> None:
    faulty, known = Path("faulty.m2"), Path("known.json")
    known.write_text(linted(capsys, "faulty.m2 --json").out)
    assert linted(capsys, "faulty.m2 --known known.json").status == 0
    faulty.write_text(faulty.read_text() + "S A b .\nA 0 1|||Wcip|||A|||REQUIRED|||-NONE-|||0\n\n")
    ran = linted(capsys, "faulty.m2 --known known.json")
    assert (ran.status, ran.out.count("\n")) == (1, 1)
    doubled = faulty.read_text().partition("\n\n")[0]
    faulty.write_text(f"{doubled}\n\n")
    known.write_text(linted(capsys, "faulty.m2 --json").out)
    faulty.write_text(f"{doubled}\n{TWICE}\n")
    assert linted(capsys, "faulty.m2 --known known.json").status == 1, "a defect excuses one, not all"
    known.write_text("[]")
    refused("corpus lint faulty.m2 --known known.json")
