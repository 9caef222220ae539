"""A text as the detectors see it: sentences, words with exact offsets, tags, chunks.

Every text has an analysis: an empty one has no sentences, noise has words tagged as best they can be.  An essay that
carries its own tokens (an M2 block) is one sentence of just these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from grater.model import Essay, Span
from grater.text.chunks import Chunk, chunks
from grater.text.sentences import sentence_tokens
from grater.text.tags import Tagger, load_tagger

__all__ = ["Chunk", "Sentence", "analyse", "analyse_all", "analyse_words"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One span, word and tag for each token; chunks by token index."""

    spans: tuple[Span, ...]
    words: tuple[str, ...]
    tags: tuple[str, ...]
    chunks: tuple[Chunk, ...]


def analyse(essay: Essay | str, *, tagger: Tagger | None = None) -> tuple[Sentence, ...]:
    """The sentences of an essay or a raw text."""
    return analyse_all([essay], tagger=tagger)[0]


def analyse_all(essays: Iterable[Essay | str], *, tagger: Tagger | None = None) -> list[tuple[Sentence, ...]]:
    """The same for many essays: their sentences are tagged together, which is faster for short ones."""
    tagger = tagger or load_tagger()
    per_essay = [list(_sentences(essay)) for essay in essays]
    tags = iter(tagger.tag_all([words for sentences in per_essay for _, words in sentences]))
    return [tuple(_sentence(spans, words, next(tags)) for spans, words in sentences) for sentences in per_essay]


def analyse_words(words: Sequence[str], *, tagger: Tagger | None = None) -> Sentence:
    """One ready-made sentence, as if written with a space between words; the offsets are of that text."""
    tagger = tagger or load_tagger()
    spans: list[Span] = []
    start = 0
    for word in words:
        spans.append(Span(start, start + len(word)))
        start += len(word) + 1
    return _sentence(tuple(spans), tuple(words), tagger.tag(words))


def _sentence(spans: tuple[Span, ...], words: tuple[str, ...], tags: tuple[str, ...]) -> Sentence:
    return Sentence(spans, words, tags, chunks(words, tags))


def _sentences(essay: Essay | str) -> Iterator[tuple[tuple[Span, ...], tuple[str, ...]]]:
    """The spans and words of each sentence."""
    text = essay if isinstance(essay, str) else essay.text
    if isinstance(essay, Essay) and essay.tokens is not None:
        if essay.tokens:
            yield essay.tokens, _words(text, essay.tokens)
        return
    yield from sentence_tokens(text)


def _words(text: str, spans: Sequence[Span]) -> tuple[str, ...]:
    return tuple([text[span.start : span.end] for span in spans])
