"""`grater score`, of systems and of people (`--ceiling`), as a person runs it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from grater.corpora import write_corpus
from grater.corpora.source import named_files
from tests.cli.running import Capture, Ran, as_json, grater, invoked, refused, widest
from tests.measure.corrections.essays import REFERENCE, SOURCE, SYSTEM, TEXT, essays
from tests.real_data import data_path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(ref=REFERENCE, ours=TEXT, idle=SOURCE)
    Path("ours.m2").write_text(SYSTEM)
    return tmp_path


def write(*, ref: str, ours: Sequence[str], idle: Sequence[str]) -> None:
    Path("ref.m2").write_text(ref)
    for name, lines in (("ours.txt", ours), ("idle.txt", idle), ("src", idle)):
        Path(name).write_text("\n".join(lines) + "\n")


def score(capsys: Capture, words: str) -> Ran:
    return grater(capsys, "score", *words.split())


scored = partial(as_json, "score")


def test_several_files_of_annotators_are_references_together(capsys: Capture) -> None:
    # Two annotators in one file, or one in each of two, after --hyp or by their names: the same score.
    for annotator in "01":
        lines = [line for line in REFERENCE.splitlines() if not line.startswith("A") or line.endswith(annotator)]
        text = "\n".join(line[:-1] + "0" if line.startswith("A") else line for line in lines)
        Path(f"A{annotator}.m2").write_text(text + "\n\n")
    combined = as_json("score ref.m2 --hyp ours.txt")
    for words in ("A0.m2 A1.m2 --hyp ours.txt", "A0.m2 A1.m2 ours.txt"):
        apart = score(capsys, f"{words} --json")
        assert json.loads(apart.out)["systems"] == combined["systems"]
        assert ("A1.m2: read as a reference" in apart.err) == ("--hyp" not in words)
    alone = score(capsys, "A0.m2 A1.m2 --json")
    assert [system["system"] for system in json.loads(alone.out)["systems"]] == ["A1"]
    assert "scored as a system, though it looks like a reference" in alone.err
    perfect = score(capsys, "ref.m2 --hyp A0.m2 --json")
    assert "A0 has no error by the references: is it one of them?" in perfect.err


def test_the_screen_and_papers_show_scores_groups_and_how_they_were_made() -> None:
    shown = invoked("score ref.m2 ours.txt idle.txt").stdout
    for text in ("66.67", "not significantly different", "Nothing separates ours from idle.", "m2|grater:"):
        assert text in shown
    assert widest(shown) <= 120
    latex = invoked("score ref.m2 ours.txt idle.txt --table latex").stdout
    scores, pairs = latex.split(r"\end{table}")[:2]
    assert r"& group \\" in scores
    assert re.search(r"^ours & .* & A\w* \\\\$", scores, re.MULTILINE)
    assert r"difference & p & Holm" in pairs
    assert re.search(r"^ours .* idle & .* & [1.]\S+ & [1.]\S+ \\\\$", pairs, re.MULTILINE)
    write(ref=REFERENCE * 9, ours=TEXT * 9, idle=SOURCE * 9)
    paper = invoked("score ref.m2 ours.txt idle.txt --methods").stdout
    for words in ("36 sentences", "2 annotators", "Dahlmeier", "jackknife over 36 sentences", "Holm", "m2|grater:"):
        assert words in paper
    assert "ours is better than idle." in paper


def test_counts_of_every_sentence_are_written_on_demand() -> None:
    invoked("score ref.m2 ours.txt --per-sentence sentences.csv")
    table = pl.read_csv("sentences.csv")
    assert table.columns == ["system", "sentence", "reference", "tp", "fp", "fn", "precision", "recall", "f0.5"]
    rows = table.select("sentence", "reference", "tp", "fp", "fn").rows()
    assert rows == [(1, 1, 1, 0, 0), (2, 0, 1, 0, 0), (3, 0, 0, 1, 0), (4, 0, 0, 0, 1)]


SGML = "".join(f'<DOC nid="{n}">\n<TEXT>\n<P>\n{" ".join(SOURCE)}\n</P>\n</TEXT>\n</DOC>\n' for n in range(1, 6))
LINES = [f"d{n // 4}\n" for n in range(20)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("docs.sgml", SGML),
        ("docs.csv", "sentence,document\n" + "".join(f"{n},{line}" for n, line in enumerate(LINES))),
        ("docs.tsv", "document\n" + "".join(LINES)),
        ("docs.txt", "".join(LINES)),
    ],
)
def test_documents_come_from_a_file(name: str, text: str) -> None:
    write(ref=REFERENCE * 5, ours=TEXT * 5, idle=SOURCE * 5)
    Path(name).write_text(text)
    for more in ([], ["--ceiling"]):
        found = scored("ref.m2", "--hyp", "ours.txt", "--documents", name, *more)
        assert (found["scope"]["unit"], found["scope"]["units"]) == ("document", 5)
        assert "|units:document|" in found["signature"]


def test_documents_come_with_references_in_jsonl() -> None:
    known = [replace(essay, metadata={"document": place // 2}) for place, essay in enumerate(essays())]
    write_corpus(known, Path("ref.jsonl"), lambda _: None)
    found = scored("ref.jsonl", "ours.txt")
    assert found["systems"][0]["counts"] == {"tp": 2, "fp": 1, "fn": 1}
    reason = "its cases come from 2 documents; an interval needs 3"
    withheld = {"value": pytest.approx(2 / 3), "low": None, "high": None, "reason": reason}
    assert found["systems"][0]["precision"] == withheld
    assert (found["scope"]["unit"], found["scope"]["units"]) == ("document", 2)


def test_digits_do_not_depend_on_a_seed_and_warnings_are_in_the_result(capsys: Capture) -> None:
    first, second = (score(capsys, f"ref.m2 ours.txt idle.txt --seed {seed}") for seed in "12")
    assert first.out == second.out
    ran = score(capsys, "ref.m2 ours.txt idle.txt --test randomisation --resamples 9 --json")
    [warning] = json.loads(ran.out)["warnings"]
    assert "use `resamples` 20 or more" in warning
    assert warning.replace("`resamples`", "--resamples") in ran.err


def test_files_are_called_by_their_stem_or_as_much_as_it_takes() -> None:
    for files, names in [
        (["x/a.txt", "x/b.m2.gz"], ["a", "b"]),
        (["x/dev.ref0", "x/dev.ref1"], ["dev.ref0", "dev.ref1"]),
        (["x/a.txt", "y/a.txt"], ["x/a.txt", "y/a.txt"]),
    ]:
        assert [name for name, _ in named_files([Path(file) for file in files])] == names


@pytest.mark.parametrize(
    ("line", "found"), [("{source}\t{text}", "found a tab in each"), ('{{"text": "{text}"}}', "found JSON")]
)
@pytest.mark.parametrize(
    "files", ["ref.m2 pairs", "ref.m2 pairs.jsonl", "ours.txt idle.txt --source pairs --metric gleu"]
)
def test_more_than_a_sentence_a_line_is_not_scored(files: str, line: str, found: str) -> None:
    for name in ("pairs", "pairs.jsonl"):
        pairs = zip(SOURCE, TEXT, strict=True)
        Path(name).write_text("".join(line.format(source=source, text=text) + "\n" for source, text in pairs))
    assert found in refused(f"score {files}")


def test_systems_are_combined_by_votes() -> None:
    for files in ("ours.txt idle.txt", "ours=ours.txt idle=idle.txt"):
        combine = f"lab combine {files} --source src --at-least 1 --out"
        invoked(combine, "joint.txt")
        assert Path("joint.txt").read_text() == Path("ours.txt").read_text()
        assert "src" in refused(combine, "src")


def test_systems_and_annotators_may_be_named() -> None:
    assert scored("ref.m2", "mine=ours.txt")["systems"][0]["system"] == "mine"
    people = as_json("score --ceiling Ann=ours.txt Bob=idle.txt --source src --metric gleu")
    assert people["annotators"] == ["Ann", "Bob"]


@pytest.mark.parametrize("piped", ["ref.m2", "ours.m2", "ours.txt"])
def test_standard_input_is_any_file(capsys: Capture, monkeypatch: pytest.MonkeyPatch, piped: str) -> None:
    system = "ours.m2" if piped == "ours.m2" else "ours.txt"
    expected = scored("ref.m2", f"ours={system}", "--metric", "errant")
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(Path(piped).read_bytes())))
    ran = score(capsys, f"{f'- ours={system}' if piped == 'ref.m2' else 'ref.m2 ours=-'} --metric errant --json")
    assert (ran.status, json.loads(ran.out)["systems"]) == (0, expected["systems"])


def test_systems_may_be_compared_with_a_baseline_alone() -> None:
    Path("third.txt").write_text("\n".join(TEXT) + "\n")
    files = "score ref.m2 ours.txt idle.txt third.txt --baseline"
    made = as_json(files, "idle")
    assert [pair["systems"] for pair in made["pairs"]] == [["ours", "idle"], ["third", "idle"]]
    assert {system["system"]: system["group"] for system in made["systems"]}["idle"] == "baseline"
    assert "|baseline:idle" in made["signature"]
    assert "not significant" in invoked(files, "idle").stdout


def test_people_and_systems_stand_in_one_table_on_every_way_out() -> None:
    found = as_json("score --ceiling ref.m2 --hyp ours.txt")
    assert found["annotators"] == ["0", "1"]
    assert [(row["name"], row["kind"], row["references"]) for row in found["rows"]] == [
        ("human", "human", 1),
        ("0", "annotator", 1),
        ("1", "annotator", 1),
        ("ours", "system", 1),
    ]
    assert found["rows"][2]["f0.5"]["value"] == pytest.approx(0.9375)
    assert found["signature"].startswith("m2-ceiling|grater:")
    shown = invoked("score --ceiling ref.m2 --hyp ours.m2 --metric errant").stdout
    assert "human" in shown
    assert "against 1 reference" in shown
    assert widest(shown) <= 120
    shown = invoked("score --ceiling ours.txt idle.txt --source idle.txt --metric gleu --table markdown").stdout
    assert shown.startswith("**GLEU against 1 reference**")
    assert "|  | GLEU | % of human | sets |" in shown
    assert "from 1 to 1 references" in refused("score --ceiling ref.m2 --references 4")


@pytest.mark.data
def test_files_of_single_annotators_are_so_many_judges() -> None:
    files = [data_path(f"conll14/ten-annotators/A{number}.m2") for number in range(1, 4)]
    found = scored("--ceiling", *files, "--metric", "errant", "--references", "2")
    assert found["annotators"] == ["A1", "A2", "A3"]
    assert (found["sentences"], found["left_out"]) == (1312, 0)
    assert [row["kind"] for row in found["rows"]] == ["human", *["annotator"] * 3]


def test_a_terminal_sees_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = StringIO()
    monkeypatch.setattr("grater.cli.command.messages", Console(file=stream, force_terminal=True, width=60))
    as_json("score --ceiling ref.m2")
    assert "scoring people" in stream.getvalue()
    assert "100%" in stream.getvalue()


def test_text_as_people_write_it_is_scored_with_one_option() -> None:
    Path("plain.txt").write_text("She goes to school every days.\nI agree with it.\nWe love it.\nHe is in home.\n")
    assert "--tokenise" in refused("score ref.m2 plain.txt")
    ours, plain = (scored("ref.m2", file, "--tokenise") for file in ("ours.txt", "plain.txt"))
    assert plain["systems"][0]["counts"] == ours["systems"][0]["counts"] == {"tp": 2, "fp": 1, "fn": 1}
    assert "|tokens:grater" in plain["signature"]
    Path("raw.txt").write_text(Path("idle.txt").read_text().replace(" .", "."))
    systems = as_json("score plain.txt ours.txt --source raw.txt --metric gleu --tokenise")["systems"]
    assert systems[0]["gleu"]["value"] == pytest.approx(1), "references and their source are cut, too"
