"""Counts of a corpus: added up key by key, in blocks that resampling draws, by document and annotator."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.counts import Histogram, block_of
from grater.corpora.statistics import corpus_statistics
from tests.corpora.statistics.essays import edit, m2_block, two_sentences


def test_a_block_is_that_of_the_document_whoever_marked_it_and_wherever_it_is_read() -> None:
    assert len({block_of(m2_block(f"Number {number} .", document="d7")) for number in range(20)}) == 1
    # zlib.crc32(b"one") % 1024, the same on every machine
    assert block_of(two_sentences()) == block_of(two_sentences(edit(11, 15, "likes", rater="B"))) == 0x7A6C86F1 % 1024


def test_m2_blocks_that_name_their_document_make_one_in_each_file() -> None:
    marked = m2_block("One .", edit(0, 3, "1", rater="0"), document="d1")
    blocks = [marked, m2_block("Two .", document="d2"), m2_block("Three .", document="d1")]
    one = corpus_statistics({"a": blocks}).whole.summary
    assert (one.documents.n, one.documents.by_edits) == (2, {0: 1, 1: 1}), "who found nothing has read it"
    both = corpus_statistics({"a": blocks, "b": [marked]}).whole.summary
    assert (both.documents.n, both.documents.by_edits) == (3, {0: 1, 1: 2})


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
