"""Systems from outside on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from grater import api
from grater.corpora import read_corpus
from tests.cli.running import Capture, Ran, grater
from tests.real_data import data_path

TEXT = "She depends of her sister. They discussed about it.\n"
ESSAY = '{"format":"grater-corpus","version":1}\n{"id":"e1","text":"The brother lives in town."}\n'


def test_corrected_text_is_decided_with_our_own_systems(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "essays.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "mine.txt").write_text("She depends on her sister. They discussed it.\n", encoding="utf-8")
    out = tmp_path / "decisions.csv"
    systems = ["--system", f"mine=corrected:{tmp_path / 'mine.txt'}", "--system", "prep-maxent"]
    ran = grater(capsys, "decide", str(tmp_path / "essays.txt"), *systems, "--out", str(out))
    found = pl.read_csv(out)
    assert ran.status == 0
    assert set(found["system"]) == {"mine", "prep-maxent"}
    both = found.group_by("item").len()
    assert set(both["len"]) == {2}
    mine = found.filter((pl.col("system") == "mine") & pl.col("flagged").cast(pl.Boolean))
    assert sorted(mine["suggestion"]) == ["-NONE-", "on"]


M2 = """S She depends of her big sister .
A 2 3|||Prep|||on|||REQUIRED|||-NONE-|||0

S They has bought two car and life style .
A 1 2|||SVA|||have|||REQUIRED|||-NONE-|||0
A 6 8|||Wform|||lifestyles|||REQUIRED|||-NONE-|||0
"""
MINE = "She depends on her sister.\nThey have bought two car and lifestyle.\n"
THEIRS = "She depends of her big sister.\nThey has bought two cars and life style.\n"


def decided_on_edits(tmp_path: Path, capsys: Capture, *args: str) -> Ran:
    (tmp_path / "essays.m2").write_text(M2, encoding="utf-8")
    systems = []
    for name, text in {"mine": MINE, "theirs": THEIRS}.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
        systems += ["--system", f"corrected:{tmp_path / name}.txt"]
    return grater(capsys, "decide", tmp_path / "essays.m2", *systems, *args, "--out", tmp_path / "d.csv")


def test_every_edit_of_a_corrector_is_accounted_for(tmp_path: Path, capsys: Capture) -> None:
    ran = decided_on_edits(tmp_path, capsys)
    assert "mine: 4 edits: 1 on items, 3 on none (1 U:ADJ, 1 R:VERB:SVA, 1 R:ORTH)" in ran.err
    assert "--places edits" in ran.err
    mine, _ = json.loads(decided_on_edits(tmp_path, capsys, "--json").out)["systems"]
    assert mine["edits"] == {"all": 4, "on_items": 1, "others": {"U:ADJ": 1, "R:VERB:SVA": 1, "R:ORTH": 1}}
    by_python = api.decide(tmp_path / "essays.m2", systems=[f"corrected:{tmp_path / 'mine.txt'}"])
    assert sum(by_python.dropped.values()) == 3


def test_every_edit_can_be_an_item_that_is_judged(tmp_path: Path, capsys: Capture) -> None:
    ran = decided_on_edits(tmp_path, capsys, "--places", "edits")
    assert "theirs: 1 item, 1 flagged (1 R:NOUN:NUM)" in ran.err
    assert "theirs: 1 edit: 1 on items\n" in ran.err
    found = pl.read_csv(tmp_path / "d.csv")
    assert set(found["kind"]) == {"edit"}
    edits = {name: sorted(frame.select("suggestion", "type").rows()) for (name,), frame in found.group_by("system")}
    assert edits == {
        "mine": [("-NONE-", "U:ADJ"), ("have", "R:VERB:SVA"), ("lifestyle", "R:ORTH"), ("on", "R:PREP")],
        "theirs": [("cars", "R:NOUN:NUM")],
    }
    judged = ("--decisions", tmp_path / "d.csv", "--match", "any", "--out", tmp_path / "j.csv")
    assert grater(capsys, "corpus", "judgments", tmp_path / "essays.m2", "--tags", "Prep", *judged).status == 0
    tables = ("--decisions", tmp_path / "d.csv", "--judgments", tmp_path / "j.csv")
    evaluated = json.loads(grater(capsys, "evaluate", *tables, "--kind", "edit", "--json").out)
    counts = {system["system"]: system["counts"] for system in evaluated["systems"]}
    assert [counts[name]["hit"] for name in ("mine", "theirs")] == [3, 0]
    assert [counts[name]["false_alarm"] for name in ("mine", "theirs")] == [1, 1]


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("system", ["AMU", "CAMB", "CUUI", "IITB", "UFC"])
def test_the_edits_of_a_system_together_are_its_text(tmp_path: Path, capsys: Capture, system: str) -> None:
    source = data_path("conll14/official/official-2014.combined.m2")
    text = data_path(f"conll14/systems/{system}.txt")
    run = ("decide", source, "--system", f"corrected:{text}", "--places", "edits", "--out", tmp_path / "d.csv")
    [result] = json.loads(grater(capsys, *run, "--json").out)["systems"]
    assert result["edits"] == {"all": result["items"], "on_items": result["items"], "others": {}}
    found: dict[str, list[tuple[int, int, str]]] = {}
    for essay, *edit in pl.read_csv(tmp_path / "d.csv").select("essay", "start", "end", "suggestion").rows():
        found.setdefault(essay, []).append(tuple(edit))
    for essay, line in zip(read_corpus(source), text.read_text("utf-8").splitlines(), strict=True):
        corrected = essay.text
        for start, end, words in sorted(found.get(essay.essay_id, ()), reverse=True):
            corrected = f"{corrected[:start]} {words.replace('-NONE-', '')} {corrected[end:]}"
        assert corrected.split() == line.split()


EDITS = """S She depends of her sister .
A 2 3|||Prep|||on|||REQUIRED|||-NONE-|||0
A 3 4|||Other||||||REQUIRED|||-NONE-|||0
A 4 5|||Noun|||sister|||REQUIRED|||-NONE-|||0
A 2 3|||Again|||on|||REQUIRED|||-NONE-|||0
A 2 3|||Prep|||upon|||REQUIRED|||-NONE-|||0

