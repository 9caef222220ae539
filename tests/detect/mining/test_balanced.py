from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from grater.detect.mining.balanced import balance, beyond_suspicion
from grater.detect.mining.uses import Use
from grater.errors import UsageError
from grater.model import Span


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


def test_a_correct_use_in_the_sentence_of_an_error_is_a_duplicate() -> None:
    made = balance(ERRORS[:1], [use(7, "with error number 0 .")], rng=rng(), n_gold=0)
    assert (made.n_errors, made.n_correct, made.n_duplicates) == (1, 0, 1)


def test_what_was_built_is_told_in_words_and_in_json() -> None:
    made = balance([*ERRORS, ERRORS[0]], CORRECT, rng=rng(), n_each=1500, n_gold=4)
    n = len(ERRORS)
    assert made.lines("items.csv") == [
        f"items.csv: errors: {n}, correct uses: {n}, gold among them: 4, duplicates left out: 1",
        f"wanted 1,500 errors, found {n}: accept more trigrams",
    ]
    counts = {"errors": n, "correct": n, "gold": 4, "duplicates": 1}
    assert made.as_json() == {**counts, "shortfalls": made.lines("")[1:]}


def test_gold_is_half_errors_and_comes_with_its_label() -> None:
    made = balance(ERRORS, CORRECT, rng=rng(), n_gold=5)
    gold = made.gold()
    assert sorted(gold["label"].to_list()) == ["error"] * 3 + ["ok"] * 2
    assert set(gold["item"]) <= set(made.items["item"])


def test_the_same_seed_gives_the_same_corpus_and_errors_stand_among_the_others() -> None:
    first, second = (balance(ERRORS, CORRECT, rng=rng(), n_gold=4).items for _ in range(2))
    assert first.equals(second)
    assert first["label"].to_list() != sorted(first["label"].to_list())


def test_nothing_accepted_or_too_much_gold_is_refused() -> None:
    with pytest.raises(UsageError, match="put y beside the errors first"):
        balance([], CORRECT, rng=rng())
    with pytest.raises(UsageError, match="expected at most 20 gold items, found 75"):
        balance(ERRORS, CORRECT, rng=rng())


def test_correct_uses_are_attested_and_not_suspicious() -> None:
    first, second, third = CORRECT[:3]
    found = beyond_suspicion([first, second, third], {first.trigram, second.trigram}, {second.trigram})
    assert found == [first]
