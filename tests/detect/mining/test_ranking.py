"""Counts of n-grams from every source, and the suspects that they rank."""

from __future__ import annotations

import gzip
from math import log
from pathlib import Path

import numpy as np
import pytest

from grater.detect.mining.ranking import (
    Use,
    counts_in_model,
    counts_in_text,
    counts_in_web1t,
    files_of_order,
    rank,
    uses_of,
)
from grater.errors import BadInput, UsageError
from grater.model import Essay, Span
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


def use(before: str, target: str, after: str) -> Use:
    span = Span(len(before) + 1, len(before) + 1 + len(target))
    return Use((before, target, after), "e", "", span, f"{before} {target} {after}", span.start)


def test_the_expected_count_is_the_bigram_times_the_rate_of_the_preposition_in_any_order() -> None:
    uses = [use("marry", "with", "her"), use("lived", "with", "her"), use("enter", "with", "rooms")]
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
