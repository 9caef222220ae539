"""`grater lab`: nouns and their constructions, cloze and choice, selection, mined suspects; sentences of our own."""

from __future__ import annotations

import gzip
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
from tests.cli.running import as_json, invoked, refused
from tests.detect.prepositions.native_text import native_lines

NOUNS = (
    "The farmer bought a cow and a dog. The dog barked at the cow. Dogs like bones, and the bone was big. "
    "A farmer needs dogs. The farmers met. Water is good, and the water of the lake is cold."
)


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


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("nouns", NOUNS), ("essay", ESSAY), ("native", NATIVE)):
        Path(f"{name}.txt").write_text(text, encoding="utf-8")


def test_entropy_counts_constructions_and_shows_the_nouns_that_are_asked_for() -> None:
    found = as_json("lab nouns nouns.txt --min-phrases 2")
    assert [each["construction"] for each in found["constructions"]] == list(CONSTRUCTIONS)
    assert found["phrases"] == sum(each["n"] for each in found["constructions"])
    dog = next(each for each in found["nouns"] if each["noun"] == "dog")
    # a dog, the dog, dogs, dogs: one half and two quarters
    assert (dog["n"], dog["dominant"], dog["entropy"]) == (4, "null-plural", 1.5)
    shown = invoked("lab nouns nouns.txt --noun bone").stdout
    assert "bone" in shown
    assert "farmer" not in shown


def test_select_writes_items_for_a_study_or_refuses_in_one_line() -> None:
    command = "lab nouns nouns.txt --out items.csv --min-phrases"
    assert "expected nouns with 99 phrases or more" in refused(command, 99)
    assert not Path("items.csv").exists()
    found = as_json(command, 2, "--nouns", 1, "--sentences", 1)
    assert found["wanted"] == 2 * 5 * 7
    assert found["n_items"] == 10 * found["places"]
    assert found["shortfalls"]
    frame = read_items("items.csv").frame
    assert {"group", "original", "anaphoric", "entropy", "dominant", "words"} <= set(frame.columns)
    assert all(kind.split("/")[2] in CONSTRUCTIONS for kind in frame["kind"].cast(pl.String))
    first = frame.row(0, named=True)
    assert NOUNS[int(first["start"]) : int(first["end"])].split()[-1].startswith(str(first["noun"])[:3])


def write_lines(name: str, *lines: str) -> None:
    Path(name).write_text("\n".join(lines) + "\n")


def test_the_accuracy_can_be_worked_out_from_words() -> None:
    # T&C 2008, 4.2: on 200 mismatches both raters find the system's word equal or better in 28 %
    rows = []
    for n in range(200):
        labels = ("system", "equally good") if n < 56 else ("writer", "system") if n < 70 else ("writer", "writer")
        rows += [f"m{n},{rater},{label}" for rater, label in zip(("ann", "bob"), labels, strict=True)]
    write_lines("choice.csv", "item,rater,label", *rows)
    write_lines("d.csv", "item,system,flagged,suggestion", "a,S,0,on", "b,S,0,in", "c,S,0,at", "d,S,0,of", "z,S,0,by")
    write_lines("w.csv", "item,label", "a,On", "b,in", "c,in|at", "d,for")
    found = as_json("lab choice choice.csv --decisions d.csv --words w.csv")
    assert found["accuracy"]["value"] == pytest.approx(3 / 4)


# five blanks, four times: ann is with the writer on three of five, bob on four, the system on three
WORDS = {"writer": "on in of to in ", "ann": "on in for to at ", "bob": "On at of to in "}
SYSTEM = "on in for to at " * 4


