"""Lists of suspects that people review, and the test set that is built from their verdicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from grater.detect.mining.ranking import Suspect, Use, uses_of
from grater.detect.mining.review import Mined, balance, balanced_from, mine, suspects_table, verdicts_of
from grater.errors import BadInput, UsageError
from grater.model import Essay, Span
from grater.tables import read_items, write_table

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
