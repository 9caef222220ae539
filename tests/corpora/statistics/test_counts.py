"""Counts of a corpus: added up key by key, in blocks that resampling draws, by document and annotator."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.counts import (
    CorpusCounts,
    DocumentCounts,
    Documents,
    Histogram,
    block_of,
)
from grater.model import Essay
from tests.corpora.statistics.essays import edit, m2_block, two_sentences

NUMBERS = [field.name for field in fields(CorpusCounts) if not field.name.startswith("by_")]


def test_sentences_of_one_document_are_in_one_block() -> None:
    blocks = {block_of(m2_block(f"Number {number} .", document="d7")) for number in range(20)}
    assert len(blocks) == 1


def test_essay_falls_in_the_same_block_whoever_marked_it_and_wherever_it_is_read() -> None:
    # zlib.crc32(b"one") % 1024, the same on every machine
    assert block_of(two_sentences()) == block_of(two_sentences(edit(11, 15, "likes", rater="B"))) == 0x7A6C86F1 % 1024


def counts_of(*essays: Essay, n_edits: int = 1) -> DocumentCounts:
    documents = Documents()
    for essay in essays:
        documents.add(essay, dict.fromkeys(essay.annotators, n_edits))
    return documents.counts()


def test_m2_blocks_that_name_their_document_make_one_together() -> None:
    counts = counts_of(
        m2_block("One .", document="d1"), m2_block("Two .", document="d2"), m2_block("Three .", document="d1")
    )
    assert (counts.n, counts.by_edits) == (2, {1: 1, 2: 1})


def test_annotator_who_found_nothing_in_a_document_has_read_it() -> None:
    counts = counts_of(m2_block("One .", document="d1"), m2_block("Two .", document="d1"), n_edits=0)
    assert counts.by_edits == {0: 1}


def test_measures_by_hand() -> None:
    # 0, 0, 0, 1, 1, 4, 101, 102
    histogram = Histogram({0: 3, 1: 2, 4: 1, 101: 1, 102: 1})
    assert (histogram.n, histogram.mean, histogram.median) == (8, 209 / 8, 1)
    assert (histogram.mode, histogram.highest, histogram.above(100)) == (0, 102, 2)


def test_nothing_read_has_null_measures_with_a_reason() -> None:
    shown = Histogram({}).as_json()
    assert (shown["n"], shown["mean"], shown["max"]) == (0, None, None)
    assert shown["reason"]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40))
def test_median_is_that_of_the_list(numbers: list[int]) -> None:
    histogram = Histogram({number: numbers.count(number) for number in numbers})
    ranked = sorted(numbers)
    assert histogram.median == (ranked[(len(ranked) - 1) // 2] + ranked[len(ranked) // 2]) / 2
    assert histogram.mean == pytest.approx(sum(numbers) / len(numbers))