def test_essays_are_the_units_of_a_cloze_test_and_a_writer_of_another_name_is_asked_for() -> None:
    rows = [
        f"b{n},{rater},{word},e{n % 5}"
        for rater, words in WORDS.items()
        for n, word in enumerate((words * 4).split())
    ]
    write_lines("cloze.csv", "item,rater,label,essay", *rows)
    filled = [f"b{n},sys,0,{word}" for n, word in enumerate(SYSTEM.split())]
    write_lines("d.csv", "item,system,flagged,suggestion", *filled)
    value = as_json("lab cloze cloze.csv --decisions d.csv")
    assert (value["interval"]["unit"], value["interval"]["units"]) == ("essay", 5)
    assert "|units:essay|" in value["signature"]
    # Essays repeat one blank four times: 3 of 5 agree, each counted once, is wider than 12 of 20.
    agreement = value["pairs"][0]["agreement"]
    assert agreement["high"] - agreement["low"] > 0.6
    assert "Did you mean 'ann'" in refused("lab cloze cloze.csv --writer anne")


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


def test_a_system_fills_the_blanks_that_people_filled(folder: Path) -> None:
    pairs = {
        tuple(pair["pair"]): pair for pair in as_json("lab cloze", folder / "cloze.csv", *of_system(folder))["pairs"]
    }
    blanks = places(folder)
    agreed = sum(best_word(place) == written_word(place) for place in blanks) / len(blanks)
    assert pairs["writer", "tiny"]["n"] == len(blanks)
    assert pairs["writer", "tiny"]["agreement"]["value"] == pytest.approx(agreed)
    of_ann = sum(written_word(place) == "at" for place in blanks) / len(blanks)
    assert pairs["writer", "Ann"]["agreement"]["value"] == pytest.approx(of_ann)
    assert "--answers-out" in refused("lab cloze", *of_system(folder)), "nothing would come of it"
    without = ("lab cloze", folder / "cloze.csv", "--system", folder / "tiny.model")
    assert "expected --essays with --system" in refused(*without)


def test_a_system_lists_places_of_a_choice_test_and_accuracy_is_corrected(folder: Path) -> None:
    invoked("lab choice --answers-out mismatches.csv", *of_system(folder))
    listed = pl.read_csv("mismatches.csv")
    blanks = places(folder)
    n_mismatches = sum(is_mismatch(place) for place in blanks)
    assert len(listed) == n_mismatches
    assert (listed["suggestion"] != listed["target"]).all()
    write_lines("choice.csv", "item,rater,label", "a,R1,system", "b,R1,writer", "c,R1,writer", "d,R1,equally good")
    result = as_json("lab choice choice.csv", *of_system(folder))
    accuracy = 1 - n_mismatches / len(blanks)
    assert result["accuracy"]["value"] == pytest.approx(accuracy)
    assert result["corrected"]["R1"]["value"] == pytest.approx(accuracy + 0.5 * (1 - accuracy))  # T&C 2008, 4.2


def test_the_design_choice_asks_where_words_differ_in_the_papers_sample(folder: Path) -> None:
    invoked("study new study.db")
    invoked("study import study.db", folder / "essays.jsonl")
    invoked("study decide study.db --system", folder / "tiny.model")
    made = as_json("job new study.db --design choice")
    blanks = places(folder)
    n_mismatches = sum(is_mismatch(place) for place in blanks)
    n_flagged = sum(place.decision.flagged for place in blanks)
    assert n_flagged < n_mismatches < len(blanks)
    assert made["units"] == n_mismatches
    assert made["not_filled"] == [f"units: {n_mismatches} instead of 200"]  # the paper has 200
    made = as_json("job new study.db --design sampling")
    assert made["not_filled"] == [f"units: {made['units']} instead of 750"]  # T&C 2008, 6.2


