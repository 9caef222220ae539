"""Sentences find the document that they were cut from."""

from __future__ import annotations

import pytest

from grater.corpora.merge import attach_documents
from grater.errors import BadInput
from grater.model import Essay

FIRST = Essay("cats", 'On cats\nMy cat sleeps. "It dreams," I said. It doesn\'t care.')
SECOND = Essay("dogs", "My dog barks.\n'No!' It sleeps.")


def places(*sentences: str, documents: tuple[Essay, ...] = (FIRST, SECOND)) -> list[tuple[object, object]]:
    essays = [Essay(str(number), sentence, line=number) for number, sentence in enumerate(sentences, 1)]
    found = list(attach_documents(essays, documents))
    assert [essay.text for essay in found] == list(sentences)
    return [(essay.metadata["document"], essay.metadata["document_start"]) for essay in found]


def start_of(document: Essay, words: str) -> tuple[str, int]:
    return document.essay_id, document.text.index(words)


def test_sentences_are_found_in_order_whatever_the_tokeniser_did_to_space_and_quotes() -> None:
    sentences = ["On cats", "My cat sleeps .", "`` It dreams , '' I said .", "It does n't care .", "My dog barks ."]
    assert places(*sentences, "' No ! '", "It sleeps .") == [
        start_of(FIRST, "On"),
        start_of(FIRST, "My"),
        start_of(FIRST, '"It'),
        start_of(FIRST, "It doesn't"),
        start_of(SECOND, "My"),
        start_of(SECOND, "'No"),
        start_of(SECOND, "It"),
    ]


def test_quotes_repeats_and_empty_sentences_stand_where_they_should() -> None:
    document = Essay("x", 'He said "Yes." "No," said I.')
    assert places('He said " Yes . "', '" No , " said I .', documents=(document,)) == [("x", 0), ("x", 15)]
    document = Essay("x", "Yes. Yes. No. Yes.")
    assert [start for _, start in places("Yes .", "Yes .", "Yes .", documents=(document,))] == [0, 5, 14]
    assert places("On cats", "")[1] == ("cats", 8)


def test_every_sentence_that_cannot_be_placed_is_named() -> None:
    with pytest.raises(BadInput) as caught:
        places("On cats", "On cows", "My cat sleeps .", "My cat sleeps .")
    assert [str(problem) for problem in caught.value.problems] == [
        "documents: expected sentence 2 (line 2) in a document after the sentence before it, found none: 'On cows'",
        "documents: expected sentence 4 (line 4) in a document after the sentence before it, "
        "found none: 'My cat sleeps .'",
    ]


def test_documents_are_read_only_as_far_as_needed() -> None:
    documents = iter([FIRST, SECOND])
    assert next(attach_documents([Essay("1", "On cats")], documents)).metadata["document"] == "cats"
    assert next(documents) is SECOND