"""


def test_edits_of_others_get_our_types_and_what_is_no_edit_is_listed(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "essays.m2").write_text(EDITS, encoding="utf-8")
    run = ("decide", tmp_path / "essays.m2", "--system", f"edits:{tmp_path / 'essays.m2'}", "--places", "edits")
    ran = grater(capsys, *run, "--out", tmp_path / "d.csv")
    assert "5 edits: 3 on items, 2 on none (1 no change, 1 made twice)" in ran.err
    found = pl.read_csv(tmp_path / "d.csv")
    rows = sorted(found.select("suggestion", "type").rows())
    assert rows == [("-NONE-", "U:DET"), ("on", "R:PREP"), ("upon", "R:PREP")]
    assert found["item"].n_unique() == 3


def test_a_sample_of_edits_is_stratified_by_type(tmp_path: Path, capsys: Capture) -> None:
    types = ["R:PREP"] * 60 + ["M:DET"] * 30 + ["U:ADJ"] * 5
    rows = [f"e{n},gec,true,{name},{n},{n + 1},edit,d" for n, name in enumerate(types)]
    (tmp_path / "d.csv").write_text("\n".join(["item,system,flagged,type,start,end,kind,essay", *rows]), "utf-8")
    sample = ("--system", "gec", "--strata", "type", "--allocation", "equal", "--n", 15, "--out", tmp_path / "s.csv")
    ran = grater(capsys, "sample", tmp_path / "d.csv", *sample)
    assert ran.status == 0, ran.err
    assert "gec, flagged R:PREP: 5 of 60" in ran.err
    assert "gec, flagged other: 5 of 5" in ran.err
    drawn = pl.read_csv(tmp_path / "s.csv")
    judged = [f"{row['item']},r,{'error' if row['stratum'].endswith('PREP') else 'ok'}" for row in drawn.to_dicts()]
    (tmp_path / "j.csv").write_text("\n".join(["item,rater,label", *judged]), "utf-8")
    tables = ("--decisions", tmp_path / "d.csv", "--judgments", tmp_path / "j.csv", "--sample", tmp_path / "s.csv")
    result = json.loads(grater(capsys, "evaluate", *tables, "--json").out)
    assert result["systems"][0]["precision"]["value"] == pytest.approx(60 / 95)
    assert result["systems"][0]["recall"]["value"] is None
    by_type = [(row["type"], row["flags"], row["precision"]["value"]) for row in result["by_type"] if row["flags"]]
    assert sorted(by_type) == [("M:DET", 30, 0.0), ("R:PREP", 60, 1.0), ("U:ADJ", 5, 0.0)]


def test_systems_from_outside_that_are_incomplete_are_refused(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "essays.txt").write_text(TEXT, encoding="utf-8")
    for system, message in (
        ("magic:wand", "unknown system 'magic:wand'"),
        ("corrected", "expected corrected:SOMETHING, found 'corrected' alone\n"),
        ("command:cat", 'expected a JSON line {"essay": ID, "edits": [...]}'),
    ):
        ran = grater(capsys, "decide", tmp_path / "essays.txt", "--system", system, "--out", tmp_path / "d.csv")
        assert (ran.status, ran.err.count("\n")) == (2, 1)
        assert message in ran.err


def decided_at(tmp_path: Path, capsys: Capture, rows: str, system: str = "") -> Ran:
    (tmp_path / "essays.jsonl").write_text(ESSAY, encoding="utf-8")
    (tmp_path / "mine.txt").write_text("The sister lives in town.\n", encoding="utf-8")
    (tmp_path / "places.csv").write_text(f"item,essay,start,end,kind\n{rows}", encoding="utf-8")
    fixed = ("--places", tmp_path / "places.csv", "--out", tmp_path / "d.csv")
    system = system or f"mine=corrected:{tmp_path / 'mine.txt'}"
    return grater(capsys, "decide", tmp_path / "essays.jsonl", "--system", system, *fixed)


def test_places_of_a_table_are_decided_on_by_its_names(tmp_path: Path, capsys: Capture) -> None:
    rows = "first,e1,0,3,article\nsecond,e1,4,11,noun\n"
    ran = decided_at(tmp_path, capsys, rows)
    assert (ran.status, ran.err.count("\n")) == (0, 2), ran.err
    found = pl.read_csv(tmp_path / "d.csv", schema_overrides={"flagged": pl.String})
    assert found.select("item", "flagged").rows() == [("first", "false"), ("second", "true")]
    refused = decided_at(tmp_path, capsys, rows, "prep-maxent")
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    assert "--places is for external systems" in refused.err
    ran = decided_at(tmp_path, capsys, "one,e1,0,3,article\ntwo,e2,0,3,article\n")
    assert ran.status == 0
    assert "places.csv: 1 item in essays that" in ran.err


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("one,e2,0,3,article\n", "1 item in essays that"),
        ("one,e1,20,99,noun\n", "expected places within its 26 characters, found 20-99"),
        ("one,e1,0,3,article\ntwo,e1,0,3,article\n", "places.csv:3: expected one item at a place, found 'two' where"),
    ],
)
def test_places_that_cannot_be_decided_on_are_reported(
    tmp_path: Path, capsys: Capture, rows: str, words: str
) -> None:
    ran = decided_at(tmp_path, capsys, rows)
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert words in ran.err
    assert not (tmp_path / "d.csv").exists()
