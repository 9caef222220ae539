from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from grater.annotate import people
from grater.annotate.store import open_store
from grater.tables import read_gold, read_items, write_table
from tests.cli.running import Capture, grater

ESSAY = (
    "She wants to marry with her boss. They discussed about the plan. I entered into the room. "
    "We lived with her parents. He talked about the weather. They walked into the garden. He looked at the sky."
)
NATIVE = (
    "They marry her. Who can marry her? I will marry her. We discussed the plan. They discussed the matter and "
    "discussed the rest. She entered the room. He entered the house and entered the hall.\n"
    "We lived with her aunt. They talked about the rain. He walked into the shop. She looked at the sea.\n"
    "I sat with her. They lived with her. He lived with her. They asked about the way. We ran into the wood.\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "essay.txt").write_text(ESSAY, encoding="utf-8")
    (tmp_path / "native.txt").write_text(NATIVE, encoding="utf-8")
    return tmp_path


def mined(folder: Path, capsys: Capture, *options: object) -> Path:
    out = folder / "list.csv"
    ran = grater(capsys, "lab", "mine", folder / "essay.txt", "--text", folder / "native.txt", "--out", out, *options)
    assert ran.status == 0, ran.err
    return out


def accept_all(path: Path) -> None:
    write_table(read_items(path).frame.with_columns(verdict=pl.lit("y")), path)


def test_unattested_trigrams_of_attested_bigrams_are_listed(folder: Path, capsys: Capture) -> None:
    listed = read_items(mined(folder, capsys)).frame
    assert sorted(listed["trigram"]) == ["discussed about the", "entered into the", "marry with her"]
    marry = listed.row(by_predicate=pl.col("trigram") == "marry with her", named=True)
    assert (float(marry["n_trigram"]), float(marry["n_bigram"]), marry["target"]) == (0, 3, "with")
    assert ESSAY[marry["start"] : marry["end"]] == "with"


def test_web1t_counts_serve_as_well(folder: Path, capsys: Capture) -> None:
    for name, lines in {
        "2gms/2gm-0000.gz": "marry her\t900\nlived her\t40\n",
        "3gms/3gm-0000.gz": "lived with her\t800\n",
    }.items():
        path = folder / "web1t" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(gzip.compress(lines.encode()))
    out = folder / "list.csv"
    command = ["lab", "mine", folder / "essay.txt", "--web1t", folder / "web1t", "--out", out, "--json"]
    ran = grater(capsys, *command)
    assert json.loads(ran.out)["listed"] == 1
    assert read_items(out).frame["trigram"].to_list() == ["marry with her"]


def test_verdicts_are_kept_when_the_list_is_made_anew(folder: Path, capsys: Capture) -> None:
    accept_all(mined(folder, capsys))
    assert set(read_items(mined(folder, capsys)).frame["verdict"]) == {"y"}


@pytest.mark.parametrize(
    ("answers", "verdicts"), [(["y", "what?", "b", "n", "s", "y"], ["n", "", "y"]), (["y", "q"], ["y", "", ""])]
)
def test_answers_on_the_terminal_go_into_the_list_also_of_one_who_leaves_in_the_middle(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, answers: list[str], verdicts: list[str]
) -> None:
    given = iter(answers)
    monkeypatch.setattr("typer.prompt", lambda *_, **__: next(given))
    listed = read_items(mined(folder, capsys, "--ask")).frame
    assert listed["verdict"].fill_null("").to_list() == verdicts


def test_the_balanced_corpus_has_as_many_correct_items_as_accepted_ones(folder: Path, capsys: Capture) -> None:
    verdicts = mined(folder, capsys)
    accept_all(verdicts)
    out, gold = folder / "items.csv", folder / "gold.csv"
    ran = grater(
        capsys,
        *("lab", "mine", folder / "essay.txt", "--text", folder / "native.txt", "--out", out),
        *("--balanced", "--verdicts", verdicts, "--n-gold", 2, "--gold-out", gold, "--json"),
    )
    assert ran.status == 0, ran.err
    numbers = json.loads(ran.out)
    assert [numbers[key] for key in ("errors", "correct", "gold", "duplicates")] == [3, 3, 2, 0]
    items = read_items(out).frame
    assert sorted(items.filter(pl.col("label") == "error")["target"]) == ["about", "into", "with"]
    assert set(read_gold(gold).frame["item"]) <= set(items["item"])


def test_a_study_mines_takes_verdicts_and_builds(folder: Path, capsys: Capture) -> None:
    study, listed, out = folder / "study.db", mined(folder, capsys), folder / "verdicts.csv"
    text = ["--text", folder / "native.txt"]
    assert grater(capsys, "study", "new", study).status == 0
    assert grater(capsys, "study", "import", study, folder / "essay.txt").status == 0
    ran = grater(capsys, "lab", "mine", "--study", study, *text)
    assert ran.status == 0, ran.err
    assert "mined: 3 trigrams: 0 accepted, 0 rejected, 3 to look at" in ran.err
    assert grater(capsys, "lab", "mine", "--study", study, *text).err == ran.err  # the same step again
    assert grater(capsys, "lab", "mine", "--study", study, "--out", out).status == 0
    assert read_items(out).frame.equals(read_items(listed).frame)
    accept_all(listed)
    refused = grater(capsys, "lab", "mine", "--study", study, "--name", "mine", "--verdicts", listed)
    assert (refused.status, "expected one owner who decides, found 0" in refused.err) == (2, True)
    assert "grater serve STUDY gives an owner's link" in refused.err
    unknown = grater(capsys, "lab", "mine", "--study", study, "--name", "mine", "--verdicts", listed, "--as", "Ada")
    assert (unknown.status, "nobody called Ada has joined this study" in unknown.err) == (2, True)


def test_lists_of_a_study_are_built_into_a_job(folder: Path, capsys: Capture) -> None:
    study, listed = folder / "study.db", mined(folder, capsys)
    accept_all(listed)
    grater(capsys, "study", "new", study)
    grater(capsys, "study", "import", study, folder / "essay.txt")
    with open_store(study) as store, store.write() as tx:
        people.add(tx, name="Ada", role="owner")
    ran = grater(capsys, "lab", "mine", "--study", study, "--verdicts", listed, "--json")
    assert {name: json.loads(ran.out)[name] for name in ("accepted", "open")} == {"accepted": 3, "open": 0}
    build = ["lab", "mine", "--study", study, "--balanced", "--job", "prepositions", "--text", folder / "native.txt"]
    ran = grater(capsys, *build, "--n-gold", 2, "--json")
    assert ran.status == 0, ran.err
    made = json.loads(ran.out)
    assert (made["job"], made["errors"], made["correct"], made["gold"]) == ("prepositions", 3, 3, 2)
    assert made["shortfalls"] == ["errors: 3 instead of 500; accept more trigrams"]
    both = grater(capsys, *build, "--out", folder / "v.csv")
    assert (both.status, both.err.count("\n"), "--out" in both.err) == (2, 1, True)
