from __future__ import annotations

from grater.corpora.check import check_essays
from grater.model import Essay, Span, short_hash


def rules(*essays: Essay) -> list[str]:
    return [finding.rule for finding in check_essays(essays)]


def test_a_corpus_without_an_essay_is_a_finding() -> None:
    assert rules() == ["empty"]


def test_a_corpus_with_an_essay_is_none() -> None:
    assert rules(Essay("a", "All is well.")) == []


def test_two_documents_with_one_id_are_a_finding() -> None:
    assert rules(Essay("a", "All is well."), Essay("a#2", "All was well.")) == ["same-id"]


def test_a_text_without_an_id_may_come_twice() -> None:
    text = "All is well."
    assert rules(Essay(short_hash(text), text), Essay(f"{short_hash(text)}#2", text)) == []


def test_a_tokenised_sentence_may_come_twice() -> None:
    assert rules(Essay("a#2", "Hello", tokens=(Span(0, 5),))) == []
