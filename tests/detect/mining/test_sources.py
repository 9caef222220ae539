"""Counts of n-grams for mining: folders of files, plain text, a language model."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from grater.detect.mining.ranking import (
    counts_in_model,
    counts_in_shipped_model,
    counts_in_text,
    counts_in_web1t,
    files_of_order,
)
from grater.errors import BadInput, UsageError
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


def test_only_the_files_with_counts_of_the_order_are_read(folder: Path) -> None:
    assert [path.name for path in files_of_order(folder, 3)] == ["3gm-0000.gz", "3gm-0001.gz"]
    assert [path.name for path in files_of_order(folder, 1)] == ["vocab.gz"]


def test_files_that_are_not_packed_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "2gms").mkdir()
    (tmp_path / "2gms" / "2gm-0000").write_text("two words\t40\n")
    assert counts_in_web1t(tmp_path, [("two", "words")]) == {("two", "words"): 40}


def test_bad_lines_are_named(folder: Path) -> None:
    (folder / "disk2/3gms/3gm-0001.gz").write_bytes(gzip.compress(b"marry with him 41\nonly two\t5\na b c\t1\n"))
    with pytest.raises(BadInput) as caught:
        counts_in_web1t(folder, [("marry", "with", "him")])
    assert [problem.line for problem in caught.value.problems] == [1, 2]


def test_a_folder_without_an_order_says_so(folder: Path) -> None:
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


def test_the_model_that_comes_along_knows_common_words_and_no_others() -> None:
    counts = counts_in_shipped_model({("of", "the"), ("of", "zzyzx")})
    assert counts["of", "the"] > 100 > counts["of", "zzyzx"] == 0