def test_select_gives_accuracies_within_limits(tiny_model: Path) -> None:
    Path("native").mkdir()
    for number in range(4):
        write_lines(f"native/{number}.txt", *native_lines(80)[20 * number : 20 * number + 20])
    result = as_json("lab select native --system", tiny_model)
    assert result["accuracy"]["low"] <= result["accuracy"]["value"] <= result["accuracy"]["high"]
    assert result["n"] == sum(row["n"] for row in result["by_preposition"])
    assert result["signature"].startswith("select|grater:")
    assert (result["scope"]["unit"], result["scope"]["units"]) == ("essay", 4)
    assert result["warnings"] == ["only 4 essays: intervals by essay are rough below 10"]
    shown = invoked("lab select native/0.txt --system", tiny_model).stdout
    assert "its cases come from 1 essay; an interval needs 3" in shown
    write_lines("none.txt", "Rain fell.")
    accuracy = as_json("lab select none.txt --system", tiny_model)["accuracy"]
    assert accuracy["value"] is None
    assert accuracy["reason"]


MINE = "lab mine essay.txt --text native.txt --out"


def accept_all(path: Path) -> None:
    write_table(read_items(path).frame.with_columns(verdict=pl.lit("y")), path)


LIST = Path("list.csv")


def test_unattested_trigrams_of_attested_bigrams_are_listed_and_verdicts_are_kept() -> None:
    invoked(MINE, LIST)
    listed = read_items(LIST).frame
    assert sorted(listed["trigram"]) == ["discussed about the", "entered into the", "marry with her"]
    marry = listed.row(by_predicate=pl.col("trigram") == "marry with her", named=True)
    assert (float(marry["n_trigram"]), float(marry["n_bigram"]), marry["target"]) == (0, 3, "with")
    assert ESSAY[marry["start"] : marry["end"]] == "with"
    accept_all(LIST)
    invoked(MINE, LIST)
    assert set(read_items(LIST).frame["verdict"]) == {"y"}


def test_web1t_counts_serve_as_well() -> None:
    for name, lines in {
        "2gms/2gm-0000.gz": "marry her\t900\nlived her\t40\n",
        "3gms/3gm-0000.gz": "lived with her\t800\n",
    }.items():
        path = Path("web1t") / name
        path.parent.mkdir(parents=True)
        path.write_bytes(gzip.compress(lines.encode()))
    assert as_json("lab mine essay.txt --web1t web1t --out list.csv")["listed"] == 1
    assert read_items(LIST).frame["trigram"].to_list() == ["marry with her"]


@pytest.mark.parametrize(
    ("answers", "verdicts"), [(["y", "what?", "b", "n", "s", "y"], ["n", "", "y"]), (["y", "q"], ["y", "", ""])]
)
def test_answers_on_the_terminal_go_into_the_list_also_of_one_who_leaves_in_the_middle(
    monkeypatch: pytest.MonkeyPatch, answers: list[str], verdicts: list[str]
) -> None:
    given = iter(answers)
    monkeypatch.setattr("typer.prompt", lambda *_, **__: next(given))
    invoked(MINE, LIST, "--ask")
    assert read_items(LIST).frame["verdict"].fill_null("").to_list() == verdicts


def test_the_balanced_corpus_becomes_a_job_of_a_study_with_its_gold() -> None:
    """As docs/howto/mine-extraneous.md says, from the list of suspects to what raters are asked."""
    invoked(MINE, LIST)
    accept_all(LIST)
    numbers = as_json(f"{MINE} items.csv --balanced --verdicts list.csv --n-gold 2 --gold-out gold.csv")
    assert [numbers[key] for key in ("errors", "correct", "gold", "duplicates")] == [3, 3, 2, 0]
    items = read_items("items.csv").frame
    assert sorted(items.filter(pl.col("label") == "error")["target"]) == ["about", "into", "with"]
    for command in (
        "study new study.db",
        "study import study.db essay.txt --items items.csv",
        "job new study.db --task error --items items.csv --asks prep-extraneous --name mined --draft",
        "study import study.db --gold gold.csv --job mined",
        'job terms study.db mined --change {"gold":{}}',
        "job open study.db mined",
    ):
        invoked(command)
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
    assert items_asked == set(items["item"]), "the items on which detectors decide"
    assert "expected the task error and one of prep" in refused("job new study.db --task error --asks spelling")
