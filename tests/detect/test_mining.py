"""Counts of n-grams, the suspects that they rank, people's verdicts, and the test set built from these."""

from __future__ import annotations

import gzip
from math import log
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from grater.detect.mining.ranking import (
    Suspect,
    Use,
    counts_in_model,
    counts_in_text,
    counts_in_web1t,
    files_of_order,
    rank,
    uses_of,
)
from grater.detect.mining.review import Mined, balance, balanced_from, mine, suspects_table, verdicts_of
from grater.errors import BadInput, UsageError
from grater.model import Essay, Span
from grater.tables import read_items, write_table
from grater_train.kneser_ney import language_model
from grater_train.ngrams import ModelSize, train
from tests.detect.ngrams.texts import SENTENCES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny corpus in the layout of the disks; words and counts are ours."""
    for name, text in {
        "disk1/1gms/vocab.gz": "with\t900\nWith\t60\nher\t500\n",
        "disk1/1gms/vocab_cs.gz": "with\t900\nher\t500\nWith\t60\n",
        "disk1/2gms/2gm-0000.gz": "marry her\t700\nMarry her\t50\nmarry him\t600\n",
        "disk1/3gms/3gm-0000.gz": "marry with her\t44\nlived with her\t800\n",
        "disk2/3gms/3gm-0001.gz": "marry with him\t41\n",
        "disk2/3gms/3gm.idx": "3gm-0001.gz\tmarry with him\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return tmp_path


def test_counts_of_all_spellings_are_added_up_over_all_files(folder: Path) -> None:
    wanted = [("marry", "her"), ("marry", "with", "her"), ("marry", "with", "him"), ("wed", "with", "her"), ("with",)]
    assert counts_in_web1t(folder, wanted) == {
        ("marry", "her"): 750,
        ("marry", "with", "her"): 44,
        ("marry", "with", "him"): 41,
        ("with",): 960,
    }


def test_bad_lines_and_missing_orders_are_named(folder: Path) -> None:
    (folder / "disk2/3gms/3gm-0001.gz").write_bytes(gzip.compress(b"marry with him 41\nonly two\t5\na b c\t1\n"))
    with pytest.raises(BadInput) as caught:
        counts_in_web1t(folder, [("marry", "with", "him")])
    assert [problem.line for problem in caught.value.problems] == [1, 2]
    with pytest.raises(UsageError, match=r"expected files such as 4gms/4gm-0000\.gz"):
        counts_in_web1t(folder, [("a", "b", "c", "d")])
    with pytest.raises(BadInput, match="expected a folder of Web1T counts"):
        files_of_order(folder / "nowhere", 2)


WANTED = {("waited", "the"), ("waited", "at", "the"), ("the", "station"), ("flew", "home")}


def test_text_is_counted_by_sentences_in_normal_words(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(
        "We waited at THE station. Waited at the bus stop.\nWe waited at THE station. Waited at the bus stop.\n"
    )
    # the second line is the first again, and is read once
    assert counts_in_text([path], WANTED) == {("waited", "at", "the"): 2, ("the", "station"): 1}


def test_a_model_counts_what_it_keeps_roughly_and_the_rest_as_nothing() -> None:
    trained = train(SENTENCES, ModelSize(prune=(0,)))
    model = language_model(trained.smoothed, trained.vocabulary)
    counts = counts_in_model(model, trained.n_tokens, WANTED)
    assert counts["flew", "home"] == counts["waited", "the"] == 0
    rows = np.array(
        [[-1, -1, -1, *model.vocabulary.ids(["the"])], [-1, -1, *model.vocabulary.ids(["the", "station"])]]
    )
    assert counts["the", "station"] == pytest.approx(trained.n_tokens * np.exp(model.log_p(rows).sum()))
    assert 0 < counts["waited", "at", "the"] < counts["the", "station"]


def use_of(before: str, target: str, after: str) -> Use:
    span = Span(len(before) + 1, len(before) + 1 + len(target))
    return Use((before, target, after), "e", "", span, f"{before} {target} {after}", span.start)


def test_the_expected_count_is_the_bigram_times_the_rate_of_the_preposition_in_any_order() -> None:
    uses = [use_of("marry", "with", "her"), use_of("lived", "with", "her"), use_of("enter", "with", "rooms")]
    counts: dict[tuple[str, ...], float] = {("marry", "her"): 100, ("lived", "her"): 1, ("enter", "rooms"): 200}
    counts |= {("marry", "with", "her"): 0, ("lived", "with", "her"): 50, ("enter", "with", "rooms"): 4}
    first, second = rank(uses, counts, ratio=0.2)
    rate = 54 / 301  # 0 + 50 + 4 trigrams to 100 + 1 + 200 bigrams
    assert first.trigram == ("marry", "with", "her")
    assert first.expected == pytest.approx(100 * rate)
    assert first.score == pytest.approx(log((100 * rate + 0.5) / 0.5))
    assert (second.trigram, second.n_trigram) == (("enter", "with", "rooms"), 4)
    forward, backward = rank(uses, counts), rank(uses[::-1], counts)
    assert [suspect.trigram for suspect in forward] == [suspect.trigram for suspect in backward]


def test_uses_stand_between_two_words_and_know_their_place() -> None:
    text = "On Monday we talked. They discussed about the new plan in (our) office."
    found = list(uses_of([Essay("essay", text)]))
    assert [each.trigram for each in found] == [("discussed", "about", "the")]
    (about,) = found
    assert about.span.of(text) == about.target == "about"
    assert about.context == "They discussed about the new plan in (our) office."
    assert about.item.kind == "prep"


USE = Use(("marry", "with", "her"), "essay", "doc", Span(14, 18), "He will marry with her.", 14)
SUSPECT = Suspect(USE.trigram, 0, 12, 3.5, (USE,))


def test_a_list_comes_back_with_its_verdicts_which_are_yes_or_no(tmp_path: Path) -> None:
    for suffix in ("csv", "tsv", "jsonl", "parquet"):
        path = tmp_path / f"list.{suffix}"
        write_table(suspects_table([SUSPECT], {"marry with her": "y"}), path)
        table = read_items(path)
        assert verdicts_of(table) == {"marry with her": "y"}, suffix
        assert table.frame["target"].to_list() == ["with"], suffix
    path = tmp_path / "list.csv"
    write_table(suspects_table([SUSPECT], {"marry with her": "perhaps"}), path)
    with pytest.raises(BadInput, match="row 1: expected y, n or nothing as the verdict on 'marry with her'"):
        verdicts_of(read_items(path))
    write_table(suspects_table([SUSPECT], {}).drop("verdict"), path)
    with pytest.raises(BadInput, match="expected a column 'verdict'"):
        verdicts_of(read_items(path))


def use(number: int, context: str, word: str = "with") -> Use:
    return Use((f"a{number}", word, "b"), f"e{number}", "", Span(0, len(word)), context, 0)


ERRORS = [[use(k, f"with error number {k} .")] for k in range(10)]
CORRECT = [use(100 + k, f"with good use {k} !") for k in range(40)]


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_there_are_as_many_correct_uses_as_errors() -> None:
    made = balance(ERRORS, CORRECT, rng=rng(), n_each=6, n_gold=4)
    assert (made.n_errors, made.n_correct, made.n_duplicates) == (6, 6, 0)
    assert made.items["label"].value_counts().sort("label")["count"].to_list() == [6, 6]
    errors = set(made.items.filter(pl.col("label") == "error")["essay"])
    assert errors == {f"e{k}" for k in range(6)}


def test_each_sentence_is_taken_once_and_the_others_are_counted() -> None:
    errors = [
        *ERRORS[:3],
        [use(50, "With ERROR number 1!")],
        [use(51, "with error number 2 ."), use(52, "with yet another .")],
    ]
    made = balance(errors, CORRECT, rng=rng(), n_gold=0)
    assert made.n_duplicates == 1  # the fourth; the fifth has a second use to fall back on
    assert made.n_errors == 4
    assert "e52" in made.items["essay"].to_list()


def test_gold_is_half_errors_and_the_same_seed_gives_the_same_corpus_in_mixed_order() -> None:
    made, again = (balance(ERRORS, CORRECT, rng=rng(), n_gold=5) for _ in range(2))
    gold = made.gold()
    assert sorted(gold["label"].to_list()) == ["error"] * 3 + ["ok"] * 2
    assert set(gold["item"]) <= set(made.items["item"])
    assert made.items.equals(again.items)
    assert made.items["label"].to_list() != sorted(made.items["label"].to_list())


TEXT = "I entered into the room. We lived with her aunt. He looked at the sky. They walked into the garden."
COUNTS = {("entered", "the"): 900.0, ("lived", "with", "her"): 80.0, ("looked", "at", "the"): 70.0}


def mined() -> Mined:
    uses = list(uses_of([Essay("e", TEXT)]))
    return mine(uses, lambda wanted: {ngram: COUNTS.get(ngram, 0.0) for ngram in wanted})


def trigrams(verdicts: dict[str, str]) -> dict[str, str]:
    made = balanced_from(mined(), verdicts, rng=rng(), n_gold=0)
    return dict(made.items.select("trigram", "label").iter_rows())


def test_accepted_trigrams_are_errors_and_correct_ones_are_attested_and_no_suspects() -> None:
    assert trigrams({"entered into the": "y"}) in (
        {"entered into the": "error", "lived with her": "ok"},
        {"entered into the": "error", "looked at the": "ok"},
    )


def test_nothing_accepted_other_essays_and_too_much_gold_are_refused_and_a_shortfall_is_named() -> None:
    with pytest.raises(UsageError, match="put y in the column verdict first"):
        balance([], CORRECT, rng=rng())
    with pytest.raises(UsageError, match="expected at most 20 gold items, found 75"):
        balance(ERRORS, CORRECT, rng=rng())
    with pytest.raises(UsageError, match="'climbed up the' is accepted but not in these essays"):
        trigrams({"climbed up the": "y"})
    verdicts = dict.fromkeys(("entered into the", "walked into the", "looked at the"), "y")
    made = balanced_from(mined(), verdicts, rng=rng(), n_each=4, n_gold=0)
    assert made.shortfalls == [
        "errors: 3 instead of 4; accept more trigrams",
        "correct uses: 1 instead of 3; add essays",
    ]


@pytest.mark.parametrize("odd", [{"ratio": float("nan")}, {"least_bigram": float("nan")}, {"ratio": -1.0}])
def test_limits_that_compare_with_nothing_are_refused(odd: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="expected a minimum count and a ratio of 0 or more"):
        mine([], lambda _: {}, **odd)
