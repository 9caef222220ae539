"""Systems from outside on the command line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from grater import api
from grater.corpora import read_corpus
from tests.cli.running import as_json, invoked, refused
from tests.real_data import data_path

TEXT = "She depends of her sister. They discussed about it.\n"
ESSAY = '{"format":"grater-corpus","version":1}\n{"id":"e1","text":"The brother lives in town."}\n'


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(**files: str) -> None:
    """Texts by the stems of their files."""
    for name, text in files.items():
        Path(f"{name}.txt").write_text(text, encoding="utf-8")


def test_corrected_text_is_decided_with_our_own_systems() -> None:
    write(essays=TEXT, mine="She depends on her sister. They discussed it.\n")
    invoked("decide essays.txt --system mine=corrected:mine.txt --system prep-maxent --out d.csv")
    found = pl.read_csv("d.csv")
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


ON_EDITS = "decide essays.m2 --system corrected:mine.txt --system corrected:theirs.txt --out d.csv"


@pytest.fixture
def corrected() -> None:
    Path("essays.m2").write_text(M2, encoding="utf-8")
    write(mine=MINE, theirs=THEIRS)


@pytest.mark.usefixtures("corrected")
def test_every_edit_of_a_corrector_is_accounted_for() -> None:
    said = invoked(ON_EDITS).stderr
    assert "mine: 4 edits: 1 on items, 3 on none (1 U:ADJ, 1 R:VERB:SVA, 1 R:ORTH)" in said
    assert "--places edits" in said
    mine, _ = as_json(ON_EDITS)["systems"]
    assert mine["edits"] == {"all": 4, "on_items": 1, "others": {"U:ADJ": 1, "R:VERB:SVA": 1, "R:ORTH": 1}}
    by_python = api.decide("essays.m2", systems=["corrected:mine.txt"])
    assert sum(by_python.dropped.values()) == 3


@pytest.mark.usefixtures("corrected")
def test_every_edit_can_be_an_item_that_is_judged() -> None:
    said = invoked(ON_EDITS, "--places", "edits").stderr
    assert "theirs: 1 item, 1 flagged (1 R:NOUN:NUM)" in said
    assert "theirs: 1 edit: 1 on items\n" in said
    found = pl.read_csv("d.csv")
    assert set(found["kind"]) == {"edit"}
    edits = {name: sorted(frame.select("suggestion", "type").rows()) for (name,), frame in found.group_by("system")}
    assert edits == {
        "mine": [("-NONE-", "U:ADJ"), ("have", "R:VERB:SVA"), ("lifestyle", "R:ORTH"), ("on", "R:PREP")],
        "theirs": [("cars", "R:NOUN:NUM")],
    }
    invoked("corpus judgments essays.m2 --tags Prep --decisions d.csv --match any --out j.csv")
    evaluated = as_json("evaluate --decisions d.csv --judgments j.csv --kind edit")
    counts = {system["system"]: system["counts"] for system in evaluated["systems"]}
    assert [counts[name]["hit"] for name in ("mine", "theirs")] == [3, 0]
    assert [counts[name]["false_alarm"] for name in ("mine", "theirs")] == [1, 1]


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("system", ["AMU", "CAMB", "CUUI", "IITB", "UFC"])
def test_the_edits_of_a_system_together_are_its_text(system: str) -> None:
    source = data_path("conll14/official/official-2014.combined.m2")
    text = data_path(f"conll14/systems/{system}.txt")
    [result] = as_json("decide --places edits --out d.csv", source, "--system", f"corrected:{text}")["systems"]
    assert result["edits"] == {"all": result["items"], "on_items": result["items"], "others": {}}
    found: dict[str, list[tuple[int, int, str]]] = {}
    for essay, *edit in pl.read_csv("d.csv").select("essay", "start", "end", "suggestion").rows():
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


def test_edits_of_others_get_our_types_and_what_is_no_edit_is_listed() -> None:
    Path("essays.m2").write_text(EDITS, encoding="utf-8")
    ran = invoked("decide essays.m2 --system edits:essays.m2 --places edits --out d.csv")
    assert "5 edits: 3 on items, 2 on none (1 no change, 1 made twice)" in ran.stderr
    found = pl.read_csv("d.csv")
    rows = sorted(found.select("suggestion", "type").rows())
    assert rows == [("-NONE-", "U:DET"), ("on", "R:PREP"), ("upon", "R:PREP")]
    assert found["item"].n_unique() == 3


def test_a_sample_of_edits_is_stratified_by_type() -> None:
    types = ["R:PREP"] * 60 + ["M:DET"] * 30 + ["U:ADJ"] * 5
    rows = [f"e{n},gec,true,{name},{n},{n + 1},edit,d" for n, name in enumerate(types)]
    Path("d.csv").write_text("\n".join(["item,system,flagged,type,start,end,kind,essay", *rows]), "utf-8")
    said = invoked("sample d.csv --system gec --strata type --allocation equal --n 15 --out s.csv").stderr
    assert "gec, flagged R:PREP: 5 of 60" in said
    assert "gec, flagged other: 5 of 5" in said
    drawn = pl.read_csv("s.csv").to_dicts()
    judged = [f"{row['item']},r,{'error' if row['stratum'].endswith('PREP') else 'ok'}" for row in drawn]
    Path("j.csv").write_text("\n".join(["item,rater,label", *judged]), "utf-8")
    result = as_json("evaluate --decisions d.csv --judgments j.csv --sample s.csv")
    assert result["systems"][0]["precision"]["value"] == pytest.approx(60 / 95)
    assert result["systems"][0]["recall"]["value"] is None
    by_type = [(row["type"], row["flags"], row["precision"]["value"]) for row in result["by_type"] if row["flags"]]
    assert sorted(by_type) == [("M:DET", 30, 0.0), ("R:PREP", 60, 1.0), ("U:ADJ", 5, 0.0)]


AT_PLACES = "decide essays.jsonl --places places.csv --out d.csv --system"


def write_places(rows: str) -> None:
    Path("essays.jsonl").write_text(ESSAY, encoding="utf-8")
    write(mine="The sister lives in town.\n")
    Path("places.csv").write_text(f"item,essay,start,end,kind\n{rows}", encoding="utf-8")


def test_places_of_a_table_are_decided_on_by_its_names() -> None:
    write_places("first,e1,0,3,article\nsecond,e1,4,11,noun\n")
    said = invoked(AT_PLACES, "mine=corrected:mine.txt").stderr
    assert said.count("\n") == 2, said
    found = pl.read_csv("d.csv", schema_overrides={"flagged": pl.String})
    assert found.select("item", "flagged").rows() == [("first", "false"), ("second", "true")]
    assert "--places is for external systems" in refused(AT_PLACES, "prep-maxent")
    write_places("one,e1,0,3,article\ntwo,e2,0,3,article\n")
    assert "places.csv: 1 item in essays that" in invoked(AT_PLACES, "mine=corrected:mine.txt").stderr


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("one,e2,0,3,article\n", "1 item in essays that"),
        ("one,e1,20,99,noun\n", "expected places within its 26 characters, found 20-99"),
        ("one,e1,0,3,article\ntwo,e1,0,3,article\n", "places.csv:3: expected one item at a place, found 'two' where"),
    ],
)
def test_places_that_cannot_be_decided_on_are_reported(rows: str, words: str) -> None:
    write_places(rows)
    assert words in refused(AT_PLACES, "mine=corrected:mine.txt")
    assert not Path("d.csv").exists()
