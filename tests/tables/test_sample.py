"""Samples know what corpus they were drawn from."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest

from grater.errors import BadInput
from grater.tables import (
    Sample,
    SampleMeta,
    items_hash,
    read_sample,
    require_same_items,
    with_stratum_size,
    write_table,
)

FRAME = pl.DataFrame({"item": ["a", "c"], "stratum": ["flagged", "flagged"], "probability": [0.5, 0.25]})


def test_the_hash_knows_neither_order_nor_repeats() -> None:
    assert items_hash(["b", "a", "b"]) == items_hash(["a", "b"])
    assert items_hash(["a", "b"]) == hashlib.sha256(b"a\nb").hexdigest()[:16]
    assert items_hash(["ab"]) != items_hash(["a", "b"])


def test_meta_data_lies_beside_the_sample_and_comes_back(tmp_path: Path) -> None:
    meta = SampleMeta(7, "stratified", ("S", "T"), items_hash("abc"), {"note": "first draw"})
    write_table(Sample(FRAME, "mine", meta), tmp_path / "s.csv.gz")
    found = json.loads((tmp_path / "s.meta.json").read_text())
    assert found == {
        "seed": 7,
        "design": "stratified",
        "systems": ["S", "T"],
        "items": items_hash("abc"),
        "note": "first draw",
    }
    sample = read_sample(tmp_path / "s.csv.gz")
    assert sample.meta == meta
    assert sample.frame.equals(FRAME)


def test_a_sample_goes_with_its_own_corpus_only() -> None:
    sample = Sample(FRAME, "s.csv", SampleMeta(items=items_hash("abc")))
    require_same_items(sample, ["c", "b", "a", "a"])
    with pytest.raises(BadInput, match=r"s\.csv: was drawn from another corpus: expected items with hash"):
        require_same_items(sample, ["a", "b", "c", "d"])
    with pytest.raises(BadInput, match=r"another corpus: 1 of its items are not in this one \(c\)"):
        require_same_items(sample, ["a", "b"])


def test_without_meta_data_the_drawn_items_must_be_there() -> None:
    sample = Sample(FRAME, "s.csv")
    require_same_items(sample, ["a", "c", "d"])
    with pytest.raises(BadInput, match="another corpus"):
        require_same_items(sample, ["a"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "expected JSON"),
        ("[]", "expected a JSON object, found list"),
        ('{"seed": "x"}', "expected 'seed' to be a whole number"),
        ('{"systems": "S"}', "expected 'systems' to be a list of names"),
        ('{"items": 3}', "expected 'items' to be text"),
    ],
)
def test_bad_meta_data_is_refused(tmp_path: Path, text: str, words: str) -> None:
    write_table(FRAME, tmp_path / "s.csv")
    (tmp_path / "s.meta.json").write_text(text)
    with pytest.raises(BadInput, match=f"s.meta.json: {words}"):
        read_sample(tmp_path / "s.csv")


def test_a_stratum_is_as_large_as_its_draws_say() -> None:
    # 1/0.5 + 1/0.25 = 6; with equal probabilities of 0.5, 2/0.5 = 4
    assert with_stratum_size(Sample(FRAME, "s"))["stratum_size"].to_list() == [6.0, 6.0]
    equal = FRAME.with_columns(probability=pl.lit(0.5))
    assert with_stratum_size(Sample(equal, "s"))["stratum_size"].to_list() == [4.0, 4.0]
    given = equal.with_columns(stratum_size=pl.Series([9.0, None]))
    assert with_stratum_size(Sample(given, "s"))["stratum_size"].to_list() == [9.0, 4.0]
