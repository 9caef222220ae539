import pytest

from grater.corpora.statistics.documents import DocumentCounts, Documents, document_of
from grater.model import Essay
from tests.corpora.statistics.essays import m2_block, two_sentences


def counts_of(*essays: Essay, n_edits: int = 1) -> DocumentCounts:
    documents = Documents()
    for essay in essays:
        documents.add(essay, dict.fromkeys(essay.annotators, n_edits))
    return documents.counts()


def test_essay_is_a_document() -> None:
    counts = counts_of(two_sentences(), two_sentences(essay_id="two"))
    assert (counts.n, counts.by_edits) == (2, {1: 2})


def test_m2_block_does_not_know_its_document() -> None:
    counts = counts_of(m2_block("All is well ."), two_sentences())
    assert counts.n is None
    assert counts.reason == "1 sentence does not say which document it comes from"
    assert DocumentCounts(unknown=1312).reason == "1,312 sentences do not say which document they come from"


def test_m2_blocks_that_name_their_document_make_one_together() -> None:
    counts = counts_of(
        m2_block("One .", document="d1"), m2_block("Two .", document="d2"), m2_block("Three .", document="d1")
    )
    assert (counts.n, counts.by_edits) == (2, {1: 1, 2: 1})


def test_annotator_who_found_nothing_in_a_document_has_read_it() -> None:
    counts = counts_of(m2_block("One .", document="d1"), m2_block("Two .", document="d1"), n_edits=0)
    assert counts.by_edits == {0: 1}


def test_two_annotators_are_two_readings_of_one_document() -> None:
    counts = counts_of(two_sentences(annotators=("A", "B")))
    assert (counts.n, counts.by_edits) == (1, {1: 2})


@pytest.mark.parametrize("blank", [None, ""])
def test_blank_document_is_no_document(blank: str | None) -> None:
    assert document_of(m2_block("One .", document=blank)) is None
    assert document_of(two_sentences(document=blank)) == "one"


def test_counts_add_up() -> None:
    total = DocumentCounts(2, 1, {0: 1, 3: 1}) + DocumentCounts(1, 0, {3: 1})
    assert (total.known, total.unknown, total.by_edits) == (3, 1, {0: 1, 3: 2})
