"""Sentences written as `word/TAG word/TAG`, for tests that must not depend on the tagger."""

from __future__ import annotations

from grater.corpora.text.analysis import Sentence, chunks
from grater.detect.prepositions.candidates import Candidate
from grater.model import Span


def sentence_of(text: str) -> Sentence:
    pairs = [pair.rsplit("/", 1) for pair in text.split()]
    words, tags = (tuple(column) for column in zip(*pairs, strict=True))
    spans, start = [], 0
    for word in words:
        spans.append(Span(start, start + len(word)))
        start += len(word) + 1
    return Sentence(tuple(spans), words, tags, chunks(words, tags))


def candidate_of(text: str, word: str, *, kind: str = "prep") -> Candidate:
    """The candidate at the first token that is the word; of kind `prep-missing`, the gap before it."""
    sentence = sentence_of(text)
    return Candidate(sentence, sentence.words.index(word), kind)
