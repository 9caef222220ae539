"""`grater lab`: nouns and their constructions, cloze and choice, selection, mined suspects; sentences of our own."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from grater.annotate import jobs, units
from grater.annotate.gold import all as all_gold
from grater.annotate.store import open_store
from grater.annotate.store.checks import violations
from grater.annotate.tasks import TASKS
from grater.corpora import read_corpus
from grater.detect.articles.constructions import CONSTRUCTIONS
from grater.detect.decisions import best_word, filled, is_mismatch, written_word
from grater.detect.detector import Finding
from grater.detect.prepositions.engines import linear_from_file
from grater.tables import read_gold, read_items, write_table
from grater.uncertainty import generator
from tests.annotate.study.files import write_essays
from tests.cli.running import Capture, grater
from tests.detect.prepositions.native_text import native_lines

NOUNS = (
    "The farmer bought a cow and a dog. The dog barked at the cow. Dogs like bones, and the bone was big. "
    "A farmer needs dogs. The farmers met. Water is good, and the water of the lake is cold."
)


@pytest.fixture
def nouns(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(NOUNS, encoding="utf-8")
    return path


def test_entropy_counts_constructions_and_shows_the_nouns_that_are_asked_for(capsys: Capture, nouns: Path) -> None:
    ran = grater(capsys, "lab", "nouns", nouns, "--min-phrases", "2", "--json")
    found = json.loads(ran.out)
    assert ran.status == 0
    assert [each["construction"] for each in found["constructions"]] == list(CONSTRUCTIONS)
    assert found["phrases"] == sum(each["n"] for each in found["constructions"])
    dog = next(each for each in found["nouns"] if each["noun"] == "dog")
    # a dog, the dog, dogs, dogs: one half and two quarters
    assert (dog["n"], dog["dominant"], dog["entropy"]) == (4, "null-plural", 1.5)
    ran = grater(capsys, "lab", "nouns", nouns, "--noun", "bone")
    assert ran.status == 0
    assert "bone" in ran.out
    assert "farmer" not in ran.out


def test_select_writes_items_for_a_study_or_refuses_in_one_line(capsys: Capture, nouns: Path, tmp_path: Path) -> None:
    out = tmp_path / "items.csv"
    ran = grater(capsys, "lab", "nouns", nouns, "--out", out, "--min-phrases", "99")
    assert ran.status == 2
    assert "expected nouns with 99 phrases or more" in ran.err
    assert not out.exists()
    out = tmp_path / "items.csv"
    ran = grater(
        capsys,
        "lab",
        "nouns",
        nouns,
        "--out",
        out,
        "--nouns",
        "1",
        "--sentences",
        "1",
        "--min-phrases",
        "2",
        "--json",
    )
    found = json.loads(ran.out)
    assert ran.status == 0
    assert found["wanted"] == 2 * 5 * 7
    assert found["n_items"] == 10 * found["places"]
    assert found["shortfalls"]
    frame = read_items(out).frame
    assert {"group", "original", "anaphoric", "entropy", "dominant", "words"} <= set(frame.columns)
    assert all(kind.split("/")[2] in CONSTRUCTIONS for kind in frame["kind"].cast(pl.String))
    first = frame.row(0, named=True)
    assert NOUNS[int(first["start"]) : int(first["end"])].split()[-1].startswith(str(first["noun"])[:3])


@pytest.fixture
def judgments(tmp_path: Path) -> Path:
    """T&C 2008, 4.2: on 200 mismatches both raters find the system's word equal or better in 28 %."""
    rows = []
    for n in range(200):
        labels = ("system", "equally good") if n < 56 else ("writer", "system") if n < 70 else ("writer", "writer")
        rows += [f"m{n},{rater},{label}" for rater, label in zip(("ann", "bob"), labels, strict=True)]
    path = tmp_path / "choice.csv"
    path.write_text("\n".join(["item,rater,label", *rows]) + "\n")
    return path


def test_the_accuracy_can_be_worked_out_from_words(judgments: Path, tmp_path: Path, capsys: Capture) -> None:
    decisions, words = tmp_path / "d.csv", tmp_path / "w.csv"
    decisions.write_text("item,system,flagged,suggestion\na,S,0,on\nb,S,0,in\nc,S,0,at\nd,S,0,of\nz,S,0,by\n")
    words.write_text("item,label\na,On\nb,in\nc,in|at\nd,for\n")
    ran = grater(capsys, "lab", "choice", judgments, "--decisions", decisions, "--words", words, "--json")
    assert json.loads(ran.out)["accuracy"]["value"] == pytest.approx(3 / 4)


