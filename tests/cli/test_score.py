"""`grater score`, of systems and of people (`--ceiling`), as a person runs it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from grater.corpora import write_corpus
from grater.corpora.source import named_files
from tests.cli.running import Capture, Ran, grater, widest
from tests.measure.corrections.essays import REFERENCE, SOURCE, SYSTEM, TEXT, essays
from tests.real_data import data_path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ref.m2").write_text(REFERENCE)
    (tmp_path / "ours.m2").write_text(SYSTEM)
    (tmp_path / "ours.txt").write_text("\n".join(TEXT) + "\n")
    (tmp_path / "idle.txt").write_text("\n".join(SOURCE) + "\n")
    (tmp_path / "src").write_text("\n".join(SOURCE) + "\n")
    return tmp_path


def score(capsys: Capture, folder: Path, *args: str) -> Ran:
    """Arguments that name a file of the folder are put there."""
    return grater(capsys, "score", *(folder / arg if (folder / arg).exists() else arg for arg in args))


def test_several_files_of_annotators_are_references_together(capsys: Capture, folder: Path) -> None:
    # Two annotators in one file, or one in each of two, after --hyp or by their names: the same score.
    for annotator in "01":
        lines = [line for line in REFERENCE.splitlines() if not line.startswith("A") or line.endswith(annotator)]
        text = "\n".join(line[:-1] + "0" if line.startswith("A") else line for line in lines)
        (folder / f"A{annotator}.m2").write_text(text + "\n\n")
    combined = json.loads(score(capsys, folder, "ref.m2", "--hyp", "ours.txt", "--json").out)
    for args in (["A0.m2", "A1.m2", "--hyp", "ours.txt"], ["A0.m2", "A1.m2", "ours.txt"]):
        apart = score(capsys, folder, *args, "--json")
        assert json.loads(apart.out)["systems"] == combined["systems"]
        assert ("A1.m2: read as a reference" in apart.err) == ("--hyp" not in args)
    alone = score(capsys, folder, "A0.m2", "A1.m2", "--json")
    assert [system["system"] for system in json.loads(alone.out)["systems"]] == ["A1"]
    assert "scored as a system, though it looks like a reference" in alone.err
    perfect = score(capsys, folder, "ref.m2", "--hyp", "A0.m2", "--json")
    assert "A0 has no error by the references: is it one of them?" in perfect.err


def test_the_screen_and_papers_show_scores_groups_and_how_they_were_made(capsys: Capture, folder: Path) -> None:
    ran = score(capsys, folder, "ref.m2", "ours.txt", "idle.txt")
    assert ran.status == 0
    for text in ("66.67", "not significantly different", "Nothing separates ours from idle.", "m2|grater:"):
        assert text in ran.out
    assert widest(ran.out) <= 120
    ran = score(capsys, folder, "ref.m2", "ours.txt", "idle.txt", "--table", "latex")
    scores, pairs = ran.out.split(r"\end{table}")[:2]
    assert r"& group \\" in scores
    assert re.search(r"^ours & .* & A\w* \\\\$", scores, re.MULTILINE)
    assert r"difference & p & Holm" in pairs
    assert re.search(r"^ours .* idle & .* & [1.]\S+ & [1.]\S+ \\\\$", pairs, re.MULTILINE)
    (folder / "ref.m2").write_text(REFERENCE * 9)
    (folder / "ours.txt").write_text("\n".join(TEXT * 9) + "\n")
    (folder / "idle.txt").write_text("\n".join(SOURCE * 9) + "\n")
    paper = score(capsys, folder, "ref.m2", "ours.txt", "idle.txt", "--methods").out
    for words in ("36 sentences", "2 annotators", "Dahlmeier", "jackknife over 36 sentences", "Holm", "m2|grater:"):
        assert words in paper
    assert "ours is better than idle." in paper


def test_counts_of_every_sentence_are_written_on_demand(capsys: Capture, folder: Path) -> None:
    out = folder / "sentences.csv"
    ran = score(capsys, folder, "ref.m2", "ours.txt", "--per-sentence", str(out))
    assert ran.status == 0
    table = pl.read_csv(out)
    assert table.columns == ["system", "sentence", "reference", "tp", "fp", "fn", "precision", "recall", "f0.5"]
    rows = table.select("sentence", "reference", "tp", "fp", "fn").rows()
    assert rows == [(1, 1, 1, 0, 0), (2, 0, 1, 0, 0), (3, 0, 0, 1, 0), (4, 0, 0, 0, 1)]


def test_wrong_use_is_reported_in_one_line(capsys: Capture, folder: Path) -> None:
    (folder / "short.txt").write_text(TEXT[0] + "\n")
    (folder / "pretty.json").write_text("[\n" * len(TEXT))
    (folder / "ours.sgml").write_text("<p>\n" * len(TEXT))
    (folder / "empty.m2").write_text("")
    (folder / "empty.txt").write_text("")
    (folder / "outputs").mkdir()
    for args, message in [
        (["outputs", "ours.txt"], "outputs: cannot be read: Is a directory"),
        (["absent.txt", "ours.txt"], "absent.txt: cannot be read: No such file"),
        (["ref.m2", "pretty.json"], "pretty.json: expected one sentence per line or M2, found JSON"),
        (["ref.m2", "ours.sgml"], "ours.sgml: expected one sentence per line or M2, found a corpus"),
        (["empty.m2", "empty.txt"], "empty.m2: expected sentences to score, found none"),
        (["-", "-"], "expected standard input in one place, found '-' in several"),
        (["ref.m2", "a=-", "b=-"], "expected standard input in one place, found '-' in several"),
        (["-", "ours.txt", "--source", "-"], "expected standard input in one place, found '-' in several"),
        (["ref.m2", "ours.txt", "--seed", "x"], "'x' is not a whole number"),
        (["ref.m2"], "expected a reference and at least one hypothesis"),
        (["ref.m2", "short.txt"], "found 1; nothing for sentence 2"),
        (["ref.m2", "idle.txt", "--hyp", "ours.txt", "--metric", "gleu"], "found both"),
        (["ref.m2", "ours.txt", "--source", "src"], "leave out --source"),
        (["ref.m2", "ours.txt", "--beta", "-1"], "a beta above 0"),
        (["ref.m2", "absent.txt"], "absent.txt"),
        (["ref.m2", "ours.txt", "--units", "document"], "do not name their documents; pass --documents"),
    ]:
        ran = score(capsys, folder, *args)
        assert (ran.status, ran.out) == (2, "")
        assert message in ran.err
        assert ran.err.count("\n") == 1


SGML = "".join(f'<DOC nid="{n}">\n<TEXT>\n<P>\n{" ".join(SOURCE)}\n</P>\n</TEXT>\n</DOC>\n' for n in range(1, 6))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("docs.sgml", SGML),
        ("docs.csv", "sentence,document\n" + "".join(f"{n},d{n // 4}\n" for n in range(20))),
        ("docs.tsv", "document\n" + "".join(f"d{n // 4}\n" for n in range(20))),
        ("docs.txt", "".join(f"d{n // 4}\n" for n in range(20))),
    ],
)
def test_documents_come_from_a_file(capsys: Capture, folder: Path, name: str, text: str) -> None:
    (folder / "ref.m2").write_text(REFERENCE * 5)
    (folder / "ours.txt").write_text("\n".join(TEXT * 5) + "\n")
    (folder / name).write_text(text)
    for more in ([], ["--ceiling"]):
        files = [folder / "ref.m2", "--hyp", folder / "ours.txt", "--documents", folder / name]
        found = json.loads(grater(capsys, "score", *files, *more, "--json").out)
        assert (found["scope"]["unit"], found["scope"]["units"]) == ("document", 5)
        assert "|units:document|" in found["signature"]


def test_documents_come_with_references_in_jsonl_and_must_fit(capsys: Capture, folder: Path) -> None:
    (folder / "docs.txt").write_text("a\nb\n")
    (folder / "docs.csv").write_text("essay\na\n")
    for name, message in [
        ("docs.txt", "docs.txt: expected the documents of 4 sentences, one per line, found 2"),
        ("docs.csv", "expected a column 'document', found essay"),
    ]:
        ran = score(capsys, folder, "ref.m2", "ours.txt", "--documents", name)
        assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert message in ran.err
    known = [replace(essay, metadata={"document": place // 2}) for place, essay in enumerate(essays())]
    write_corpus(known, folder / "ref.jsonl", lambda _: None)
    found = json.loads(score(capsys, folder, "ref.jsonl", "ours.txt", "--json").out)
    assert found["systems"][0]["counts"] == {"tp": 2, "fp": 1, "fn": 1}
    reason = "its cases come from 2 documents; an interval needs 3"
    withheld = {"value": pytest.approx(2 / 3), "low": None, "high": None, "reason": reason}
    assert found["systems"][0]["precision"] == withheld
    assert (found["scope"]["unit"], found["scope"]["units"]) == ("document", 2)


def test_digits_do_not_depend_on_a_seed_and_warnings_are_in_the_result(capsys: Capture, folder: Path) -> None:
    first, second = (score(capsys, folder, "ref.m2", "ours.txt", "idle.txt", "--seed", seed) for seed in "12")
    assert first.out == second.out
    args = ("ref.m2", "ours.txt", "idle.txt", "--test", "randomisation", "--resamples", "9", "--json")
    ran = score(capsys, folder, *args)
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
def test_more_than_a_sentence_a_line_is_not_scored(capsys: Capture, folder: Path, line: str, found: str) -> None:
    for name in ("pairs", "pairs.jsonl"):
        pairs = zip(SOURCE, TEXT, strict=True)
        (folder / name).write_text("".join(line.format(source=source, text=text) + "\n" for source, text in pairs))
    for args in (
        ("ref.m2", "pairs"),
        ("ref.m2", "pairs.jsonl"),
        ("ours.txt", "idle.txt", "--source", "pairs", "--metric", "gleu"),
    ):
        ran = score(capsys, folder, *args)
        assert (ran.status, ran.out) == (2, "")
        assert found in ran.err


def test_systems_are_combined_by_votes(capsys: Capture, folder: Path) -> None:
    named = [f"{name}={folder / name}.txt" for name in ("ours", "idle")]
    for files in ([folder / "ours.txt", folder / "idle.txt"], named):
        combine = ("lab", "combine", *files, "--source", folder / "src", "--at-least", "1", "--out")
        assert grater(capsys, *combine, folder / "joint.txt").status == 0
        assert (folder / "joint.txt").read_text() == (folder / "ours.txt").read_text()
        assert grater(capsys, *combine, folder / "src").status == 2


def test_systems_and_annotators_may_be_named(capsys: Capture, folder: Path) -> None:
    ran = grater(capsys, "score", folder / "ref.m2", f"mine={folder / 'ours.txt'}", "--json")
    assert json.loads(ran.out)["systems"][0]["system"] == "mine"
    names = [f"Ann={folder / 'ours.txt'}", f"Bob={folder / 'idle.txt'}"]
    people = grater(capsys, "score", "--ceiling", *names, "--source", folder / "src", "--metric", "gleu", "--json")
    assert json.loads(people.out)["annotators"] == ["Ann", "Bob"]


@pytest.mark.parametrize("piped", ["ref.m2", "ours.m2", "ours.txt"])
def test_standard_input_is_any_file(
    capsys: Capture, folder: Path, monkeypatch: pytest.MonkeyPatch, piped: str
) -> None:
    system = "ours.m2" if piped == "ours.m2" else "ours.txt"
    files = [folder / "ref.m2", f"ours={folder / system}"]
    expected = grater(capsys, "score", *files, "--metric", "errant", "--json")
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO((folder / piped).read_bytes())))
    through = ["-", files[1]] if piped == "ref.m2" else [files[0], "ours=-"]
    ran = grater(capsys, "score", *through, "--metric", "errant", "--json")
    assert (ran.status, json.loads(ran.out)["systems"]) == (0, json.loads(expected.out)["systems"])


def test_systems_may_be_compared_with_a_baseline_alone(capsys: Capture, folder: Path) -> None:
    (folder / "third.txt").write_text("\n".join(TEXT) + "\n")
    args = ("ref.m2", "ours.txt", "idle.txt", "third.txt")
    made = json.loads(score(capsys, folder, *args, "--baseline", "idle", "--json").out)
    assert [pair["systems"] for pair in made["pairs"]] == [["ours", "idle"], ["third", "idle"]]
    assert {system["system"]: system["group"] for system in made["systems"]}["idle"] == "baseline"
    assert "|baseline:idle" in made["signature"]
    assert "not significant" in score(capsys, folder, *args, "--baseline", "idle").out
    ran = score(capsys, folder, *args, "--baseline", "nobody")
    assert (ran.status, ran.err.count("\n")) == (2, 1)


def test_people_and_systems_stand_in_one_table_on_every_way_out(capsys: Capture, folder: Path) -> None:
    ran = grater(capsys, "score", "--ceiling", folder / "ref.m2", "--hyp", folder / "ours.txt", "--json")
    found = json.loads(ran.out)
    assert ran.status == 0
    assert found["annotators"] == ["0", "1"]
    assert [(row["name"], row["kind"], row["references"]) for row in found["rows"]] == [
        ("human", "human", 1),
        ("0", "annotator", 1),
        ("1", "annotator", 1),
        ("ours", "system", 1),
    ]
    assert found["rows"][2]["f0.5"]["value"] == pytest.approx(0.9375)
    assert found["signature"].startswith("m2-ceiling|grater:")
    ran = grater(capsys, "score", "--ceiling", folder / "ref.m2", "--hyp", folder / "ours.m2", "--metric", "errant")
    assert ran.status == 0
    assert "human" in ran.out
    assert "against 1 reference" in ran.out
    assert widest(ran.out) <= 120
    ours, idle = folder / "ours.txt", folder / "idle.txt"
    ran = grater(
        capsys, "score", "--ceiling", ours, idle, "--source", idle, "--metric", "gleu", "--table", "markdown"
    )
    assert ran.status == 0
    assert ran.out.startswith("**GLEU against 1 reference**")
    assert "|  | GLEU | % of human | sets |" in ran.out
    ran = grater(capsys, "score", "--ceiling", folder / "ref.m2", "--references", "4")
    assert (ran.status, ran.out) == (2, "")
    assert "from 1 to 1 references" in ran.err


@pytest.mark.data
def test_files_of_single_annotators_are_so_many_judges(capsys: Capture) -> None:
    files = [data_path(f"conll14/ten-annotators/A{number}.m2") for number in range(1, 4)]
    ran = grater(capsys, "score", "--ceiling", *files, "--metric", "errant", "--references", "2", "--json")
    found = json.loads(ran.out)
    assert found["annotators"] == ["A1", "A2", "A3"]
    assert (found["sentences"], found["left_out"]) == (1312, 0)
    assert [row["kind"] for row in found["rows"]] == ["human", *["annotator"] * 3]


def test_a_terminal_sees_how_far_it_is(capsys: Capture, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = StringIO()
    monkeypatch.setattr("grater.cli.command.messages", Console(file=stream, force_terminal=True, width=60))
    ran = grater(capsys, "score", "--ceiling", folder / "ref.m2", "--json")
    assert ran.status == 0
    json.loads(ran.out)
    assert "scoring people" in stream.getvalue()
    assert "100%" in stream.getvalue()


def test_text_as_people_write_it_is_scored_with_one_option(capsys: Capture, folder: Path) -> None:
    (folder / "plain.txt").write_text(
        "She goes to school every days.\nI agree with it.\nWe love it.\nHe is in home.\n"
    )
    refused = score(capsys, folder, "ref.m2", "plain.txt")
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    assert "--tokenise" in refused.err
    ours, plain = (
        json.loads(score(capsys, folder, "ref.m2", file, "--tokenise", "--json").out)
        for file in ("ours.txt", "plain.txt")
    )
    assert plain["systems"][0]["counts"] == ours["systems"][0]["counts"] == {"tp": 2, "fp": 1, "fn": 1}
    assert "|tokens:grater" in plain["signature"]
