"""What several parts read: essays of CoNLL-2014, halved by document, and well-formed text up to a number of words.

Errors of CoNLL-2014 are those of its two official annotators together (A7 and A3 of Bryant & Ng 2015): `Prep` on
prepositions, `ArtOrDet` on articles, `Nn` on nouns, `SVA` and `Vform` on verbs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from benchmarks.detect.articles import learner_essays

from grater.model import Edit, Essay, Span

OFFICIAL = ("A7", "A3")
TAGS = {
    "prep": ("Prep",),
    "prep-missing": ("Prep",),
    "article": ("ArtOrDet",),
    "number": ("Nn",),
    "verb-form": ("SVA", "Vform"),
}
EVERY = 5
"""Of Brown's sentences, every fifth is looked at; they hold over 20,000 prepositions."""
N_NATIVE_WORDS = 200_000


def learner_documents() -> list[Essay]:
    """The sentences of CoNLL-2014 joined to the essays that they come from, a line each, with their edits."""
    by_document: dict[str, list[Essay]] = defaultdict(list)
    for sentence in learner_essays():
        by_document[str(sentence.metadata.get("document"))].append(sentence)
    return [_joined(document, sentences) for document, sentences in by_document.items()]


def _joined(document: str, sentences: Sequence[Essay]) -> Essay:
    edits, start = list[Edit](), 0
    for sentence in sentences:
        for edit in sentence.edits:
            edits.append(replace(edit, span=Span(edit.span.start + start, edit.span.end + start)))
        start += len(sentence.text) + 1
    return Essay(
        document,
        "\n".join(sentence.text for sentence in sentences),
        edits=tuple(edits),
        annotators=sentences[0].annotators,
        metadata={"document": document},
    )


def halves(essays: Sequence[Essay]) -> tuple[list[Essay], list[Essay]]:
    """Documents in turn: one half to tune on, one to report."""
    documents = sorted({str(essay.metadata.get("document")) for essay in essays})
    tuned = set(documents[::2])
    return (
        [essay for essay in essays if str(essay.metadata.get("document")) in tuned],
        [essay for essay in essays if str(essay.metadata.get("document")) not in tuned],
    )


def as_essays(texts: Iterable[str]) -> Iterator[Essay]:
    return (Essay(str(number), text.strip()) for number, text in enumerate(texts))


def some(essays: Iterable[Essay], n_words: int, *, every: int = 1) -> tuple[list[Essay], int]:
    """Essays up to a number of words."""
    taken, n = [], 0
    for essay in islice(essays, 0, None, every):
        taken.append(essay)
        n += len(essay.text.split())
        if n >= n_words:
            break
    return taken, n