# five blanks, four times: ann is with the writer on three of five, bob on four, the system on three
WORDS = {"writer": "on in of to in ", "ann": "on in for to at ", "bob": "On at of to in "}
SYSTEM = "on in for to at " * 4


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    rows = [f"b{n},{rater},{word}" for rater, words in WORDS.items() for n, word in enumerate((words * 4).split())]
    judgments, decisions = tmp_path / "cloze.csv", tmp_path / "d.csv"
    judgments.write_text("\n".join(["item,rater,label", *rows]) + "\n")
    filled = [f"b{n},sys,0,{word}" for n, word in enumerate(SYSTEM.split())]
    decisions.write_text("\n".join(["item,system,flagged,suggestion", *filled]) + "\n")
    return judgments, decisions


def test_essays_are_the_units_where_they_are_known(files: tuple[Path, Path], capsys: Capture) -> None:
    header, *rows = files[0].read_text().splitlines()
    files[0].write_text(
        "\n".join([f"{header},essay", *(f"{row},e{int(row.split(',')[0][1:]) % 5}" for row in rows)]) + "\n"
    )
    value = json.loads(grater(capsys, "lab", "cloze", files[0], "--decisions", files[1], "--json").out)
    assert (value["interval"]["unit"], value["interval"]["units"]) == ("essay", 5)
    assert "|units:essay|" in value["signature"]
    # Essays repeat one blank four times: 3 of 5 agree, each counted once, is wider than 12 of 20.
    agreement = value["pairs"][0]["agreement"]
    assert agreement["high"] - agreement["low"] > 0.6


def test_a_writer_of_another_name_is_asked_for(files: tuple[Path, Path], capsys: Capture) -> None:
    ran = grater(capsys, "lab", "cloze", files[0], "--writer", "anne")
    assert ran.status == 2
    assert "Did you mean 'ann'" in ran.err


@pytest.fixture(scope="module")
def folder(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three essays, a system of one small model, and what Ann filled into every blank: always *at*."""
    path = tmp_path_factory.mktemp("words")
    write_essays(path)
    shutil.copy(tiny_model, path)
    rows = [(place.item.item_id, "Ann", "at") for place in places(path)]
    pl.DataFrame(rows, schema=["item", "rater", "label"], orient="row").write_csv(path / "cloze.csv")
    return path


def places(folder: Path) -> list[Finding]:
    essays = list(read_corpus(folder / "essays.jsonl"))
    return list(filled(linear_from_file(folder / "tiny.model"), essays).findings)


def of_system(folder: Path) -> tuple[object, ...]:
    return "--system", folder / "tiny.model", "--essays", folder / "essays.jsonl"


def test_a_system_fills_the_blanks_that_people_filled(folder: Path, capsys: Capture) -> None:
    ran = grater(capsys, "lab", "cloze", folder / "cloze.csv", *of_system(folder), "--json")
    assert ran.status == 0, ran.err
    pairs = {tuple(pair["pair"]): pair for pair in json.loads(ran.out)["pairs"]}
    blanks = places(folder)
    agreed = sum(best_word(place) == written_word(place) for place in blanks) / len(blanks)
    assert pairs["writer", "tiny"]["n"] == len(blanks)
    assert pairs["writer", "tiny"]["agreement"]["value"] == pytest.approx(agreed)
    of_ann = sum(written_word(place) == "at" for place in blanks) / len(blanks)
    assert pairs["writer", "Ann"]["agreement"]["value"] == pytest.approx(of_ann)


def test_a_system_lists_places_of_a_choice_test_and_accuracy_is_corrected(folder: Path, capsys: Capture) -> None:
    out = folder / "mismatches.csv"
    assert grater(capsys, "lab", "choice", *of_system(folder), "--answers-out", out).status == 0
    listed = pl.read_csv(out)
    assert len(listed) == sum(is_mismatch(place) for place in places(folder))
    assert (listed["suggestion"] != listed["target"]).all()
    chosen = folder / "choice.csv"
    chosen.write_text("item,rater,label\na,R1,system\nb,R1,writer\nc,R1,writer\nd,R1,equally good\n", "utf-8")
    result = json.loads(grater(capsys, "lab", "choice", chosen, *of_system(folder), "--json").out)
    blanks = places(folder)
    accuracy = 1 - sum(is_mismatch(place) for place in blanks) / len(blanks)
    assert result["accuracy"]["value"] == pytest.approx(accuracy)
    assert result["corrected"]["R1"]["value"] == pytest.approx(accuracy + 0.5 * (1 - accuracy))  # T&C 2008, 4.2


def test_without_judgments_and_without_a_file_there_is_nothing_to_do(folder: Path, capsys: Capture) -> None:
    ran = grater(capsys, "lab", "cloze", *of_system(folder))
    assert (ran.status, ran.out) == (2, "")
    assert "--answers-out" in ran.err
    ran = grater(capsys, "lab", "cloze", folder / "cloze.csv", "--system", folder / "tiny.model")
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "expected --essays with --system" in ran.err


def test_the_design_choice_asks_where_words_differ_in_the_papers_sample(folder: Path, capsys: Capture) -> None:
    study = folder / "study.db"
    grater(capsys, "study", "new", study)
    grater(capsys, "study", "import", study, folder / "essays.jsonl")
    assert grater(capsys, "study", "decide", study, "--system", folder / "tiny.model").status == 0
    made = json.loads(grater(capsys, "job", "new", study, "--design", "choice", "--json").out)
    blanks = places(folder)
    n_mismatches = sum(is_mismatch(place) for place in blanks)
    n_flagged = sum(place.decision.flagged for place in blanks)
    assert n_flagged < n_mismatches < len(blanks)
    assert made["units"] == n_mismatches
    assert made["not_filled"] == [f"units: {n_mismatches} instead of 200"]  # the paper has 200
    made = json.loads(grater(capsys, "job", "new", study, "--design", "sampling", "--json").out)
    assert made["not_filled"] == [f"units: {made['units']} instead of 750"]  # T&C 2008, 6.2


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "native").mkdir()
    for number in range(4):
        lines = native_lines(80)[20 * number : 20 * number + 20]
        (tmp_path / "native" / f"{number}.txt").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "native"


def test_select_gives_accuracies_within_limits(capsys: Capture, text: Path, tiny_model: Path, tmp_path: Path) -> None:
    result = json.loads(grater(capsys, "lab", "select", text, "--system", tiny_model, "--json").out)
    assert result["accuracy"]["low"] <= result["accuracy"]["value"] <= result["accuracy"]["high"]
    assert result["n"] == sum(row["n"] for row in result["by_preposition"])
    assert result["signature"].startswith("select|grater:")
    assert (result["scope"]["unit"], result["scope"]["units"]) == ("essay", 4)
    assert result["warnings"] == ["only 4 essays: intervals by essay are rough below 10"]
    ran = grater(capsys, "lab", "select", text / "0.txt", "--system", tiny_model)
    assert "its cases come from 1 essay; an interval needs 3" in ran.out
    (tmp_path / "none.txt").write_text("Rain fell.", encoding="utf-8")
    result = json.loads(grater(capsys, "lab", "select", tmp_path / "none.txt", "--system", tiny_model, "--json").out)
    assert result["accuracy"]["value"] is None
    assert result["accuracy"]["reason"]


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
def mine(tmp_path: Path) -> Path:
    (tmp_path / "essay.txt").write_text(ESSAY, encoding="utf-8")
    (tmp_path / "native.txt").write_text(NATIVE, encoding="utf-8")
    return tmp_path


def mined_list(mine: Path, capsys: Capture, *options: object) -> Path:
    out = mine / "list.csv"
    ran = grater(capsys, "lab", "mine", mine / "essay.txt", "--text", mine / "native.txt", "--out", out, *options)
    assert ran.status == 0, ran.err
    return out


def accept_all(path: Path) -> None:
    write_table(read_items(path).frame.with_columns(verdict=pl.lit("y")), path)


def test_unattested_trigrams_of_attested_bigrams_are_listed(mine: Path, capsys: Capture) -> None:
    listed = read_items(mined_list(mine, capsys)).frame
    assert sorted(listed["trigram"]) == ["discussed about the", "entered into the", "marry with her"]
    marry = listed.row(by_predicate=pl.col("trigram") == "marry with her", named=True)
    assert (float(marry["n_trigram"]), float(marry["n_bigram"]), marry["target"]) == (0, 3, "with")
    assert ESSAY[marry["start"] : marry["end"]] == "with"


def test_web1t_counts_serve_as_well(mine: Path, capsys: Capture) -> None:
    for name, lines in {
        "2gms/2gm-0000.gz": "marry her\t900\nlived her\t40\n",
        "3gms/3gm-0000.gz": "lived with her\t800\n",
    }.items():
        path = mine / "web1t" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(gzip.compress(lines.encode()))
    out = mine / "list.csv"
    command = ["lab", "mine", mine / "essay.txt", "--web1t", mine / "web1t", "--out", out, "--json"]
    ran = grater(capsys, *command)
    assert json.loads(ran.out)["listed"] == 1
    assert read_items(out).frame["trigram"].to_list() == ["marry with her"]


def test_verdicts_are_kept_when_the_list_is_made_anew(mine: Path, capsys: Capture) -> None:
    accept_all(mined_list(mine, capsys))
    assert set(read_items(mined_list(mine, capsys)).frame["verdict"]) == {"y"}


@pytest.mark.parametrize(
    ("answers", "verdicts"), [(["y", "what?", "b", "n", "s", "y"], ["n", "", "y"]), (["y", "q"], ["y", "", ""])]
)
def test_answers_on_the_terminal_go_into_the_list_also_of_one_who_leaves_in_the_middle(
    mine: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, answers: list[str], verdicts: list[str]
) -> None:
    given = iter(answers)
    monkeypatch.setattr("typer.prompt", lambda *_, **__: next(given))
    listed = read_items(mined_list(mine, capsys, "--ask")).frame
    assert listed["verdict"].fill_null("").to_list() == verdicts


def test_the_balanced_corpus_has_as_many_correct_items_as_accepted_ones(mine: Path, capsys: Capture) -> None:
    verdicts = mined_list(mine, capsys)
    accept_all(verdicts)
    out, gold = mine / "items.csv", mine / "gold.csv"
    ran = grater(
        capsys,
        *("lab", "mine", mine / "essay.txt", "--text", mine / "native.txt", "--out", out),
        *("--balanced", "--verdicts", verdicts, "--n-gold", 2, "--gold-out", gold, "--json"),
    )
    assert ran.status == 0, ran.err
    numbers = json.loads(ran.out)
    assert [numbers[key] for key in ("errors", "correct", "gold", "duplicates")] == [3, 3, 2, 0]
    items = read_items(out).frame
    assert sorted(items.filter(pl.col("label") == "error")["target"]) == ["about", "into", "with"]
    assert set(read_gold(gold).frame["item"]) <= set(items["item"])


def test_the_balanced_corpus_becomes_a_job_of_a_study_with_its_gold(
    mine: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As docs/howto/mine-extraneous.md says, from the list of suspects to what raters are asked."""
    accept_all(mined_list(mine, capsys))
    monkeypatch.chdir(mine)
    for command in (
        "lab mine essay.txt --text native.txt --balanced --verdicts list.csv --n-gold 2 --out items.csv "
        "--gold-out gold.csv",
        "study new study.db",
        "study import study.db essay.txt --items items.csv",
        "job new study.db --task error --items items.csv --asks prep-extraneous --name mined --draft",
        "study import study.db --gold gold.csv --job mined",
        'job terms study.db mined --change {"gold":{}}',
        "job open study.db mined",
    ):
        ran = grater(capsys, *command.split())
        assert ran.status == 0, ran.err
    with open_store("study.db") as store, store.read() as tx:
        job = jobs.named(tx, "mined")
        asked = [units.get(tx, unit_id) for unit_id in units.ids_of_job(tx, job.job_id)]
        known = {each.item_id: each.accepted for _, each in all_gold(tx)}
        assert violations(tx) == []
    assert {item: {label} for item, label in read_gold("gold.csv").frame.select("item", "label").iter_rows()} == known
    # Madnani et al. 2011, 2.1: extraneous or not, "wrong" is another question
    questions = {TASKS["error"].show(each.unit, rng=generator(0)).fields[0].question for each in asked}
    assert questions == {"Is the highlighted preposition extraneous: should there be none?"}
    items_asked = {each.item.item_id for unit in asked for each in unit.unit.items}
    assert items_asked == set(read_items("items.csv").frame["item"]), "the items on which detectors decide"
    wrong = grater(capsys, "job", "new", "study.db", "--task", "error", "--asks", "spelling")
    assert (wrong.status, "expected the task error and one of prep" in wrong.err) == (2, True)
